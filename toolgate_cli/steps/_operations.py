"""What can be made of several values: numbers by their decimal value and exactly or not at all, texts, lists and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import cast

from ..core import numerals
from ..core.types import Json
from ..core.values import NamedTuple


class Operation(NamedTuple):
    """`takes`: what every input must be, in words; `fits`: whether a value is that; `make`: raises ValueError where the values do not go
    together."""

    takes: str
    fits: Callable[[Json], bool]
    make: Callable[[Sequence[Json]], Json]


def _is_number(value: Json) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_numbers(value: Json) -> bool:
    return all(map(_is_number, value)) if isinstance(value, list) else _is_number(value)


def _items(values: Iterable[Json]) -> list[Json]:
    """A list stands for its items."""
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def _sum(values: Sequence[Json]) -> Json:
    found = numerals.total(cast("list[int | float]", _items(values)))
    if found is None:
        raise ValueError("no number of JSON is exactly the sum")
    return found


def _extreme(choose: Callable[[Sequence[int]], int]) -> Callable[[Sequence[Json]], Json]:
    """The first of the items whose decimal value is the least, or the greatest."""

    def make(values: Sequence[Json]) -> Json:
        items = cast("list[int | float]", _items(values))
        if not items:
            raise ValueError("there are no numbers")
        aligned, _ = numerals.aligned(items)
        return items[aligned.index(choose(aligned))]

    return make


def _concat(values: Sequence[Json]) -> Json:
    if all(isinstance(value, str) for value in values):
        return "".join(cast("Sequence[str]", values))
    if all(isinstance(value, list) for value in values):
        return _items(values)
    raise ValueError("texts and lists do not go together")


def _merge(values: Sequence[Json]) -> Json:
    """Key by key, not deeper; a later table wins."""
    return {key: item for value in cast("Sequence[dict[str, Json]]", values) for key, item in value.items()}


OPERATIONS: Mapping[str, Operation] = {
    "sum": Operation("a number or a list of numbers", _is_numbers, _sum),
    "min": Operation("a number or a list of numbers", _is_numbers, _extreme(min)),
    "max": Operation("a number or a list of numbers", _is_numbers, _extreme(max)),
    "count": Operation("a value", lambda _: True, lambda values: len(_items(values))),
    "concat": Operation("a text or a list", lambda value: isinstance(value, (str, list)), _concat),
    "merge": Operation("a table", lambda value: isinstance(value, dict), _merge),
}
