"""The one door for foreign text: nothing that goes through it can move, hide or reorder other text, and it can be turned back."""

from __future__ import annotations

import json
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from toolgate_cli.cli.safe import Safe, fill, line, show_json, unescape

from .given import HOSTILE

anything = st.text(st.characters(exclude_categories=()), max_size=40)
NAMED = [
    *[0xAD, 0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFEFF, 0xFFA0],
    *[*range(0x180B, 0x1810), *range(0x200B, 0x2010), *range(0x2028, 0x2065), *range(0x2066, 0x2070), *range(0xFE00, 0xFE10)],
    *range(0xE0000, 0xE1000),
]


def harmless(text: str) -> bool:
    return text.isprintable()


def test_every_character_of_unicode_is_drawn_or_escaped_and_comes_back():
    hidden = {"Cc", "Cf", "Zl", "Zp", "Co", "Cs", "Cn"}
    named = set(NAMED)
    joining = {*range(0x1161, 0x1200), *range(0xD7B0, 0xD800)}  # Hangul
    for code in range(0x110000):
        char = chr(code)
        shown = line(char)
        category = unicodedata.category(char)
        if category in hidden or (category == "Zs" and char != " ") or code in named:
            visible = 0x2010 <= code < 0x2028 or 0x2030 <= code < 0x205F  # of the named range, what is drawn
            assert shown != char or (visible and char.isprintable()), hex(code)
        elif (category[0] == "M" and code != 0x16FE4) or code in joining:  # it is drawn over what stands before it: never over ours
            assert shown != char and line("a" + char) == "a" + char, hex(code)
        elif char != "\\" and code not in (0x13441, 0x13442, 0x16FE4, 0x1D159):
            assert shown == char, hex(code)
        assert harmless(shown) and unescape(shown) == char, hex(code)


@settings(max_examples=20_000, deadline=None)
@given(anything)
def test_any_text_becomes_one_harmless_line_and_comes_back(text):
    shown = line(text)
    assert isinstance(shown, Safe) and harmless(shown) and unescape(shown) == text


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False, allow_infinity=False) | anything,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(anything, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=3_000, deadline=None)
@given(values)
def test_any_value_becomes_one_harmless_line_of_json_that_reads_back(value):
    shown = show_json(value)
    assert harmless(shown) and json.loads(shown) == value


def test_marks_stay_on_their_letter_and_never_pile_up():
    assert line("e\u0301 สวัสดีที่ हिन्दी Việt") == "e\u0301 สวัสดีที่ हिन्दी Việt"
    assert line("a" + "\u0336" * 6) == "a" + "\u0336" * 4 + "\\u0336" * 2
    for before in ("", " ", '"', "\x1b", "\\", "=", "\u200b"):
        assert line(before + "\u0338") == line(before) + "\\u0338", before
        assert line(before + "\u1161") == line(before) + "\\u1161", before
    assert line("\u1100\u1161\u11a8") == "\u1100\u1161\u11a8" and line("\ud7cb") == "\\ud7cb"
    assert show_json({"\u0338": "\u0338\n\u0338n\u0338"}) == '{"\\u0338":"\\u0338\\n\\u0338n\u0338"}'


def test_escapes_are_the_usual_ones():
    assert line("a\n\t\r\x1b\x7f\x9b\u202e\U000e0041\\é ") == "a\\n\\t\\r\\x1b\\x7f\\x9b\\u202e\\U000e0041\\\\é "
    assert show_json({"k\x7f": "\U000e0041\u00a0é"}) == '{"k\\u007f":"\\udb40\\udc41\\u00a0é"}'


def test_an_escape_that_was_in_the_text_is_not_taken_for_one_that_was_made():
    assert unescape(line("\\x1b")) == "\\x1b" and line("\\x1b") != line("\x1b")


def test_what_is_filled_in_goes_through_the_door_once():
    assert fill("run {}: {}", line("\n"), "\n") == "run \\n: \\n"
    assert harmless(fill("{}", HOSTILE))
