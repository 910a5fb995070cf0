"""`workflow check`: all errors of the workflow files at once."""

from __future__ import annotations

from typing import Annotated, Final

from ... import exits, output
from ...declared import Argument
from ...frame import Frame
from ...views import workflows

PURPOSE: Final = "Know"

Id = Annotated[str | None, Argument(metavar="[WORKFLOW]", help="Only this one.")]


def run(frame: Frame, workflow: Id = None) -> int:
    """Check workflow files: every error, with its place.

    Exit 7 where there is one.
    """
    frame.format()
    with frame.window() as session:
        found = session.workflows(workflow)
        output.show_list(frame, workflows.SCHEMA, found, None, workflows.to_json, workflows.sheet)
    return exits.OF_KIND["invalid"] if any(checked.errors for checked in found) else 0
