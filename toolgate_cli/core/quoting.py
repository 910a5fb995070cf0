"""Whether one stored text stands in another word for word: how copies of what was erased are found. A short text stands in everything by
chance: it counts only where it is a word of its own, and is no reason to erase anything. A single character is not looked for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from . import canonical
from .errors import ToolgateError
from .types import Json

SHORTEST = 8  # characters; what is shorter stands in everything by chance
_FEW = 64  # texts, that are found faster one by one
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
        self._spellings = {spelling for text in known if len(text) >= SHORTEST for spelling in _spellings(text)}
        self._begun: dict[str, dict[int, set[str]]] = {}  # the same by their first characters and by their length
        for spelling in self._spellings if len(self._spellings) > _FEW else ():
            self._begun.setdefault(spelling[:SHORTEST], {}).setdefault(len(spelling), set()).add(spelling)
        self._words = {text for text in known if 1 < len(text) < SHORTEST and any(map(str.isalnum, text))}

    def stands_in(self, stored: str | None) -> bool:
        return stored is not None and (self._quoted(stored) or self._has(stored))

    def _quoted(self, stored: str) -> bool:
        if not self._begun:
            return any(spelling in stored for spelling in self._spellings)
        begun = self._begun.get
        for at in range(len(stored) - SHORTEST + 1):
            by_length = begun(stored[at : at + SHORTEST])
            if by_length is not None and any(stored[at : at + length] in some for length, some in by_length.items()):
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
