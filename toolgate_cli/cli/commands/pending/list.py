"""`pending list`: what waits for a person."""

from __future__ import annotations

from typing import Annotated, Final

from ... import deciding, output
from ...declared import option
from ...frame import Frame
from ...options import Limit, MaybeRun
from ...views import pending
from ...views.shapes import Sheet

PURPOSE: Final = "Decide"


Watch = Annotated[bool, option("-w", "--watch", help="Draw it again whenever it changes, until Ctrl-C.")]


def run(frame: Frame, run_id: MaybeRun = None, limit: Limit = 50, watch: Watch = False) -> int:
    """List what waits for a person.

    Calls, step gates, reviews, escalations and questions.
    """
    frame.format()
    if watch:
        return _watch(frame, run_id, limit)
    with frame.window() as session:
        rows, head = session.pending(run_id, limit + 1)
        output.show_list(frame, pending.SCHEMA, rows[:limit], head, pending.to_json, pending.sheet, pending.wide_sheet)
        deciding.believed(frame, session)
    if not rows:
        frame.note("nothing waits")
    if len(rows) > limit:
        frame.note("more wait than are listed: --limit N shows more")
    return deciding.left_out(frame, session.unread)


def _watch(frame: Frame, run_id: str | None, limit: int) -> int:
    from ... import watching

    watching.must_redraw(frame)
    with frame.window() as session:

        def look() -> tuple[str, Sheet]:
            rows, head = session.pending(run_id, limit)
            return head, pending.sheet(rows)

        watching.watch(frame, look)
    return 0
