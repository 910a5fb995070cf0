"""What of the file system belongs to a tool's definition: the executable, resolved once, and the content of its files (I3)."""

from __future__ import annotations

import os
import stat

from ..core import sums
from ..core.errors import ToolgateError
from ..core.values import NamedTuple

SMALL = 1024 * 1024  # bytes of a file up to which loading OpenSSL would cost more than it saves


class Executable(NamedTuple):
    """`path` is what is started, `real` where its links lead.

    Links are not followed in what is started: a program may look at the name that it was called by.
    """

    path: str
    real: str


def candidates(word: str, folder: str, path: str) -> tuple[str, ...]:
    """Where a program may be: an absolute word stays; one with a slash is relative to `folder`; a bare name is in `path` and nowhere else.

    Raises ToolgateError("invalid") for what names no program.
    """
    if "\0" in word or not word:
        raise ToolgateError("invalid", "argv[0] names no program")
    if "/" in word:
        return (os.path.normpath(os.path.join(folder, word)),)
    # a relative entry would mean a folder that the caller of toolgate happens to stand in
    return tuple(os.path.join(entry, word) for entry in path.split(":") if entry.startswith("/"))


def find_executable(word: str, candidates: tuple[str, ...], path: str) -> Executable:
    """The first of the candidates that can be executed. Raises ToolgateError("invalid")."""
    for candidate in candidates:
        if _runs(candidate):
            return Executable(candidate, os.path.realpath(candidate))
    there = [candidate for candidate in candidates if os.path.lexists(candidate)]
    if there:
        raise ToolgateError("invalid", f"{there[0]} is not an executable file", "chmod +x it, or name its interpreter first")
    where = f"{word} in {path}" if "/" not in word else candidates[0]
    raise ToolgateError("invalid", f"there is no executable {where}", "name it by its absolute path, or put its folder into gate.path")


def _runs(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode) and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False


def inside(home: str, path: str) -> str | None:
    """The path relative to the home if it lies in it, by its name or by where its links lead; else None."""
    for root, place in ((os.path.abspath(home), os.path.normpath(path)), (os.path.realpath(home), os.path.realpath(path))):
        if place.startswith(root.rstrip("/") + "/"):
            return os.path.relpath(place, root)
    return None


def escapes(home: str, path: str) -> bool:
    """Whether the path, links followed, lies outside the home."""
    return not os.path.realpath(path).startswith(os.path.realpath(home).rstrip("/") + "/")


def is_file(path: str) -> bool:
    return os.path.isfile(path) if "\0" not in path else False


def sha256_of(path: str) -> str:
    """Hex. Raises ToolgateError("invalid") for what is not a regular file that can be read."""
    try:
        # not blocking: where a pipe stands in the file's place nobody may ever write
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ToolgateError("invalid", f"{path} is not a regular file")
            if found.st_size <= SMALL:
                return sums.sha256(file.read()).hexdigest()
            import hashlib

            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ToolgateError("invalid", f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
