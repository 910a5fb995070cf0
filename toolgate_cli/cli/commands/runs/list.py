"""`runs list`: the newest runs."""

from __future__ import annotations

from typing import Annotated, Final

from ....core.types import Status
from ... import deciding, output
from ...declared import option
from ...frame import Frame
from ...options import Limit
from ...views import run as one
from ...views import runs

PURPOSE: Final = "Look"

In = Annotated[Status | None, option("--status", help="Only runs in this status.")]


def run(frame: Frame, status: In = None, limit: Limit = 50) -> int:
    """List runs, newest first."""
    frame.format()
    with frame.window() as session:
        views, head = session.runs(status, limit + 1)
        output.show_list(frame, runs.SCHEMA, views[:limit], head, one.run_json, runs.sheet)
    if len(views) > limit:
        frame.note("there are more runs than are listed: --limit N shows more")
    return deciding.left_out(frame, session.unread)
