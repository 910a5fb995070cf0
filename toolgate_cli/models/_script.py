"""Reading a script of turns: every defect is named with its entry and field, and a script with a defect plays nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import cast

from ..core import canonical, dotted
from ..core.errors import ToolgateError
from ..core.fields import Defect
from ..core.types import Json
from ..core.values import NamedTuple
from ..host.private import open_file

Where = tuple[str | int, ...]
_TEXTS = ("workflow", "step", "agent", "when_result_contains", "text")
_KEYS = (*_TEXTS, "ordinal", "commands")


class Entry(NamedTuple):
    """One scripted turn; what is None narrows nothing. Exactly one of `commands` and `text` is the answer."""

    workflow: str | None = None
    step: str | None = None
    agent: str | None = None
    ordinal: int | None = None
    when_result_contains: str | None = None
    commands: Json = None
    text: str | None = None


def load(home: str, script: str) -> tuple[tuple[Entry, ...], tuple[Defect, ...]]:
    """The entries in file order, and what is wrong with the file. With a problem there are no entries."""
    try:
        document = _parse(_text(home, script))
    except ToolgateError as error:
        return (), (Defect((), error.message),)
    problems = tuple(_problems(document))
    if problems:
        return (), problems
    return tuple(Entry(**entry) for entry in cast("list[dict[str, Json]]", document.get("turns", []))), ()  # type: ignore[arg-type]  # checked


def _text(home: str, script: str) -> str:
    root = os.path.realpath(home)
    path = os.path.realpath(os.path.join(root, script))
    if os.path.isabs(script) or os.path.commonpath((root, path)) != root:
        raise ToolgateError("invalid", "the script is not inside the home")
    if not os.path.isfile(path):
        raise ToolgateError("invalid", "there is no such file")
    try:
        with open(open_file(path, os.O_RDONLY), encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ToolgateError("invalid", f"the script cannot be read: {reason}") from error


def _parse(text: str) -> Mapping[str, object]:
    import tomllib  # only a run with a scripted model pays for it

    if (line := dotted.too_long(text)) is not None:
        raise ToolgateError("invalid", f"line {line}: a key has more than {dotted.MOST} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ToolgateError("invalid", f"it is not TOML: {error}") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets by the thousand
        raise ToolgateError("invalid", "it is not TOML that can be read: a number or a nesting in it is out of all bounds") from error


def tell(script: str, problem: Defect) -> str:
    """ "script: field: why"."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem.path)[1:]
    return f"{script}: {place}{': ' if place else ''}{problem.text}"


def _problems(document: Mapping[str, object]) -> list[Defect]:
    known = ("schema", "turns")
    found = [Defect((key,), f"there is no such key{_meant(key, known)}") for key in document if key not in known]
    if type(document.get("schema")) is not int or document["schema"] != 1:
        found.append(Defect(("schema",), "it has to be 1"))
    turns = document.get("turns", [])
    if not isinstance(turns, list) or not all(isinstance(entry, dict) for entry in turns):
        return [*found, Defect(("turns",), "it is not a list of tables, [[turns]]")]
    for index, entry in enumerate(turns):
        found += _entry_problems(entry, ("turns", index))
    return found


def _entry_problems(entry: Mapping[str, object], path: Where) -> list[Defect]:
    found = [Defect((*path, key), f"there is no such key{_meant(key, _KEYS)}") for key in entry if key not in _KEYS]
    found += (Defect((*path, key), "it is not a text") for key in _TEXTS if key in entry and not isinstance(entry[key], str))
    ordinal = entry.get("ordinal", 0)
    if type(ordinal) is not int or ordinal < 0:
        found.append(Defect((*path, "ordinal"), "it is not a whole number from 0 on"))
    if ("commands" in entry) == ("text" in entry):
        found.append(Defect(path, "it needs commands or text, one of them"))
    return found + _command_problems(entry.get("commands", []), (*path, "commands"))


def _command_problems(commands: object, path: Where) -> list[Defect]:
    """Only what is no list of commands at all: whether an agent may use them is for the run to find out, as with any model."""
    if not isinstance(commands, list):
        return [Defect(path, "it is not a list")]
    found = []
    for index, command in enumerate(commands):
        where = (*path, index)
        if not isinstance(command, dict) or not isinstance(command.get("type"), str):
            found.append(Defect(where, "it is not a table with a type"))
            continue
        try:
            canonical.encode(command)
        except ToolgateError as error:
            found.append(Defect(where, error.message))  # TOML has dates, times, nan and inf; JSON has not
    return found


def _meant(key: str, known: Sequence[str]) -> str:
    import difflib  # only for a mistake

    close = difflib.get_close_matches(key, known, 1)
    return f', did you mean "{close[0]}"' if close else ""
