"""Values that come from the command line and from files: KEY=VALUE words, and strict JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from ..core import canonical
from ..core.errors import ToolgateError
from ..core.types import Json


def pairs(words: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE words; the value may hold further equals signs."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not key or not equals:
            raise ToolgateError("usage", f"{word} is not KEY=VALUE")
        if key in found:
            raise ToolgateError("usage", f"{key} is given twice")
        found[key] = value
    return found


def read_object(path: str | None) -> dict[str, Json]:
    """The JSON object in a file (`-`: stdin); none where no file is named."""
    if path is None:
        return {}
    value = read_json(path)
    if not isinstance(value, dict):
        raise ToolgateError("invalid", f"{path}: a JSON object is wanted")
    return value


def read_json(path: str) -> Json:
    """One strict JSON value: no key twice, no NaN, nothing after it."""
    try:
        if path == "-":
            content = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                content = file.read()
    except OSError as error:
        raise ToolgateError("invalid", f"{path}: {error.strerror or 'cannot be read'}") from error
    try:
        return canonical.parse(content)
    except ToolgateError as error:
        raise ToolgateError("invalid", f"{path}: {error.message}") from error


def distinct(texts: dict[str, str], values: dict[str, Json]) -> None:
    """Refuses a key that is given as a word and in a file."""
    for key in texts.keys() & values.keys():
        raise ToolgateError("usage", f"{key} is given twice, as a word and in the file")
