"""The walk through a workflow, inside one transaction: from the end of one outside work to the start of the next, a wait, or the end
(I6, I7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..core import canonical, cursor
from ..core.cursor import Cursor, Frame
from ..core.definition import Definition, opened
from ..core.errors import ToolgateError
from ..core.intents import (
    Arrived,
    AskModel,
    AskPerson,
    CallTools,
    Done,
    Enter,
    Escalate,
    Fail,
    Intent,
    Observe,
    Pause,
    Settled,
    Write,
)
from ..core.records import Run, Step
from ..core.secrets import Secrets
from ..core.types import Json
from ..core.verdict import past_deadline
from ..core.world import World
from . import asking, batch, blocks, entering, narrowing
from .place import Place, Walk, ask, build, fail_step, failed, put, waiting, write
from .unit import Unit
from .view import StepView
from .work import Fill, More, Observing, Prepare, Work

if TYPE_CHECKING:
    from .plugs import StepKind

Handler = Callable[[Place, Intent], Walk]
STRETCH = 1000  # plans of steps after which a transaction ends, before the next step (I7)
GOING_ON = (More, Fill, Observing)  # what starts nothing: the gate and `asking` keep the deadline of all else


def advance(unit: Unit, run: Run, world: World, arrived: Arrived = None) -> Work | None:
    """Carries an owned run on and writes it back, once. None: it waits for a person, or has come to its end."""
    stored = unit.tx.definition(run.definition)
    assert stored is not None, run.definition
    definition = opened(stored)
    frames = cursor.load(run.cursor)
    if arrived is not None:
        frames = cursor.arrive(frames, arrived)
    was = run.version
    planned, goes_on, work = 0, True, None
    while goes_on:
        run, frames, work, goes_on = _step(unit, run, definition, world, frames)
        planned += 1
        if goes_on and planned >= STRETCH and not _is_over(definition, frames):
            work, goes_on = More(), False
        if isinstance(work, GOING_ON) and (late := past_deadline(world.config, run.created_at, unit.now, unit.behind)):
            run, work = _overdue(unit, run, definition, frames, late), None
    if work is None:
        run = run._replace(owner=None)
    put(unit, run._replace(cursor=cursor.dump(frames)), was)
    return work


def _overdue(unit: Unit, run: Run, definition: Definition, frames: Cursor, reason: str) -> Run:
    """The run that would go on behind its deadline: the step that it is at has failed, or the one that its last sequence belongs to."""
    flow = definition.within(frames)
    at = frames[:-1] if blocks.is_over(frames[-1], flow.sequence(frames[-1].block)) and len(frames) > 1 else frames
    return fail_step(unit, run, definition.path(at), reason, frames[0].position)


def _is_over(definition: Definition, frames: Cursor) -> bool:
    return blocks.is_over(frames[-1], definition.within(frames).sequence(frames[-1].block))


def _step(unit: Unit, run: Run, definition: Definition, world: World, frames: Cursor) -> Walk:
    flow = definition.within(frames)
    sequence = flow.sequence(frames[-1].block)
    if blocks.is_over(frames[-1], sequence):
        return blocks.leave(unit, run, definition, frames)
    place = Place(unit, run, definition, flow, world, frames, sequence[frames[-1].position], definition.path(frames))
    came = place.frame.came
    if place.frame.phase == cursor.ASKED:
        needs = batch.judge_rest(unit, run, place.frame, world)
        if needs is not None:
            return run, frames, Prepare(needs), False
        place = place._replace(frames=place.at(place.frame._replace(phase=cursor.CALLS)))
        frames = place.frames
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
        entered = entering.enter(place)
        if not isinstance(entered, Place):
            return entered
        place = entered
    carry: Handler = failed
    try:
        kind, fields = _built(place)
        intent = _planned(place, kind, fields, StepView(place, came))
        _storable(intent, world.secrets)
        carry = HANDLERS.get(type(intent)) or kind.HANDLERS[type(intent)]  # type: ignore[attr-defined]  # few kinds have their own
    except ToolgateError as error:
        intent = _failure(place, error)
    except Exception as error:  # noqa: BLE001  # a step kind that is broken ends its run, else nothing could ever move it
        intent = Fail(world.secrets.scrub(f"the step failed: {type(error).__name__}: {error}"))
    return carry(place, intent)


def _failure(place: Place, error: ToolgateError) -> Fail:
    """What an error of a step ends its run with; one of the store is raised, for the step did nothing wrong: it is planned again."""
    if error.kind == "storage":
        raise error
    return Fail(place.world.secrets.scrub(error.message))


def _planned(place: Place, kind: StepKind, fields: object, view: StepView) -> Intent:
    """What the step wants; where it fails, whether it always would."""
    try:
        intent = kind.plan(fields, view)
    except ToolgateError as error:
        intent = _failure(place, error)
    return intent._replace(always=_rests_on_the_definition(place, view)) if isinstance(intent, Fail) else intent


def _rests_on_the_definition(place: Place, view: StepView) -> bool:
    """Whether nothing else is in what was planned: nothing has come in since the run came to its top-level step, no step inside that has
    run before this one, and nothing of the home was asked for."""
    first = all(frame.position == 0 and frame.iteration <= 1 and frame.stop is None for frame in place.frames[1:])
    return first and view.arrived is None and not view.memo and not view.outside


def _storable(intent: Intent, secrets: Secrets) -> None:
    """Raises ToolgateError("invalid") where a part of what is to be written could not be, or holds the value of a secret that was put
    together: found out before anything of it is, so that what came in before, a tool's result first of all, is kept."""
    for field in intent:
        if field is None:
            continue
        if isinstance(field, tuple):
            for member in field:
                if isinstance(member, Write):
                    secrets.refuse(f"what is written to {member.key}", canonical.encode(member.value))
        elif isinstance(field, Mapping):
            secrets.refuse("the step", canonical.encode([[[dict(field)]]]))  # as deep as it will stand in the cursor
        elif not isinstance(intent, CallTools):
            secrets.refuse("the step", canonical.encode(field))


def _built(place: Place) -> tuple[StepKind, object]:
    frame = place.frame
    return place.flow.once("fields", frame.block, frame.position, lambda: build(place.unit.ports, place.table))


# ---- what each intent does ----
def _done(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Done)
    unit, run = place.unit, place.run
    write(place, intent.writes)
    output = None if intent.output is None else canonical.encode(intent.output)
    unit.tx.add([Step(run.id, place.path, place.own_top, "done", output, unit.now)])
    unit.record("STEP_COMPLETED", run, intent.event or {}, step=place.path)
    after = place.frame.next()
    if intent.then == "end":
        after = after._replace(position=len(place.flow.sequence(place.frame.block)))
    if intent.signal is not None:
        after = after._replace(signal=intent.signal)
    gate = place.table.get("gate", "none")
    if gate == "none":
        return run, place.at(after), None, True
    held = after._replace(position=place.frame.position, phase=cursor.GATE, memo={"after": after.position})
    if gate == "review":
        ask(place, "REVIEW", "a review of this step is asked for", {})
    else:
        ask(place, "STEP_APPROVAL", "this step asks for an approval", {})
    return waiting(unit, run), place.at(held), None, False


def _call_tools(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, CallTools)
    frame, needs = batch.open_batch(place.unit, place.run, place.frame, place.path, intent, place.world)
    if needs is not None and frame is place.frame:
        # nothing of this plan is stored: it is made again, from the same memo and arrival, once the needs are met
        return place.run, place.frames, Prepare(needs), False
    write(place, intent.writes)
    return place.run, place.at(frame), None if needs is None else Prepare(needs), needs is None


def _ask_model(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, AskModel)
    if over := asking.over(place.unit, place.run, place.world.config):
        return failed(place, Fail(over, intent.writes))
    write(place, intent.writes)
    work = narrowing.narrowed(place, intent, asking.request(place, intent))
    selected = work.request.ordinal if work.choice is not None else place.frame.selected
    frame = place.frame._replace(phase=cursor.MODEL, memo=intent.memo, calls=(), wary=False, selected=selected)
    return place.run, place.at(frame), work, False


def _ask_person(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, AskPerson)
    write(place, intent.writes)
    ask(place, "INPUT", intent.reason or "answers are asked for", {"form": intent.form})
    return waiting(place.unit, place.run), place.at(_wait(place, intent.memo)), None, False


def _escalate(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Escalate)
    write(place, intent.writes)
    ask(place, "ESCALATION", intent.reason, {})
    return waiting(place.unit, place.run), place.at(_wait(place, intent.memo)), None, False


def _wait(place: Place, memo: Mapping[str, Json]) -> Frame:
    return place.frame._replace(phase=cursor.WAIT, memo=memo, calls=())


def _observe(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Observe)
    return place.run, place.at(place.frame._replace(phase=cursor.OBSERVE, memo=intent.memo)), Observing(intent.looks), False


def _pause(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Pause)
    place.unit.record("RUN_PAUSED", place.run, {"reason": intent.reason}, step=place.path)
    frame = place.frame._replace(phase=cursor.PAUSED, memo=intent.memo)
    return place.run._replace(status="PAUSED"), place.at(frame), None, False


HANDLERS: dict[type, Handler] = {
    Done: _done,
    Fail: failed,
    CallTools: _call_tools,
    AskModel: _ask_model,
    AskPerson: _ask_person,
    Escalate: _escalate,
    Enter: blocks.enter,
    Observe: _observe,
    Pause: _pause,
}
