"""Where a walk stands, and what a step can leave there: values, a row that waits, its run's end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import canonical, cursor, scopes, statuses, tables
from ..core.cursor import Cursor, Frame
from ..core.definition import COMMON, Definition, Flow, StepTable
from ..core.errors import ToolgateError
from ..core.intents import Fail, Intent, Write
from ..core.records import Row, Run, Step, Value
from ..core.soundness import clean
from ..core.types import Json, Origin
from ..core.values import NamedTuple
from ..core.world import World
from . import parking
from .unit import Unit
from .work import Work

if TYPE_CHECKING:
    from .plugs import StepKind
    from .ports import Ports


class Place(NamedTuple):
    """Where the walk stands: the step under the cursor and what belongs to it."""

    unit: Unit
    run: Run
    definition: Definition
    flow: Flow  # the workflow that the step belongs to
    world: World
    frames: Cursor
    table: StepTable
    path: str

    @property
    def scope(self) -> str:
        """What stands before the keys of its context."""
        return scopes.scope(self.definition.carrier(self.frames, shared=False))

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def top(self) -> int:
        """Of what is written: values stand in the layer of the top-level step at which the run is, replays and all."""
        return self.frames[0].position

    @property
    def own_top(self) -> int:
        """Of the step itself: one that is run again stays where it stands in the workflow."""
        return next(frame for frame, above in zip(self.frames, (*self.frames[1:], None), strict=True)
                    if above is None or above.stop is None).position  # fmt: skip

    def at(self, frame: Frame) -> Cursor:
        """The cursor with this frame on top; what had come in was planned with."""
        return (*self.frames[:-1], frame if frame.came is None else frame._replace(came=None))


Walk = tuple[Run, Cursor, Work | None, bool]  # the run, where it stands, the outside work, and whether the walk goes on at once


def build(ports: Ports, table: StepTable) -> tuple[StepKind, object]:
    """The kind of a step and its fields."""
    kind = ports.step_kind(str(table["type"]))
    return kind, tables.table(kind.Fields, {key: value for key, value in table.items() if key not in COMMON})


def write(place: Place, writes: tuple[Write, ...]) -> None:
    if not writes:
        return
    scope = place.scope
    texts = ((w, None if w.call_id else canonical.encode(w.value)) for w in writes)
    place.unit.tx.add(Value(place.run.id, scope + w.key, place.top, text, w.call_id, w.provenance) for w, text in texts)
    place.unit.record("CONTEXT_UPDATED", place.run, {"keys": [write.key for write in writes]}, step=place.path)


def ask(place: Place, origin: Origin, reason: str, facts: dict[str, Json]) -> None:
    """Parks the step itself: a gate, a form or an escalation is a row like any other."""
    unit = place.unit
    last = canonical.encode(facts) if facts else None
    row = Row(
        unit.ports.mint.id("w"), 1, place.run.id, place.path, origin, reason=reason, last=last, parked_by=unit.next_seq, created_at=unit.now
    )
    unit.record(parking.ASKING[origin], place.run, {"reason": reason, "row": row.id, "asks": parking.digest(row)}, step=place.path)
    unit.tx.save(row)


def put(unit: Unit, run: Run, was: int) -> None:
    """Writes a run back; within one transaction nobody else can have."""
    if not unit.put_run(run._replace(version=was + 1, updated_at=unit.now), was):
        raise ToolgateError("claim_lost", f"the run {run.id} was changed by somebody else", retryable=True)


def waiting(unit: Unit, run: Run) -> Run:
    """The run as its open rows say that it stands; with running attempts alone it is RUNNING, and whoever ends the last of them carries
    it on."""
    rows = unit.tx.find_by_run(run.id)
    return run._replace(status=statuses.waiting_status(rows) if rows else "RUNNING")


def failed(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Fail)
    write(place, intent.writes)
    return fail_step(place.unit, place.run, place.path, intent.reason, place.top, always=intent.always), place.frames, None, False


def fail_step(unit: Unit, run: Run, path: str, reason: str, top: int | None = None, *, always: bool = False) -> Run:
    """The step failed, and its run ends FAILED; `support_id` is the seq of the event that says so. `top`: index of the top-level step,
    where the stored cursor is not the one that counts; `always`: a repetition of that one would end there again."""
    reason = clean(reason)
    at = cursor.load(run.cursor)[0].position if top is None else top
    unit.tx.add([Step(run.id, path, at, "failed", None, unit.now)])
    unit.record("STEP_FAILED", run, {"reason": reason}, step=path)
    seq = unit.record("RUN_FAILED", run, {"message": reason}, step=path)
    told: dict[str, Json] = {"message": reason, "step": path, "support_id": seq, **({"always": True} if always else {})}
    return run._replace(status="FAILED", error=canonical.encode(told))
