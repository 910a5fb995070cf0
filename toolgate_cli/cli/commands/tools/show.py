"""`tools show`: one tool with its schema."""

from __future__ import annotations

from typing import Annotated, Final

from ... import output
from ...declared import Argument
from ...frame import Frame
from ...views import tools

PURPOSE: Final = "Know"

Capability = Annotated[str, Argument(metavar="CAPABILITY", help="Its name, whole.")]


def run(frame: Frame, capability: Capability) -> int:
    """Show one tool: its classes, its limits, its schema."""
    frame.format()
    with frame.window() as session:
        tool = session.tool(capability)
        output.show_one(frame, lambda: tools.one_json(tool), lambda: tools.fields(tool))
    return 0
