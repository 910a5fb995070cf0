"""Long lines on a terminal: folded with a hanging indent, so that no line begins with foreign text and nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator

from .safe import Safe

_HANG = " " * 8
_NARROWEST = 20


def fold(text: Safe, width: int) -> tuple[Safe, ...]:
    """The line in pieces that fit; joined without the indents they are the line again."""
    return tuple(_pieces(text, max(_NARROWEST, width)))


def _pieces(text: str, room: int) -> Iterator[Safe]:
    first, rest = _split(text, room)
    yield Safe(first)
    while rest:
        piece, rest = _split(rest, room - len(_HANG))
        yield Safe(_HANG + piece)


def _split(text: str, cells: int) -> tuple[str, str]:
    fits = cells
    if not text.isascii():
        from rich.cells import chop_cells  # knows how wide a character is drawn

        fits = len(chop_cells(text, cells)[0])
    if fits < len(text):
        whole = text.rfind(" ", 0, fits) + 1
        if whole and len(text[whole:].partition(" ")[0]) <= cells - len(_HANG):  # a path or a head is to be copied: whole, on the next line
            return text[:whole], text[whole:]
        fits = (text.rfind(" ", fits // 2, fits) + 1) or (text.rfind(",", fits // 2, fits) + 1) or fits
    return text[:fits], text[fits:]
