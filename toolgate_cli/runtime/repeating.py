"""The next attempt of a call, in its transaction: its reconciler where it has one, then the whole gate again, as for a retry (I9)."""

from __future__ import annotations

from typing import Literal

from ..core import effects
from ..core.errors import ToolgateError
from ..core.records import Attempt, Call, Run
from ..core.types import Json
from ..core.verdict import Park, Question
from ..core.world import Needs, World
from . import gate, parking, reconciling, rounds, settling
from .place import put
from .unit import Unit
from .work import Invoke, Prepare, Work


def repeat(unit: Unit, run: Run, waiting: Attempt, world: World) -> Work | None:
    """T1 of the attempt that waits. None: it starts no more, for it was settled, parked or ended by others."""
    held = unit.tx.finish(waiting)
    if held is None:
        return None  # recovery ended it
    stored = unit.tx.call(held.row.id, held.row.revision)
    assert stored is not None, held.row.id
    call = stored[0]
    if held.cancelled:
        settling.cancelled(unit, run, call, held.row._replace(version=held.row.version + 1, starts=held.number - 1))
        return None
    if not parking.is_started(unit.tx, held):
        raise ToolgateError("storage", f"no event of the log tells of the attempt of {call.id}", "toolgate audit verify")
    work = _reconcile(unit, run, call, held, world)
    if isinstance(work, Prepare):
        unit.tx.begin(held)
    return work


def _reconcile(unit: Unit, run: Run, call: Call, held: Attempt, world: World) -> Work | None:
    """What the last attempt did is found out first, where that can be."""
    found = reconciling.find(unit, run, call, held.row, world)
    if isinstance(found, Needs):
        return Prepare(found, held)
    if found is None:
        return _start(unit, run, call, held, world, held)
    made = held.number - 1 - held.row.starts
    then = effects.after_reconciling(found.verdict, made < world.config.tools[call.capability].max_attempts)
    if then == "repeat":
        clear = held._replace(row=held.row._replace(doubt=None))
        return _start(unit, run, call, clear, world, held, {"reconciled": found.verdict})
    if then == "settle":
        reconciling.applied(unit, run, call, held.row._replace(starts=held.number - 1), found)
    else:
        reconciling.park(unit, run, call, held, found, then)
    return None


def _start(
    unit: Unit, run: Run, call: Call, held: Attempt, world: World, waiting: Attempt, told: dict[str, Json] | None = None
) -> Work | None:
    """`waiting`: the attempt as it is stored."""
    verb: Literal["retry", "answer"] = "retry" if rounds.answer(held.row) is None else "answer"
    question = Question(call, run.workflow, run.started, held.row, verb, since=run.created_at)
    verdict = gate.judge(unit, question, world)
    if isinstance(verdict, Needs):
        return Prepare(verdict, waiting)
    if isinstance(verdict, Park):
        parking.park(unit, run, call, held.row._replace(starts=held.number - 1), verdict)
        return None
    if verdict.call_digest != held.row.call_digest and not gate.permits(held.row, verdict.tool):
        settling.overtaken(unit, run, call, held)
        return None
    started, claim = gate.start_again(unit, run, call, held, verdict, world.config, told or {})
    put(unit, started, run.version)
    return Invoke(claim)
