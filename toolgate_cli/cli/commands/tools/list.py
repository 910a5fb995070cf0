"""`tools list`: every tool of the home."""

from __future__ import annotations

from typing import Annotated, Final

from ... import output
from ...declared import option
from ...frame import Frame
from ...views import tools

PURPOSE: Final = "Know"


Agent = Annotated[str | None, option("--agent", metavar="NAME", help="Only those that this agent is shown, in a run of the actor.")]
Workflow = Annotated[str | None, option("--workflow", metavar="ID", help="With --agent: in a run of this workflow.")]


def run(frame: Frame, agent: Agent = None, workflow: Workflow = None) -> int:
    """List the tools: what a call may do, and if it may be repeated."""
    frame.format()
    with frame.window() as session:
        found = session.tools(agent, workflow or "", frame.settings().actor)
        output.show_list(frame, tools.SCHEMA, found, None, tools.to_json, tools.brief_sheet, tools.sheet)
    return 0
