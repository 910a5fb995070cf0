"""Values that come from the command line and from files: KEY=VALUE words, and strict JSON."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from ..core import canonical
from ..core.errors import ToolgateError
from ..core.pointer import escape
from ..core.types import Json
from ..core.values import NamedTuple

BIGGEST: Final = 4 * 1024 * 1024  # bytes of one file
_STDIN: Final = 0
_REFUSED = re.compile(r"([A-Z_]+) at (\S*): (.*)\Z", re.DOTALL)  # how canonical says what is wrong
_PLACE = re.compile(r"the new arguments cannot be taken: .*?\b[A-Z_]+ at ([^ ,:]+)")  # of an edit: it is about the file as a whole
_SYNTAX = re.compile(r"line (\d+), column (\d+)\Z")


class Given(NamedTuple):
    """What a file gave: `values`, and the text that they stand in; nothing where no file was named."""

    name: str = ""
    text: str = ""
    values: Mapping[str, Json] = {}


def pairs(words: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE words; the value may hold further equals signs."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not key or not equals:
            raise ToolgateError("usage", f"{word or 'an empty word'} is not KEY=VALUE", "write the name, an equals sign, and the value")
        if key in found:
            raise ToolgateError("usage", f"{key} is given twice", "give each name once")
        found[key] = value
    return found


def distinct(texts: Mapping[str, str], given: Given) -> None:
    """Refuses a key that is given as a word and in a file."""
    for key in texts:
        if key in given.values:
            raise ToolgateError("usage", f"{key} is given twice, as a word and in {given.name}", "give each name once")


def read_object(path: str | None) -> Given:
    """The JSON object in a file (`-`: stdin): no key twice, no NaN, nothing after it. ToolgateError("invalid") with file:line."""
    if path is None:
        return Given()
    name = "stdin" if path == "-" else path
    try:
        content = _content(path)
    except OSError as error:
        hint = "JSON text goes through stdin: -" if path.lstrip()[:1] in ("{", "[") else "name a file that can be read"
        raise ToolgateError("invalid", f"{name}: {(error.strerror or 'cannot be read').lower()}", hint) from error
    if len(content) > BIGGEST:
        raise ToolgateError("invalid", f"{name}: larger than {BIGGEST // 1024 // 1024} MiB", "give less")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ToolgateError("invalid", f"{name}:{line}: the file is not UTF-8", "save it as UTF-8") from error
    if text.startswith("\ufeff"):
        raise ToolgateError("invalid", f"{name}:1: the file begins with a byte order mark", "save it as UTF-8 without one")
    try:
        value = canonical.parse(text)
    except ToolgateError as error:
        raise _refused(name, text, error.message) from error
    if not isinstance(value, dict):
        raise ToolgateError("invalid", f"{name}:1: a JSON object is wanted", 'write {"name": value}')
    return Given(name, text, value)


@contextmanager
def lines(path: str, longest: int) -> Iterator[Iterator[str]]:
    """The lines of a text file of any length (`-`: stdin), as they are read; of one longer than `longest` characters comes one more than
    that at a time, so that it can be told. ToolgateError("invalid") where the file cannot be opened."""
    try:
        file = open(_STDIN if path == "-" else path, encoding="ascii", errors="backslashreplace", newline="\n", closefd=path != "-")  # noqa: SIM115
    except OSError as error:
        raise ToolgateError("invalid", f"{path}: {(error.strerror or 'cannot be read').lower()}", "name a file that can be read") from error
    with file:
        yield iter(lambda: file.readline(longest + 1), "")


@contextmanager
def blaming(given: Given) -> Iterator[None]:
    """What is wrong with a value of the file is said with its line."""
    try:
        yield
    except ToolgateError as error:
        if error.kind != "invalid" or not given.name:
            raise
        message = "; ".join(_placed(given, part) for part in error.message.split("; "))
        raise ToolgateError(error.kind, message, error.hint, retryable=error.retryable) from error


def _content(path: str) -> bytes:
    descriptor = _STDIN if path == "-" else os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts: list[bytes] = []
        size = 0
        while size <= BIGGEST and (part := os.read(descriptor, 1 << 16)):
            parts.append(part)
            size += len(part)
        return b"".join(parts)
    finally:
        if descriptor != _STDIN:
            os.close(descriptor)


def _placed(given: Given, problem: str) -> str:
    """Problems begin with the name of what they are about."""
    from .places import line_of

    name = problem.removeprefix("there is no input ").partition(": ")[0]
    place = _PLACE.match(problem)
    if place is not None:
        pointer = place[1] if place[1].startswith("/") else ""
        return f"{given.name}:{line_of(given.text, pointer)}: {problem}"
    if name not in given.values:
        return problem
    return f"{given.name}:{line_of(given.text, '/' + escape(name))}: {problem}"


def _refused(name: str, text: str, message: str) -> ToolgateError:
    from .places import line_of

    said = _REFUSED.match(message)
    if said is None:
        return ToolgateError("invalid", f"{name}: {message}", "write one strict JSON object")
    code, pointer, why = said.groups()
    syntax = _SYNTAX.match(why)
    if syntax is not None:
        return ToolgateError("invalid", f"{name}:{syntax[1]}: not JSON, from column {syntax[2]} on", "write one strict JSON object")
    field = "" if pointer == "''" else f"{pointer}: "
    line = line_of(text, "" if pointer == "''" else pointer)
    return ToolgateError("invalid", f"{name}:{line}: {field}{why} ({code})", "write one strict JSON object")
