"""Looks at what steps ask for: files inside the home, and values by their JSON Schemas. It only reads, and what it cannot it says (I7)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..core import canonical, pointer
from ..core.errors import ToolgateError
from ..core.intents import Finding, Look
from ..core.types import Json
from .reading import read_inside

BIGGEST = 1024 * 1024  # bytes of a file whose content is wanted
_GLANCE = 64 * 1024  # bytes in which something must be found for a file to be filled


def observe(home: str, apart: Sequence[str], looks: Sequence[Look]) -> tuple[Finding, ...]:
    """`apart`: files and folders that are not looked at."""
    return tuple(_look(home, apart, look) for look in looks)


def _look(home: str, apart: Sequence[str], look: Look) -> Finding:
    try:
        if look.file is not None:
            _keep_off(home, apart, look.file)
        return Finding(_found(home, look))
    except ToolgateError as error:
        return Finding(error=error.message)
    except Exception as error:  # noqa: BLE001  # whatever it was: nothing was found, and the step says so
        return Finding(error=f"{look.file or 'the value'} could not be looked at: {type(error).__name__}")


def _found(home: str, look: Look) -> Json:
    match look.want:
        case "filled":
            source = read_inside(home, look.file or "", _GLANCE, whole=False)
            return len(source.data) > _GLANCE or bool(source.data.strip())
        case "text":
            return _text(home, look.file or "")
        case "json":
            return _json(home, look)
        case "problems":
            from .validators import load

            return [problem.told("") for problem in load(look.schema)(_json(home, look))]


def _json(home: str, look: Look) -> Json:
    value = look.value
    if look.file is not None:
        text = _text(home, look.file)
        try:
            value = canonical.parse(text)
        except ToolgateError as error:
            raise ToolgateError("invalid", f"{look.file}: {error.message}") from None
    try:
        return pointer.resolve(value, look.at)
    except KeyError:
        raise ToolgateError("invalid", f"{look.file or 'the value'}: nothing is at {look.at}") from None


def _text(home: str, name: str) -> str:
    try:
        return read_inside(home, name, BIGGEST).data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ToolgateError("invalid", f"{name} is not UTF-8") from None


def _keep_off(home: str, apart: Sequence[str], name: str) -> None:
    place = os.path.realpath(os.path.join(home, name)) if "\0" not in name else ""
    for own in map(os.path.realpath, apart):
        if place == own or place.startswith(own + os.sep):
            raise ToolgateError("invalid", f"{name} is the store's own")
