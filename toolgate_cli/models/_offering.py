"""What a model is offered as functions: the tools that it may call and the commands of a turn, under names that every API takes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..core.digests import sha256
from ..core.turns import TurnRequest
from ..core.types import Json
from ..core.values import NamedTuple

LONGEST = 64  # characters of a name that every API takes
_PLAIN = re.compile(r"[a-z0-9_.-]+\Z")
_MARK = "-X"  # no capability has a capital letter, so no plain name has this
_DIGITS = 20  # of the digest

_TEXT: Json = {"type": "string"}
_ITEM: Json = {
    "type": "object",
    "required": ["id", "type"],
    "properties": {
        "id": _TEXT,
        "type": {"type": "string", "enum": ["TEXT", "TEXT_AREA", "SINGLE_CHOICE", "MULTI_CHOICE", "BOOLEAN", "NUMBER", "DATE"]},
        "label": _TEXT,
        "required": {"type": "boolean"},
        "options": {"type": "array", "items": _TEXT},
    },
}


class Function(NamedTuple):
    """`schema`: a JSON Schema of an object."""

    name: str
    description: str
    schema: Json


# `say` is what a model does with text: it is understood as a function, but not offered as one
COMMANDS: tuple[str, ...] = ("set_context", "ask", "say", "escalate", "continue", "complete")
_COMMANDS: Mapping[str, tuple[str, Mapping[str, Json], tuple[str, ...]]] = {
    "ask": (
        "Ask a person and get the answer as the result: one question, or a form of items; not both.",
        {"question": _TEXT, "items": {"type": "array", "items": _ITEM}},
        (),
    ),
    "escalate": ("Stop and let a person decide whether to go on; the result is the person's note.", {"reason": _TEXT}, ("reason",)),
    "continue": (
        "Say whether you want another round before the step ends.",
        {"wants_another_round": {"type": "boolean"}, "reason": _TEXT},
        ("wants_another_round",),
    ),
    "complete": ("End the step. Nothing may be called after it.", {"output": {"description": "What the step came to."}}, ()),
}


def spelled(capability: str) -> str:
    """The name of a capability as a function; two capabilities never have the same. A plain one reads `orders__lookup`; what could be
    read in two ways, is too long, is the name of a command, or no capability at all, carries a digest."""
    plain = capability.replace(".", "__")
    if _PLAIN.match(capability) and plain.replace("__", ".") == capability and len(plain) <= LONGEST and plain not in COMMANDS:
        return plain
    room = LONGEST - len(_MARK) - _DIGITS
    return re.sub(r"[^A-Za-z0-9_-]", "_", capability)[:room] + _MARK + sha256(capability)[:_DIGITS]


def meanings(request: TurnRequest) -> dict[str, str]:
    """Name of a function -> the capability that is meant, of all that are offered or may be called beside them."""
    return {spelled(name): name for name in (*(tool.capability for tool in request.tools), *request.also)}


def functions(request: TurnRequest) -> tuple[Function, ...]:
    """Tools in their order, then the commands that the agent may use."""
    may = request.commands
    tools = request.tools if "tool_invocation" in may else ()
    offered = [Function(spelled(tool.capability), tool.description, _of_object(tool.schema)) for tool in tools]
    if "set_context" in may and request.keys:
        offered.append(Function("set_context", "Write values that later steps read.", _values(request.keys)))
    for name, (description, properties, required) in _COMMANDS.items():
        if name == "complete" and request.output is not None:
            properties, required = {"output": request.output}, ("output",)
        if name in may:
            schema: Json = {"type": "object", "properties": dict(properties), "required": list(required), "additionalProperties": False}
            offered.append(Function(name, description, schema))
    return tuple(offered)


def _of_object(schema: Json) -> Json:
    """Arguments are always an object; the APIs want to be told."""
    return {"type": "object", **schema} if isinstance(schema, dict) else {"type": "object"}


def _values(keys: tuple[str, ...]) -> Json:
    values: Json = {"type": "object"}
    if "*" not in keys:
        values = {"type": "object", "properties": {key: {} for key in keys}, "additionalProperties": False}
    return {"type": "object", "properties": {"values": values}, "required": ["values"], "additionalProperties": False}
