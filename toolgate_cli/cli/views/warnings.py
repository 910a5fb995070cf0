"""What a reader of the card could be deceived by: hidden characters, and letters that only look like others, in one short line each.

Values are looked at decoded: strings as the tool gets them, names of members too, what stands behind percent-escapes, and the strings of
a text that is JSON itself. Base64 is left alone: any word can be read as it, so nothing sound could be said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from ...core.pointer import escape
from ...core.types import Json
from ...core.values import NamedTuple
from ...runtime.answers import Waiting
from ..safe import Safe, fill, hidden
from .pending import arguments, title

_MOST: Final = 12  # lines
_LONGEST: Final = 60  # characters of a pointer; the value itself stands whole in the card
_PERCENT: Final = re.compile("%[0-9a-fA-F]{2}")
_USUAL: Final = "\n\r\t\u00a0\u202f\u3000"  # lines, and spaces that people type
_JOINING: Final = frozenset(
    {
        *("Arabic", "Bengali", "Devanagari", "Gujarati", "Gurmukhi", "Kannada", "Khmer", "Malayalam"),
        *("Mongolian", "Oriya", "Sinhala", "Syriac", "Tamil", "Telugu"),
    }
)


class _Place(NamedTuple):
    pointer: str
    how: str = ""


def warnings(waiting: Waiting) -> list[Safe]:
    """Lines of `POINTER has ...`; a pointer into the arguments begins with a slash, anything else is a field of the card."""
    found: dict[Safe, None] = {}
    for place, text in _texts(waiting):
        if not text.isascii() or not text.isprintable():
            for what in _wrong(text):
                found[fill("{}{} has {}", _short(place.pointer), place.how, what)] = None
    lines = list(found)
    return lines if len(lines) <= _MOST else [*lines[: _MOST - 1], fill("{} more like these", len(lines) - _MOST + 1)]


def _texts(waiting: Waiting) -> Iterator[tuple[_Place, str]]:
    call, row = waiting.call, waiting.row
    yield from _decoded(_Place(""), arguments(waiting))
    said = {
        "title": title(waiting),
        "rationale": call and call.rationale,
        "reason": row.reason,
        "step": row.step,
        "workflow": waiting.workflow,
    }
    yield from ((_Place(name), text) for name, text in said.items() if text)
    yield from _decoded(_Place("form"), waiting.form)
    yield from _decoded(_Place("output"), waiting.output)
    for made in waiting.made:
        if made.call.arguments is not None:
            yield from _decoded(_Place(made.call.id), json.loads(made.call.arguments))
    if call is not None:
        yield from ((_Place("requested by"), text) for text in (call.requested_by,) if text)
    yield from ((_Place("approved by"), name) for name in waiting.approvals)


def _decoded(place: _Place, value: Json) -> Iterator[tuple[_Place, str]]:
    """Every string inside, names included, and what it is once it is unpacked."""
    if isinstance(value, str):
        yield place, value
        yield from _unpacked(place, value)
    elif isinstance(value, dict):
        for name, entry in value.items():
            inside = place._replace(pointer=f"{place.pointer}/{escape(name)}")
            yield inside, name
            yield from _decoded(inside, entry)
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _decoded(place._replace(pointer=f"{place.pointer}/{index}"), entry)


def _unpacked(place: _Place, text: str) -> Iterator[tuple[_Place, str]]:
    if place.how:
        return  # one wrapping: what is behind two is no longer what the tool reads
    if _PERCENT.search(text):
        from urllib.parse import unquote

        yield place._replace(how=" (behind %)"), unquote(text, errors="replace").replace("\ufffd", "")
    if text[:1] in "{[" and "\\" in text:
        try:
            yield from _decoded(place._replace(how=" (JSON in it)"), json.loads(text))
        except (ValueError, RecursionError):
            return


def _wrong(text: str) -> Iterator[Safe]:
    unseen = "".join(dict.fromkeys(char for at, char in enumerate(text) if hidden(ord(char)) and not _in_place(text, at)))
    if unseen:
        yield fill("hidden characters ({})", _codes(unseen))
    from ..scripts import mixture  # it needs the names of characters, which cost to load

    mixed = mixture(text)
    if mixed is not None:
        yield fill("{} ({})", mixed[0], _codes(mixed[1]))


def _in_place(text: str, at: int) -> bool:
    """Whether an unseen character is there for a reason: a line end, a selector or joiner in an emoji, a joiner in a script that joins."""
    char = text[at]
    if char in _USUAL:
        return True
    if char not in "\ufe0f\u200c\u200d" or at == 0:
        return False
    from unicodedata import category

    from ..scripts import script

    before, after = text[at - 1], text[at + 1 : at + 2]
    if char == "\ufe0f":
        return category(before)[0] == "S" or after == "\u20e3"
    emoji = char == "\u200d" and category(before) in ("So", "Sk", "Mn") and after and category(after) == "So"
    return bool(emoji) or script(before) in _JOINING


def _codes(chars: str) -> str:
    shown = " ".join(f"U+{ord(char):04X}" for char in chars[:4])
    return f"{shown} ..." if len(chars) > 4 else shown


def _short(pointer: str) -> str:
    return pointer if len(pointer) <= _LONGEST else pointer[:_LONGEST] + "..."
