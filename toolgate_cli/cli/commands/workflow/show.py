"""`workflow show`: a workflow as a tree."""

from __future__ import annotations

from typing import Annotated, Final

from ... import output
from ...declared import Argument
from ...frame import Frame
from ...streams import OUT
from ...views import outline

PURPOSE: Final = "Know"

Id = Annotated[str, Argument(metavar="WORKFLOW", help="The id that a workflow file gives itself.")]


def run(frame: Frame, workflow: Id) -> int:
    """Show a workflow as a tree: steps, gates, arms, forms, blocks."""
    chosen = frame.format()
    with frame.window() as session:
        found = session.workflow(workflow)
    if chosen == "table":
        all(OUT.line(text) for text in outline.lines(found))
    elif chosen == "tsv":
        output.write_tsv(outline.sheet(found))
    else:
        output.json_line(outline.to_json(found))
    return 0
