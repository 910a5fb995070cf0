"""What happens to a file: bytes, lines, tables, values and keys that are flipped, lost, doubled, swapped, garbled or blown up.

A *slip* spoils a word that only names things (a key, an operator, a table, a word of a closed set, the type of a value) into what is no
such word: it may never loosen anything. All else may be what somebody meant, and is held against a second reading of the file.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

LETTERS = "abcdefghijklmnopqrstuvwxyz_-XZ19"
CLOSED = ("decision", "safety", "effect", "on_expiry", "default", "mode", "adapter", "type")  # keys whose text is a word of a closed set
ANY_VALUE = ("eq", "ne", "in", "default", "enum", "const", "additionalProperties", "properties", "items", "arguments", "output", "values")
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*')
_KEY = re.compile(r"[A-Za-z_][\w-]*(?=\s*=)")
_HEADER = re.compile(r"^\[+([^\]\n]+)\]+", re.MULTILINE)
_PART = re.compile(r'"[^"\n]*"|[A-Za-z_][\w-]*')
_SCALAR = re.compile(r'([A-Za-z_][\w-]*)\s*=\s*("(?:[^"\\\n]|\\.)*"|-?\d[\d.]*|true|false)')
_JSON_KEY = re.compile(r'"([\w$]+)"(?=\s*:)')


class Places(NamedTuple):
    """Spans of a text: (from, to)."""

    keys: tuple[tuple[int, int], ...]
    headers: tuple[tuple[int, int], ...]
    scalars: tuple[tuple[str, int, int], ...]  # with their key
    words: frozenset[str]  # every word that is a key somewhere


@lru_cache(maxsize=32)
def places(text: str) -> Places:
    masked = _TEXT.sub(lambda found: " " * len(found[0]), text)
    keys = tuple(found.span() for found in _KEY.finditer(masked))
    headers = tuple(
        (found.start(1) + part.start(), found.start(1) + part.end())
        for found in _HEADER.finditer(text)
        for part in _PART.finditer(found[1])
    )
    scalars = tuple((found[1], *found.span(2)) for found in _SCALAR.finditer(text) if masked[found.start()] != " ")
    return Places(keys, headers, scalars, frozenset(text[a:b] for a, b in (*keys, *headers)))


class Damaged(NamedTuple):
    data: bytes
    how: str
    slip: bool = False


# ---- slips ----
def _garbled(word: str, dice: random.Random) -> str:
    at = dice.randrange(len(word))
    end = dice.choice((at, at + 1, at + 1, len(word)))
    put = dice.choice(("", dice.choice(LETTERS)))
    return word[:at] + put + word[end:]


def slip(text: str, dice: random.Random, known: frozenset[str]) -> Damaged | None:
    """None where the dice fell on what is no slip: the word is another word that means something."""
    where = places(text)
    kind = dice.randrange(4)
    if kind == 0 and where.keys:
        start, end = dice.choice(where.keys)
        made = _garbled(text[start:end], dice)
        how = "key"
    elif kind == 1 and where.headers:
        start, end = dice.choice(where.headers)
        quoted = text[start] == '"'
        made = _garbled(text[start:end].strip('"'), dice)
        made = f'"{made}"' if quoted else made
        how = "table"
    elif kind == 2:
        closed = [place for place in where.scalars if place[0] in CLOSED and text[place[1]] == '"']
        if not closed:
            return None
        _, start, end = dice.choice(closed)
        made = f'"{_garbled(text[start + 1 : end - 1], dice)}"'
        how = "word"
    else:
        typed = [place for place in where.scalars if place[0] not in ANY_VALUE]
        if not typed:
            return None
        _, start, end = dice.choice(typed)
        made = dice.choice(_other_type(text[start:end]))
        how = "type"
    if made.strip('"') in known or made == text[start:end]:
        return None
    return Damaged((text[:start] + made + text[end:]).encode(), f"{how}: {text[start:end]} -> {made}", slip=True)


def _other_type(value: str) -> tuple[str, ...]:
    both = ("[]", "{}", "[[1]]", "{ a = 1 }", "1979-05-27", "nan", "")
    if value[0] == '"':
        return (value[1:-1], "true", "0", "-1.5", f"[{value}]", *both)
    return (f'"{value}"', f"[{value}]", f"{value}x", *(("0", "1") if value in ("true", "false") else ("true", "false")), *both)


# ---- anything else ----
def _flip(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << dice.randrange(8))]) + data[at + 1 :]


def _insert(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data) + 1)
    piece = dice.choice((dice.randbytes(dice.randrange(1, 5)), *_PIECES))
    return data[:at] + piece + data[at:]


_PIECES = (
    b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r", b"\n", b'"', b"'", b"[", b"]", b"{", b"}", b"=", b",", b"#", b"\\",
    b"allow", b"deny", b"**", b"*", b"true", b"0", b"9" * 5000, b"1e999", b"[" * 3000, b"{a=" * 500, b"x" * 70_000, b"[[policy.rules]]\n",
    b'"""', b"\\u0000", b"\\ud800", b"\xe2\x80\xae", b"- ", b"a.b.c.d = 1\n", b"[a" + b".a" * 500 + b"]\n", b"1979-05-27T00:00:00Z",
)  # fmt: skip


def _delete(data: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(data))
    return data[:at] + data[at + dice.choice((1, 1, 2, dice.randrange(1, 40))) :]


def _double(data: bytes, dice: random.Random) -> bytes:
    at, end = sorted((dice.randrange(len(data)), dice.randrange(len(data))))
    end = min(end, at + 200)
    return data[:end] + data[at:end] + data[end:]


def _cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data))]


def _lines(act: Callable[[list[bytes], random.Random], None]) -> Callable[[bytes, random.Random], bytes]:
    def damage(data: bytes, dice: random.Random) -> bytes:
        lines = data.split(b"\n")
        act(lines, dice)
        return b"\n".join(lines)

    return damage


def _swap_two(parts: list[bytes], dice: random.Random) -> None:
    one, two = dice.randrange(len(parts)), dice.randrange(len(parts))
    parts[one], parts[two] = parts[two], parts[one]


def _lose_one(parts: list[bytes], dice: random.Random) -> None:
    parts.pop(dice.randrange(len(parts)))


def _double_one(parts: list[bytes], dice: random.Random) -> None:
    at = dice.randrange(len(parts))
    parts.insert(dice.randrange(len(parts)), parts[at])


def _swap_sides(parts: list[bytes], dice: random.Random, side: int) -> None:
    with_values = [at for at, line in enumerate(parts) if b" = " in line]
    if len(with_values) > 1:
        one, two = dice.sample(with_values, 2)
        left, right = parts[one].split(b" = ", 1), parts[two].split(b" = ", 1)
        left[side], right[side] = right[side], left[side]
        parts[one], parts[two] = b" = ".join(left), b" = ".join(right)


def _tables(act: Callable[[list[bytes], random.Random], None]) -> Callable[[bytes, random.Random], bytes]:
    def damage(data: bytes, dice: random.Random) -> bytes:
        parts = re.split(rb"(?m)^(?=\[)", data)
        act(parts, dice)
        return b"".join(parts)

    return damage


def _value(data: bytes, dice: random.Random) -> bytes:
    """Another value of any type."""
    found = [match.span(1) for match in re.finditer(rb"[=:]\s*([^\s,}\]]+)", data)]
    if not found:
        return data
    start, end = dice.choice(found)
    values = (b"0", b"-1", b"1.5", b"true", b"false", b'""', b'"x"', b'"**"', b"[]", b"{}", b"[{}]", b"null",
              b"9" * 400, b"9" * 1001, b"1e308",
              b"1e-400", b"0.1000000000000000055", b"nan", b'"allow"', b'"deny"', b"[" * 40 + b"]" * 40, b"1979-05-27")  # fmt: skip
    return data[:start] + dice.choice(values) + data[end:]


def _whole(data: bytes, dice: random.Random) -> bytes:
    """Something about the file as a whole."""
    return dice.choice((
        b"", b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data.replace(b"\n", b"\r"), data.replace(b"\n", b"\n\n"), data + data,
        data.decode("latin-1").encode("utf-16"), data.replace(b'"', b"'"), data.replace(b" = ", b" =\n"), data.lower(), data.upper(),
        data[::-1], data + b"\0", data.replace(b" ", b"\t"), data.replace(b" ", b"\xc2\xa0"), data.replace(b'"', "“".encode()),
    ))  # fmt: skip


ANYTHING: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    _flip, _flip, _insert, _insert, _delete, _delete, _double, _cut, _lines(_swap_two), _lines(_lose_one), _lines(_double_one),
    _lines(lambda parts, dice: _swap_sides(parts, dice, 0)), _lines(lambda parts, dice: _swap_sides(parts, dice, 1)),
    _tables(_swap_two), _tables(_lose_one), _tables(_double_one), _value, _value, _whole,
)  # fmt: skip


def anything(data: bytes, dice: random.Random) -> Damaged:
    """One or two of them."""
    for _ in range(dice.choice((1, 1, 1, 2))):
        data = dice.choice(ANYTHING)(data, dice) or b"\n"
    return Damaged(data, "anything")
