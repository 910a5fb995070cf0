"""Resolves the secrets of a home, outside any transaction: from their files, else from the environment (I12)."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ..core import disguises
from ..core.errors import ToolgateError
from ..core.secrets import SHORTEST, Secrets
from ..core.world import Stamp
from .reading import read, stamp

LONGEST = 65536  # characters


def resolve(places: Mapping[str, str | None], home: str) -> tuple[Secrets, tuple[Stamp, ...]]:
    """`places`: name -> file (relative to the home, or absolute), None for the environment variable of that name. Why one has no value
    names the secret, its file or its variable, never a part of the value. The stamps are of the files."""
    values: dict[str, str] = {}
    faults: dict[str, str] = {}
    stamps: list[Stamp] = []
    for name, file in places.items():
        try:
            text = _of_environment(name) if file is None else _of_file(file, home, stamps)
            _check(text)
        except ToolgateError as error:
            faults[name] = error.message
        else:
            values[name] = text
    spelled = tuple((spelling, name) for name, value in values.items() for spelling in disguises.of(value))
    return Secrets(values, faults, spelled), tuple(stamps)


def _of_environment(name: str) -> str:
    text = os.environ.get(name)
    if text is None:
        raise _fault(f"the environment variable {name} is not set")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise _fault(f"the environment variable {name} is not UTF-8") from None
    return text


def _of_file(file: str, home: str, stamps: list[Stamp]) -> str:
    """Without the newline that it ends with, of which one is taken off."""
    try:
        source = read(home, file)
    except FileNotFoundError:
        stamps.append(stamp(os.path.join(home, file)))
        raise _fault(f"{file}: no such file") from None
    except ToolgateError:
        stamps.append(stamp(os.path.join(home, file)))
        raise
    stamps.append(source.stamp)
    try:
        text = source.data.decode("utf-8")
    except UnicodeDecodeError:
        raise _fault(f"{file} is not UTF-8") from None
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def _check(text: str) -> None:
    if len(text) < SHORTEST or not text.strip():
        raise _fault(f"it is blank or has fewer than {SHORTEST} characters")
    if len(text) > LONGEST:
        raise _fault(f"it has more than {LONGEST} characters")
    if "\0" in text:
        raise _fault("it holds a NUL character")


def _fault(why: str) -> ToolgateError:
    return ToolgateError("invalid", why)
