"""The last head of each database, kept outside of the home: a database behind it is a restored copy, and what it holds may have run.

One small file for each database, by its id and its path, in the user's state folder. Nothing here is needed for a call to run: where the
folder cannot be written nothing is kept, and nothing is refused for it.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from functools import lru_cache
from typing import Final

from .private import private_folder

_HEAD: Final = re.compile(rb"(\d{1,18}):([0-9a-f]{64})")
_WIDTH: Final = 96  # bytes
_TRIES: Final = 20  # for the lock, 1 ms apart


class FileHeads:
    """`ports.Heads` for the database at `path` (absolute, links resolved)."""

    def __init__(self, path: str) -> None:
        self._path = path

    def kept(self, identity: str) -> tuple[int, str] | None:
        try:
            with open(self._file(identity), "rb") as file:
                return _parsed(file.read(_WIDTH))
        except OSError:
            return None

    def keep(self, identity: str, seq: int, hash: str, *, accepted: bool = False) -> None:
        """Never goes back, unless a person `accepted` that the database did."""
        path = self._file(identity)
        try:
            try:
                self._put(path, seq, hash, accepted)
            except FileNotFoundError:
                private_folder(os.path.dirname(path))
                self._put(path, seq, hash, accepted)
        except OSError:
            return

    def _put(self, path: str, seq: int, hash: str, accepted: bool) -> None:
        """In place and of one width, so that it is one write: a file that is renamed over another one is synced by some file systems, and
        that would cost as much as the commit it follows."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            self._lock(descriptor)
            before = _parsed(os.pread(descriptor, _WIDTH, 0))
            if before is None or before[0] <= seq or accepted:
                os.pwrite(descriptor, f"{seq}:{hash}".ljust(_WIDTH - 1).encode("ascii") + b"\n", 0)
        finally:
            os.close(descriptor)

    def _lock(self, descriptor: int) -> None:
        """So that of two who keep a head at once the later head stays; whoever was stopped in here is not waited for."""
        import fcntl

        for _ in range(_TRIES):
            with suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            time.sleep(0.001)

    def fault(self) -> str | None:
        """Why heads cannot be kept; found out without making anything."""
        at = os.path.dirname(self._file(""))
        while not os.path.lexists(at):
            at = os.path.dirname(at)
        if not os.path.isdir(at):
            return f"{at} is not a folder"
        return None if os.access(at, os.W_OK | os.X_OK) else f"{at} cannot be written"

    def _file(self, identity: str) -> str:
        state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
        return _named(state, identity, self._path)


@lru_cache(maxsize=8)
def _named(state: str, identity: str, path: str) -> str:
    import hashlib

    name = hashlib.sha256(f"{identity}\n{path}".encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return os.path.join(state, "toolgate", "heads", name)


def _parsed(content: bytes) -> tuple[int, str] | None:
    found = _HEAD.fullmatch(content.rstrip())
    return (int(found[1]), found[2].decode("ascii")) if found else None
