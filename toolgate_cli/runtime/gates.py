"""Decisions on waits of a step: gates, reviews, escalations and forms. No run gets past a declared gate without its decision event."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from ..core import canonical, cursor, forms
from ..core.cursor import Cursor
from ..core.errors import ToolgateError
from ..core.intents import Answered, Noted
from ..core.records import Row, Run
from ..core.types import Json
from ..core.values import NamedTuple
from . import parking, standing
from .answers import EffectWord
from .cases import Undone, Word
from .engine import Engine
from .place import fail_step, put
from .unit import Unit
from .work import Work

EVENTS = {  # what waits and what was said -> the event, and how the command calls its effect
    ("STEP_APPROVAL", "pass"): ("STEP_APPROVED", "approved"),
    ("STEP_APPROVAL", "fail"): ("STEP_REJECTED", "rejected"),
    ("ESCALATION", "pass"): ("APPROVED", "approved"),
    ("ESCALATION", "fail"): ("REJECTED", "rejected"),
    ("REVIEW", "pass"): ("STEP_REVIEWED", "reviewed"),
    ("INPUT", "answer"): ("INPUT_SUBMITTED", "answered"),
}


def decide(engine: Engine, target: Row, word: Word, ask: Callable[[], None] | None = None) -> EffectWord:
    """Carries the word out and drives what it set free. `ask`: is called once nothing refuses the word, with nothing of it done."""
    if ask is not None:
        with suppress(Undone), engine.write() as unit:
            _take(engine, unit, target, word)
            raise Undone
        ask()
    with engine.write() as unit:
        effect, work = _take(engine, unit, target, word)
    engine.carry(target.run_id, work)
    return effect


def _take(engine: Engine, unit: Unit, target: Row, word: Word) -> tuple[EffectWord, Work | None]:
    row = unit.tx.verify_still_current(target)
    if row is None:
        raise ToolgateError("claim_lost", f"the step {target.step} was decided by somebody else", f"toolgate runs show {target.run_id}")
    run = unit.run(row.run_id)
    assert run is not None
    handler = standing.handler(unit.tx, run, row, word.verb, standing.of(unit))
    if handler != "fail":  # a no lets nothing run: a row that other hands changed can still be closed
        parking.asked_by_the_chain(unit, row)
    answers = forms.check(_form(row), word.texts, word.values) if handler == "answer" else {}
    if unit.tx.claim(row) is None:
        raise ToolgateError("claim_lost", f"the step {target.step} was decided by somebody else", f"toolgate runs show {target.run_id}")
    event, effect = EVENTS[row.origin, handler]
    facts: dict[str, Json] = {"items": list(answers)} if handler == "answer" else {"note": word.note}
    unit.decided(event, run, row, None, facts)
    work = HANDLERS[handler](Said(engine, unit, run, row, word, answers))
    return effect, work  # type: ignore[return-value]  # every word of EVENTS is an EffectWord


def _form(row: Row) -> Json:
    facts = canonical.parse(row.last or "{}")
    return facts.get("form", []) if isinstance(facts, dict) else []


class Said(NamedTuple):
    """A word that was claimed, inside its transaction."""

    engine: Engine
    unit: Unit
    run: Run
    row: Row
    word: Word
    answers: dict[str, Json]


def _pass(said: Said) -> Work | None:
    frames = cursor.load(said.run.cursor)
    if frames[-1].phase == cursor.GATE:
        return said.engine.move_on(said.unit, said.run._replace(cursor=cursor.dump(_past_the_gate(frames))))
    return said.engine.move_on(said.unit, said.run, Noted(said.word.note or ""))


def _past_the_gate(frames: Cursor) -> Cursor:
    held = frames[-1]
    after = held.memo["after"]
    assert isinstance(after, int)
    return (*frames[:-1], held.to(after))


def _fail(said: Said) -> Work | None:
    unit, run, step = said.unit, said.run, said.row.step
    put(unit, fail_step(unit, run, step, said.word.note or "rejected by a person")._replace(owner=None), run.version)
    return None


def _answer(said: Said) -> Work | None:
    return said.engine.move_on(said.unit, said.run, Answered(said.answers))


HANDLERS: dict[str, Callable[[Said], Work | None]] = {"pass": _pass, "fail": _fail, "answer": _answer}
