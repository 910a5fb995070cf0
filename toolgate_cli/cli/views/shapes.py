"""The two forms that human output takes: a sheet of rows, and the fields of one thing. All text in them is safe."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from ...core.types import Json
from ...core.values import NamedTuple
from ..safe import Safe, fill, line, show_json


class Column(NamedTuple):
    """`whole`: an id or a number, never broken over lines; `least`: the narrowest that it may become where it is broken. The most useful
    columns come first: those that do not fit stand under their row."""

    name: str
    whole: bool = False
    least: int = 24


class Sheet(NamedTuple):
    """Rows of as many cells as there are columns; the first cell is an id, a number or a word of ours."""

    columns: tuple[Column, ...]
    rows: Iterable[tuple[Safe, ...]]


class Field(NamedTuple):
    """One named value; with a `group` (a word of ours) the name itself may be foreign."""

    name: Safe
    value: Safe
    group: str = ""


Fields: TypeAlias = tuple[Field, ...]

EMPTY = Safe("")
READ = 4000  # characters: a screen of them
REDACTED = Safe("redacted")  # in the place of what was erased


def cell(value: object) -> Safe:
    """Any plain value as a cell; nothing for None."""
    return EMPTY if value is None else line(str(value))


def readable(text: Safe) -> Safe:
    """As much of a cell as a person reads in a listing; a program gets all of it."""
    if len(text) <= READ:
        return text
    return fill("{}... ({} more characters: -o json)", Safe(text[:READ]), f"{len(text) - READ:,}")


def field(name: str, value: object) -> Field:
    return Field(Safe(name), value if isinstance(value, Safe) else cell(value))


def members(group: str, value: Json) -> Fields:
    """The entries of an object one by one, or any other value whole."""
    if isinstance(value, dict) and value:
        return tuple(Field(member_name(name), show_json(entry), group) for name, entry in value.items())
    return (Field(Safe(group), show_json(value)),)


def member_name(name: str) -> Safe:
    """The name of an entry of an object."""
    # a name like `to: "bob"` would read as another member; in quotes it cannot
    return Safe(name) if name.isascii() and name.replace("-", "_").isidentifier() else show_json(name)


def moment(at: str | None) -> Safe:
    """A time without its milliseconds, for tables."""
    return EMPTY if at is None else line(at[:19] + "Z" if len(at) == 24 and at.endswith("Z") else at)
