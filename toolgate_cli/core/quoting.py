"""Whether one stored text stands in another word for word: how copies of what was erased are found. A short text stands in everything by
chance: it counts only where it is a word of its own, and is no reason to erase anything. A single character is not looked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from . import canonical
from .errors import ToolgateError
from .types import Json

SHORTEST = 8  # characters; what is shorter stands in everything by chance


def texts(*values: Json, shortest: int = SHORTEST) -> frozenset[str]:
    """The texts in JSON values that are long enough to be looked for; of a number its digits."""
    return frozenset(text for value in values for text in _leaves(value) if len(text) >= shortest)


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
    """Finds texts in stored text: as they are, as JSON spells them, and as JSON in JSON does; short ones where they are a word."""

    def __init__(self, texts: Iterable[str]) -> None:
        known = frozenset(texts)
        self._spellings = {spelling for text in known if len(text) >= SHORTEST for spelling in _spellings(text)}
        short = sorted(text for text in known if 1 < len(text) < SHORTEST and any(map(str.isalnum, text)))
        self._words = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, short))})(?!\w)") if short else None

    def stands_in(self, stored: str | None) -> bool:
        if stored is None:
            return False
        return any(spelling in stored for spelling in self._spellings) or (self._words is not None and _has(stored, self._words))


def _has(stored: str, words: re.Pattern[str]) -> bool:
    """Keys are names, not what somebody said."""
    if not words.search(stored):
        return False
    try:
        held = canonical.parse(stored)
    except ToolgateError:
        return True  # it is text, no JSON
    return any(words.search(leaf) for leaf in _leaves(held))


def _spellings(text: str) -> Iterator[str]:
    for _ in range(3):
        yield text
        text = canonical.encode(text)[1:-1]
