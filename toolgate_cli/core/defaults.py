"""What a schema says of arguments that are left out, for the policy alone: what is stored, shown and run stays as it was asked for (I5).

Defaults are looked for where they always apply: in `properties`, array items, behind local references and in `allOf`. One under a
condition (`anyOf`, `oneOf`, `if`) may or may not apply, so it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from . import pointer
from .types import Json

DEPTH = 32  # of defaults within defaults: a schema may refer to itself


def filled(schema: Json, value: Json) -> Json:
    """The value with the defaults of what it leaves out, at any depth; the value itself is not changed."""
    return _filled(schema, value, schema, DEPTH)


def _filled(schema: Json, value: Json, root: Json, left: int) -> Json:
    for part in _parts(schema, root, frozenset()):
        if isinstance(value, dict):
            value = _object(part, value, root, left)
        elif isinstance(value, list):
            value = _array(part, value, root, left)
    return value


def _parts(schema: Json, root: Json, seen: frozenset[str]) -> Iterator[dict[str, Json]]:
    """The schema and every other that holds wherever it does; a reference is followed once."""
    if not isinstance(schema, dict):
        return
    yield schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#") and reference not in seen:
        with suppress(KeyError, ValueError):
            yield from _parts(pointer.resolve(root, reference[1:]), root, seen | {reference})
    together = schema.get("allOf")
    for part in together if isinstance(together, list) else ():
        yield from _parts(part, root, seen)


def _object(schema: dict[str, Json], value: dict[str, Json], root: Json, left: int) -> dict[str, Json]:
    properties = schema.get("properties")
    made = dict(value)
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        if name in made:
            made[name] = _filled(inner, made[name], root, left)
            continue
        said = [part["default"] for part in _parts(inner, root, frozenset()) if "default" in part]
        if said and left:
            made[name] = _filled(inner, said[0], root, left - 1)
    return made


def _array(schema: dict[str, Json], value: list[Json], root: Json, left: int) -> list[Json]:
    items, first = schema.get("items"), schema.get("prefixItems")
    if isinstance(items, list):  # draft-07: a list of schemas, one for each place
        items, first = schema.get("additionalItems"), items
    places = first if isinstance(first, list) else []
    return [_filled(places[at] if at < len(places) else items, item, root, left) for at, item in enumerate(value)]
