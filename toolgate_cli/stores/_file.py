"""The database file of one store object: opened when first needed, made only when something is to be written, never swapped unseen."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from typing import TypeVar

from ..core.errors import ToolgateError
from ._connect import connect, patiently, to_wal, upgrade, version_at
from ._faults import fault, not_ours, os_fault
from ._place import make_private, refuse_mount, tighten_all
from ._schema import refuse_changed

T = TypeVar("T")
_SMALLEST = 512  # bytes of the smallest page that a database can have


class DatabaseFile:
    """`path` is absolute; `identity` makes the random id of a new database; `jitter` spreads those who wait."""

    def __init__(self, path: str, readonly: bool, identity: Callable[[], str], jitter: Callable[[], float]) -> None:
        self.path = path
        self.readonly = readonly
        self._identity = identity
        self._jitter = jitter
        self._connection: sqlite3.Connection | None = None
        self._inode = (0, 0)  # device and inode of what is open
        self._current = False  # known to be in WAL and of this version

    def look(self, patience: float) -> sqlite3.Connection | None:
        """The connection; None where there is no database yet. Writes nothing. Raises ToolgateError("storage")."""
        if self._connection is not None:
            return self._connection
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise os_fault(error, self.path) from error
        if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:  # whoever came by the other name would have another log and other locks
            raise ToolgateError("storage", f"{self.path} has a second name (a hard link)", "a store has one name: remove the other")
        if 0 < found.st_size < _SMALLEST:  # SQLite would take it for an empty file and write over it
            raise not_ours(self.path)
        refuse_mount(self.path)
        if self.patiently(lambda: version_at(self.path), patience) == 0:
            return None
        return self._open(patience)

    def make_room(self) -> None:
        """The folder and an empty file, where they are missing. Raises ToolgateError("storage")."""
        if self._connection is not None:
            return
        try:
            refuse_mount(self.path)
            make_private(self.path)
        except OSError as error:
            raise os_fault(error, self.path) from error

    def make(self, patience: float) -> sqlite3.Connection:
        """The connection to a database of this version; to be called in our turn, after `make_room`. Raises ToolgateError("storage")."""
        connection = self.look(patience) or self._open(patience)
        if not self._current:
            identity = self._identity()
            self.patiently(lambda: to_wal(connection), patience)
            self.patiently(lambda: upgrade(connection, self.path, identity), patience)
            self.patiently(lambda: refuse_changed(connection, self.path), patience)
            self._current = True
        if self._inode != self._stat():
            raise ToolgateError("storage", f"the database was replaced while it was in use: {self.path}", "run the command again")
        return connection

    def patiently(self, action: Callable[[], T], patience: float) -> T:
        """Does it as soon as nobody else's lock is in the way, and translates every failure."""
        return patiently(action, self.path, patience, self._jitter)

    def close(self) -> None:
        """Lets the file go."""
        connection, self._connection, self._current = self._connection, None, False
        if connection is not None:
            try:
                connection.close()
            except sqlite3.Error as error:
                raise fault(error, self.path) from error

    def _open(self, patience: float) -> sqlite3.Connection:
        self._inode = self._stat()
        connection = self.patiently(lambda: connect(self.path, readonly=self.readonly), patience)
        try:
            if not self.readonly:
                tighten_all(self.path)
        except OSError as error:
            connection.close()
            raise os_fault(error, self.path) from error
        self._connection = connection
        return connection

    def _stat(self) -> tuple[int, int]:
        try:
            found = os.stat(self.path)
        except FileNotFoundError:
            return 0, 0
        except OSError as error:
            raise os_fault(error, self.path) from error
        return found.st_dev, found.st_ino
