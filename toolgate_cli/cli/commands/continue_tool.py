"""`continue-tool`: the run goes on without the call's result, or with one that a person found out."""

from __future__ import annotations

from typing import Annotated, Final

from ..deciding import Manner, choice, decide
from ..declared import option
from ..files import read_object
from ..frame import Frame
from ..options import ExitStatus, NoInput, Reason, Words, Yes

PURPOSE: Final = "Recover"

OutcomeFile = Annotated[
    str | None,
    option("--outcome-file", metavar="FILE", help='What a person found out: {"applied": true|false, "result": ...}; - is stdin.'),
]


def run(
    frame: Frame,
    words: Words = None,
    outcome_file: OutcomeFile = None,
    reason: Reason = None,
    yes: Yes = False,
    no_input: NoInput = False,
    exit_status: ExitStatus = False,
) -> int:
    """Go on without a call that failed, was denied or is in doubt.

    With --outcome-file: go on with the result that a person found out.
    """
    outcome = None if outcome_file is None else read_object(outcome_file).values
    choose = choice(frame, "continue-tool", words, None)
    manner = Manner(yes, no_input)
    return decide(
        frame,
        "continue-tool",
        manner,
        exit_status,
        choose,
        lambda s, target, ask: s.continue_tool(target, reason=reason, outcome=outcome, ask=ask),
    )
