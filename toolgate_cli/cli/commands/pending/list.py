"""`pending list`: what waits for a person."""

from __future__ import annotations

from typing import Final

from ... import output
from ...frame import Frame
from ...options import Limit, MaybeRun
from ...views import pending

PURPOSE: Final = "Decide"


def run(frame: Frame, run_id: MaybeRun = None, limit: Limit = 50) -> int:
    """List what waits for a person.

    Calls, step gates, reviews, escalations and questions.
    """
    frame.format()
    with frame.window() as session:
        rows, head = session.pending(run_id, limit + 1)
        output.show_list(frame, pending.SCHEMA, rows[:limit], head, pending.to_json, pending.sheet, pending.wide_sheet)
    if len(rows) > limit:
        frame.note("more wait than are listed: --limit N shows more")
    return 0
