"""What the deciding commands have in common: which row is meant, the question, and how the answer is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..core import verbs
from ..core.errors import ToolgateError
from ..core.types import Json, Verb
from ..core.values import NamedTuple
from ..runtime.answers import Answer, Waiting
from . import ask, exits, faults, output
from .frame import Frame
from .safe import fill
from .views import pending, run

if TYPE_CHECKING:
    from ..runtime.desk import Desk


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
    act: Callable[[Desk, Waiting], Answer],
    edited: Mapping[str, Json] | None = None,
) -> int:
    """Chooses one row, asks where a person is there, and carries the decision out on exactly that row. `edited`: the arguments that the
    call is to have instead of its own."""
    frame.format()  # a wrong format is found out before anything happens, not after
    asking = ask.must_ask(manner.yes, manner.no_input)
    with frame.session() as session:
        target = choose(session)
        if asking and not _in_vain(verb, target):
            ask.confirm(verb, target, edited)
        return conclude(frame, verb, act(session, target), exit_status)


def _in_vain(verb: Verb, target: Waiting) -> bool:
    """Whether the verb only records that it was refused, a denial's or a late approval's: nobody is asked for a word that counts for
    nothing."""
    state = verbs.state_of("RUNNING", target.row.origin, target.call is not None and target.call.arguments is None, target.expired)
    return verbs.TABLE[state].get(verb) in ("lapsed", "override")


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


def conclude(frame: Frame, verb: Verb | str, answer: Answer, exit_status: bool = False) -> int:
    """Shows the answer, says what moves the run on, and gives the exit code."""
    output.show_one(frame, lambda: run.answer_json(answer), lambda: run.answer_fields(answer), lambda: run.answer_sheet([answer]))
    return told(frame, verb, answer, exit_status)


def told(frame: Frame, verb: Verb | str, answer: Answer, exit_status: bool = False) -> int:
    """What stands beside an answer that was shown: its fault, and what moves the run on. The exit code."""
    code = exits.after(verb, answer.run.run, [waiting.row for waiting in answer.pending], exit_status)
    if answer.fault is not None:  # the verb took effect, and something kept the run from going on: both are told
        tell(frame, answer.fault)
        code = code if code in (exits.IN_DOUBT, 1) else 1
    for command in answer.next:
        frame.note(fill("next: {}", frame.here(command)))
    return code


def tell(frame: Frame, fault: ToolgateError) -> None:
    """A fault beside an answer: on stderr, in the form that a refusal has."""
    faults.say(frame.format() in ("json", "jsonl"), frame.leads(fault))
