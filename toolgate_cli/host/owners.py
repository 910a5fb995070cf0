"""Locks by which others see that a process lives: a dead process loses its lock at once, and a pid is never trusted (I8).

Two kinds of lock files stand in one 0700 folder, under random names that are never used again:

- `o...` names an owner: a POSIX record lock, held by the process itself. A forked child does not keep it alive (a `flock` would).
  Closing *any* descriptor of the file drops it, so a process never opens a file of its own again.
- `f...` is a fence: a `flock`, handed to a tool with its descriptor. Whatever is left of the tool keeps it, for as long as it lives. While
  the tool runs it tells of the tool's session too: that is how those are found who closed the descriptor.
"""

from __future__ import annotations

import fcntl
import os
import struct
from contextlib import suppress

from ..core import sums
from . import sessions
from .crash import point
from .mint import RandomMint
from .private import open_file, private_folder

_FLOCK = "hhqqi4x"  # struct flock: type, whence, start, length, pid; padded to its alignment
_SHARED = struct.pack(_FLOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
_mint = RandomMint()
_held: dict[str, int] = {}  # owner files of this process, over all objects: name -> pid that took it (a forked child holds nothing)


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read().decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def host_id() -> str:
    """A stable name of this host: made from /etc/machine-id (never shown itself, as machine-id(5) asks), else from the host's name."""
    machine = _read("/etc/machine-id")
    if not machine:
        return os.uname().nodename
    return sums.sha256(f"toolgate {machine}".encode()).hexdigest()[:16]


def boot_id() -> str:
    """The kernel's random id of this boot."""
    return _read("/proc/sys/kernel/random/boot_id")


class FileOwners:
    """`ports.Owners` over lock files in `folder`, which is made on first use."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._name: str | None = None
        self._descriptor = -1
        self._pid = 0
        self._place: tuple[str, str] | None = None

    # ---- this process ----
    def mine(self) -> str:
        """The name of this process's lock; taken on first use, kept until `close` or the end of the process. Raises OSError."""
        if self._name is None or self._pid != os.getpid():  # a forked child is another owner
            name, descriptor = self._new("o")
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._name, self._descriptor, self._pid = name, descriptor, os.getpid()
            _held[name] = self._pid
        return self._name

    def close(self) -> None:
        """A clean exit: the file goes first, then the lock, so nobody sees a file without its lock."""
        if self._name is not None and self._pid == os.getpid():
            self._unlink(self._name)
            with suppress(OSError):  # it is closed all the same, and its lock gone
                os.close(self._descriptor)
            _held.pop(self._name, None)
        self._name, self._descriptor = None, -1

    def place(self) -> tuple[str, str]:
        """This host with the folder of its locks (`host/device-inode`), and its boot id."""
        if self._place is None:
            self._place = host_id(), boot_id()
        host, boot = self._place
        try:
            folder = os.stat(self._folder)
        except OSError:
            return host, boot
        return f"{host}/{folder.st_dev:x}-{folder.st_ino:x}", boot

    # ---- other processes ----
    def alive(self, name: str, host: str, boot: str) -> bool | None:
        """Whether the owner lives. The same boot: its lock alone decides. A former boot of this host is dead. None: the lock cannot tell
        (another host, or a file that this user may not read)."""
        (here, now), (machine, _, folder) = self.place(), host.partition("/")
        if boot != now:
            return False if machine == here.partition("/")[0] else None
        if self._is_mine(name):
            return True
        try:
            if self._probe(name) is not None:
                return True
        except FileNotFoundError:
            pass
        except OSError:
            return None
        # a lock that nobody holds is one of the dead in the folder where it was taken alone: in a copy of it, or in another container's, it
        # says nothing of anybody
        return False if folder and folder == here.partition("/")[2] else None

    def holder(self, name: str) -> int | None:
        """The pid that holds a live lock of this host; None: nobody, or a process that is out of sight."""
        if self._is_mine(name):
            return os.getpid()
        try:
            return self._probe(name) or None
        except OSError:
            return None

    def at_work(self) -> dict[int, str]:
        """Every live owner of this host that this user may see: pid -> name of its lock."""
        try:
            names = [name for name in os.listdir(self._folder) if name.startswith("o")]
        except OSError:
            return {}
        return {pid: name for name in names if (pid := self.holder(name)) is not None}

    def forget(self, name: str) -> None:
        """Removes the lock file of a dead owner, or a fence that nobody holds; one that is held stays."""
        if self._is_mine(name) or self.left_behind(name):
            return
        try:
            if self._probe(name) is not None:
                return
        except OSError:
            return
        self._unlink(name)

    def left_over(self) -> tuple[str, ...]:
        """Paths of lock files that nobody holds: their processes were killed. They harm nobody."""
        try:
            names = sorted(os.listdir(self._folder))
        except OSError:
            return ()
        return tuple(self._path(name) for name in names if name.isascii() and name.isalnum() and self._is_free(name))

    def _is_free(self, name: str) -> bool:
        try:
            return not self._is_mine(name) and self._probe(name) is None and not self.left_behind(name)
        except OSError:
            return False

    # ---- fences ----
    def fence(self, name: str | None = None) -> tuple[str, int]:
        """A new lock that a tool keeps: its name (a fresh one unless it is given), and a descriptor that the tool inherits. Raises
        OSError."""
        name, descriptor = self._new("f", name)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return name, descriptor

    def release(self, name: str, descriptor: int) -> bool:
        """Closes our side of a fence. True: somebody who was started with it still holds it, and the file stays; else it is removed."""
        os.close(descriptor)
        if self.left_behind(name):
            return True
        self._unlink(name)
        return False

    def left_behind(self, name: str | None) -> bool:
        """Whether a process that a tool left behind still holds that fence, or is in the session that it tells of.

        One that cannot be looked at counts as held: nothing is started on a guess.
        """
        if name is None or self._is_mine(name):
            return False
        try:
            descriptor = self._open(name)
        except FileNotFoundError:
            return False
        except OSError:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two who look at the same time do not see each other
            session = sessions.read(descriptor)
            return session is not None and sessions.lives(session)
        except OSError:
            return True
        finally:
            os.close(descriptor)

    def session(self, name: str | None) -> tuple[int, int, str] | None:
        """The session of the tool that was started with that fence, when it began, and the mark of what was started in it; None where it is
        not told, or nobody is left."""
        if name is None or self._is_mine(name):
            return None
        try:
            descriptor = self._open(name)
        except OSError:
            return None
        try:
            return sessions.read(descriptor)
        except OSError:
            return None
        finally:
            os.close(descriptor)

    # ---- files ----
    def _is_mine(self, name: str) -> bool:
        return _held.get(name) == os.getpid()

    def _path(self, name: str) -> str:
        if not (name.isascii() and name.isalnum()):  # names come back from a database: never a path
            raise FileNotFoundError(name)
        return f"{self._folder}/{name}"

    def _new(self, letter: str, name: str | None = None) -> tuple[str, int]:
        private_folder(self._folder)
        name = name or _mint.id(letter)
        descriptor = os.open(self._path(name), os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        point("lock:made")
        return name, descriptor

    def _open(self, name: str) -> int:
        return open_file(self._path(name), os.O_RDONLY)

    def _probe(self, name: str) -> int | None:
        """The pid of whoever holds the record lock (0: of another pid namespace), None if nobody does."""
        descriptor = self._open(name)
        try:
            kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, _SHARED))
        finally:
            os.close(descriptor)
        return None if kind == fcntl.F_UNLCK else max(pid, 0)

    def _unlink(self, name: str) -> None:
        with suppress(OSError):  # gone already, or not ours to remove: a file without a lock harms nobody
            os.unlink(self._path(name))
