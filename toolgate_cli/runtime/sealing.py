"""Binds the row of a run to the log: the last event that a transaction records of a run says what the row is when it ends. A row that other
hands changed is then none that decides, drives or starts anything, and a wait that they took away is missed (I3, I6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from ..core import canonical, chain, sums
from ..core.errors import ToolgateError
from ..core.records import Event, EventQuery, Run, RunQuery
from ..core.types import Json, Status
from ..core.values import NamedTuple

if TYPE_CHECKING:
    from .store import Reader

NAME = "run"  # in the payload of that event
_MOVED = ("cursor", "version", "updated_at")  # the cursor is hashed as it is stored; the others only count writes


def seal(run: Run) -> str:
    """Hex sha256 of everything in a run that decides."""
    facts = [value for name, value in zip(Run._fields, run, strict=True) if name not in _MOVED]
    return sums.sha256((canonical.flat(facts) + run.cursor).encode("utf-8", "surrogatepass")).hexdigest()


def holds(tx: Reader, run: Run) -> bool:
    """Whether the last word of the log on that run is that its row is this one. Redaction leaves it: it ends with an event of its own."""
    last = next(tx.events(EventQuery(run.id, limit=1, newest=True)), None)
    return last is not None and chain.intact(last) and tells(last, NAME, seal(run))


def changed(run: str) -> ToolgateError:
    return ToolgateError(
        "storage", f"the run {run} was changed by other hands: the log says otherwise", f"toolgate audit verify; or toolgate cancel {run}"
    )


def tells(event: Event, name: str, value: Json) -> bool:
    """Whether the payload says so."""
    return name in (said := payload(event)) and said[name] == value


def payload(event: Event) -> Mapping[str, Json]:
    """What it says; nothing where that was erased."""
    said = _parsed(event.payload) if event.payload is not None else None
    return said if isinstance(said, dict) else {}


@lru_cache(maxsize=1)  # what one event tells is asked for part by part
def _parsed(payload: str) -> Json:
    return canonical.parse(payload)


# ---- all of them, for who looks ----
_OPEN: tuple[Status, ...] = (
    "RUNNING", "PAUSED", "AWAITING_INPUT", "AWAITING_APPROVAL", "AWAITING_TOOL_APPROVAL", "AWAITING_TOOL_DECISION", "AWAITING_REVIEW",
    "AWAITING_STEP_APPROVAL",
)  # fmt: skip
_MANY = 10_000  # runs of one status, and of those that are over the newest
_CALL, _WORD = "TOOL_INVOCATION_", frozenset(("APPROVED", "REJECTED", "INPUT_SUBMITTED", "STEP_APPROVED", "STEP_REJECTED", "STEP_REVIEWED"))
_OPENS = frozenset(_CALL + word for word in ("APPROVAL_PENDING", "CONFIRMATION_PENDING", "DENIED", "FAILED", "OUTCOME_UNKNOWN", "STARTED"))
_CLOSES = frozenset(_CALL + word for word in ("COMPLETED", "REJECTED", "CONTINUED", "CANCELLED"))
_ASKS = frozenset(("STEP_AWAITING_APPROVAL", "STEP_AWAITING_REVIEW", "AWAITING_APPROVAL", "AWAITING_INPUT"))


class Complaint(NamedTuple):
    """A run whose rows are not what the log says, and in which way."""

    run: str
    text: str


def complaints(tx: Reader, only: str | None = None) -> Iterator[Complaint]:
    """Every run (or one) that other hands changed, and every wait or start of an open one that is in no table any more. Takes time in the
    events of the runs that are open."""
    for run in _runs(tx, only):
        if not holds(tx, run):
            yield Complaint(run.id, f"the run {run.id} was changed by other hands")
        elif run.status in _OPEN:
            there = {row.id for row in tx.find_by_run(run.id)} | {held.row.id for held in tx.attempts(run.id)}
            yield from (
                Complaint(run.id, f"{id} of {run.id} waits or runs by the log, and is in no table") for id in _open(tx, run) - there
            )


def _runs(tx: Reader, only: str | None) -> Iterator[Run]:
    if only is not None:
        found = tx.run(only)
        yield from () if found is None else (found,)
        return
    for status in _OPEN:
        yield from tx.runs(RunQuery(status, limit=_MANY))
    yield from (run for run in tx.runs(RunQuery(limit=_MANY)) if run.status not in _OPEN)


def _open(tx: Reader, run: Run) -> set[str]:
    """Calls and rows of steps that wait or run, by the types of the events; what they say counts only where a step asks: for its row."""
    calls: set[str] = set()
    steps: dict[str | None, str] = {}
    for event in tx.events(EventQuery(run.id)):
        if event.call_id is None:
            if event.type in _ASKS:
                told = canonical.parse(event.payload) if event.payload is not None else None
                steps[event.step_id] = str(told.get("row")) if isinstance(told, dict) else ""
            elif event.type in _WORD:
                steps.pop(event.step_id, None)
        elif event.type in _OPENS:
            calls.add(event.call_id)
        elif event.type in _CLOSES:
            calls.discard(event.call_id)
    return calls | set(steps.values())
