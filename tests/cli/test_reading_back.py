"""What is shown reads back to what is stored: a value on a line, inside a sentence, in a cell, as JSON, and folded over lines."""

from __future__ import annotations

import json
import random
import re
import sys

import pytest

from toolgate_cli.cli.folding import fold
from toolgate_cli.cli.output import ascii_json
from toolgate_cli.cli.safe import fill, line, show_json, unescape
from toolgate_cli.cli.views.shapes import cell

from .hostile import TEXTS, faults

SHORT, LONG = 4_000, 200_000
ALPHABETS = (
    "abc XYZ019_-.",
    "\\\\\\\"'nrtxuU{}[]:,/0019abcdef",
    "".join(map(chr, range(0x20))) + "\x7f" + "".join(map(chr, range(0x80, 0xA1))) + "\\x1b",
    "".join(map(chr, [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070)]))
    + "\ufeff\xad\u034f\u3164\ufe0f\U000e0041 a\\u",
    "e\u0301\u0308\u0336\u0338\u20dd\u0489 a=\"'\\n1",
    "漢字かなカナ한국 ｱ️é",
    "рауpayαаοoаb١1",
    "[]/=#:()bold link red @skull",
    "\ud800\udcff\udfff\\ud800",
)


def any_text(source: random.Random) -> str:
    kind = source.randrange(12)
    if kind == 0:
        return source.choice(list(TEXTS.values()))
    if kind == 1:
        return "".join(chr(source.randrange(0x110000)) for _ in range(source.randrange(12)))
    letters = source.choice(ALPHABETS) if kind < 9 else "".join(ALPHABETS)
    return "".join(source.choice(letters) for _ in range(source.randrange(source.choice((4, 16, 90)))))


def stored(source: random.Random) -> str:
    """A text as it can be in a value: lone surrogates are refused where values come in."""
    return re.sub("[\ud800-\udfff]", "", any_text(source))


def any_value(source: random.Random, depth: int = 3) -> object:
    kind = source.randrange(10 if depth else 6)
    if kind < 3:
        return stored(source)
    if kind < 6:
        return source.choice((None, True, False, source.randrange(-(10**20), 10**20), source.uniform(-1e9, 1e9), 0.1, 1e300, -0.0))
    count = source.randrange(4)
    if kind < 8:
        return [any_value(source, depth - 1) for _ in range(count)]
    return {stored(source): any_value(source, depth - 1) for _ in range(count)}


def unfolded(pieces: tuple[str, ...]) -> str:
    """The line that was folded."""
    return pieces[0] + "".join(piece[8:] for piece in pieces[1:])


@pytest.mark.timeout(1800)
def test_every_value_reads_back_in_every_form(long):
    seed = random.randrange(2**32)
    print(f"seed {seed}", file=sys.stderr)  # noqa: T201  # so that a failure repeats
    source = random.Random(seed)
    for number in range(LONG if long else SHORT):
        text, value, width = any_text(source), any_value(source), source.choice((20, 40, 80, 200))
        shown, inline, celled = line(text), fill("to {}: {} of it", line(text), text), cell(text)
        as_json = show_json(value)
        assert unescape(shown) == text and celled == shown
        assert inline == f"to {shown}: {shown} of it" and unescape(inline) == f"to {text}: {text} of it"
        assert json.loads(as_json) == value and json.loads(ascii_json(value)) == value
        for whole in (shown, as_json) if number % 8 == 0 else ():
            pieces = fold(whole, width)
            assert unfolded(pieces) == whole and all(piece.startswith(" " * 8) for piece in pieces[1:])
            assert faults("".join(f"{piece}\n" for piece in pieces)) == [], ascii(text)


def test_two_texts_never_look_the_same(long):
    """The inverse exists: no two of many texts that are near each other are shown alike."""
    source = random.Random(7)
    shown: dict[str, str] = {}
    for _ in range((LONG if long else SHORT) // 2):
        text = "".join(source.choice('\\nx1bu\n\x1b\u200b"e\u0301') for _ in range(source.randrange(7)))
        assert shown.setdefault(line(text), text) == text
    assert len(shown) > 1_000
