"""Long lines on a terminal: folded with a hanging indent, so that no line begins with foreign text and nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator

from .safe import Safe, is_mark

HANG = " " * 8
_NARROWEST = 20


class _Cells(dict[str, int]):
    """How many cells a character may take, filled as they are met: the most of what programs say. Rich counts a spacing mark, and the tone
    of a skin, with the character before it; terminals give them cells of their own."""

    def __missing__(self, letter: str) -> int:
        from unicodedata import category, east_asian_width

        from rich.cells import cell_len

        drawn_over = category(letter) in ("Mn", "Me")
        wide = east_asian_width(letter) in "WF" or letter in _WIDE
        self[letter] = found = 0 if drawn_over else max(cell_len(letter), 2 if wide else 1)
        return found


_CELLS = _Cells()
_WIDE = "\u3248\u3249\u324a\u324b\u324c\u324d\u324e\u324f\u302e\u302f\U00016ff0\U00016ff1"  # as the C library has them


def cells(text: str) -> int:
    """How wide it may be drawn, at most."""
    return len(text) if text.isascii() else sum(map(_CELLS.__getitem__, text))


def _fitting(text: str, most: int) -> int:
    """How many characters fit, one at least; a mark stays with what it is drawn on."""
    room = 0
    for fits, letter in enumerate(text):
        room += _CELLS[letter]
        if room > most and fits:
            break
    else:
        return len(text)
    base = fits
    while base > 1 and is_mark(ord(text[base])):
        base -= 1
    return base if base > 1 else fits  # a line that is nothing but marks is cut among them


def fold(text: Safe, width: int) -> tuple[Safe, ...]:
    """The line in pieces that fit; joined without the indents they are the line again."""
    return tuple(_pieces(text, max(_NARROWEST, width)))


def _pieces(text: str, room: int) -> Iterator[Safe]:
    first, rest = _split(text, room)
    yield Safe(first)
    while rest:
        piece, rest = _split(rest, room - len(HANG))
        yield Safe(HANG + piece)


def _split(text: str, most: int) -> tuple[str, str]:
    fits = most if text.isascii() else _fitting(text, most)
    if fits < len(text):
        whole = text.rfind(" ", 0, fits) + 1
        # a path or a head is to be copied: whole, on the next line
        if whole and len(text[whole:].partition(" ")[0]) <= most - len(HANG):
            return text[:whole], text[whole:]
        fits = (text.rfind(" ", fits // 2, fits) + 1) or (text.rfind(",", fits // 2, fits) + 1) or fits
    return text[:fits], text[fits:]
