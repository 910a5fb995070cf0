"""Whose turn it is to write: a fair lock in front of BEGIN IMMEDIATE, because SQLite's own wait starves (one process can win every time).

A turnstile of two locks. A writer takes the *gate*, waits there for the *field*, and lets the gate go once it has the field; whoever
leaves the field queues at the gate with everybody else. So one writer is always next in line, it alone polls quickly, and at the gate
those who have waited longer ask more often. It serves fairness (and keeps SQLite's automatic checkpoint apart from other commits), never
correctness: SQLite's own lock stands behind it. Open-file-description locks: they end with their process, and two stores of one process
exclude each other.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from collections.abc import Callable

from ..host.private import open_file

_FLOCK = "hhqqi4x"
_GATE, _FIELD = 0, 1  # one byte each
_STAY = 0.002  # seconds for which a writer that goes on at once need not queue again: its caches are warm, a change of turns costs more
_STUCK = 1.0  # seconds after which a gate whose holder was stopped (Ctrl-Z) while it waited is walked round


def _lock(kind: int, byte: int) -> bytes:
    return struct.pack(_FLOCK, kind, os.SEEK_SET, byte, 1, 0)


_TAKE = {byte: _lock(fcntl.F_WRLCK, byte) for byte in (_GATE, _FIELD)}
_GIVE = {byte: _lock(fcntl.F_UNLCK, byte) for byte in (_GATE, _FIELD)}


class Turn:
    """The turns of one database; the file is made beside it and never removed."""

    def __init__(self, path: str, jitter: Callable[[], float]) -> None:
        self._path = path
        self._jitter = jitter
        self._descriptor = -1
        self._stay = 0.0  # until then we may come straight back

    def take(self, until: float) -> bool:
        """Waits for our turn, at most until `until` (`time.monotonic`); False if it did not come. Raises OSError."""
        if self._descriptor < 0:
            self._descriptor = open_file(self._path, os.O_RDWR | os.O_CREAT)
        since = time.monotonic()
        if since < self._stay and self._try(_FIELD):
            return True
        while not self._try(_GATE):
            waited = time.monotonic() - since
            if waited > _STUCK and self._try(_FIELD):
                return True
            if time.monotonic() >= until:
                return self._try(_FIELD)
            time.sleep(0.0002 + 0.002 * self._jitter() / (1.0 + 50.0 * waited))
        try:
            since = time.monotonic()
            while not self._try(_FIELD):
                now = time.monotonic()
                if now >= until:
                    return False
                time.sleep(min(0.005, 0.0001 + (now - since) / 20))
            self._stay = time.monotonic() + _STAY
            return True
        finally:
            self._set(_GIVE[_GATE])

    def give(self) -> None:
        """Ends our turn."""
        self._set(_GIVE[_FIELD])

    def close(self) -> None:
        """Lets everything go."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _try(self, byte: int) -> bool:
        try:
            self._set(_TAKE[byte])
        except (BlockingIOError, PermissionError):  # EAGAIN or EACCES: somebody has it
            return False
        return True

    def _set(self, lock: bytes) -> None:
        fcntl.fcntl(self._descriptor, fcntl.F_OFD_SETLK, lock)
