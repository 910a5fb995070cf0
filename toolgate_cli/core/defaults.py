"""What a schema says of arguments that are left out, for the policy alone: what is stored, shown and run stays as it was asked for (I5).

A default is certain where its schema judges whatever happens: in `properties`, `additionalProperties` and items, behind local references
and in `allOf`. One under a condition may apply or not, and two may differ: there the place is UNSURE, and no rule allows for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from .conditions import equal
from .localrefs import Local
from .subschemas import inner
from .types import Json
from .unsure import UNSURE

Filler: TypeAlias = Callable[[Json], Json]
_Judging: TypeAlias = "Iterable[tuple[Json, bool]]"  # schemas of one value, each with whether it is certain that it judges it

MOST_PLACES = 10_000  # values that are looked at for one call; what is behind them is UNSURE


def filler(schema: Json) -> Filler | None:
    """Makes of arguments a copy with the defaults of what they leave out, at any depth; None: there is no default in the schema."""
    local = Local(schema)
    if not any("default" in held for held in local.schemas.values()):
        return None
    targets = {key: local.targets(held) for key, held in local.schemas.items()}

    def fill(arguments: Json) -> Json:
        try:
            return _Filling(targets).whole(schema, arguments)
        except RecursionError:
            return UNSURE

    return fill


class _Filling:
    """One pass over a value: each place in it once, with all the schemas that judge it or may."""

    def __init__(self, targets: Mapping[int, list[Json]]) -> None:
        self._targets = targets
        self._left = MOST_PLACES

    def whole(self, schema: Json, arguments: Json) -> Json:
        """A default of the whole says what a tool that is given nothing may take, and which of it nobody knows."""
        parts = self._parts([(schema, True)])
        filled = self._value(parts, arguments, frozenset())
        for part, _ in parts:
            if "default" in part:
                filled = _perhaps(filled, part["default"], arguments)
        return filled

    def _parts(self, judging: _Judging) -> list[tuple[dict[str, Json], bool]]:
        """These and every other that judges the same value, each once, the certain ones first."""
        found: dict[int, tuple[dict[str, Json], bool]] = {}
        sure = [schema for schema, certain in judging if certain]
        perhaps = [schema for schema, certain in judging if not certain]
        for left, certain in ((sure, True), (perhaps, False)):
            while left:
                schema = left.pop()
                if not isinstance(schema, dict) or id(schema) in found:
                    continue
                found[id(schema)] = schema, certain
                left += self._targets[id(schema)]
                for held in inner(schema):
                    if held.same:
                        (left if held.path[0] == "allOf" else perhaps).append(held.schema)
        return list(found.values())

    def _value(self, parts: list[tuple[dict[str, Json], bool]], value: Json, within: frozenset[int]) -> Json:
        """`within`: the schemas in whose defaults this stands, each of which is gone into once."""
        self._left -= 1
        if self._left < 0 or value is UNSURE:
            return UNSURE
        if isinstance(value, dict):
            return self._object(parts, value, within)
        return self._array(parts, value, within) if isinstance(value, list) else value

    def _object(self, parts: list[tuple[dict[str, Json], bool]], value: dict[str, Json], within: frozenset[int]) -> Json:
        made = {
            key: self._value(self._parts([of for part in parts for of in _members(*part, key)]), held, within)
            for key, held in value.items()
        }
        named = dict.fromkeys(key for part, _ in parts for key in _table(part, "properties") if key not in value)
        for key in named:
            judging = [(held, sure and key in _table(part[0], "properties")) for part in parts for held, sure in _members(*part, key)]
            self._add(made, key, self._parts(judging), within)
        return made

    def _array(self, parts: list[tuple[dict[str, Json], bool]], value: list[Json], within: frozenset[int]) -> Json:
        made = [self._value(self._parts([of for part in parts for of in _items(*part, at)]), held, within) for at, held in enumerate(value)]
        places = max((len(_places(part)) for part, _ in parts), default=0)
        for at in reversed(range(len(value), places)):  # one that is left out at the end may have a default, and those before it then too
            if any("default" in part for part, _ in self._parts([of for part in parts for of in _items(*part, at)])):
                return [*made, *([UNSURE] * (at + 1 - len(value)))]
        return made

    def _add(self, made: dict[str, Json], key: str, parts: list[tuple[dict[str, Json], bool]], within: frozenset[int]) -> None:
        """The default of a member that is left out, where there is one."""
        said = [(part["default"], certain) for part, certain in parts if "default" in part]
        if not said:
            return
        (first, certain), ids = said[0], frozenset(id(part) for part, _ in parts)
        if not certain or ids & within or not all(equal(first, other) for other, _ in said):
            made[key] = UNSURE
        else:
            made[key] = self._value(parts, first, within | ids)


def _perhaps(filled: Json, default: Json, asked: Json) -> Json:
    """What was filled, with a place that is not certain wherever `asked` lacks a member that this default has."""
    if not (isinstance(filled, dict) and isinstance(default, dict) and isinstance(asked, dict)):
        return filled
    made = dict(filled)
    for key, held in default.items():
        if key in asked:
            made[key] = _perhaps(filled[key], held, asked[key])
        elif key not in filled or not equal(filled[key], held):
            made[key] = UNSURE
    return made


# ---- which schemas inside one judge a part of its value ----
def _members(schema: dict[str, Json], certain: bool, key: str) -> Iterator[tuple[Json, bool]]:
    properties, patterns = _table(schema, "properties"), _table(schema, "patternProperties")
    if key in properties:
        yield properties[key], certain
    yield from ((held, False) for held in patterns.values())
    if key not in properties:
        yield schema.get("additionalProperties"), certain and not patterns
        yield schema.get("unevaluatedProperties"), False


def _items(schema: dict[str, Json], certain: bool, at: int) -> Iterator[tuple[Json, bool]]:
    places = _places(schema)
    rest = schema.get("additionalItems" if isinstance(schema.get("items"), list) else "items")
    yield places[at] if at < len(places) else rest, certain
    yield schema.get("contains"), False
    yield schema.get("unevaluatedItems"), False


def _places(schema: dict[str, Json]) -> list[Json]:
    """The schemas that are each of one place: `prefixItems`, in draft-07 a list in `items`."""
    for key in ("items", "prefixItems"):
        held = schema.get(key)
        if isinstance(held, list):
            return held
    return []


def _table(schema: dict[str, Json], key: str) -> dict[str, Json]:
    held = schema.get(key)
    return held if isinstance(held, dict) else {}
