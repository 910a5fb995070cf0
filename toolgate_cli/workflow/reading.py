"""Reads a file once, with what it was at that moment; whoever compares later sees every change since (I3)."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable

from ..core.errors import ToolgateError
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


def read(home: str, name: str) -> Source:
    """The bytes of HOME/name; FileNotFoundError where there is none, ToolgateError("invalid") where it cannot be read.

    The stamp is of the open file and taken before its bytes: a later change differs from it.
    """
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
        data = _all(descriptor)
    except OSError as error:
        raise _unreadable(name, error) from error
    finally:
        os.close(descriptor)
    if len(data) > BIGGEST:
        raise ToolgateError("invalid", f"{name}: larger than {BIGGEST // 1024 // 1024} MiB", _INSTEAD)
    return Source(name, data, Stamp(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


def read_inside(home: str, name: str) -> Source:
    """As `read`, for a file that a file names: it must be in the home, neither `..` nor a link may lead out of it."""
    if not name or "\0" in name:
        raise ToolgateError("invalid", "not the name of a file", _INSTEAD)
    root = os.path.realpath(home)
    if os.path.commonpath((root, os.path.realpath(os.path.join(home, name)))) != root:
        raise ToolgateError("invalid", f"{name} is outside the home", "name a file inside the home")
    try:
        return read(home, name)
    except FileNotFoundError as error:
        raise ToolgateError("invalid", f"no file {name}", _INSTEAD) from error


def stamp(path: str) -> Stamp:
    """A file as it is now, by its path; one that is not there has inode 0."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return Stamp(path, 0, 0, 0, 0, 0)
    return Stamp(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _all(descriptor: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while size <= BIGGEST and (part := os.read(descriptor, 1 << 20)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


def _unreadable(name: str, error: Exception) -> ToolgateError:
    reason = (error.strerror if isinstance(error, OSError) else None) or "not the name of a file"
    return ToolgateError("invalid", f"{name}: {reason.lower()}", _INSTEAD)
