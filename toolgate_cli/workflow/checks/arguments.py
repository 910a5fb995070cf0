"""What no argument that a tool's schema lets through can have: a pointer that names nothing there is a rule that says nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from ...core import pointer, references
from ...core.errors import ToolgateError
from ...core.types import Json
from ...core.values import NamedTuple
from ...core.world import Problem
from ..issues import meant

_ALONE = ("$schema", "properties", "$defs", "definitions")  # what says of each argument by itself what it is
_HOPS = 32  # references that are followed one after the other
_SCALARS = frozenset(("string", "number", "integer", "boolean", "null"))


class Missed(NamedTuple):
    """`before`: the part of the pointer that there can be; `token`: what cannot follow it; `known`: what can."""

    before: tuple[str, ...]
    token: str
    known: tuple[str, ...] = ()

    def instead(self) -> str:
        """A hint: the pointer that was probably meant."""
        choices = ["".join(f"/{pointer.escape(part)}" for part in (*self.before, name)) for name in self.known]
        return meant("".join(f"/{pointer.escape(part)}" for part in (*self.before, self.token)), choices)


def missed(schema: Json, at: Sequence[str]) -> Missed | None:
    """Where a pointer leaves everything that the schema accepts. None: there can be such a value, or the schema leaves that open."""
    return _missed(schema, schema, (), tuple(at), _HOPS)


def _missed(root: Json, schema: Json, before: tuple[str, ...], rest: tuple[str, ...], hops: int) -> Missed | None:
    if not rest or not isinstance(schema, dict):
        return None
    for other in _also(root, schema) if hops else ():  # each of them has to accept the value too
        if (found := _missed(root, other, before, rest, hops - 1)) is not None:
            return found
    if "$ref" in schema:
        return None  # what stands beside it is ignored by one of the drafts
    token, inside = rest[0], (*before, rest[0])
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        return None
    if token in properties:
        return _missed(root, properties[token], inside, rest[1:], hops)
    if token.isdigit():
        items = schema.get("items") if "prefixItems" not in schema else None
        return None if "properties" in schema else _missed(root, items, inside, rest[1:], hops)
    if _is_scalar(schema) or (schema.get("additionalProperties") is False and "patternProperties" not in schema):
        return Missed(before, token, tuple(properties))
    return None


def _also(root: Json, schema: Mapping[str, Json]) -> list[Json]:
    """Schemas that judge the same value whatever it is."""
    found = list(parts) if isinstance(parts := schema.get("allOf"), list) else []
    reference = schema.get("$ref")
    if isinstance(reference, str) and (reference == "#" or reference.startswith("#/")):
        from urllib.parse import unquote

        with suppress(KeyError, ValueError):  # that is told where the schema is checked
            found.append(pointer.resolve(root, unquote(reference[1:])))
    return found


def _is_scalar(schema: Mapping[str, Json]) -> bool:
    kind = schema.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return all(isinstance(word, str) and word in _SCALARS for word in kinds)


def unfit(schema: Json, given: Mapping[str, Json]) -> tuple[list[Missed], list[str]]:
    """Of arguments whose values may still be filled in: the keys that the schema forbids, and the required ones that are not there."""
    forbidden = [found for name in given if (found := missed(schema, (name,))) is not None]
    wanted = schema.get("required") if isinstance(schema, dict) and "$ref" not in schema else None
    properties = schema.get("properties") if isinstance(schema, dict) else None
    preset = (
        {name for name, held in properties.items() if isinstance(held, dict) and "default" in held} if isinstance(properties, dict) else ()
    )
    lacking = (
        [name for name in wanted if isinstance(name, str) and name not in given and name not in preset] if isinstance(wanted, list) else []
    )
    return forbidden, lacking


def misfits(schema: Json, given: Mapping[str, Json]) -> tuple[Problem, ...]:
    """Of arguments that are literal, what their own schemas refuse; what depends on several of them is for the call."""
    literal = {name: references.fill(value, _nothing) for name, value in given.items() if _is_literal(value)}
    if not literal or not isinstance(schema, dict):
        return ()
    from ..validators import load

    alone: dict[str, Json] = {key: schema[key] for key in _ALONE if key in schema}
    return tuple(problem for problem in load(alone)(literal) if problem.pointer)


def _is_literal(value: Json) -> bool:
    try:
        return not references.names(value)
    except ToolgateError:
        return False  # said already


def _nothing(name: str) -> Json:
    raise KeyError(name)
