"""`retry`: the exact stored call again, or the run again from a step."""

from __future__ import annotations

from typing import Final

from ...core.errors import ToolgateError
from ..deciding import Manner, choice, conclude, decide
from ..frame import Frame
from ..options import ExitStatus, FromStep, MayRunTwice, NoInput, Reason, Words, Yes

PURPOSE: Final = "Recover"


def run(
    frame: Frame,
    words: Words = None,
    step: FromStep = None,
    reason: Reason = None,
    may_run_twice: MayRunTwice = False,
    yes: Yes = False,
    no_input: NoInput = False,
    exit_status: ExitStatus = False,
) -> int:
    """Start a stored call again, with the same arguments.

    With --step: drive a failed or paused run again from that top-level step.
    """
    if step is not None:
        return _from_step(frame, words or [], step, reason, may_run_twice, exit_status)
    choose = choice(frame, "retry", words, None)
    manner = Manner(yes, no_input)
    return decide(
        frame,
        "retry",
        manner,
        exit_status,
        choose,
        lambda s, target, ask: s.retry(target, reason=reason, may_run_twice=may_run_twice, ask=ask),
    )


def _from_step(frame: Frame, words: list[str], step: str, reason: str | None, may_run_twice: bool, exit_status: bool) -> int:
    if len(words) != 1:
        raise ToolgateError("usage", "--step needs one run", "toolgate retry RUN --step STEP")
    frame.format()
    with frame.session() as session:
        answer = session.retry_step(words[0], step, reason, may_run_twice=may_run_twice)
        return conclude(frame, "retry --step", answer, exit_status)
