"""Where a run stands: a stack of frames that grows with depth, never with steps, so nothing that finished runs again on resume."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from . import canonical
from .errors import ToolgateError
from .intents import Answered, Arrived, Continued, Ended, Filled, Finding, Noted, Observed, Signal
from .records import Turn
from .types import Json
from .values import NamedTuple

DEPTH = 32

ENTER = ""  # the step has not begun
PLAN = "plan"  # begun; it is to be planned
ASKED = "asked"  # a batch of calls is stored; not all of them are judged
CALLS = "calls"  # a batch of calls is open
MODEL = "model"  # a model is asked
WAIT = "wait"  # a person is asked (a form, an escalation)
OBSERVE = "observe"  # something outside is looked at
INSIDE = "inside"  # the block above runs
GATE = "gate"  # done; its gate waits
PAUSED = "paused"  # the run was paused here
_RARE = ("signal", "stop", "workflow", "shared", "selected")  # fields of a frame that are kept by name


class Frame(NamedTuple):
    """One sequence that is being run. `block`: "" for the workflow's own steps; `iteration`: 0 outside a loop; `memo`: the step kind's
    own state;
    `calls`: ids of the open batch; `wary`: allow counts as require_approval for the rest of the turn;
    `came`: what has come in for the step and was not planned with yet; `signal`: the last word of its agents on another round;
    `stop`: it runs steps of the sequence below it again, and ends before this one; `workflow`: the one that begins here, "" where it is
    that of the frame below; `shared`: in the same context; `selected`: number of the last question for the tools that an agent is shown."""

    block: str
    position: int = 0
    iteration: int = 0
    phase: str = ENTER
    memo: Mapping[str, Json] = {}
    calls: tuple[str, ...] = ()
    wary: bool = False
    came: Arrived = None
    signal: Signal | None = None
    stop: int | None = None
    workflow: str = ""
    shared: bool = False
    selected: int | None = None

    def next(self) -> Frame:
        return self.to(self.position + 1)

    def to(self, position: int) -> Frame:
        """Before another step of the same sequence: what belongs to the step that it stood at is left behind."""
        return self._replace(position=position, phase=ENTER, memo={}, calls=(), wary=False, came=None, selected=None)


Cursor = tuple[Frame, ...]


def load(text: str) -> Cursor:
    """ToolgateError("storage") for what is none: other hands changed it."""
    try:
        frames = canonical.parse(text)
        assert isinstance(frames, list) and frames
        return tuple(_frame(frame) for frame in frames)
    except (AssertionError, TypeError, ValueError, ToolgateError) as error:
        said = "where a run stands cannot be read: it was changed by other hands"
        raise ToolgateError("storage", said, "toolgate audit verify") from error


def _frame(frame: Json) -> Frame:
    block, index, iteration, phase, memo, calls, wary, came, *rest = cast("list[Json]", frame)
    assert isinstance(block, str) and isinstance(index, int) and isinstance(iteration, int)
    assert isinstance(phase, str) and isinstance(memo, dict) and isinstance(calls, list)
    more = cast("dict[str, Any]", rest[0] if rest else {})
    return Frame(block, index, iteration, phase, memo, tuple(str(call) for call in calls), bool(wary), _revive(came), **more)


def dump(cursor: Cursor) -> str:
    return canonical.encode([_row(frame) for frame in cursor])


def _row(f: Frame) -> Json:
    """What few frames have stands in a table at the end, where there is any of it."""
    more: dict[str, Json] = {name: getattr(f, name) for name in _RARE if getattr(f, name) != Frame._field_defaults[name]}
    row: list[Json] = [f.block, f.position, f.iteration, f.phase, dict(f.memo), list(f.calls), f.wary, _keep(f.came)]
    return [*row, more] if more else row


def _keep(came: Arrived) -> Json:
    """What came in, as JSON. Settled calls need none: the batch itself tells them again."""
    match came:
        case Turn():
            return ["turn", *came]
        case Answered(values):
            return ["answered", dict(values)]
        case Noted(note):
            return ["noted", note]
        case Ended(iteration, signal, cut):
            return ["ended", iteration, signal, cut]
        case Filled(values):
            return ["filled", dict(values)]
        case Continued():
            return ["continued"]
        case Observed(findings):
            return [
                "observed",
                [[canonical.encode(value), error] for value, error in findings],
            ]  # as text: it may be as deep as a value may be
        case _:
            return None


def _revive(kept: Json) -> Arrived:
    match kept:
        case ["turn", str(run), str(path), int(number), str(commands)]:
            return Turn(run, path, number, commands)
        case ["answered", dict(values)]:
            return Answered(values)
        case ["noted", str(note)]:
            return Noted(note)
        case ["ended", int(iteration)]:  # as an earlier version kept it
            return Ended(iteration)
        case ["ended", int(iteration), signal, bool(cut)]:
            return Ended(iteration, cast("Signal | None", signal), cut)
        case ["filled", dict(values)]:
            return Filled(values)
        case ["continued"]:
            return Continued()
        case ["observed", list(findings)]:
            return Observed(
                tuple(Finding(canonical.parse(value), error) for value, error in cast("list[tuple[str, str | None]]", findings))
            )
        case _:
            return None


def arrive(cursor: Cursor, came: Arrived) -> Cursor:
    """The cursor with what has come in for the step on top."""
    return (*cursor[:-1], cursor[-1]._replace(came=came))


def start() -> Cursor:
    return (Frame(""),)


def at(index: int) -> Cursor:
    """At the beginning of a top-level step."""
    return (Frame("", index),)
