"""Where a run or a row stands in the table of verbs, and the command that moves it: the same for every verb and every refusal (I6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from ..core import canonical, digests, effects, verbs
from ..core.definition import is_whole, opened
from ..core.records import Row, RowQuery, Run
from ..core.types import Json, Verb
from ..core.values import NamedTuple
from . import ownership, sealing
from .answers import Advice

if TYPE_CHECKING:
    from ..core.definition import StepTable
    from .ports import Clock, Ports
    from .store import Reader
    from .unit import Unit


class Moment(NamedTuple):
    """What beside the store says where something stands: the time that counts, and who is at work now."""

    at: str
    ports: Ports


def now(tx: Reader, clock: Clock) -> str:
    """The later of the clock and the last event: what has expired stays expired when the clock goes back."""
    head = tx.head()
    return clock.now() if head is None else max(clock.now(), head.at)


def moment(tx: Reader, ports: Ports) -> Moment:
    """Now, for who reads."""
    return Moment(now(tx, ports.clock), ports)


def of(unit: Unit) -> Moment:
    """Now, for who writes."""
    return Moment(unit.now, unit.ports)


def is_over(row: Row, at: str) -> bool:
    return row.expires_at is not None and row.expires_at <= at


def first(tx: Reader, run: Run) -> Row | None:
    """The row that speaks for a run as a whole."""
    return next(iter(tx.find_by_run(run.id)), None)


def newest(tx: Reader, limit: int, *, calls_only: bool = False) -> tuple[Row, ...]:
    """The newest of all that waits, newest first; what was asked for at one moment in the order in which it was."""
    asked = sorted(tx.rows(RowQuery(calls_only=calls_only, newest_first=True, limit=limit)), key=lambda row: row.parked_by)
    return tuple(sorted(asked, key=lambda row: row.created_at, reverse=True))  # stable: those of one moment stay as they are


def state(tx: Reader, run: Run, row: Row | None, seen: Moment) -> verbs.State:
    """The row of the table for a run and its open row; without a row, for the run as a whole."""
    if row is None:
        if run.status == "FAILED" and not _may_be_repeated(tx, run, seen):
            return "FAILED_FOR_GOOD"
        if run.status == "FAILED":
            return "FAILED_BY_DEFINITION" if _error(run).get("always") else "FAILED"
        return verbs.state_of(run.status, None, run.owner is not None and ownership.alive(seen.ports, run.owner))
    doubt = not effects.repeatable(row.doubt)  # starting it again is refused (I9)
    return verbs.state_of(run.status, verbs.Waits(row.origin, is_over(row, seen.at), doubt, _refused(tx, row)))


def _may_be_repeated(tx: Reader, run: Run, seen: Moment) -> bool:
    """Whether `retry --step` takes the step at which a run failed."""
    from . import replaying  # only for what has failed

    at = _failed_at(tx, run)
    return at is None or replaying.refusal(seen.ports, tx, run, at.top) is None


def again(tx: Reader, run: Run, seen: Moment) -> tuple[Advice, ...]:
    """How what failed is done again; nothing where its step is not to be repeated, or a workflow that chose to fail would again."""
    at = _failed_at(tx, run)
    chosen = at is None or getattr(seen.ports.step_kind(str(at.inmost["type"])), "ENDS", False)
    if chosen or state(tx, run, None, seen) == "FAILED_FOR_GOOD":
        return ()
    return (advice(tx, run, None, seen),)


class _At(NamedTuple):
    """A top-level step, and the one inside it that a run has come to: the same where nothing is inside."""

    top: StepTable
    inmost: StepTable


def _failed_at(tx: Reader, run: Run) -> _At | None:
    """Where a run stands, by its own definition; None where that cannot be read."""
    from ..core import cursor

    stored, frames = tx.definition(run.definition), cursor.load(run.cursor)
    if stored is None or not is_whole(stored):
        return None
    definition = opened(stored)
    try:
        sequence = definition.within(frames).sequence(frames[-1].block)
        return _At(definition.sequence("")[frames[0].position], sequence[frames[-1].position])
    except LookupError:
        return None


def _refused(tx: Reader, row: Row) -> Literal["RECEIVE", "VALIDATE"] | None:
    """In which phase the arguments of a call that failed were refused, by the event that parked it."""
    if row.origin != "EXECUTION_FAILED":
        return None
    stored = tx.call(row.id, row.revision)
    if stored is not None and stored[0].arguments is None:
        return "RECEIVE"
    event = tx.event(row.parked_by) if row.starts == 0 else None
    told = sealing.payload(event) if event is not None else {}
    return "VALIDATE" if told.get("phase") == "VALIDATE" and told.get("code") not in _OF_THE_HOME else None


_OF_THE_HOME = ("unchecked", "unbindable")  # codes of VALIDATE where it is the home that can be mended


def handler(tx: Reader, run: Run, row: Row | None, verb: Verb, seen: Moment) -> verbs.Handler:
    """What the verb does there; ToolgateError("wrong_state") says what works, as a command to paste."""
    stands = state(tx, run, row, seen)
    return verbs.handler(stands, verb, *_named(run, row, stands))


def command(tx: Reader, run: Run, row: Row | None, seen: Moment, verb: Verb | None = None) -> str:
    """The first command that moves what stands there, of the verb that was asked for where that one does."""
    stands = state(tx, run, row, seen)
    return verbs.command(stands, *_named(run, row, stands), verb)


def advice(tx: Reader, run: Run, row: Row | None, seen: Moment) -> Advice:
    """What is to be done about what stands there."""
    stands = state(tx, run, row, seen)
    first = verbs.first(stands)
    stored = None
    if stands == "NOT_VALID":
        assert row is not None, run.id  # it is a call
        stored = tx.call(row.id, row.revision)
    if stored is not None:
        first = f"toolgate tools show {stored[0].capability} has the schema; {first}"
    return Advice(verbs.command(stands, *_named(run, row, stands)), first)


def of_row(tx: Reader, row: Row, seen: Moment) -> verbs.State:
    """The row of the table for an open row."""
    run = tx.run(row.run_id)
    assert run is not None, row.run_id
    return state(tx, run, row, seen)


def _named(run: Run, row: Row | None, stands: verbs.State) -> tuple[str, str]:
    """What such a command is about, and what its flag is given."""
    if row is not None and row.origin not in verbs.TABLE:
        return run.id, ""
    if row is not None:
        return (digests.ref(row), "FILE") if row.revision is not None else (run.id, row.step)
    if stands in ("FAILED_FOR_GOOD", "FAILED_BY_DEFINITION"):
        return run.workflow, ""
    if run.status in ("COMPLETED", "CANCELLED"):
        return run.id, ""
    return run.id, str(_error(run).get("step", "STEP")).split("/")[0]


def _error(run: Run) -> Mapping[str, Json]:
    error = canonical.parse(run.error) if run.error else None
    return error if isinstance(error, dict) else {}
