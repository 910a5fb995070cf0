"""`approve`: the person's yes, to a call or to a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ...core.errors import ToolgateError
from ...core.values import NamedTuple
from ..deciding import Manner, choice, decide
from ..frame import Frame
from ..options import Arguments, ExitStatus, MayRunTwice, NoInput, Reason, StepPath, Words, Yes

if TYPE_CHECKING:
    from ...runtime.answers import Answer, Consent, Waiting
    from ...runtime.desk import Desk

PURPOSE: Final = "Decide"


def run(
    frame: Frame,
    words: Words = None,
    step: StepPath = None,
    arguments: Arguments = None,
    reason: Reason = None,
    may_run_twice: MayRunTwice = False,
    yes: Yes = False,
    no_input: NoInput = False,
    exit_status: ExitStatus = False,
) -> int:
    """Approve the call that waits: it runs exactly as it was shown.

    A tool that stopped half-way with a question is told yes.
    With --arguments: with other arguments, as a new revision; it runs if the policy asks for nobody else, and waits again if it does.
    With --step: pass the step gate or the escalation that the run waits for.
    """
    if step is not None and arguments is not None:
        raise ToolgateError("usage", "--arguments is about a call, not about a step", "leave one of them out")
    choose = choice(frame, "approve", words, step)
    manner = Manner(yes, no_input)
    if step is not None:
        return decide(frame, "approve", manner, exit_status, choose, lambda s, target, ask: s.approve_step(target, reason=reason, ask=ask))
    if arguments is not None:
        return _edited(frame, manner, exit_status, choose, Edit(arguments, reason, may_run_twice))
    return decide(
        frame,
        "approve",
        manner,
        exit_status,
        choose,
        lambda s, target, ask: s.approve(target, reason=reason, may_run_twice=may_run_twice, ask=ask),
    )


class Edit(NamedTuple):
    """Other arguments for a call, in a file."""

    file: str
    reason: str | None
    may_run_twice: bool


def _edited(frame: Frame, manner: Manner, exit_status: bool, choose: Callable[[Desk], Waiting], edit: Edit) -> int:
    from ..files import blaming, read_object

    given = read_object(edit.file)

    def approve(session: Desk, target: Waiting, ask: Consent) -> Answer:
        with blaming(given):
            return session.approve(target, reason=edit.reason, may_run_twice=edit.may_run_twice, arguments=given.values, ask=ask)

    return decide(frame, "approve", manner, exit_status, choose, approve)
