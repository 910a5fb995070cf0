"""Runs earlier steps of a sequence again, as often as a run may: replays and an operator's retries of a step have one budget, which is
taken from in the transaction that uses it and outlives every restart and every repositioning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from ..core import canonical, cursor
from ..core.cursor import Frame
from ..core.definition import StepTable
from ..core.errors import ToolgateError
from ..core.fields import HIDDEN
from ..core.intents import Enter, Fail, Intent, Replay
from ..core.records import Run, Value
from . import blocks, doubts
from .place import Place, Walk, build, failed

if TYPE_CHECKING:
    from .ports import Ports
    from .store import Reader
    from .unit import Unit

_BEFORE = -1  # as an input: no repositioning takes it away


class Policy(Protocol):
    """The `retry` field of a step kind that is not repeated unless its workflow says so."""

    allow: bool
    allow_from_previous: bool
    max_retries: int


def policy(ports: Ports, table: StepTable) -> Policy | None:
    """What a step says of its own repetition; None where it says nothing."""
    return cast("Policy | None", getattr(build(ports, table)[1], "retry", None))


def is_bound(ports: Ports, table: StepTable) -> bool:
    """Whether steps of this kind are repeated only as their field `retry` says."""
    return hasattr(build(ports, table)[1], "retry")


def used(tx: Reader, run: str, path: str) -> int:
    """How many units of a step's budget a run has used."""
    found = tx.value(run, _key(path))
    return 0 if found is None or found.value is None else cast(int, canonical.parse(found.value))


def use(unit: Unit, run: Run, path: str) -> int:
    """Takes one more unit; how many that makes."""
    now = used(unit.tx, run.id, path) + 1
    unit.tx.add([Value(run.id, _key(path), _BEFORE, canonical.encode(now), None, "system")])
    return now


def refusal(ports: Ports, tx: Reader, run: Run, table: StepTable) -> ToolgateError | None:
    """Of an operator's retry of a top-level step: where the definition of the run says no in its field `retry`, or says it by now."""
    if not is_bound(ports, table):
        return None
    step, said = str(table["id"]), policy(ports, table)
    if said is None or not said.allow:
        why = f"the definition that {run.id} started with does not let the step {step} be repeated"
        hint = f"write retry = {{ allow = true }} at the step: that counts for a new start: toolgate start {run.workflow}"
        return ToolgateError("wrong_state", why, hint)
    if used(tx, run.id, step) >= said.max_retries:
        why = f"the step {step} has used up its {said.max_retries} retries (retry.max_retries)"
        return ToolgateError("wrong_state", why, f"begin anew: toolgate start {run.workflow}")
    return None


def reserve(unit: Unit, run: Run, table: StepTable) -> None:
    """Takes the unit that such a retry needs, in the transaction that uses it."""
    if is_bound(unit.ports, table):
        use(unit, run, str(table["id"]))


def _key(path: str) -> str:
    return f"{HIDDEN}retries:{path}"


def replay(place: Place, intent: Intent) -> Walk:
    """Once for each time that the step is reached."""
    assert isinstance(intent, Replay)
    unit, run, here = place.unit, place.run, place.frame
    sequence = place.flow.sequence(here.block)
    at = next(n for n, table in enumerate(sequence[: here.position]) if table["id"] == intent.step)  # one that is not there is not loaded
    path = place.definition.path((*place.frames[:-1], here.to(at)))
    if used(unit.tx, run.id, place.path) >= intent.most:
        if intent.otherwise is None:
            return failed(place, Fail(f"{intent.step} was run again {intent.most} times, which is all that this step may (max_retries)"))
        return blocks.enter(place, Enter(intent.otherwise))
    stop = at + 1 if intent.mode == "single" else here.position
    if why := _forbidden(place, sequence[at], path) or _in_doubt(place, at, stop):
        return failed(place, Fail(why))
    if len(place.frames) >= cursor.DEPTH:
        return blocks.too_deep(place)
    attempt = use(unit, run, place.path)
    if is_bound(unit.ports, sequence[at]):
        use(unit, run, path)
    facts = {"attempt": attempt, "cap": intent.most, "mode": intent.mode, "target": intent.step, "by": place.path}
    unit.record("STEP_RETRIED", run, facts, step=path)
    for one in _paths(place, at, stop):
        blocks.begin_anew(unit, run, one)
    return run, (*place.at(here._replace(phase=cursor.INSIDE)), Frame(here.block, at, stop=stop)), None, True


def _forbidden(place: Place, target: StepTable, path: str) -> str | None:
    ports = place.unit.ports
    if not is_bound(ports, target):
        return None
    said = policy(ports, target)
    if said is None or not said.allow_from_previous:
        return f"the step {target['id']} does not allow it to be run again (retry.allow_from_previous)"
    if used(place.unit.tx, place.run.id, path) >= said.max_retries:
        return f"the step {target['id']} has used up its {said.max_retries} retries (retry.max_retries)"
    return None


def _in_doubt(place: Place, first: int, stop: int) -> str | None:
    """What may have run already is not run again by a workflow alone, as little as by an operator's retry: a person has to say so."""
    again = tuple(f"{path}/" for path in _paths(place, first, stop))
    refusal = doubts.since_the_last_word(place.unit, place.run, place.world.config.tools, lambda path: f"{path}/".startswith(again))
    if refusal is None:
        return None
    top = place.definition.sequence("")[place.top]["id"]
    return f"{refusal.message} (find out what happened, then retry --step {top} --may-run-twice)"


def _paths(place: Place, first: int, stop: int) -> list[str]:
    """Of the steps of this sequence from one position up to another."""
    return [place.definition.path((*place.frames[:-1], place.frame.to(position))) for position in range(first, stop)]
