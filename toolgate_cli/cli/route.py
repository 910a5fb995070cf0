"""From the words of a command line to one command: the shared options may stand before it, so they are moved behind it."""

from __future__ import annotations

from typing import Final

from ..core.errors import ToolgateError
from ..core.values import NamedTuple
from . import catalogue

WITH_VALUE: Final = ("-C", "--home", "--db", "--actor", "-o", "--output", "--color")
FLAGS: Final = ("--json", "-q", "--quiet", "-v", "--verbose", "-qv", "-vq")
HELP: Final = ("-h", "--help")
VERSION: Final = "--version"


class Route(NamedTuple):
    """`module` None: the overview is wanted, of all commands or of the group `name`; or the version, by its name."""

    name: catalogue.Name
    module: str | None
    arguments: list[str]


def find(words: list[str]) -> Route:
    """Raises `usage` for a word that is no command, with those that are near."""
    known = catalogue.names()
    options, rest = _shared(words)
    if not rest:
        raise ToolgateError("usage", "no command is given", "toolgate help lists the commands")
    if rest[0] in HELP:
        return Route((), None, [])
    first = rest[0]
    if first == VERSION:
        if _shared(rest[1:])[1]:
            raise ToolgateError("usage", "--version is asked for alone", "toolgate --version")
        return Route((VERSION,), None, [])
    if (first,) in known:
        return Route((first,), known[(first,)], options + rest[1:])
    if not any(name[0] == first for name in known):
        raise ToolgateError("usage", f"{first} is no command", catalogue.nearest(rest))
    more, rest = _shared(rest[1:])
    if rest and rest[0] in HELP:
        return Route((first,), None, [])
    verbs = ", ".join(name[1] for name in known if name[0] == first)
    if not rest:
        raise ToolgateError("usage", f"{first} needs one of: {verbs}", f"toolgate help {first}")
    name = (first, rest[0])
    if name not in known:
        raise ToolgateError("usage", f"{first} {rest[0]} is no command", catalogue.nearest([first, rest[0]]))
    return Route(name, known[name], options + more + rest[1:])


def _shared(words: list[str]) -> tuple[list[str], list[str]]:
    """The shared options at the front, and everything from the first other word on."""
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in (*HELP, VERSION):
        word = words[at]
        if word in WITH_VALUE:
            if at + 1 == len(words):
                raise ToolgateError("usage", f"{word} needs a value", "toolgate help lists the commands")
            at += 2
        elif word in FLAGS or word.startswith(("-C", "-o")) or word.partition("=")[0] in WITH_VALUE:
            at += 1
        else:
            raise ToolgateError("usage", f"{word} is no option that stands before a command", _meant(word))
    return words[:at], words[at:]


def _meant(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word.partition("=")[0], [*WITH_VALUE, *FLAGS, *HELP, VERSION], 2)
    return f"did you mean {' or '.join(near)}" if near else "options of a command stand after it: toolgate COMMAND --help"
