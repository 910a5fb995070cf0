"""Conditions on context values, `{ key = "decision", at = "/x", eq = "refund" }`: what decides whether a step runs, and which way is taken.

What cannot be judged does not hold: a step is not run, and a way is not taken, on a value that nobody foresaw (I5).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from .conditions import condition, holds
from .config import Condition
from .types import Json
from .values import NamedTuple


class Guard(NamedTuple):
    """One test of a context value."""

    key: str
    condition: Condition

    def __str__(self) -> str:
        return f"{self.key}#{self.condition.at}" if self.condition.at else self.key


def read(written: Iterable[Mapping[str, Json]]) -> tuple[Guard, ...]:
    """The conditions of a checked `if` or `when`."""
    return tuple(Guard(cast(str, table["key"]), condition({"at": "", **table}, "at")) for table in written)


def failing(guards: Iterable[Guard], value: Callable[[str], Json]) -> str | None:
    """Why one of the conditions does not hold; None: all of them do. `value` raises KeyError for a key that is absent."""
    return next((why for why in (_failing(guard, value) for guard in guards) if why is not None), None)


def _failing(guard: Guard, value: Callable[[str], Json]) -> str | None:
    op = guard.condition.op
    try:
        document: Json = {"it": value(guard.key)}
    except KeyError:
        document = {}  # absent, for every operator alike
    inside = guard.condition._replace(at="/it" + guard.condition.at)
    if holds(inside, document, on_type_error=False):
        return None
    if holds(inside, document, on_type_error=True):
        return f"{guard} is of a type that {op} cannot judge"
    there = holds(Condition(inside.at, "exists", True), document, on_type_error=False)
    return f"{op} does not hold of {guard}" if there or op == "exists" else f"{guard} is absent"
