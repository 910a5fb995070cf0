"""The last head of each database, kept outside of the home: a database behind it is a restored copy, and what it holds may have run.

One small file for each database in the user's state folder, by its id alone: one database has one history, wherever its file stands.
Nothing here is needed for a call to run: where the folder cannot be written nothing is kept, and nothing is refused for it. But what is
there and cannot be read is no reason to believe a database.
"""

from __future__ import annotations

import os
import re
import stat
import time
from functools import lru_cache
from typing import Final

from .private import private_folder, state_folder

_HEAD: Final = re.compile(rb"(\d{1,18}):([0-9a-f]{64}) *\n")
_WIDTH: Final = 96  # bytes
_TRIES: Final = 20  # for the lock, or for a whole line, 1 ms apart
_SAFE: Final = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # whatever stands there, it is not followed and not waited for


class FileHeads:
    """`ports.Heads`."""

    def kept(self, identity: str) -> tuple[int, str] | str | None:
        path = self._file(identity)
        try:
            descriptor = _open(path, os.O_RDONLY)
            try:
                return _read(descriptor) or f"the kept head {path} is no head"
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            return None  # a first head that appears only now is none of what was seen so far
        except OSError as error:
            # what cannot be reached was never kept there
            return f"the kept head {path} cannot be read: {error.strerror}" if os.path.lexists(path) else None

    def keep(self, identity: str, seq: int, hash: str, *, accepted: bool = False) -> None:
        """Never goes back, and what is broken stays so, unless a person `accepted` the database as it is."""
        path = self._file(identity)
        line = f"{seq}:{hash}".ljust(_WIDTH - 1).encode("ascii") + b"\n"
        try:
            if accepted:
                _new(path, line, over=True)
                return
            try:
                _put(path, line, seq)
            except FileNotFoundError:
                _new(path, line, over=False)
        except FileExistsError:
            return  # somebody else kept the first head just now: the next commit keeps a later one
        except OSError:
            return

    def fault(self) -> str | None:
        """Why heads cannot be kept; found out without making anything."""
        at = os.path.dirname(self._file(""))
        while not os.path.lexists(at):
            at = os.path.dirname(at)
        if not os.path.isdir(at):
            return f"{at} is not a folder"
        return None if os.access(at, os.W_OK | os.X_OK) else f"{at} cannot be written"

    def _file(self, identity: str) -> str:
        return _named(os.environ.get("XDG_STATE_HOME", ""), os.environ.get("HOME"), identity)


@lru_cache(maxsize=8)
def _named(_state: str, _home: str | None, identity: str) -> str:
    """The path does not change while what the state folder is made of does not."""
    import hashlib

    return os.path.join(state_folder(), "heads", hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:32])


def _open(path: str, flags: int) -> int:
    """OSError also for what is no file."""
    descriptor = os.open(path, flags | _SAFE)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(0, "it is not a file")


def _put(path: str, line: bytes, seq: int) -> None:
    """In place and of one width, so that it is one write: a file that is renamed over another one is synced by some file systems, and
    that would cost as much as the commit it follows. Without the lock nothing is written: the next commit keeps its head."""
    descriptor = _open(path, os.O_RDWR)
    try:
        if _lock(descriptor):
            before = _read(descriptor)
            if before is not None and before[0] <= seq:
                _write(descriptor, line)
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """So that of two who keep a head at once the later head stays; whoever was stopped in here is not waited for."""
    import fcntl

    for _ in range(_TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            time.sleep(0.001)
    return False


def _new(path: str, line: bytes, *, over: bool) -> None:
    """A file that is there as a whole or not at all, after a loss of power too. FileExistsError where there is one already, unless this
    one goes `over` whatever stands there; whoever has that open does not write here any more."""
    private_folder(os.path.dirname(path))
    scratch = f"{path}-{os.urandom(4).hex()}"
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            _write(descriptor, line)
            os.fdatasync(descriptor)
        finally:
            os.close(descriptor)
        if not over:
            os.link(scratch, path)
            return
        if os.path.isdir(path) and not os.path.islink(path):
            os.rename(path, f"{scratch}-old")
        os.rename(scratch, path)
    finally:
        if os.path.lexists(scratch):
            os.unlink(scratch)


def _write(descriptor: int, line: bytes) -> None:
    """All of it: one write, but on a disk that takes less of it."""
    at = 0
    while at < len(line):
        at += os.pwrite(descriptor, line[at:], at)


def _read(descriptor: int) -> tuple[int, str] | None:
    """None: what is there is no head, and it does not become one, as a line does that is just being written."""
    for _ in range(_TRIES):
        found = _HEAD.fullmatch(os.pread(descriptor, _WIDTH + 1, 0))
        if found:
            return int(found[1]), found[2].decode("ascii")
        time.sleep(0.001)
    return None
