"""The one door for foreign text (I11): what a reader could not see, or a terminal would obey, becomes visible, and can be turned back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ..core.types import Json

_SHORT = {0x5C: "\\\\", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t"}

# Printable by Unicode's general categories, yet drawn as nothing (or as a blank): fillers, variation selectors, the blank braille pattern.
_INVISIBLE = frozenset(
    [847, 4447, 4448, 6068, 6069, *range(6155, 6160), 10240, 12644, *range(65024, 65040), 65440, 78913, 78914, 94180, 119129]
)
_FIRST_MARK = 0x300
_JOINING = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))  # vowels and finals of Hangul: drawn into the syllable before them
_MARKS_IN_A_ROW = 4  # UTS 39, 5.4: more than 4 nonspacing marks on one character belong to no writing; they paint over other lines
# texts: a command that meets nothing to show has no use for them
_PIECE = r"(?s)\\(?:[\\nrt]|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})|."
_JSON_PIECE = r"(?s)\\(?:u[0-9a-f]{4}|.)|."
_ESCAPE = r"\\(?:([\\nrt])|x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))"
_LETTERS = {"\\": "\\", "n": "\n", "r": "\r", "t": "\t"}


GLUE = "\ue020"  # stands for a space inside of a command of ours; the door lets none through, so foreign text has none


class Safe(str):
    """Text that may be written: one line, nothing in it that moves, hides or reorders other text."""

    __slots__ = ()


def hidden(code: int) -> bool:
    """Whether a character would be drawn as nothing, as a blank that is no space, or obeyed."""
    # isprintable() is false for exactly Cc, Cf, Cs, Co, Cn, Zl, Zp and every Zs but the ASCII space
    return not chr(code).isprintable() or code in _INVISIBLE or 0xE0000 <= code <= 0xE0FFF


def is_mark(code: int) -> bool:
    """Whether a character is drawn over the one before it, or into it."""
    if code < _FIRST_MARK:
        return False
    from unicodedata import category

    return category(chr(code))[0] == "M" or any(code in part for part in _JOINING)


class _Lines(dict[int, "str | int"]):
    """A translation table that is filled as characters are met; `marks` are those that are drawn over the character before them."""

    def __init__(self) -> None:
        self.marks: set[str] = set()

    def __missing__(self, code: int) -> str | int:
        self[code] = shown = self.escape(code) if self._stops(code) else code
        if shown == code and is_mark(code):
            self.marks.add(chr(code))
        return shown

    def _stops(self, code: int) -> bool:
        return hidden(code) or code in _SHORT

    def escape(self, code: int) -> str:
        if code in _SHORT:
            return _SHORT[code]
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


class _JsonText(_Lines):
    """The same for finished JSON text, in JSON's own notation; a backslash there is an escape already."""

    def _stops(self, code: int) -> bool:
        return hidden(code)

    def escape(self, code: int) -> str:
        if code < 0x10000:
            return f"\\u{code:04x}"
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


_LINES = _Lines()
_JSON_TEXT = _JsonText()
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # the spelling of the stored bytes


def _shown(text: str, table: _Lines, pieces: str) -> Safe:
    shown = text.translate(table)
    return Safe(shown) if table.marks.isdisjoint(shown) else Safe("".join(_seated(shown, table, pieces)))


def _seated(shown: str, table: _Lines, pieces: str) -> Iterator[str]:
    """A mark stays only on a letter, digit or sign of the same text, with few others: on ours, on an escape or in a stack it is escaped."""
    room = 0
    for piece in re.findall(pieces, shown):
        if piece in table.marks:
            yield piece if room > 0 else table.escape(ord(piece))
            room -= 1
        else:
            yield piece
            room = _MARKS_IN_A_ROW if len(piece) == 1 and (piece.isalnum() or not piece.isascii()) else 0


def line(text: str) -> Safe:
    """Foreign text on one line: `\\n`, `\\x1b`, `\\u202e`, `\\U000e0041`, and a backslash as `\\\\`. `unescape` gives the text back."""
    if text.isascii() and text.isprintable() and "\\" not in text:
        return Safe(text)
    return _shown(text, _LINES, _PIECE)


def show_json(value: Json) -> Safe:
    """A value as one line of compact JSON that reads back to it; of stored arguments, the stored bytes as far as they can be seen."""
    text = _encode(value)
    if text.isascii() and text.isprintable():
        return Safe(text)
    return _shown(text, _JSON_TEXT, _JSON_PIECE)


def fill(template: str, *values: object) -> Safe:
    """Our own words with values in their `{}`; whatever is not safe yet goes through the door."""
    return Safe(template.format(*[value if isinstance(value, Safe) else line(str(value)) for value in values]))


def command(text: str) -> Safe:
    """A command of ours, which is to be copied: a terminal is shown it in one piece where that is possible. For lines and tables."""
    return Safe(line(text).replace(" ", GLUE))


def spaced(text: str) -> Safe:
    """The same text as it is read."""
    return Safe(text.replace(GLUE, " "))


def unescape(text: str) -> str:
    """The text that `line` was given."""

    def back(found: re.Match[str]) -> str:
        letter, *codes = found.groups()
        return _LETTERS[letter] if letter else chr(int(next(code for code in codes if code), 16))

    return re.sub(_ESCAPE, back, text)
