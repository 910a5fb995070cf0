"""From a raw table of a checked file to a plug-in's `Fields`: the one way in which such values are built, without any validation library.

The table was validated when its file was accepted; what does not fit here is a fault and raises TypeError, ValueError or KeyError.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, ForwardRef, TypeGuard, Union, get_args, get_origin

from . import durations
from .fields import Duration
from .types import Json


@lru_cache(maxsize=256)
def hints(fields: type) -> Mapping[str, Any]:
    """Field name -> its type with markers, in the order of declaration."""
    return {name: hint(fields, name) for name in vars(fields)["_fields"]}


@lru_cache(maxsize=1024)
def hint(fields: type, name: str) -> Any:
    """One of them: a start reads a few tables of a few keys, so only what it reads is evaluated, and without typing's own machinery."""
    written: object = fields.__annotations__[name]
    if isinstance(written, ForwardRef):  # a NamedTuple of typing's own
        written = written.__forward_arg__
    return eval(written, vars(sys.modules[fields.__module__])) if isinstance(written, str) else written


def is_fields(hint: object) -> TypeGuard[type]:
    """Whether it is an annotated NamedTuple: a table."""
    return isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_field_defaults")


def is_json(hint: object) -> bool:
    """Whether it is the type of any JSON value."""
    return is_union(hint) and {dict, list} <= {get_origin(part) for part in get_args(hint)} and {str, float} <= set(get_args(hint))


def is_union(hint: object) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def without_markers(hint: Any) -> tuple[Any, tuple[object, ...]]:
    """The bare type, and its markers."""
    if get_origin(hint) is Annotated:
        bare, *markers = get_args(hint)
        return bare, tuple(markers)
    return hint, ()


def defaults(fields: type) -> Mapping[str, object]:
    found: Mapping[str, object] = vars(fields)["_field_defaults"]
    return found


def table(fields: type, raw: Mapping[str, Json]) -> Any:
    """An instance of `fields`; keys that it does not have are left out (the common keys of a step, a model's `adapter`)."""
    return fields(**{name: _value(hint(fields, name), raw[name]) for name in vars(fields)["_fields"] if name in raw})


def _value(hint: Any, raw: Json) -> Any:
    bare, markers = without_markers(hint)
    if any(isinstance(marker, Duration) for marker in markers) and isinstance(raw, str):
        return durations.parse(raw)
    if is_json(bare):
        return raw
    if is_union(bare):
        return None if raw is None else _value(_member(bare, raw), raw)
    if is_fields(bare):
        return table(bare, _mapping(raw))
    origin, inner = get_origin(bare), get_args(bare)
    if origin is tuple:
        return tuple(_value(inner[0], item) for item in _list(raw))
    if origin is list:
        return [_value(inner[0], item) for item in _list(raw)]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {name: _value(inner[1], item) for name, item in _mapping(raw).items()}
    return float(raw) if bare is float and isinstance(raw, int) else raw


def _member(union: Any, raw: Json) -> Any:
    """The part of a union that fits the kind of the value: a table, a list, or a plain value."""
    parts = [part for part in get_args(union) if part is not type(None)]
    return next((part for part in parts if _fits(part, raw)), parts[0])


def _fits(hint: Any, raw: Json) -> bool:
    bare, _ = without_markers(hint)
    origin = get_origin(bare)
    if isinstance(raw, dict):
        return is_fields(bare) or (isinstance(origin, type) and issubclass(origin, Mapping))
    if isinstance(raw, list):
        return origin in (tuple, list)
    if isinstance(raw, bool):
        return bare is bool
    return bare is type(raw) or raw in get_args(bare)


def _mapping(raw: Json) -> dict[str, Json]:
    if not isinstance(raw, dict):
        raise TypeError("a table was expected")
    return raw


def _list(raw: Json) -> list[Json]:
    if not isinstance(raw, list):
        raise TypeError("a list was expected")
    return raw
