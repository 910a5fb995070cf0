"""`start`: a new run, driven to its first wait or its end."""

from __future__ import annotations

from typing import Annotated, Final

from ..deciding import conclude
from ..declared import Argument, option
from ..files import blaming, distinct, pairs, read_object
from ..frame import Frame
from ..options import ExitStatus

PURPOSE: Final = "Run"

Workflow = Annotated[str, Argument(metavar="WORKFLOW", help="The id that a workflow file gives itself.")]
Input = Annotated[list[str] | None, option("-i", "--input", metavar="KEY=VALUE", help="An input; may be given several times.")]
Inputs = Annotated[str | None, option("--inputs", metavar="FILE", help="Inputs as one JSON object; - is stdin.")]


def run(frame: Frame, workflow: Workflow, input: Input = None, inputs: Inputs = None, exit_status: ExitStatus = False) -> int:
    """Start a workflow and drive it to its first wait or its end."""
    texts, given = pairs(input or ()), read_object(inputs)
    distinct(texts, given)
    frame.format()
    with frame.session() as session:
        with blaming(given):
            answer = session.start(workflow, given.values, texts)
        return conclude(frame, "start", answer, exit_status)
