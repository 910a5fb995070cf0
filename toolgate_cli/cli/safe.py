"""The one door for foreign text (I11): what a reader could not see, or a terminal would obey, becomes visible, and can be turned back."""

from __future__ import annotations

import json
import re

from ..core.types import Json

_SHORT = {0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}

# Printable by Unicode's general categories, yet drawn as nothing (or as a blank): fillers, variation selectors, the blank braille pattern.
_INVISIBLE = frozenset(
    [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164, *range(0xFE00, 0xFE10), 0xFFA0, 0x16FE4, 0x1D159]
)
_ESCAPE = re.compile(r"\\(?:([\\nrt])|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")
_LETTERS = {"\\": "\\", "n": "\n", "r": "\r", "t": "\t"}


class Safe(str):
    """Text that may be written: one line, nothing in it that moves, hides or reorders other text."""

    __slots__ = ()


def _hidden(code: int) -> bool:
    # isprintable() is false for exactly Cc, Cf, Cs, Co, Cn, Zl, Zp and every Zs but the ASCII space
    return not chr(code).isprintable() or code in _INVISIBLE or 0xE0000 <= code <= 0xE0FFF


class _Lines(dict[int, "str | int"]):
    """A translation table that is filled as characters are met."""

    def __missing__(self, code: int) -> str | int:
        self[code] = shown = self._shown(code)
        return shown

    def _shown(self, code: int) -> str | int:
        if code in _SHORT:
            return _SHORT[code]
        if not _hidden(code):
            return code
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class _JsonText(_Lines):
    """The same for finished JSON text, in JSON's own notation; a backslash there is an escape already."""

    def _shown(self, code: int) -> str | int:
        if not _hidden(code):
            return code
        if code < 0x10000:
            return f"\\u{code:04x}"
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


_LINES = _Lines()
_JSON_TEXT = _JsonText()
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # the spelling of the stored bytes


def line(text: str) -> Safe:
    """Foreign text on one line: `\\n`, `\\x1b`, `\\u202e`, `\\U000e0041`, and a backslash as `\\\\`. `unescape` gives the text back."""
    if text.isascii() and text.isprintable() and "\\" not in text:
        return Safe(text)
    return Safe(text.translate(_LINES))


def show_json(value: Json) -> Safe:
    """A value as one line of compact JSON that reads back to it; of stored arguments, the stored bytes as far as they can be seen."""
    text = _encode(value)
    if text.isascii() and text.isprintable():
        return Safe(text)
    return Safe(text.translate(_JSON_TEXT))


def fill(template: str, *values: object) -> Safe:
    """Our own words with values in their `{}`; whatever is not safe yet goes through the door."""
    return Safe(template.format(*[value if isinstance(value, Safe) else line(str(value)) for value in values]))


def unescape(text: str) -> str:
    """The text that `line` was given."""

    def back(found: re.Match[str]) -> str:
        letter, *codes = found.groups()
        return _LETTERS[letter] if letter else chr(int(next(code for code in codes if code), 16))

    return _ESCAPE.sub(back, text)
