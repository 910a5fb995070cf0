"""Walks the marked texts of a table: what a plug-in's `Fields` says about its fields is checked by whoever knows the rest of the file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

from .fields import Key, Names, Presumed, Schema, When
from .tables import hints, is_fields, is_json, is_union, without_markers
from .types import Json
from .values import NamedTuple

KeyPath = tuple["str | int", ...]


class Marked(NamedTuple):
    """A text of a table, one of its field's markers, and where it stands."""

    marker: object
    path: KeyPath
    text: str


def marked(fields: type, raw: Mapping[str, Json], path: KeyPath = ()) -> Iterator[Marked]:
    """Every marked text of a table that has the right shape."""
    for name, hint in hints(fields).items():
        if name in raw:
            yield from _walk(hint, (), raw[name], (*path, name))


def _walk(hint: Any, outer: tuple[object, ...], raw: Json, path: KeyPath) -> Iterator[Marked]:
    bare, own = without_markers(hint)
    markers = outer + own
    if is_json(bare):
        if markers:
            yield from _walk_json(markers, raw, path)
    elif isinstance(raw, str):
        yield from (Marked(marker, path, raw) for marker in markers if not _of_keys(marker))
        if is_union(bare):
            yield from (Marked(marker, path, raw) for part in get_args(bare) for marker in without_markers(part)[1])
    elif isinstance(raw, list):
        for number, item in enumerate(raw):
            yield from _walk(_inside(bare, list), markers, item, (*path, number))
    elif isinstance(raw, dict):
        yield from (Marked(marker, (*path, key), key) for marker in markers if _of_keys(marker) for key in raw)
        table = table_in(bare)
        if table is not None:
            yield from marked(table, raw, path)
            return
        for key, item in raw.items():
            yield from _walk(_inside(bare, dict), markers, item, (*path, key))


def _walk_json(markers: tuple[object, ...], raw: Json, path: KeyPath) -> list[Marked]:
    """Of a value that may be anything; without a look at types, for a file can hold a great many of such values."""
    of_keys = [marker for marker in markers if _of_keys(marker)]
    of_texts = [marker for marker in markers if not _of_keys(marker)]
    found: list[Marked] = []
    left: list[tuple[Json, KeyPath]] = [(raw, path)]
    while left:
        value, at = left.pop()
        if isinstance(value, str):
            found += (Marked(marker, at, value) for marker in of_texts)
        elif isinstance(value, list):
            left += [(item, (*at, number)) for number, item in enumerate(value)][::-1]
        elif isinstance(value, dict):
            found += (Marked(marker, (*at, key), key) for marker in of_keys for key in value)
            left += [(item, (*at, key)) for key, item in value.items()][::-1]
    return found


class Held(NamedTuple):
    """A whole value that a marker is of."""

    marker: object
    path: KeyPath
    value: Json


def held(fields: type, raw: Mapping[str, Json], path: KeyPath = ()) -> Iterator[Held]:
    """Every list of conditions and every JSON Schema of a table that has the right shape."""
    for name, hint in hints(fields).items():
        if name in raw:
            yield from _held(hint, raw[name], (*path, name))


def presumed(fields: type, raw: Mapping[str, Json]) -> dict[str, Json]:
    """What counts in a table although it is not written."""
    parts = ((name, part) for name, hint in hints(fields).items() for part in ((hint, *get_args(hint)) if is_union(hint) else (hint,)))
    said = ((name, marker) for name, part in parts for marker in without_markers(part)[1])
    return {name: one.value for name, one in said if isinstance(one, Presumed) and raw.get(one.beside) == one.word and name not in raw}


def _held(hint: Any, value: Json, path: KeyPath) -> Iterator[Held]:
    bare, own = without_markers(hint)
    yield from (Held(marker, path, value) for marker in own if isinstance(marker, (When, Schema)))
    if isinstance(value, list) and not is_json(bare):
        for number, item in enumerate(value):
            yield from _held(_inside(bare, list), item, (*path, number))
    elif isinstance(value, dict) and (table := table_in(bare)) is not None:
        yield from held(table, value, path)


def _of_keys(marker: object) -> bool:
    return isinstance(marker, (Names, Key)) and marker.of == "keys"


def table_in(hint: Any) -> type | None:
    """The declared table that a value of this type may be."""
    parts = get_args(hint) if is_union(hint) and not is_json(hint) else (hint,)
    return next((bare for bare, _ in map(without_markers, parts) if is_fields(bare)), None)


def _inside(hint: Any, kind: type) -> Any:
    """The type of the items of a list, or of the values of a mapping."""
    if is_json(hint):
        return hint
    for part in get_args(hint) if is_union(hint) else (hint,):
        bare, _ = without_markers(part)
        origin, inner = get_origin(bare), get_args(bare)
        if kind is list and origin in (tuple, list):
            return inner[0]
        if kind is dict and isinstance(origin, type) and issubclass(origin, Mapping):
            return inner[1]
    return object
