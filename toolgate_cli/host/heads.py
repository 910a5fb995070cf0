"""The last head of each database, kept outside of the home: a database behind it is a restored copy, and what it holds may have run.

One small file for each database in the user's state folder, by its id alone: one database has one history, wherever its files stand.
Whoever commits holds that file from before the commit until the new head stands in it, so of two copies of a home one goes on (I2). Where
no file can be made nothing is kept, and nothing is refused for it, but it is said. What is there and cannot be read, held or written is no
reason to believe a database.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from functools import lru_cache
from typing import Final

from ..core import sums
from ..core.errors import ToolgateError
from .mint import RandomMint
from .private import open_file, private_folder, state_folder

_HEAD: Final = re.compile(rb"(\d{1,18}):([0-9a-f]{64}) *\n")
_WIDTH: Final = 96  # bytes
_TRIES: Final = 20  # for a whole line, 1 ms apart
_PATIENCE: Final = 30.0  # seconds, as for the store


class FileHeads:
    """`ports.Heads`."""

    def __init__(self) -> None:
        self.unkept: str | None = None
        self.lost: str | None = None

    def kept(self, identity: str) -> tuple[int, str] | str | None:
        path = self._file(identity)
        try:
            descriptor = open_file(path, os.O_RDONLY)
            try:
                return _read(descriptor) or f"the kept head {path} is no head"
            finally:
                os.close(descriptor)
        except FileNotFoundError:
            return None  # a first head that appears only now is none of what was seen so far
        except OSError as error:
            # what cannot be reached was never kept there
            return f"the kept head {path} cannot be read: {error.strerror}" if os.path.lexists(path) else None

    def hold(self, identity: str, last: tuple[int, str] | None) -> Hold:
        path = self._file(identity)
        try:
            try:
                descriptor = _held(path)
            except FileNotFoundError:
                if last is None:
                    return Hold(self, path, -1, None)
                with suppress(FileExistsError):  # a copy was faster: then its head is the one to compare with
                    _new(path, _line(*last), over=False)
                descriptor = _held(path)
        except OSError as error:
            if os.path.lexists(path):
                raise ToolgateError("storage", f"the kept head {path} cannot be written: {error.strerror}", "toolgate doctor") from None
            self.unkept = f"{path}: {(error.strerror or str(error)).lower()}"
            return Hold(self, path, -1, None)
        head = _read(descriptor)
        if head is None:
            os.close(descriptor)
            raise ToolgateError("storage", f"the kept head {path} is no head", "toolgate doctor")
        return Hold(self, path, descriptor, head)

    def accept(self, identity: str, seq: int, hash: str) -> None:
        try:
            _new(self._file(identity), _line(seq, hash), over=True)
        except OSError as error:
            self.unkept = error.strerror or str(error)

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
    return os.path.join(state_folder(), "heads", sums.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()[:32])


class Hold:
    """The kept head of one database, which nobody else changes until `close`; `head`: None where none is kept yet, or none can be.

    It is written in place and of one width, so that it is one write: a file that is renamed over another one is synced by some file
    systems, and that would cost as much as the commit it follows.
    """

    def __init__(self, heads: FileHeads, path: str, descriptor: int, head: tuple[int, str] | None) -> None:
        self.head = head
        self._heads = heads
        self._path = path
        self._descriptor = descriptor

    def put(self, seq: int, hash: str) -> None:
        if self.head is not None and seq <= self.head[0]:
            return  # never back, and never another history of the same length
        try:
            if self._descriptor >= 0:
                if not _stands(self._descriptor, self._path):
                    raise OSError(0, "somebody else has put another one in its place")
                _write(self._descriptor, _line(seq, hash))
            elif self._heads.unkept is None:
                _new(self._path, _line(seq, hash), over=False)
        except OSError as error:
            why = f"the head of the log could not be kept in {self._path}: {(error.strerror or str(error)).lower()}"
            if os.path.lexists(self._path):
                self._heads.lost = why
            else:
                self._heads.unkept = why

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _held(path: str) -> int:
    """Under its lock, which ends with the descriptor. FileNotFoundError where there is none; ToolgateError("storage") where somebody has it
    for longer than anybody is to wait."""
    until = time.monotonic() + _PATIENCE
    while True:
        descriptor = open_file(path, os.O_RDWR)
        try:
            while not _lock(descriptor):
                if time.monotonic() >= until:
                    said = f"the kept head is still locked by another process after {_PATIENCE:g} s: {path}"
                    raise ToolgateError("storage", said, "run the command again", retryable=True)
                time.sleep(0.0005 + 0.005 * _mint.jitter())
            if _stands(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


_mint: Final = RandomMint()


def _lock(descriptor: int) -> bool:
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _stands(descriptor: int, path: str) -> bool:
    """Whether it is this file that has the name: a person may have put another one there (`accept`)."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _line(seq: int, hash: str) -> bytes:
    return f"{seq}:{hash}".ljust(_WIDTH - 1).encode("ascii") + b"\n"


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
