"""A declared table as JSON Schema (2020-12): what `models` makes a check of, said in a form that editors read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin

from ..core import durations
from ..core.fields import RESERVED_PREFIXES, Between, Duration, Key, Pointer, Presumed, When
from ..core.fields import Schema as Fragment
from ..core.tables import defaults, hints, is_fields, is_json, is_union, without_markers
from ..core.types import Json

Schema = dict[str, Json]

_PLAIN: Mapping[object, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_DURATION = "^0{0,8}[1-9][0-9]{0,8}(ms|s|m|h|d)$"
_POINTER = "^(/([^~]|~[01])*)?$"
GUARDS: Schema = {"type": "array", "items": {"$ref": "#/$defs/guard"}}  # the document that it stands in defines what it names
_RESERVED = f"^({'|'.join(prefix.replace('.', '[.]') for prefix in RESERVED_PREFIXES)})"


def closed(*shapes: type, also: Mapping[str, Json] | None = None) -> Schema:
    """Declared shapes that stand side by side in one table. `also`: schemas of keys, instead of what their shape says or beside it."""
    properties: Schema = {}
    required: list[Json] = []
    for shape in shapes:
        preset = defaults(shape)
        for name, hint in hints(shape).items():
            properties[name] = _value(hint, preset.get(name))
            required += [] if name in preset else [name]
    properties |= also or {}
    made: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return made | ({"required": required} if required else {}) | about(vars(shapes[-1]).get("__doc__"))


def table_of(items: Json, keys: Json = None) -> Schema:
    """A table of which every entry is like that."""
    return {"type": "object", "additionalProperties": items} | ({} if keys is None else {"propertyNames": keys})


def about(text: object) -> Schema:
    """The first sentence of a docstring, or nothing."""
    said = str(text or "").strip().split("\n\n", 1)[0]
    return {"description": " ".join(said.split())} if said else {}


def _value(hint: Any, default: object) -> Schema:
    made = _type(hint)
    if isinstance(default, (str, bool, int, float)) and default != "":
        made["default"] = durations.show(default) if "pattern" in made and isinstance(default, float) else default
    return made


def _type(hint: Any) -> Schema:
    bare, markers = without_markers(hint)
    if any(isinstance(marker, Duration) for marker in markers):
        return {"type": "string", "pattern": _DURATION}
    if any(isinstance(marker, When) for marker in markers):
        return {**GUARDS}
    if any(isinstance(marker, Fragment) for marker in markers):
        return {"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/fragment"}]}
    made = _bare(bare)
    for marker in markers:
        if isinstance(marker, Between):
            _bound(made, marker)
        if isinstance(marker, Key):
            _reserve(made, marker)
        if isinstance(marker, Presumed):
            made["description"] = f"{marker.value} where it is not written and {marker.beside} is {marker.word}"
        if isinstance(marker, Pointer):
            made["pattern"] = _POINTER
    return made


def _bare(bare: Any) -> Schema:
    if is_json(bare) or bare is Any or bare is object:
        return {}
    if is_fields(bare):
        return closed(bare)
    if is_union(bare):
        parts = [_type(part) for part in get_args(bare) if part is not type(None)]
        return parts[0] if len(parts) == 1 else {"anyOf": list(parts)}
    origin, inner = get_origin(bare), get_args(bare)
    if origin is Literal:
        return {"enum": list(inner)}
    if origin in (tuple, list):
        return {"type": "array", "items": _type(inner[0])}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return table_of(_type(inner[1]))
    return {"type": _PLAIN[bare]}


_BOUNDS = {
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "string": ("minLength", "maxLength"),
    "array": ("minItems", "maxItems"),
    "object": ("minProperties", "maxProperties"),
}


def _bound(made: Schema, bounds: Between) -> None:
    for word, bound in zip(_BOUNDS[str(made["type"])], bounds, strict=True):
        if bound is not None:
            made[word] = int(bound) if bound == int(bound) else bound


def _reserve(made: Schema, marker: Key) -> None:
    """Keys that the program keeps for itself, wherever in the field they stand."""
    refused: Schema = {"not": {"pattern": _RESERVED}}
    if marker.of == "keys":
        made["propertyNames"] = refused
    elif made.get("type") == "array":
        made["items"] = {"type": "string", **refused}
    elif made.get("type") == "string":
        made |= refused
