"""`continue`: a paused run goes on."""

from __future__ import annotations

from typing import Final

from ..deciding import conclude
from ..frame import Frame
from ..options import ExitStatus, RunId

PURPOSE: Final = "Run"


def run(frame: Frame, run_id: RunId, exit_status: ExitStatus = False) -> int:
    """Let a paused run go on, or one whose process died."""
    frame.format()
    with frame.session() as session:
        return conclude(frame, "continue", session.continue_run(run_id), exit_status)
