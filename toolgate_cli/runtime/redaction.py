"""Erases what a settled call holds, and what its run has copied from its result. The chain still verifies: a REDACTED event says what was
erased, never its content.

What went into the call stands elsewhere on its own account (inputs, answers, other calls) and stays; it is named, not erased. Who decided
what stays on record: the facts of a person's decision on the call, but not their reason, which may quote it, stand in the REDACTED event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..core import canonical, chain, scopes
from ..core.errors import ToolgateError
from ..core.person import SYSTEM, acted
from ..core.quoting import SHORTEST, Quotes, texts
from ..core.records import Call, Event, EventQuery, Outcome, Run, Step, Turn, Value
from ..core.types import Json
from ..core.values import NamedTuple
from . import standing
from .answers import Redaction
from .unit import Unit

if TYPE_CHECKING:
    from .store import Reader

OVER = ("COMPLETED", "FAILED", "CANCELLED")
ERASED: Json = "redacted"
_DECIDER = (
    *SYSTEM.facts(),
    "version",
    "origin",
    "verb",
    "kind",
    "may_run_twice",
    "applied",
    "answer",
    "round",
    "reconciled",
)  # what of a decision is about who decided what
_FREE = ("reason", "message")  # where an event or an error holds text of any origin; the rest are names and numbers of the definition


class _Held(NamedTuple):
    """A call with everything of its run in which its text may stand."""

    run: Run
    revisions: tuple[Call, ...]
    outcome: Outcome | None
    events: tuple[Event, ...]
    values: tuple[Value, ...]
    steps: tuple[Step, ...]
    turns: tuple[Turn, ...]

    @property
    def call(self) -> Call:
        return self.revisions[-1]


class _Found(NamedTuple):
    """What of it is to be erased."""

    texts: bool  # of the call itself, or of its outcome
    events: tuple[int, ...]
    values: tuple[Value, ...]
    steps: tuple[Step, ...]
    turns: tuple[Turn, ...]
    error: bool


def redact(unit: Unit, id: str, reason: str) -> Redaction:
    """Erases, in this transaction. Nothing is written where nothing is left to be erased."""
    held = _look(unit.tx, _settled(unit, id))
    found = _find(held)
    still = tuple(_still(unit.tx, held, found))
    if not any(found):
        return Redaction(id, held.run.id, 0, (), 0, 0, 0, False, still)
    unit.tx.erase(id, found.events, tuple(_bare(turn) for turn in found.turns))
    unit.tx.add(value._replace(value=None, call_id=id) for value in found.values)
    unit.tx.add(step._replace(output=None) for step in found.steps)
    if found.error:
        _erase_error(unit, held.run)
    facts: dict[str, Json] = {
        "reason": reason,
        "events": list(found.events),
        "revisions": len(held.revisions),
        "context": len(found.values),
        "steps": [step.path for step in found.steps],
        "turns": len(found.turns),
        "error": found.error,
        "decisions": list(_decisions(held, found)),
        **unit.person.facts(),
    }
    unit.record(chain.REDACTED, held.run, facts, call=held.call)
    return Redaction(
        id, held.run.id, len(held.revisions), found.events, len(found.values), len(found.steps), len(found.turns), found.error, still
    )


def _decisions(held: _Held, found: _Found) -> Iterator[Json]:
    """Of every decision whose event is erased, who made it and what it was; type, actor, digest and time stay in the event itself."""
    for event in held.events:
        told = _read(event.payload) if event.seq in found.events else None
        if isinstance(told, dict) and acted(told):
            yield {"seq": event.seq, **{name: told[name] for name in _DECIDER if name in told}}


def _settled(unit: Unit, id: str) -> Call:
    """The call, once nothing of it can run any more. ToolgateError("wrong_state") names the command that moves it."""
    stored = unit.tx.call(id)
    assert stored is not None, id
    run = unit.run(stored[0].run_id)
    assert run is not None, stored[0].run_id
    row = unit.tx.find(run.id, id)
    if row is not None:
        move = standing.command(unit.tx, run, row, standing.of(unit))
        raise ToolgateError("wrong_state", f"{id} is not settled: it waits as {row.origin}", move)
    if any(attempt.row.id == id for attempt in unit.tx.attempts(run.id)):
        raise ToolgateError("wrong_state", f"{id} is not settled: it is running", f"toolgate wait {run.id}")
    if stored[1] is None and run.status not in OVER:
        first = standing.first(unit.tx, run)
        move = standing.command(unit.tx, run, first, standing.of(unit))
        raise ToolgateError("wrong_state", f"{id} is not settled: its run has not come to it yet", move)
    return stored[0]


def _look(tx: Reader, call: Call) -> _Held:
    run = tx.run(call.run_id)
    assert run is not None, call.run_id
    stored = [tx.call(call.id, revision) for revision in range(1, call.revision + 1)]
    revisions = tuple(found[0] for found in stored if found is not None)
    outcome = stored[-1][1] if stored[-1] is not None else None
    return _Held(run, revisions, outcome, tuple(tx.events(EventQuery(run.id))), tx.values(run.id), tx.steps(run.id), tx.turns(run.id, None))


def _find(held: _Held) -> _Found:
    call, body = held.call, held.outcome.body if held.outcome else None
    copies = Quotes(texts(_read(body)) - _asked(held))
    error = f"tool.{call.capability}.error"

    # an input (top -1) was there before the call and is no copy of its result
    def copied(text: str | None) -> bool:
        return text is not None and (copies.stands_in(text) or (text == body and len(text) >= SHORTEST))

    return _Found(
        any(text is not None for revision in held.revisions for text in _texts(revision)) or body is not None,
        tuple(event.seq for event in held.events if event.payload is not None and event.type != chain.REDACTED and (
            event.call_id == call.id or (event.call_id is None and copied(_free(event.payload))))),
        tuple(value for value in held.values if value.value is not None and value.top >= 0 and (
            value.value == body if scopes.split(value.key)[1] == error
            else not scopes.split(value.key)[1].startswith("tool.") and copied(value.value))),
        tuple(step for step in held.steps if step.output is not None and (
            copied(step.output) or (step.path == call.step and step.output == body))),
        tuple(turn for turn in held.turns if _asks(turn, call.id) and turn != _bare(turn)),
        held.run.status == "FAILED" and copied(_free(held.run.error)),
    )  # fmt: skip


def _free(stored: str | None) -> str | None:
    """What of an event or an error may be a copy, as JSON; None: nothing, as in the record of what a person decided."""
    told = _read(stored)
    return canonical.encode([told[key] for key in _FREE if key in told]) if isinstance(told, dict) and not acted(told) else None


def _asked(held: _Held) -> frozenset[str]:
    """What went into the call, in whichever revision."""
    return texts(*(_read(revision.arguments) for revision in held.revisions))


def _texts(call: Call) -> tuple[str | None, ...]:
    return call.arguments, call.title, call.rationale, call.label


def _read(text: str | None) -> Json:
    return None if text is None else canonical.parse(text)


def _still(tx: Reader, held: _Held, found: _Found) -> Iterator[str]:
    """Where else in the run a text of the call stands, and stays; of a short one that it may be there by chance."""
    said = [text for revision in held.revisions for text in (_read(revision.arguments), revision.title, revision.rationale)]
    id, quotes = held.call.id, Quotes(texts(_read(held.outcome.body if held.outcome else None), *said, shortest=2))
    yield from (f"context {value.key}" for value in held.values if value not in found.values and quotes.stands_in(value.value))
    yield from (f"step {step.path}" for step in held.steps if step not in found.steps and quotes.stands_in(step.output))
    yield from (f"turn {turn.number} of {turn.path}" for turn in held.turns if turn not in found.turns and quotes.stands_in(turn.commands))
    others = dict.fromkeys(event.call_id for event in held.events if event.call_id not in (None, id))
    yield from (f"call {other}" for other in others if other is not None and _stands_in_call(tx, other, quotes))
    waits = [row for row in tx.find_by_run(held.run.id) if row.id not in others]
    yield from (f"what waits: {row.id}" for row in waits if _in_any(quotes, row.reason, row.last))
    if quotes.stands_in(held.run.cursor):
        yield "where the run stands"
    if not found.error and quotes.stands_in(held.run.error):
        yield "the error of the run"
    of_none = [event for event in held.events if event.call_id is None and event.seq not in found.events]
    yield from (f"list {digest[:12]}, which a loop copied" for digest in _lists(held.events) if _stands_in_list(tx, digest, quotes))
    yield from (f"event {event.seq}" for event in of_none if quotes.stands_in(event.payload))


def _lists(events: tuple[Event, ...]) -> tuple[str, ...]:
    """Digests of the lists that loops of the run went through."""
    told = (canonical.parse(event.payload) for event in events if event.type == "LOOP_ITERATION_STARTED" and event.payload is not None)
    return tuple(dict.fromkeys(str(facts["list"]) for facts in told if isinstance(facts, dict) and "list" in facts))


def _stands_in_list(tx: Reader, digest: str, quotes: Quotes) -> bool:
    stored = tx.definition(digest)
    return stored is not None and quotes.stands_in(stored.body)


def _in_any(quotes: Quotes, *stored: str | None) -> bool:
    return any(map(quotes.stands_in, stored))


def _stands_in_call(tx: Reader, id: str, quotes: Quotes) -> bool:
    newest, row = tx.call(id), tx.find(None, id)
    if newest is None:
        return False
    last, outcome = newest
    stored = [last, *(found[0] for found in (tx.call(id, revision) for revision in range(1, last.revision)) if found is not None)]
    said = (outcome.body if outcome else None, *((row.reason, row.last) if row else ()))
    return _in_any(quotes, *said, *(text for call in stored for text in _texts(call)))


def _commands(turn: Turn) -> list[Json]:
    commands = canonical.parse(turn.commands)
    return commands if isinstance(commands, list) else []


def _asks(turn: Turn, call: str) -> bool:
    return any(isinstance(command, dict) and command.get("call") == call for command in _commands(turn))


def _bare(turn: Turn) -> Turn:
    """A turn of which only its calls are left, by name and id: the conversation can go on with their results."""
    calls: list[Json] = [
        {"type": "tool_invocation", "capability": command.get("capability"), "call": command["call"], "rationale": ERASED}
        for command in _commands(turn)
        if isinstance(command, dict) and "call" in command
    ]
    return turn._replace(commands=canonical.encode(calls))


def _erase_error(unit: Unit, run: Run) -> None:
    """Where and under which number it failed stays; nobody drives a run that has failed."""
    error = canonical.parse(run.error) if run.error else None
    told: dict[str, Json] = {**(error if isinstance(error, dict) else {}), "message": ERASED}
    unit.put_run(run._replace(error=canonical.encode(told), version=run.version + 1), run.version)
