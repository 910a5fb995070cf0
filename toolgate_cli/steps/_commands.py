"""A model's turn as a list of checked commands: all of it is accepted, or it is refused whole and nothing of it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn, TypeAlias, cast

from ..core import canonical
from ..core.errors import ToolgateError
from ..core.fields import Defect
from ..core.types import Json
from ..core.values import NamedTuple
from . import _keys, _questions

Command: TypeAlias = "dict[str, Json]"
_NOTHING = type(None)
MOST = 200  # commands of one turn: each of its calls is judged, and asked about where it has a precheck, before the first of them starts
_SHOWN = 80  # characters of a model's own words in a reason


class _Shape(NamedTuple):
    """Fields of a command and the types they may have; () = any value."""

    required: Mapping[str, tuple[type, ...]] = {}
    optional: Mapping[str, tuple[type, ...]] = {}


# `call` is the call's id: it is minted when the turn is stored, and a `call` that a model sent is taken away there
_SHAPES: Mapping[str, _Shape] = {
    "tool_invocation": _Shape(
        {"capability": (str,)}, {"arguments": (), "rationale": (str, _NOTHING), "id": (str, _NOTHING), "call": (str,)}
    ),
    "set_context": _Shape({"values": (dict,)}),
    "ask": _Shape({}, {"question": (str,), "items": (list,)}),
    "say": _Shape({"message": (str,)}),
    "escalate": _Shape({"reason": (str,)}),
    "continue": _Shape({}, {"wants_another_round": (bool,), "reason": (str, _NOTHING)}),
    "complete": _Shape({}, {"output": ()}),
}


def read(text: str, allowed: Sequence[str], writes: Sequence[str]) -> list[Command]:
    """The commands of a stored turn. Raises ToolgateError("invalid") that names the first defect: not a list, more than MOST, a command
    that the agent may not use or that is malformed, a key that it may not write, anything after `complete`."""
    turn = canonical.parse(text)
    if isinstance(turn, dict) and set(turn) == {"unparsed"}:
        _refuse(_why_unparsed(turn["unparsed"]))
    if not isinstance(turn, list) or not turn:
        _refuse("it is not a list of commands")
    if len(turn) > MOST:
        _refuse(f"it has {len(turn)} commands, and a turn has at most {MOST}")
    for index, command in enumerate(turn):
        if why := _defect(command, allowed, writes):
            _refuse(f"command {index + 1}: {why}")
        if cast(Command, command)["type"] == "complete" and index + 1 < len(turn):
            _refuse(f"command {index + 1}: complete is not the last command")
    return cast("list[Command]", turn)


def defects(turn: Sequence[Json]) -> Iterator[Defect]:
    """What no agent may answer, whatever it may use and write."""
    if len(turn) > MOST:
        yield Defect((MOST,), f"a turn has at most {MOST} commands")
    for index, command in enumerate(turn):
        if not isinstance(command, dict) or not isinstance(kind := command.get("type"), str):
            yield Defect((index,), "it is not an object with a type")
        elif (shape := _SHAPES.get(kind)) is None:
            yield Defect((index, "type"), f"there is no command {_short(kind)}", f"one of {', '.join(_SHAPES)}")
        elif why := _misshapen(command, kind, shape):
            yield Defect((index,), why)
        elif kind == "complete" and index + 1 < len(turn):
            yield Defect((index,), "complete is not the last command")


def _defect(command: Json, allowed: Sequence[str], writes: Sequence[str]) -> str | None:
    if not isinstance(command, dict) or not isinstance(command.get("type"), str):
        return "it is not an object with a type"
    kind = cast(str, command["type"])
    shape = _SHAPES.get(kind)
    if shape is None:
        return f"there is no command {_short(kind)}"
    if kind not in allowed:
        return f"the agent may not use {kind}"
    if why := _misshapen(command, kind, shape):
        return why
    if kind == "set_context":
        return _forbidden(cast("dict[str, Json]", command["values"]), writes)
    return _questions.defect(command) if kind == "ask" else None


def _misshapen(command: Command, kind: str, shape: _Shape) -> str | None:
    for field in shape.required:
        if field not in command:
            return f"{kind} lacks {field}"
    fields = {**shape.required, **shape.optional}
    for field, value in command.items():
        if field == "type":
            continue
        if field not in fields:
            return f"{kind} has no field {_short(field)}"
        if fields[field] and type(value) not in fields[field]:
            return f"{field} of {kind} has the wrong type"
    return None


def _forbidden(values: Mapping[str, Json], writes: Sequence[str]) -> str | None:
    for key in values:
        why = _keys.defect(key) or (None if key in writes or "*" in writes else "the step does not list it in writes")
        if why:
            return f"set_context may not write {_short(key)}: {why}"
    return None


def _why_unparsed(text: Json) -> str:
    """What keeps a raw answer from being commands; the answer itself is in the stored turn."""
    if not isinstance(text, str) or not text.strip():
        return "it is empty"
    try:
        canonical.parse(text)
    except ToolgateError as error:
        return f"it is not JSON: {error.message}"
    return "it is not a list of commands"


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def _refuse(why: str) -> NoReturn:
    raise ToolgateError("invalid", f"the model's turn is refused: {why}")
