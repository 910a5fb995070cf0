"""Reads a file once, with what it was at that moment; whoever compares later sees every change since (I3).

A file that was accepted before needs nothing more than this: what refuses one, and says where, is `document` and `issues`.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Callable
from typing import cast

from ..core.errors import ToolgateError
from ..core.types import Json
from ..core.values import NamedTuple
from ..core.world import Stamp

BIGGEST = 4 * 1024 * 1024  # bytes of one file
_INSTEAD = "a regular file in the home that can be read is wanted there"


class Source(NamedTuple):
    """`name` is how messages call it: the path relative to the home."""

    name: str
    data: bytes
    stamp: Stamp


Read = Callable[[str], Source]
Table = dict[str, Json]


def parse(source: Source) -> Table:
    """The tables of a file that was accepted before: tomllib only."""
    return cast(Table, tomllib.loads(source.data.decode("utf-8")))


def read(home: str, name: str) -> Source:
    """The bytes of HOME/name; FileNotFoundError where there is none, ToolgateError("invalid") where it cannot be read.

    The stamp is of the open file and taken before its bytes: a later change differs from it.
    """
    return _read(home, name, None, BIGGEST, whole=True)


def read_inside(home: str, name: str, most: int = BIGGEST, *, whole: bool = True) -> Source:
    """As `read`, for a file that a file names: it must be in the home, neither `..` nor a link may lead out of it. `most`: bytes that it
    may have; not `whole`: only its beginning is read, a byte more than these."""
    if not name or "\0" in name:
        raise ToolgateError("invalid", "not the name of a file", _INSTEAD)
    root = os.path.realpath(home)
    _stay_inside(root, os.path.realpath(os.path.join(home, name)), name)
    try:
        return _read(home, name, root, most, whole)
    except FileNotFoundError as error:
        raise ToolgateError("invalid", f"no file {name}", _INSTEAD) from error


def _read(home: str, name: str, root: str | None, most: int, whole: bool) -> Source:
    path = os.path.join(home, name)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        raise _unreadable(name, error) from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ToolgateError("invalid", f"{name}: not a regular file", _INSTEAD)
        if root is not None:  # where the file is that was opened: a link may have been put in its place since it was looked at
            _stay_inside(root, os.readlink(f"/proc/self/fd/{descriptor}"), name)
        data = _first(descriptor, most + 1)
    except OSError as error:
        raise _unreadable(name, error) from error
    finally:
        os.close(descriptor)
    if whole and len(data) > most:
        raise ToolgateError("invalid", f"{name}: larger than {most // 1024 // 1024} MiB", _INSTEAD)
    return Source(name, data, Stamp(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


def _stay_inside(root: str, place: str, name: str) -> None:
    if place != root and not place.startswith(root.rstrip(os.sep) + os.sep):
        raise ToolgateError("invalid", f"{name} is outside the home", "name a file inside the home")


def stamp(path: str) -> Stamp:
    """A file as it is now, by its path; one that is not there has inode 0."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return Stamp(path, 0, 0, 0, 0, 0)
    return Stamp(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def is_unchanged(known: Stamp) -> bool:
    """Whether the file is still the one of that stamp; it is not read."""
    try:
        found = os.stat(known.path)
    except (OSError, ValueError):
        return not any(known[1:])
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns) == known[1:]


def _first(descriptor: int, count: int) -> bytes:
    """So many bytes at least, or all."""
    parts: list[bytes] = []
    size = 0
    while size < count and (part := os.read(descriptor, min(count, 1 << 20))):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _unreadable(name: str, error: Exception) -> ToolgateError:
    reason = (error.strerror if isinstance(error, OSError) else None) or "not the name of a file"
    return ToolgateError("invalid", f"{name}: {reason.lower()}", _INSTEAD)
