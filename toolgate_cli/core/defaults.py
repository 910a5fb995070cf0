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
_Part: TypeAlias = "tuple[dict[str, Json], bool]"

MOST_PLACES = 10_000  # values that are looked at for one call; what is behind them is UNSURE


def filler(schema: Json) -> Filler | None:
    """Makes of arguments a copy with the defaults of what they leave out, at any depth; None: there is no default in the schema."""
    local = Local(schema)
    if not any("default" in held for held in local.schemas.values()):
        return None
    plan = _Plan({key: local.targets(held) for key, held in local.schemas.items()})

    def fill(arguments: Json) -> Json:
        try:
            return _Filling().whole(plan.of([(schema, True)]), arguments)
        except RecursionError:
            return UNSURE

    return fill


class _Plan:
    """The places of one schema, by the schemas that judge them: each is made when a value first has it."""

    def __init__(self, targets: Mapping[int, list[Json]]) -> None:
        self._targets = targets
        self._known: dict[tuple[tuple[int, bool], ...], _Place] = {}

    def of(self, judging: _Judging) -> _Place:
        tables = [(schema, certain) for schema, certain in judging if isinstance(schema, dict)]
        key = tuple((id(schema), certain) for schema, certain in tables)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MOST_PLACES:
                self._known.clear()
            found = self._known[key] = _Place(self, self._parts(tables))
        return found

    def _parts(self, judging: _Judging) -> list[_Part]:
        """These and every other that judges the same value, each once, the certain ones first."""
        found: dict[int, _Part] = {}
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


class _Place:
    """All the schemas that judge what stands at one place, or may, and the places inside of it. `said`: their defaults, each with whether
    it is certain; `length`: items that have schemas of their own."""

    def __init__(self, plan: _Plan, parts: list[_Part]) -> None:
        self.ids = frozenset(id(part) for part, _ in parts)
        self.said = [(part["default"], certain) for part, certain in parts if "default" in part]
        self.length = max((len(_places(part)) for part, _ in parts), default=0)
        self._named = dict.fromkeys(key for part, _ in parts for key in _table(part, "properties"))
        self._plan = plan
        self._parts = parts
        self._members: dict[str | None, _Place] = {}
        self._items: dict[int, _Place] = {}
        self._absent: list[tuple[str, _Place]] | None = None

    def member(self, key: str) -> _Place:
        """Those that no schema names are all the same place."""
        known = key if key in self._named else None
        found = self._members.get(known)
        if found is None:
            found = self._members[known] = self._plan.of(of for part in self._parts for of in _members(*part, key))
        return found

    def item(self, at: int) -> _Place:
        known = min(at, self.length)
        found = self._items.get(known)
        if found is None:
            found = self._items[known] = self._plan.of(of for part in self._parts for of in _items(*part, at))
        return found

    def absent(self) -> list[tuple[str, _Place]]:
        """The members that have a default where they are left out."""
        if self._absent is None:
            judged = ((key, self._plan.of(self._judging(key))) for key in self._named)
            self._absent = [(key, place) for key, place in judged if place.said]
        return self._absent

    def _judging(self, key: str) -> Iterator[tuple[Json, bool]]:
        """The schemas of a member that is left out: what judges those that are not named is not certain of it."""
        for part in self._parts:
            named = key in _table(part[0], "properties")
            yield from ((held, certain and named) for held, certain in _members(*part, key))


class _Filling:
    """One pass over a value: each place in it once."""

    def __init__(self) -> None:
        self._left = MOST_PLACES

    def whole(self, place: _Place, arguments: Json) -> Json:
        """A default of the whole says what a tool that is given nothing may take, and which of it nobody knows."""
        filled = self._value(place, arguments, frozenset())
        for default, _ in place.said:
            filled = _perhaps(filled, default, arguments)
        return filled

    def _value(self, place: _Place, value: Json, within: frozenset[int]) -> Json:
        """`within`: the schemas in whose defaults this stands, each of which is gone into once."""
        self._left -= 1
        if self._left < 0 or value is UNSURE:
            return UNSURE
        if isinstance(value, dict):
            return self._object(place, value, within)
        return self._array(place, value, within) if isinstance(value, list) else value

    def _object(self, place: _Place, value: dict[str, Json], within: frozenset[int]) -> Json:
        made = {key: self._value(place.member(key), held, within) for key, held in value.items()}
        for key, left_out in place.absent():
            if key not in value:
                made[key] = self._default(left_out, within)
        return made

    def _array(self, place: _Place, value: list[Json], within: frozenset[int]) -> Json:
        made = [self._value(place.item(at), held, within) for at, held in enumerate(value)]
        for at in reversed(range(len(value), place.length)):  # behind one that is left out there may be a default, and then it is there
            if place.item(at).said:
                return [*made, *([UNSURE] * (at + 1 - len(value)))]
        return made

    def _default(self, place: _Place, within: frozenset[int]) -> Json:
        """Of a member that is left out."""
        first, certain = place.said[0]
        if not certain or place.ids & within or not all(equal(first, other) for other, _ in place.said):
            return UNSURE
        return self._value(place, first, within | place.ids)


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
