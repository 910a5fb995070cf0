"""Whether one stored text stands in another word for word: how copies of what was erased are found. A short text stands in everything by
chance: it counts only where it is a word of its own, and is no reason to erase anything. A single character is not looked for."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

from . import canonical
from .errors import ToolgateError
from .types import Json

SHORTEST = 8  # characters; what is shorter stands in everything by chance
_FEW = 64  # texts, that are found faster one by one
_LONG = 2048  # characters; of longer texts there cannot be many, and those are found one by one too
_BEGIN = re.compile(r"(?<!\w)")
_LETTER = re.compile(r"\w")


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
    """Finds texts in stored text: as they are, as JSON spells them, and as JSON in JSON does; short ones where they are a word. The time
    that it takes grows with the stored text, and hardly with how many are looked for."""

    def __init__(self, texts: Iterable[str]) -> None:
        known = frozenset(texts)
        spelled = {spelling for text in known if len(text) >= SHORTEST for spelling in _spellings(text)}
        few = len(spelled) <= _FEW
        self._singly = {spelling for spelling in spelled if few or len(spelling) > _LONG}
        self._begun: dict[str, list[str]] = {}  # the others by their first characters, in order; none begins with another one
        for spelling in sorted(spelled - self._singly):
            alike = self._begun.setdefault(spelling[:SHORTEST], [])
            if not alike or not spelling.startswith(alike[-1]):  # else wherever it stands, that one does
                alike.append(spelling)
        self._words = {text for text in known if 1 < len(text) < SHORTEST and any(map(str.isalnum, text))}

    def stands_in(self, stored: str | None) -> bool:
        return stored is not None and (self._quoted(stored) or self._has(stored))

    def _quoted(self, stored: str) -> bool:
        if any(spelling in stored for spelling in self._singly):
            return True
        begun = self._begun.get
        for at in range(len(stored) - SHORTEST + 1 if self._begun else 0):
            alike = begun(stored[at : at + SHORTEST])
            if alike is None:
                continue
            here = stored[at : at + _LONG]
            place = bisect_right(alike, here)  # only the last one that is not behind it in order can be its beginning
            if place and here.startswith(alike[place - 1]):
                return True
        return False

    def _has(self, stored: str) -> bool:
        """Keys are names, not what somebody said."""
        if not self._words or not self._spoken(stored):
            return False
        try:
            held = canonical.parse(stored)
        except ToolgateError:
            return True  # it is text, no JSON
        return any(map(self._spoken, _leaves(held)))

    def _spoken(self, text: str) -> bool:
        """Whether one of the words is in it, with nothing of a word before and behind it."""
        return any(
            text[at : at + length] in self._words and not _LETTER.match(text, at + length)
            for at in (begin.start() for begin in _BEGIN.finditer(text))
            for length in range(2, SHORTEST)
        )


def _spellings(text: str) -> Iterator[str]:
    for _ in range(3):
        yield text
        text = canonical.encode(text)[1:-1]
