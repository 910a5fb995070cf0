"""Long lines on a terminal: folded with a hanging indent, so that no line begins with foreign text and nothing is cut.

A command is to be copied: it gets a line of its own, and where that does not hold it, lines that a shell reads as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from .safe import GLUE, Safe, is_mark, spaced

HANG = " " * 8
_BEFORE_A_COMMAND = " " * 2  # as little as shows that the line goes on
_GOES_ON = f"{GLUE}\\"
_NARROWEST = 20
_AHEAD = 8  # times a line: a character has four marks at most, and the word behind what fits is looked at as far as it could fit


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
    """The line in pieces that fit, as it is read; joined without the indents they are the line again."""
    return tuple(_pieces(text, max(_NARROWEST, width)))


def _pieces(text: str, room: int) -> Iterator[Safe]:
    indent, at = "", 0
    ahead = len(text) if GLUE in text else _AHEAD * room  # a text of megabytes is not copied for each of its lines
    while True:
        window = text[at : at + ahead]
        piece, rest = _split(window, room - len(indent))
        yield spaced(indent + piece)
        at += len(window) - len(rest)
        if at >= len(text):
            return
        indent = _BEFORE_A_COMMAND if GLUE in rest.partition(" ")[0] and not piece.endswith(_GOES_ON) else HANG


def _split(text: str, most: int) -> tuple[str, str]:
    fits = most if text.isascii() else _fitting(text, most)
    if fits >= len(text):
        return text, ""
    whole = text.rfind(" ", 0, fits) + 1
    word = text[whole:].partition(" ")[0]
    if GLUE in word:
        return (text[:whole], text[whole:]) if whole else _split_command(text, word, most)
    # a path or a head is to be copied: whole, on the next line
    if whole and len(word) <= most - len(HANG):
        return text[:whole], text[whole:]
    fits = (text.rfind(" ", fits // 2, fits) + 1) or (text.rfind(",", fits // 2, fits) + 1) or fits
    return text[:fits], text[fits:]


def _split_command(text: str, word: str, most: int) -> tuple[str, str]:
    """The command at the beginning: whole where it fits, else as a shell reads it on several lines, where that is possible."""
    if cells(word) <= most:
        return text[: len(word) + 1], text[len(word) + 1 :]
    end = _fitting(word, most - len(_GOES_ON))
    at = next((at for at in range(end, 0, -1) if word[at] == GLUE and not word.count("'", 0, at) % 2), 0) if '"' not in word else 0
    if not at:
        return _split(spaced(word) + text[len(word) :], most)
    return word[:at] + _GOES_ON, text[at + 1 :]


@lru_cache(maxsize=1)
def _in_prose() -> re.Pattern[str]:
    """A command with its options and ids; a word in lower case may be one of ours, and ends it unless it ends the text."""
    from .catalogue import names

    commands = "|".join(" ".join(name) for name in sorted(names(), reverse=True))
    value = r"'[^']*'|[\w@%+=:,./-]*[\w/]"
    option, other = rf"--?[a-zA-Z][a-z-]*(?: (?:{value}))?", r"[rc][a-z0-9]{7,}(?:@[0-9a-f]+)?|[A-Z]+"
    return re.compile(rf"\btoolgate(?: {option})*? (?:{commands})\b(?: (?:{option}|(?:{other})\b))*(?: (?:{value})$)?", re.ASCII)


def glued(text: Safe) -> Safe:
    """What is said to whoever is to do something, with the commands in it each in one piece."""
    return Safe(_in_prose().sub(lambda found: found[0].replace(" ", GLUE), text))
