"""`tools list`: every tool of the home."""

from __future__ import annotations

from typing import Final

from ... import output
from ...frame import Frame
from ...views import tools

PURPOSE: Final = "Know"


def run(frame: Frame) -> int:
    """List the tools: what a call may do, and if it may be repeated."""
    frame.format()
    with frame.window() as session:
        output.show_list(frame, tools.SCHEMA, session.tools(), None, tools.to_json, tools.brief_sheet, tools.sheet)
    return 0
