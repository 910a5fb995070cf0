"""A place in a value of which it is not certain what stands there: no condition can judge it (I5)."""

from __future__ import annotations

from typing import Final

from .types import Json


class _Unsure(dict[str, Json]):
    """Whatever is below it is not certain either, so a pointer that leads through it ends at it."""

    def __missing__(self, key: str) -> Json:
        return self

    def __repr__(self) -> str:
        return "UNSURE"


UNSURE: Final[Json] = _Unsure()


def stands_in(value: Json) -> bool:
    """Whether it is the value, or somewhere in it."""
    if value is UNSURE:
        return True
    if isinstance(value, dict):
        return any(map(stands_in, value.values()))
    return isinstance(value, list) and any(map(stands_in, value))
