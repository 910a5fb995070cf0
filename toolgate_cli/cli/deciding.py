"""What the deciding commands have in common: which row is meant, the question, and how the answer is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from ..core.errors import LACKING, Choice, ToolgateError, after_the_fact
from ..core.types import Origin, Verb
from ..core.values import NamedTuple
from ..runtime.answers import Advice, Answer, Consent, Waiting
from . import ask, exits, faults, output
from .frame import Frame
from .safe import command, fill
from .views import pending, run

if TYPE_CHECKING:
    from ..runtime.desk import Desk
    from ..runtime.window import Window


_LOOKED_AT = 1000  # of what waits, for those that a verb could be about
_NAMED = 10
_WARNINGS = 5  # of a workflow that was started: the others are told by `workflow check`
_LONGEST = 300  # characters of a reason


class Manner(NamedTuple):
    """How a decision is to be made: without a question (`yes`), never with one (`no_input`)."""

    yes: bool
    no_input: bool


def decide(
    frame: Frame,
    verb: Verb,
    manner: Manner,
    exit_status: bool,
    choose: Callable[[Desk], Waiting],
    act: Callable[[Desk, Waiting, Consent], Answer],
) -> int:
    """Chooses one row and carries the decision out on exactly that row; where a person is there they are asked, once nothing refuses it."""
    frame.format()  # a wrong format is found out before anything happens, not after
    asking = ask.must_ask(manner.yes, manner.no_input)
    with frame.session() as session:
        answer = act(session, choose(session), (lambda shown: ask.confirm(verb, shown, frame.here)) if asking else None)
        return conclude(frame, verb, answer, exit_status)


def choice(frame: Frame, verb: Verb, words: Sequence[str] | None, step: str | None) -> Callable[[Desk], Waiting]:
    """The row that `[RUN] [CALL]` means, or the step of a run; one that was not named is named on stderr."""
    given = list(words or ())
    if len(given) > (2 if step is None else 1):
        raise ToolgateError("usage", "too many words", f"toolgate {verb} {'[RUN] [CALL]' if step is None else 'RUN --step STEP'}")
    if step is not None:
        if not given:
            raise ToolgateError("usage", "--step needs a run", f"toolgate {verb} RUN --step STEP")
        return lambda session: session.select_step(given[0], step, verb)

    def chosen(session: Desk) -> Waiting:
        target = session.select(given, verb)
        if not any(word.startswith("c") for word in given):
            frame.note(fill("chosen: {} of {}: {}", target.ref, target.row.run_id, pending.title(target) or target.row.step))
        return target

    return chosen


def unnamed(frame: Frame, verb: Verb, origin: Origin, message: str, hint: str, words: Sequence[str] = ()) -> ToolgateError:
    """A refusal where a run has to be named; what waits for that verb is named in it, and never chosen. `words`: what follows the run."""
    from shlex import join

    runs: list[str] = []
    with suppress(ToolgateError), frame.window() as session:
        runs = list(dict.fromkeys(waiting.row.run_id for waiting in session.pending(None, _LOOKED_AT)[0] if waiting.row.origin == origin))
    commands = [f"toolgate {verb} {join([run, *words])}" for run in runs[:_NAMED]]
    return ToolgateError("usage", message, "" if commands else hint, choices=[Choice(command, "") for command in commands])


def conclude(frame: Frame, verb: Verb | str, answer: Answer, exit_status: bool = False) -> int:
    """Shows the answer, says what moves the run on, and gives the exit code."""
    try:
        output.show_one(frame, lambda: run.answer_json(answer), lambda: run.answer_fields(answer), lambda: run.answer_sheet([answer]))
        return told(frame, verb, answer, exit_status)
    except LACKING as lacking:
        raise after_the_fact(lacking) from None


def told(frame: Frame, verb: Verb | str, answer: Answer, exit_status: bool = False) -> int:
    """What stands beside an answer that was shown: its fault, and what moves the run on. The exit code."""
    code = exits.after(verb, answer.run.run, [waiting.row for waiting in answer.pending], exit_status)
    if answer.fault is not None:  # the verb took effect, and something kept the run from going on: both are told
        tell(frame, answer.fault)
        code = code if code in (exits.IN_DOUBT, 1) else 1
    for warning in answer.warnings[:_WARNINGS]:
        frame.note(fill("note: {}", warning))
    if len(answer.warnings) > _WARNINGS:
        frame.note(fill("note: {} more: {}", len(answer.warnings) - _WARNINGS, frame.here("toolgate workflow check")))
    if answer.run.changed:
        frame.note(f"note: {run.CHANGED}")
    advise(frame, answer)
    return code


def advise(frame: Frame, answer: Answer) -> None:
    """Says what moves the run on and, where stdout gets columns, why each call or step waits: a person reads on stderr."""
    if frame.format() == "tsv":
        for waiting in answer.pending:
            if waiting.row.reason:
                frame.note(fill("note: {} waits as {}: {}", waiting.ref, waiting.row.origin, shortened(waiting.row.reason)))
    say_next(frame, answer.next)


def say_next(frame: Frame, advised: Sequence[Advice]) -> None:
    for advice in advised:
        frame.note(fill("next: {}{}", f"{frame.leading(advice.first)}: " if advice.first else "", command(frame.here(advice.command))))


def shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."


def tell(frame: Frame, fault: ToolgateError) -> None:
    """A fault beside an answer: on stderr, in the form that a refusal has."""
    faults.say(frame.format() in ("json", "jsonl"), frame.leads(fault))


def believed(frame: Frame, session: Window) -> None:
    """Says beside what waits where nothing of it can be decided."""
    if (why := session.taken_back()) is not None:
        from ..runtime.heads import REASONS

        accepted = command(frame.here("toolgate recover --accept-rollback"))
        frame.note(fill("note: {}: {} it decides nothing until {}", why, REASONS, accepted))


def left_out(frame: Frame, unread: Sequence[ToolgateError]) -> int:
    """What a list had to leave out, because it cannot be read; the exit code of the list."""
    for fault in unread:
        tell(frame, fault)
    return exits.OF_KIND["storage"] if unread else 0
