"""`review`: passes a review gate with a note."""

from __future__ import annotations

from typing import Annotated, Final

from ..deciding import Manner, decide, unnamed
from ..declared import Argument
from ..frame import Frame
from ..options import AskedRun, ExitStatus, NoInput, Reason, Yes

PURPOSE: Final = "Decide"

StepWord = Annotated[str | None, Argument(metavar="[STEP]", help="The step; default: the one that waits.")]


def run(
    frame: Frame,
    run_id: AskedRun = None,
    step: StepWord = None,
    note: Reason = None,
    yes: Yes = False,
    no_input: NoInput = False,
    exit_status: ExitStatus = False,
) -> int:
    """Pass the review gate that the run waits for.

    The note is recorded.
    """
    if run_id is None:
        raise unnamed(frame, "review", "REVIEW", "one run is needed, whose review is to be passed", "toolgate pending list")
    return decide(
        frame,
        "review",
        Manner(yes, no_input),
        exit_status,
        lambda session: session.select_step(run_id, step, "review"),
        lambda session, target, ask: session.review(target, note=note or "", ask=ask),
    )
