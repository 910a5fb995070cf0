"""How the walk comes to a step: it begins, or is left out because its `if` does not hold. Decided once: the cursor goes on from there."""

from __future__ import annotations

from typing import cast

from ..core import conditions, cursor
from ..core.definition import StepTable
from ..core.errors import ToolgateError
from ..core.intents import Fail
from ..core.records import Step
from ..core.world import Needs
from .place import Place, Walk, failed
from .view import StepView
from .work import Prepare


def enter(place: Place) -> Place | Walk:
    """The place where the step is planned, or how the walk goes on without it."""
    frame = place.frame
    modules = conditions.missing(place.flow.once("modules", frame.block, frame.position, lambda: conditions.needed(dict(place.table))))
    if modules:
        return place.run, place.frames, Prepare(Needs(modules=modules)), False  # no module is imported while the store is locked (I7)
    try:
        why = _against(place)
    except ToolgateError as error:
        if error.kind == "storage":
            raise  # the step did nothing wrong
        return failed(place, Fail(place.world.secrets.scrub(error.message)))  # whether it is to run could not be found out
    if why is not None:
        return _left_out(place, why)
    place.unit.record("STEP_STARTED", place.run, {"type": place.table["type"]}, step=place.path)
    return place._replace(frames=place.at(frame._replace(phase=cursor.PLAN)))


def _against(place: Place) -> str | None:
    """Why it is not to run."""
    if "if" not in place.table:
        return None
    from ..core import guards

    return guards.failing(guards.read(cast("list[StepTable]", place.table["if"])), StepView(place, None).value)


def _left_out(place: Place, why: str) -> Walk:
    """It has no output, and nobody is asked for its gate."""
    unit, run = place.unit, place.run
    unit.tx.add([Step(run.id, place.path, place.own_top, "skipped", None, unit.now)])
    unit.record("STEP_COMPLETED", run, {"skipped": True, "reason": why}, step=place.path)
    return run, place.at(place.frame.next()), None, True
