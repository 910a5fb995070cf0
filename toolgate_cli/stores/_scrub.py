"""How a database is freed of what it does not hold any more: free pages, gaps in pages and the write-ahead log keep former text.

Deleting with `secure_delete` is not enough: when SQLite moves entries between pages, copies are left in the gaps. Written anew, a file has
nothing but what is in its tables. Both steps are in our turn to write, for before SQLite 3.51.3 a checkpoint that resets the log may not
meet another writer.
"""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING

from ._faults import BUSY, busy, os_fault

if TYPE_CHECKING:
    from ._file import DatabaseFile
    from ._turn import Turn


def scrub(file: DatabaseFile, turn: Turn, connection: sqlite3.Connection, patience: float) -> None:
    """Raises ToolgateError("storage"): what is held is as it was, former text may be there still."""
    until = time.monotonic() + patience
    try:
        if not turn.take(until):
            raise busy(file.path, patience)
    except OSError as error:
        raise os_fault(error, file.path) from error
    try:
        file.patiently(lambda: _rewrite(connection), _left(until))
        file.patiently(lambda: _empty_log(connection), _left(until))
    finally:
        turn.give()


def _rewrite(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA temp_store = FILE")  # the copy that VACUUM makes may be as large as the database
    try:
        connection.execute("VACUUM")
    finally:
        connection.execute("PRAGMA temp_store = MEMORY")


def _empty_log(connection: sqlite3.Connection) -> None:
    [(waits, _, _)] = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if waits:
        error = sqlite3.OperationalError("another process looks at a former state")
        error.sqlite_errorcode = BUSY[0]
        raise error


def _left(until: float) -> float:
    return max(0.0, until - time.monotonic())
