"""The store in one SQLite file: private, in WAL with full syncs. Guards I2 and I6: one writer at a time, all of it or nothing.

Looking at a store that does not exist shows an empty one and makes no file; the first write makes it. A store object belongs to one
thread, and its transactions do not nest. A crash at any point leaves the last commit.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Final

from ..core.errors import ToolgateError
from ..host.crash import point
from ._connect import empty
from ._faults import CAUGHT, busy, fault, os_fault
from ._file import DatabaseFile
from ._reader import SqliteReader
from ._refusals import nested, over, spoiled
from ._schema import VERSION, version_of
from ._scrub import scrub
from ._turn import Turn
from ._writer import SqliteWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..runtime.answers import Remark
    from ..runtime.ports import Mint

DURABLE: Final = True
_PATIENCE = 30.0  # seconds


def open_store(place: str, mint: Mint, *, readonly: bool = False) -> SqliteStore:
    """The store in the file at `place`. `readonly`: not even rights are mended."""
    return SqliteStore(place, mint, readonly=readonly)


class SqliteStore:
    """`runtime.store.Store` over the file at `path`. `readonly`: nothing is ever written, and a write transaction is refused."""

    def __init__(self, path: str, mint: Mint, *, readonly: bool = False) -> None:
        self._file = DatabaseFile(os.path.abspath(path), readonly, lambda: mint.id("d"), mint.jitter)
        self._turn = Turn(self._file.path + "-turn", mint.jitter)
        self._undo: Callable[[], None] | None = None  # ends the transaction that is open

    def read(self) -> _Reading:
        """One snapshot. Raises ToolgateError("storage")."""
        return _Reading(self)

    def write(self, patience: float = _PATIENCE) -> _Writing:
        """One write transaction: committed at the end, rolled back if the body raises. Waits at most `patience` seconds for the lock."""
        return _Writing(self, patience)

    def inspect(self) -> Iterator[Remark]:
        """By a connection of its own that cannot write."""
        from ._inspect import inspect

        return inspect(self._file.path)

    def scrub(self, patience: float = _PATIENCE) -> None:
        """Writes the whole file anew and empties its log. Readers of an older state keep that in the log: they are waited for."""
        self._enter(lambda: None)
        try:
            connection = self._file.look(patience)
            if connection is not None:
                scrub(self._file, self._turn, connection, patience)
        finally:
            self._leave()

    def close(self) -> None:
        """Lets the file go; a store that is used again opens it again. A transaction that is still open is over then, and undone: whoever
        holds an iterator over it (a generator that nobody read to its end) may let it go at any later time."""
        if self._undo is not None:
            self._undo()
        self._turn.close()
        self._file.close()

    def _enter(self, undo: Callable[[], None]) -> None:
        if self._undo is not None:
            raise nested()
        self._undo = undo

    def _leave(self) -> None:
        self._undo = None


def _begin(connection: sqlite3.Connection, how: str, path: str) -> None:
    """Opens a transaction and takes its snapshot at once; a file that a newer program has changed since it was opened is refused."""
    connection.execute(how)
    try:
        if connection.execute("PRAGMA user_version").fetchall()[0][0] != VERSION:
            version_of(connection, path)
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        with suppress(sqlite3.Error):  # SQLite has rolled back by itself; nothing was committed
            connection.execute("ROLLBACK")


class _Reading:
    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._open = False

    def __enter__(self) -> SqliteReader:
        store, file = self._store, self._store._file
        store._enter(self._end)
        try:
            found = file.look(_PATIENCE)
            self._connection = connection = found or empty()
            self._lent = found is not None
            file.patiently(lambda: _begin(connection, "BEGIN", file.path), _PATIENCE)
            self._reader = SqliteReader(connection, file.path)
        except BaseException:
            store._leave()
            raise
        self._open = True
        return self._reader

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._open:  # else it ended with its store
            self._end()

    def _end(self) -> None:
        self._open = False
        self._reader.end()
        try:
            _roll_back(self._connection)  # nothing was changed: this only lets the snapshot go
            if not self._lent:
                self._connection.close()
        finally:
            self._store._leave()


class _Writing:
    def __init__(self, store: SqliteStore, patience: float) -> None:
        self._store = store
        self._patience = patience
        self._open = False

    def __enter__(self) -> SqliteWriter:
        store, file = self._store, self._store._file
        if file.readonly:
            raise ToolgateError("storage", f"the database is open for reading only: {file.path}")
        store._enter(self._undo)
        try:
            until = time.monotonic() + self._patience
            file.make_room()
            self._take(until)
            try:
                connection = file.make(self._left(until))
                file.patiently(lambda: _begin(connection, "BEGIN IMMEDIATE", file.path), self._left(until))
            except BaseException:
                store._turn.give()
                raise
        except BaseException:
            store._leave()
            raise
        self._connection = connection
        self._writer = SqliteWriter(connection, file.path)
        self._open = True
        return self._writer

    def _undo(self) -> None:
        if self._open:
            self._end(commit=False)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._open:
            self._end(commit=kind is None)
            if kind is None and self._writer.spoiled:
                raise spoiled()
        elif kind is None:  # its store was closed meanwhile
            raise over()

    def _end(self, commit: bool) -> None:
        self._open = False
        self._writer.end()
        try:
            if commit and not self._writer.spoiled:
                self._commit()
            else:
                _roll_back(self._connection)
        finally:
            self._store._turn.give()
            self._store._leave()

    def _commit(self) -> None:
        point("commit:before")
        try:
            self._connection.execute("COMMIT")
        except CAUGHT as error:
            _roll_back(self._connection)
            raise fault(error, self._store._file.path) from error
        point("commit:after")

    def _take(self, until: float) -> None:
        path = self._store._file.path
        try:
            if self._store._turn.take(until):
                return
        except OSError as error:
            raise os_fault(error, path) from error
        raise busy(path, self._patience)

    def _left(self, until: float) -> float:
        return max(0.0, until - time.monotonic())
