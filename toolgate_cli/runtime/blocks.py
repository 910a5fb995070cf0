"""Into a sequence of steps and out of it again: a step enters it, and is planned again at its end."""

from __future__ import annotations

from collections.abc import Sequence

from ..core import cursor
from ..core.cursor import Cursor, Frame
from ..core.definition import Definition, StepTable
from ..core.digests import sha256
from ..core.intents import Ended, Enter, Fail, Intent
from ..core.records import Definition as Stored
from ..core.records import Run
from ..core.types import Json
from .place import Place, Walk, failed, write
from .unit import Unit


def is_over(frame: Frame, sequence: Sequence[StepTable]) -> bool:
    """Whether nothing of it is left to be run; a replay ends before its sequence does."""
    return frame.position >= (len(sequence) if frame.stop is None else frame.stop)


def leave(unit: Unit, run: Run, definition: Definition, frames: Cursor) -> Walk:
    """The end of a sequence: back to the step that entered it, or the end of the run."""
    if len(frames) == 1:
        return _completed(unit, run), frames, None, False
    left = frames[-1]
    cut = left.stop is not None and left.position > left.stop
    frames = cursor.arrive(frames[:-1], Ended(left.iteration, left.signal, cut))
    if left.iteration:
        unit.record("LOOP_ITERATION_COMPLETED", run, {"iteration": left.iteration}, step=definition.path(frames))
    elif left.signal is not None:  # it is for the innermost loop, and this sequence was none
        frames = (*frames[:-1], frames[-1]._replace(signal=left.signal))
    return run, frames, None, True


def _completed(unit: Unit, run: Run) -> Run:
    unit.record("RUN_COMPLETED", run, {})
    return run._replace(status="COMPLETED", error=None)


def enter(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Enter)
    if len(place.frames) >= cursor.DEPTH:
        return too_deep(place)
    if intent.copy is not None:
        place.unit.tx.add([Stored(sha256(intent.copy), "list", intent.copy)])
    write(place, intent.writes)
    if intent.iteration:
        begin_anew(place.unit, place.run, place.path)
        facts: dict[str, Json] = {"iteration": intent.iteration}
        if intent.copy is not None:
            facts["list"] = sha256(intent.copy)  # what quotes a call that is redacted has to be found
        place.unit.record("LOOP_ITERATION_STARTED", place.run, facts, step=place.path)
    inside = place.frame._replace(phase=cursor.INSIDE, memo=intent.memo)
    return place.run, (*place.at(inside), Frame(intent.block, 0, intent.iteration)), None, True


def begin_anew(unit: Unit, run: Run, path: str) -> None:
    """What steps inside of a step completed with when it ran before is no output of this time, which may never come to them."""
    unit.tx.add([step._replace(output=None) for step in unit.tx.steps(run.id, path) if step.output is not None])


def too_deep(place: Place) -> Walk:
    return failed(place, Fail(f"steps are nested deeper than {cursor.DEPTH}"))
