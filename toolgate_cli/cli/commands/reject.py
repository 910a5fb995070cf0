"""`reject`: the person's no, to a call or to a step."""

from __future__ import annotations

from typing import Final

from ..deciding import Manner, choice, decide
from ..frame import Frame
from ..options import ExitStatus, NoInput, Reason, StepPath, Words, Yes

PURPOSE: Final = "Decide"


def run(
    frame: Frame,
    words: Words = None,
    step: StepPath = None,
    reason: Reason = None,
    yes: Yes = False,
    no_input: NoInput = False,
    exit_status: ExitStatus = False,
) -> int:
    """Reject the call that waits: it never runs, the run goes on.

    A tool that stopped half-way with a question is told no.
    With --step: refuse the step gate or the escalation; the run ends as failed.
    """
    choose = choice(frame, "reject", words, step)
    manner = Manner(yes, no_input)
    if step is not None:
        return decide(frame, "reject", manner, exit_status, choose, lambda s, target, ask: s.reject_step(target, reason=reason, ask=ask))
    return decide(frame, "reject", manner, exit_status, choose, lambda s, target, ask: s.reject(target, reason=reason, ask=ask))
