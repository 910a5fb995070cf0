"""What a schema says of arguments that are left out, for the policy alone: what is stored, shown and run stays as it was asked for (I5).

Defaults are looked for where they always apply: in `properties`, array items, behind local references and in `allOf`. One under a
condition (`anyOf`, `oneOf`, `if`) may or may not apply, so it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from . import pointer
from .types import Json

Refs = frozenset[str]


def filled(schema: Json, value: Json) -> Json:
    """The value with the defaults of what it leaves out, at any depth; the value itself is not changed."""
    return _filled(schema, value, schema, frozenset())


def _filled(schema: Json, value: Json, root: Json, within: Refs) -> Json:
    for part in _parts(schema, root, frozenset()):
        if isinstance(value, dict):
            value = _object(part, value, root, within)
        elif isinstance(value, list):
            value = _array(part, value, root, within)
    return value


def _parts(schema: Json, root: Json, seen: Refs) -> Iterator[dict[str, Json]]:
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


def _object(schema: dict[str, Json], value: dict[str, Json], root: Json, within: Refs) -> dict[str, Json]:
    properties = schema.get("properties")
    made = dict(value)
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        if name in made:
            made[name] = _filled(inner, made[name], root, within)
            continue
        parts = list(_parts(inner, root, frozenset()))
        said = [part["default"] for part in parts if "default" in part]
        if not said:
            continue
        # within a default a reference is followed once: a schema that refers to itself would never come to an end
        refs = frozenset(str(part["$ref"]) for part in parts if "$ref" in part)
        made[name] = said[0] if refs & within else _filled(inner, said[0], root, within | refs)
    return made


def _array(schema: dict[str, Json], value: list[Json], root: Json, within: Refs) -> list[Json]:
    items, first = schema.get("items"), schema.get("prefixItems")
    if isinstance(items, list):  # draft-07: a list of schemas, one for each place
        items, first = schema.get("additionalItems"), items
    places = first if isinstance(first, list) else []
    return [_filled(places[at] if at < len(places) else items, item, root, within) for at, item in enumerate(value)]
