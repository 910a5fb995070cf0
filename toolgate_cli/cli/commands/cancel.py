"""`cancel`: ends a run; nothing is started for it afterwards."""

from __future__ import annotations

from typing import Final

from ..deciding import conclude
from ..frame import Frame
from ..options import Reason, RunId

PURPOSE: Final = "Run"


def run(frame: Frame, run_id: RunId, reason: Reason = None) -> int:
    """Cancel a run: what waits is closed, what runs is stopped.

    A call whose outcome is unknown stays listed; continue-tool --outcome-file settles it.
    """
    frame.format()
    with frame.session() as session:
        return conclude(frame, "cancel", session.cancel(run_id, reason))
