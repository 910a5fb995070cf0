"""Which row a decision is about: by ref, by id, or the only one that there is. Nothing is ever chosen among several.

The row that is found here carries its version all the way to the claim, so what is decided is what was selected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from ..core import canonical, chain, digests, verbs
from ..core.errors import Choice, ToolgateError
from ..core.records import Call, EventQuery, Row, RowQuery, Run, RunQuery
from ..core.types import Json, Verb
from ..core.values import NamedTuple
from . import standing
from .standing import Moment

if TYPE_CHECKING:
    from .store import Reader

LOOKING, DECIDING = 4, 8  # the shortest prefix of an id that serves
ID_LENGTH = 14
MOST = 10  # commands to choose from
_TOLD_OF_ARGUMENTS = 80  # characters: calls of a tool without a title are told apart by them
_TOLD = 3  # of those that are not to choose from
SHOWN = 20  # candidates that are looked up where nothing was named


class Words(NamedTuple):
    """[RUN] [CALL] in either order; `hex` is the part of a ref behind the @."""

    run: str | None
    call: str | None
    hex: str | None


def read(words: Sequence[str]) -> Words:
    run = call = hex = None
    for word in words:
        id, at, rest = word.partition("@")
        if word.startswith("r") and not at:
            run = _only("run", run, word)
        elif word.startswith(("c", "w")):
            call, hex = _only("call", call, id), rest if at else None
        else:
            raise ToolgateError("not_found", f"{word} is neither a run (r...) nor a call (c...)", "toolgate pending list")
    return Words(run, call, hex)


def _only(what: str, known: str | None, word: str) -> str:
    if known is not None:
        raise ToolgateError("not_found", f"two {what}s are given, {known} and {word}", "one [RUN] and one [CALL] at most")
    return word


def run(tx: Reader, word: str, shortest: int = LOOKING) -> Run:
    """The run of that id, or of that unique prefix."""
    exact = tx.run(word)
    if exact is not None:
        return exact
    found = tx.runs(RunQuery(prefix=word, limit=2)) if _prefix(word, "r", shortest) else ()
    if len(found) > 1:
        raise ToolgateError("ambiguous", f"{word} is the beginning of several runs", "give more of it")
    if not found:
        _refuse_a_call(tx, word)
        raise ToolgateError("not_found", f"no run {word}", _more(word, "r", shortest) or "toolgate runs list")
    return found[0]


def _refuse_a_call(tx: Reader, word: str) -> None:
    stored = tx.call(word.partition("@")[0])
    if stored is not None:
        raise ToolgateError("not_found", f"{word} is a call of run {stored[0].run_id}", f"toolgate runs show {stored[0].run_id}")


def call(tx: Reader, word: str) -> Call:
    """The call of that id, of that unique prefix, or of a ref that it had, whether it waits or not."""
    id, at, _ = word.partition("@")
    found = _any_call(tx, id)
    if at and not _had(tx, found, f"{found.id}@{word[len(id) + 1 :]}"):
        raise ToolgateError("ref_mismatch", f"{found.id} was never {word}", f"look at it: toolgate runs show {found.run_id}")
    return found


def _had(tx: Reader, call: Call, ref: str) -> bool:
    """Whether the call has waited under that ref; once what its events said is erased, nothing can be held against one."""
    told = [event.payload for event in tx.events(EventQuery(call_id=call.id)) if event.type != chain.REDACTED]
    return any(text is None or _ref_in(text) == ref for text in told)


def _ref_in(payload: str) -> Json:
    said = canonical.parse(payload)
    return said.get("ref") if isinstance(said, dict) else None


def _any_call(tx: Reader, word: str) -> Call:
    exact = tx.call(word)
    if exact is not None:
        return exact[0]
    found = tx.calls(word, 2) if _prefix(word, "c", DECIDING) else ()
    if len(found) > 1:
        raise ToolgateError("ambiguous", f"{word} is the beginning of several calls", "give more of it")
    if not found:
        hint = _more(word, "c", DECIDING) or "toolgate events shows the calls"
        raise ToolgateError("not_found", f"no call {word}", hint)
    return found[0]


def row(tx: Reader, words: Sequence[str], verb: Verb | None, seen: Moment, shortest: int = DECIDING) -> Row:
    """The one open call that is meant. `verb`: what it is wanted for (None: only to be shown)."""
    asked = read(words)
    of = run(tx, asked.run, shortest) if asked.run is not None else None
    if asked.call is not None:
        found = _named(tx, asked, asked.call, of, shortest)
        return found if verb is None else _a_call(tx, found, verb, seen)
    if of is not None:
        return _only_of(tx, of, verb, seen)
    calls = standing.newest(tx, SHOWN, calls_only=True)
    if len(calls) == 1:
        return calls[0]
    if not calls:
        _no_call(tx, verb, seen)
    anything = standing.newest(tx, SHOWN)
    left = [row for row in anything if row.revision is not None and row not in calls]  # of cancelled runs: never taken, and not hidden
    return _one(tx, (*calls, *left), verb, seen, more=SHOWN in (len(calls), len(anything)))


def _no_call(tx: Reader, verb: Verb | None, seen: Moment) -> NoReturn:
    """What waits is named, if it is not to be chosen: a step, and a doubt that is left of a cancelled run."""
    rows = standing.newest(tx, MOST)
    if not rows:
        raise ToolgateError("not_found", "no call waits for a decision", "toolgate runs list")
    doubts = [row for row in rows if row.revision is not None]
    none = f"no call {'of a run that goes on ' if doubts else ''}waits for a decision"
    if verb is None:  # who only looks is told how to look at each
        choices = [
            Choice(f"toolgate pending show {row.run_id if row.revision is None else digests.ref(row)}", _title(tx, row)) for row in rows
        ]
        raise ToolgateError("not_found", f"{none}, and of what waits else nothing was named", choices=choices)
    said = " or ".join(filter(None, ("a step that waits" if len(doubts) < len(rows) else "", _LEFT if doubts else "")))
    choices = [Choice(_command_of(tx, row, verb, seen), _title(tx, row)) for row in rows]
    raise ToolgateError("not_found", f"{none}, and {said} is decided by naming it", choices=choices)


_LEFT = "a call that a cancelled run left in doubt"


def _command_of(tx: Reader, row: Row, verb: Verb, seen: Moment) -> str:
    run = tx.run(row.run_id)
    assert run is not None, row.run_id
    return standing.command(tx, run, row, seen, verb)


def _a_call(tx: Reader, found: Row, verb: Verb, seen: Moment) -> Row:
    """A gate, review, escalation or form is decided by naming its step."""
    if found.revision is not None:
        return found
    of = tx.run(found.run_id)
    assert of is not None, found.run_id
    standing.handler(tx, of, found, verb, seen)
    raise ToolgateError("wrong_state", f"{found.id} is not a call: {of.id} is {of.status}", standing.command(tx, of, found, seen, verb))


def _named(tx: Reader, asked: Words, call: str, of: Run | None, shortest: int) -> Row:
    found = tx.find(of.id if of else None, call)
    if found is None and _prefix(call, call[:1], shortest):
        matching = tx.rows(RowQuery(prefix=call, run_id=of.id if of else None, limit=2))
        if len(matching) > 1:
            raise ToolgateError("ambiguous", f"{call} is the beginning of several calls", "give more of it")
        found = matching[0] if matching else None
    if found is None:
        _settled(tx, call, of, shortest)
        where = f" in {of.id}" if of else ""
        hint = _more(call, call[:1], shortest) or "toolgate pending list"
        raise ToolgateError("not_found", f"no call {call} waits for a decision{where}", hint)
    if asked.hex is not None and digests.ref(found) != f"{found.id}@{asked.hex}":
        raise ToolgateError(
            "ref_mismatch", f"{found.id} is not what {call}@{asked.hex} was", f"look at it again: toolgate pending show {found.id}"
        )
    return found


def _settled(tx: Reader, call: str, of: Run | None, shortest: int) -> None:
    found = tx.calls(call, 2) if _prefix(call, "c", shortest) else ()
    stored = tx.call(found[0].id if len(found) == 1 else call)
    if stored is None or (of is not None and stored[0].run_id != of.id):
        return
    running = any(attempt.row.id == call for attempt in tx.attempts(stored[0].run_id))
    of = tx.run(stored[0].run_id)
    assert of is not None, stored[0].run_id
    closed = "is not open: its run was cancelled" if of.status == "CANCELLED" else "is not open"
    state = "is running" if running else f"was settled: {stored[1].status}" if stored[1] else closed
    raise ToolgateError("claim_lost", f"{call} {state}", f"toolgate runs show {stored[0].run_id}")


def _only_of(tx: Reader, of: Run, verb: Verb | None, seen: Moment) -> Row:
    rows = tx.find_by_run(of.id)
    calls = [row for row in rows if row.revision is not None]
    if calls and of.status != "CANCELLED":
        return _one(tx, tuple(calls), verb, seen)
    waits = rows[0] if rows else None
    if verb is not None:
        standing.handler(tx, of, waits, verb, seen)
    if calls:  # a doubt that is left of a cancelled run is never an implicit choice
        commands = [standing.command(tx, of, row, seen, verb) for row in calls]
        choices = [Choice(command, _title(tx, row)) for command, row in zip(commands, calls, strict=True)] if len(calls) > 1 else []
        why = f"{of.id} is CANCELLED, and {_LEFT} is decided by naming it"
        raise ToolgateError("wrong_state", why, "" if choices else commands[0], choices=choices)
    use = verbs.use(standing.state(tx, of, waits, seen))
    raise ToolgateError(
        "wrong_state", f"{of.id} is {of.status} and has no call that waits: {use}", standing.command(tx, of, waits, seen, verb)
    )


def _one(tx: Reader, found: tuple[Row, ...], verb: Verb | None, seen: Moment, *, more: bool = False) -> Row:
    """The only one; else those that the verb would move, in the order in which `pending list` has them. `more`: there may be others."""
    if len(found) == 1:
        return found[0]
    stand = [(row, standing.of_row(tx, row, seen)) for row in found]
    moved = [row for row, state in stand if verb is None or verbs.moves(state, verb)]
    hint = f"and {len(moved) - MOST} more: toolgate pending list" if len(moved) > MOST else ""
    if not moved:
        hint = f"{verb} moves none of them: toolgate pending list"
    elif not hint and len(moved) < len(found):
        hint = f"{verb} does not move the others: {_others([each for each in stand if each[0] not in moved])}"
    of_one = len({row.run_id for row in found}) == 1
    raise ToolgateError(
        "ambiguous",
        f"{len(found)}{' or more' if more else ''} calls wait for a decision, and nothing is chosen among several",
        hint,
        choices=[
            Choice(_choice(tx, row, state, verb, seen, of_one=of_one), _title(tx, row)) for row, state in stand if row in moved[:MOST]
        ],
    )


def _choice(tx: Reader, row: Row, state: verbs.State, verb: Verb | None, seen: Moment, *, of_one: bool) -> str:
    """The command; its run is named where that tells it from the others."""
    if state == "CANCELLED_IN_DOUBT" and verb is not None:
        return _command_of(tx, row, verb, seen)  # its flag is not left to choose
    return f"toolgate {verb or 'pending show'} {'' if of_one else f'{row.run_id} '}{digests.ref(row)}"


def _others(stand: Sequence[tuple[Row, verbs.State]]) -> str:
    """What else waits, and what would move it."""
    told = [f"{row.id} is {verbs.name(state)} (use {verbs.works(state).replace(' | ', ' or ')})" for row, state in stand[:_TOLD]]
    return ", ".join([*told, *(["toolgate pending list"] if len(stand) > _TOLD else [])])


def _title(tx: Reader, row: Row) -> str:
    stored = tx.call(row.id, row.revision) if row.revision is not None else None
    if stored is None:
        return row.reason or row.step
    return stored[0].title or " ".join(filter(None, (stored[0].capability, (stored[0].arguments or "")[:_TOLD_OF_ARGUMENTS])))


def shown(tx: Reader, words: Sequence[str], seen: Moment) -> Row:
    """What is to be looked at: the one call that is meant, what a run waits for instead, or the only thing that waits at all."""
    try:
        return row(tx, words, None, seen, shortest=LOOKING)
    except ToolgateError as error:
        asked = read(words)
        all = standing.newest(tx, 2) if not words else ()
        if len(all) == 1:
            return all[0]
        waits = tx.find_by_run(run(tx, asked.run).id) if asked.run is not None and asked.call is None else ()
        if error.kind == "wrong_state" and waits:
            return waits[0]
        raise


def step(tx: Reader, word: str, step: str | None, verb: Verb, seen: Moment) -> Row:
    """The gate, review, escalation or form that a run waits for. A named step must be the one."""
    of = run(tx, word, DECIDING)
    rows = tx.find_by_run(of.id)
    waits = [row for row in rows if row.revision is None]
    if not waits or of.status == "CANCELLED":
        stands = rows[0] if rows else None
        standing.handler(tx, of, stands, verb, seen)  # mostly raises, naming the verb that works
        raise ToolgateError("wrong_state", f"{of.id} is {of.status}: no step of it waits", standing.command(tx, of, stands, seen))
    found = waits[0]
    if step is not None and step not in (found.step, found.step.rsplit("/", 1)[-1]):
        raise ToolgateError(
            "wrong_state", f"{of.id} waits for the step {found.step}, not for {step}", standing.command(tx, of, found, seen, verb)
        )
    return found


def _prefix(word: str, letter: str, shortest: int) -> bool:
    return word.startswith(letter) and shortest <= len(word) < ID_LENGTH


def _more(word: str, letter: str, shortest: int) -> str:
    """What to do about a beginning that is too short to stand for an id here."""
    return f"give {shortest} characters of it, or more" if word.startswith(letter) and len(word) < shortest else ""
