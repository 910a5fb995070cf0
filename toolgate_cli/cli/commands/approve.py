"""`approve`: the person's yes, to a call or to a step."""

from __future__ import annotations

from typing import Final

from ..deciding import Manner, choice, decide
from ..frame import Frame
from ..options import ExitStatus, MayRunTwice, NoInput, Reason, StepPath, Words, Yes

PURPOSE: Final = "Decide"


def run(
    frame: Frame,
    words: Words = None,
    step: StepPath = None,
    reason: Reason = None,
    may_run_twice: MayRunTwice = False,
    yes: Yes = False,
    no_input: NoInput = False,
    exit_status: ExitStatus = False,
) -> int:
    """Approve the call that waits: it runs exactly as it was shown.

    With --step: pass the step gate or the escalation that the run waits for.
    """
    choose = choice(frame, "approve", words, step)
    manner = Manner(yes, no_input)
    if step is not None:
        return decide(frame, "approve", manner, exit_status, choose, lambda s, target: s.approve_step(target, reason=reason))
    return decide(
        frame, "approve", manner, exit_status, choose, lambda s, target: s.approve(target, reason=reason, may_run_twice=may_run_twice)
    )
