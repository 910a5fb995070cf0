"""Whether one stored text stands in another word for word: how copies of what was erased are found. Short texts tell nothing and are not
looked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from . import canonical
from .types import Json

SHORTEST = 8  # characters; what is shorter stands in everything by chance


def texts(*values: Json) -> frozenset[str]:
    """The texts in JSON values that are long enough to be looked for; of a number its digits."""
    return frozenset(text for value in values for text in _leaves(value) if len(text) >= SHORTEST)


def _leaves(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        for member in value.values():
            yield from _leaves(member)
    elif isinstance(value, list):
        for member in value:
            yield from _leaves(member)
    elif value is not None and not isinstance(value, bool):
        yield value if isinstance(value, str) else canonical.encode(value)


class Quotes:
    """Finds texts in stored text: as they are, as JSON spells them, and as JSON in JSON does."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._spellings = {spelling for text in texts for spelling in _spellings(text)}

    def stands_in(self, stored: str | None) -> bool:
        return stored is not None and any(spelling in stored for spelling in self._spellings)


def _spellings(text: str) -> Iterator[str]:
    for _ in range(3):
        yield text
        text = canonical.encode(text)[1:-1]
