"""One pattern for a value in which each character is any of its spellings: whatever an encoder escapes, and leaves alone, is found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

MOST = 512  # characters of one value, and of those that are searched for together; of longer ones only whole spellings are known
_NAMED = {'"': "quot", "'": "apos", "&": "amp", "<": "lt", ">": "gt"}
_LETTERS = {"\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f", "\v": "v", "\a": "a", "\0": "0"}
_OTHERS = {" ": (b"+",), "'": (b"'\"'\"'", b"'\\''"), "\n": (b"\r\n",), "/": (b"~1",), "~": (b"~0",)}
_LONGEST = 12  # bytes that the spelling of one byte has at most: `&#x000026;` is shorter, and so is `\\\\u{26}`


class Found(Protocol):
    """Where a pattern was found."""

    def start(self) -> int: ...
    def end(self) -> int: ...


class Finder(Protocol):
    """A compiled pattern."""

    def search(self, text: bytes, pos: int = 0, /) -> Found | None: ...
    def match(self, text: bytes, pos: int = 0, /) -> Found | None: ...


def compiled(patterns: Iterable[str]) -> Finder:
    """Finds any of them, in linear time; imports RE2, so it is not to be called inside of a transaction (I7)."""
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors, options.longest_match, options.never_capture, options.max_mem = False, True, True, 64 << 20
    found: Finder = re2.compile("|".join(patterns).encode("ascii"), options)
    return found


def pattern(value: str) -> str:
    """Finds the value in any mixture of spellings."""
    return "".join(map(_of, value))


def longest(value: str) -> int:
    """Bytes that no mixture is longer than."""
    return _LONGEST * len(value.encode())


def literal(data: bytes) -> str:
    """Finds these bytes."""
    return "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\x{byte:02x}" for byte in data)


def cut_off(value: str, least: int) -> str:
    """Finds the characters in any mixture of spellings at the end of a text that is cut off anywhere behind the first `least` of them."""
    least = max(0, least)
    told = [f"(?:{_CUT}{_END}|{_of(character)}" for character in value[least:]]
    return pattern(value[:least]) + "".join(told) + _END + ")" * len(told)


def groups(values: Mapping[str, str]) -> list[list[str]]:
    """Names of values that are searched for in one pass: together they are not longer than one may be."""
    groups: list[list[str]] = []
    room = 0
    for name, value in values.items():
        if len(value) > room:
            groups.append([])
            room = MOST
        groups[-1].append(name)
        room -= len(value)
    return groups


def _of(character: str) -> str:
    return "(?:" + "|".join(_forms(character)) + ")"


def _forms(character: str) -> Iterator[str]:
    data, point = character.encode(), ord(character)
    # the longest first, for a matcher that takes the first
    yield "".join(f"%(?:25)?{_hex(byte, 2)}" for byte in data)
    if point < 128:
        yield f"{_SLASHES}(?:{'|'.join(_behind_slashes(character))})"
    else:
        units = character.encode("utf-16-be")
        yield "".join(f"{_SLASHES}u{_hex(units[at] << 8 | units[at + 1], 4)}" for at in range(0, len(units), 2))
        yield "".join(f"{_SLASHES}(?:x{_hex(byte, 2)}|{byte:03o})" for byte in data)
        yield f"{_SLASHES}(?:u\\{{0{{0,4}}{_hex(point, 1)}\\}}|x{_hex(point, 2)})"
    yield f"&#(?:0{{0,3}}{point}|[xX]0{{0,4}}{_hex(point, 1)});"
    if character in _NAMED:
        yield f"&(?:amp;)?{_NAMED[character]};"
    yield from map(literal, _OTHERS.get(character, ()))
    yield literal(data)


def _behind_slashes(character: str) -> Iterator[str]:
    yield f"(?:u00|x){_hex(ord(character), 2)}"
    if character in _LETTERS:
        yield _LETTERS[character]
    if not character.isalnum():
        yield f"{ord(character):03o}|u\\{{0{{0,4}}{_hex(ord(character), 1)}\\}}"
        yield literal(character.encode())


_CUT = r"(?:[%&\x5c][%&\x5c#{0-9A-Za-z]{0,10})?"  # an escape whose end is missing
_END = r"\z"
_SLASHES = r"\x5c{1,4}"


def _hex(number: int, digits: int) -> str:
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in f"{number:0{digits}x}")
