"""The walk through a workflow, inside one transaction: from the end of one outside work to the start of the next, a wait, or the end
(I6, I7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..core import canonical, cursor, statuses, tables
from ..core.cursor import Cursor, Frame
from ..core.definition import COMMON, Definition, StepTable, opened
from ..core.digests import sha256
from ..core.errors import ToolgateError
from ..core.intents import Arrived, AskModel, AskPerson, CallTools, Done, Ended, Enter, Escalate, Fail, Intent, Pause, Settled, Write
from ..core.records import Definition as Stored
from ..core.records import Row, Run, Step, Value
from ..core.secrets import Secrets
from ..core.soundness import clean
from ..core.types import Json, Origin
from ..core.values import NamedTuple
from ..core.world import World
from . import asking, batch, parking
from .unit import Unit
from .view import StepView
from .work import More, Prepare, Work

if TYPE_CHECKING:
    from .plugs import StepKind
    from .ports import Ports

STRETCH = 1000  # pure steps that one transaction may hold


class Place(NamedTuple):
    """Where the walk stands: the step under the cursor and what belongs to it."""

    unit: Unit
    run: Run
    definition: Definition
    world: World
    frames: Cursor
    table: StepTable
    path: str

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    @property
    def top(self) -> int:
        return self.frames[0].position

    def at(self, frame: Frame) -> Cursor:
        """The cursor with this frame on top; what had come in was planned with."""
        return (*self.frames[:-1], frame._replace(came=None))


Walk = tuple[Run, Cursor, "Work | None", bool]  # the run, where it stands, the outside work, and whether the walk goes on at once


def advance(unit: Unit, run: Run, world: World, arrived: Arrived = None) -> Work | None:
    """Carries an owned run on and writes it back, once. None: it waits for a person, or has come to its end."""
    stored = unit.tx.definition(run.definition)
    assert stored is not None, run.definition
    definition = opened(stored)
    frames = cursor.load(run.cursor)
    if arrived is not None:
        frames = cursor.arrive(frames, arrived)
    was = run.version
    for _ in range(STRETCH):
        run, frames, work, goes_on = _step(unit, run, definition, world, frames)
        if not goes_on:
            break
    else:
        work = More()
    if work is None:
        run = run._replace(owner=None)
    put(unit, run._replace(cursor=cursor.dump(frames)), was)
    return work


def put(unit: Unit, run: Run, was: int) -> None:
    """Writes a run back; within one transaction nobody else can have."""
    if not unit.tx.put_run(run._replace(version=was + 1, updated_at=unit.now), was):
        raise ToolgateError("claim_lost", f"the run {run.id} was changed by somebody else", retryable=True)


def _step(unit: Unit, run: Run, definition: Definition, world: World, frames: Cursor) -> Walk:
    sequence = definition.sequence(frames[-1].block)
    if frames[-1].position >= len(sequence):
        return _leave(unit, run, definition, frames)
    place = Place(unit, run, definition, world, frames, sequence[frames[-1].position], definition.path(frames))
    came = place.frame.came
    if place.frame.phase == cursor.CALLS:
        run, following = batch.go_on(unit, run, place.frame, world)
        if isinstance(following, batch.Held):
            return waiting(unit, run), frames, None, False
        if not isinstance(following, Settled):
            return run, frames, following, False
        place, came = place._replace(run=run), following
    elif came is None and place.frame.phase in (cursor.WAIT, cursor.GATE):
        return waiting(unit, run), frames, None, False
    elif place.frame.phase == cursor.ENTER:
        unit.record("STEP_STARTED", run, {"type": place.table["type"]}, step=place.path)
        place = place._replace(frames=(*frames[:-1], place.frame._replace(phase=cursor.PLAN)))
    try:
        intent = _plan(place, came)
        _storable(intent, world.secrets)
    except ToolgateError as error:
        if error.kind == "storage":
            raise  # the step did nothing wrong: it is planned again
        intent = Fail(world.secrets.scrub(error.message))
    except Exception as error:  # noqa: BLE001  # a step kind that is broken ends its run, else nothing could ever move it
        intent = Fail(world.secrets.scrub(f"the step failed: {type(error).__name__}: {error}"))
    return HANDLERS[type(intent)](place, intent)


def _storable(intent: Intent, secrets: Secrets) -> None:
    """Raises ToolgateError("invalid") where a part of what is to be written could not be, or holds the value of a secret that was put
    together: found out before anything of it is, so that what came in before, a tool's result first of all, is kept."""
    for field in intent:
        if isinstance(field, tuple):
            for member in field:
                if isinstance(member, Write):
                    secrets.refuse(f"what is written to {member.key}", canonical.encode(member.value))
        elif isinstance(field, Mapping):
            secrets.refuse("the step", canonical.encode([[[dict(field)]]]))  # as deep as it will stand in the cursor
        elif not isinstance(intent, CallTools):
            secrets.refuse("the step", canonical.encode(field))


def _leave(unit: Unit, run: Run, definition: Definition, frames: Cursor) -> Walk:
    """The end of a sequence: back to the step that entered it, or the end of the run."""
    if len(frames) == 1:
        return _completed(unit, run), frames, None, False
    left = frames[-1]
    frames = cursor.arrive(frames[:-1], Ended(left.iteration, left.signal))
    if left.iteration:
        unit.record("LOOP_ITERATION_COMPLETED", run, {"iteration": left.iteration}, step=definition.path(frames))
    elif left.signal is not None:  # it is for the innermost loop, and this sequence was none
        frames = (*frames[:-1], frames[-1]._replace(signal=left.signal))
    return run, frames, None, True


def build(ports: Ports, table: StepTable) -> tuple[StepKind, object]:
    """The kind of a step and its fields."""
    kind = ports.step_kind(str(table["type"]))
    return kind, tables.table(kind.Fields, {key: value for key, value in table.items() if key not in COMMON})


def _plan(place: Place, arrived: Arrived) -> Intent:
    ports, at = place.unit.ports, (place.frame.block, place.frame.position)
    kind, fields = place.definition.once(at, lambda: build(ports, place.table))
    view = StepView(place.unit.tx, place.run.id, place.path, place.definition, place.world, place.frame.memo, arrived)
    return kind.plan(fields, view)


# ---- what each intent does ----
def _done(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Done)
    unit, run = place.unit, place.run
    _write(place, intent.writes)
    output = None if intent.output is None else canonical.encode(intent.output)
    unit.tx.add([Step(run.id, place.path, place.top, "done", output, unit.now)])
    unit.record("STEP_COMPLETED", run, intent.event or {}, step=place.path)
    after = place.frame.next()
    if intent.then == "end":
        after = after._replace(position=len(place.definition.sequence(place.frame.block)))
    if intent.signal is not None:
        after = after._replace(signal=intent.signal)
    gate = place.table.get("gate", "none")
    if gate == "none":
        return run, place.at(after), None, True
    held = after._replace(position=place.frame.position, phase=cursor.GATE, memo={"after": after.position})
    if gate == "review":
        _ask(place, "REVIEW", "a review of this step is asked for", {})
    else:
        _ask(place, "STEP_APPROVAL", "this step asks for an approval", {})
    return waiting(unit, run), place.at(held), None, False


def _failed(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Fail)
    _write(place, intent.writes)
    return fail_step(place.unit, place.run, place.path, intent.reason, place.top), place.frames, None, False


def _call_tools(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, CallTools)
    frame, needs = batch.open_batch(place.unit, place.run, place.frame, place.path, intent, place.world)
    if needs is not None:
        # nothing of this plan is stored: it is made again, from the same memo and arrival, once the needs are met
        return place.run, place.frames, Prepare(needs), False
    _write(place, intent.writes)
    return place.run, place.at(frame), None, True


def _ask_model(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, AskModel)
    _write(place, intent.writes)
    frame = place.frame._replace(phase=cursor.MODEL, memo=intent.memo, calls=(), wary=False)
    work = asking.request(place.unit.tx, place.run, place.path, intent, place.world)
    return place.run, place.at(frame), work, False


def _ask_person(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, AskPerson)
    _write(place, intent.writes)
    _ask(place, "INPUT", intent.reason or "answers are asked for", {"form": intent.form})
    return waiting(place.unit, place.run), place.at(_wait(place, intent.memo)), None, False


def _escalate(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Escalate)
    _write(place, intent.writes)
    _ask(place, "ESCALATION", intent.reason, {})
    return waiting(place.unit, place.run), place.at(_wait(place, intent.memo)), None, False


def _wait(place: Place, memo: Mapping[str, Json]) -> Frame:
    return place.frame._replace(phase=cursor.WAIT, memo=memo, calls=())


def _enter(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Enter)
    if len(place.frames) >= cursor.DEPTH:
        return _failed(place, Fail(f"blocks are nested deeper than {cursor.DEPTH}"))
    if intent.copy is not None:
        place.unit.tx.add([Stored(sha256(intent.copy), "list", intent.copy)])
    _write(place, intent.writes)
    if intent.iteration:
        facts: dict[str, Json] = {"iteration": intent.iteration}
        if intent.copy is not None:
            facts["list"] = sha256(intent.copy)  # what quotes a call that is redacted has to be found
        place.unit.record("LOOP_ITERATION_STARTED", place.run, facts, step=place.path)
    inside = place.frame._replace(phase=cursor.INSIDE, memo=intent.memo)
    return place.run, (*place.at(inside), Frame(intent.block, 0, intent.iteration)), None, True


def _pause(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Pause)
    place.unit.record("RUN_PAUSED", place.run, {"reason": intent.reason}, step=place.path)
    frame = place.frame._replace(phase=cursor.PAUSED, memo=intent.memo)
    return place.run._replace(status="PAUSED"), place.at(frame), None, False


HANDLERS: dict[type, Callable[[Place, Intent], Walk]] = {
    Done: _done,
    Fail: _failed,
    CallTools: _call_tools,
    AskModel: _ask_model,
    AskPerson: _ask_person,
    Escalate: _escalate,
    Enter: _enter,
    Pause: _pause,
}


def _write(place: Place, writes: tuple[Write, ...]) -> None:
    if not writes:
        return
    place.unit.tx.add(
        Value(place.run.id, w.key, place.top, None if w.call_id else canonical.encode(w.value), w.call_id, w.provenance) for w in writes
    )
    place.unit.record("CONTEXT_UPDATED", place.run, {"keys": [write.key for write in writes]}, step=place.path)


def _ask(place: Place, origin: Origin, reason: str, facts: dict[str, Json]) -> None:
    """Parks the step itself: a gate, a form or an escalation is a row like any other."""
    unit = place.unit
    last = canonical.encode(facts) if facts else None
    row = Row(
        unit.ports.mint.id("w"), 1, place.run.id, place.path, origin, reason=reason, last=last, parked_by=unit.next_seq, created_at=unit.now
    )
    unit.record(parking.ASKING[origin], place.run, {"reason": reason, "row": row.id, "asks": parking.digest(row)}, step=place.path)
    unit.tx.save(row)


def waiting(unit: Unit, run: Run) -> Run:
    """The run as its open rows say that it stands; with running attempts alone it is RUNNING, and whoever ends the last of them carries
    it on."""
    rows = unit.tx.find_by_run(run.id)
    return run._replace(status=statuses.waiting_status(rows) if rows else "RUNNING")


def _completed(unit: Unit, run: Run) -> Run:
    unit.record("RUN_COMPLETED", run, {})
    return run._replace(status="COMPLETED", error=None)


def fail_step(unit: Unit, run: Run, path: str, reason: str, top: int | None = None) -> Run:
    """The step failed, and its run ends FAILED; `support_id` is the seq of the event that says so. `top`: index of the top-level step,
    where the stored cursor is not the one that counts."""
    reason = clean(reason)
    at = cursor.load(run.cursor)[0].position if top is None else top
    unit.tx.add([Step(run.id, path, at, "failed", None, unit.now)])
    unit.record("STEP_FAILED", run, {"reason": reason}, step=path)
    event = unit.record("RUN_FAILED", run, {"message": reason}, step=path)
    return run._replace(status="FAILED", error=canonical.encode({"message": reason, "step": path, "support_id": event.seq}))
