"""Wildcards over plain text in time linear in the text: no regular expression is ever made from what an operator wrote."""

from __future__ import annotations

from functools import lru_cache

from .values import NamedTuple


class _Machine(NamedTuple):
    """One bit for each place in the pattern: `step` moves a place on by a character, a place in `stay` or `cross` also waits for more."""

    step: dict[str, int]
    one: int  # places at a "?"
    stay: int  # places at a "*": any character but the separator
    cross: int  # places at a "**": any character
    end: int


def matches(pattern: str, text: str, separator: str, question: bool = False) -> bool:
    """Whether the whole text matches: `*` is any run without the separator ("" = there is none), `**` any run, and with `question` `?`
    any one character but the separator; everything else is itself."""
    machine = _machine(pattern, question)
    places = 1
    for character in text:
        inside = character != separator
        moved = places & (machine.step.get(character, 0) | (machine.one if inside else 0))
        kept = places & (machine.cross | (machine.stay if inside else 0))
        places = moved << 1 | kept
        if not places:
            return False
    return bool(places & machine.end)


@lru_cache(maxsize=256)
def _machine(pattern: str, question: bool) -> _Machine:
    step: dict[str, int] = {}
    one = stay = cross = 0
    place = 1
    index = 0
    while index < len(pattern):
        character = pattern[index]
        index += 1
        if character == "*":
            if pattern.startswith("*", index):
                cross |= place
                index += 1
            else:
                stay |= place
            continue
        if character == "?" and question:
            one |= place
        else:
            step[character] = step.get(character, 0) | place
        place <<= 1
    return _Machine(step, one, stay, cross, place)
