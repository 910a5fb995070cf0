"""What SQLite and the file system say when they fail, as one clear line: nothing above the port ever sees their exceptions."""

from __future__ import annotations

import os
import sqlite3

from ..core.errors import ToolgateError
from ._refusals import OUR_FAULT

BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
CAUGHT = (sqlite3.Error, UnicodeError, OverflowError)  # all that executing a statement can raise

_SAID = {
    sqlite3.SQLITE_PERM: ("the database may not be opened", "check the permissions of the file and of its folder"),
    sqlite3.SQLITE_READONLY: ("the database cannot be written", "check the permissions of the file and of its folder"),
    sqlite3.SQLITE_CANTOPEN: ("the database cannot be opened", "check the permissions of the file; its folder has to be writable"),
    sqlite3.SQLITE_IOERR: ("the disk failed while the database was read or written", "check the disk and its free space"),
    sqlite3.SQLITE_FULL: ("no space is left for the database", "free some space, then run the command again"),
    sqlite3.SQLITE_CORRUPT: ("the database is damaged", "restore a copy of it, then toolgate audit verify"),
}


def _line(text: object) -> str:
    said = " ".join(str(text).split())
    return said[:1].lower() + said[1:]


def is_busy(error: BaseException) -> bool:
    """Whether somebody else has the lock, so that waiting helps."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in BUSY


def busy(path: str, patience: float) -> ToolgateError:
    """The wait is over and the lock was not had."""
    said = f"the database is still locked by another process after {round(patience, 1):g} s: {path}"
    return ToolgateError("storage", said, "run the command again", retryable=True)


def not_ours(path: str) -> ToolgateError:
    """The file is something else, or what is left of a database."""
    return ToolgateError("storage", f"not a toolgate database: {path}", "choose another file with --db, or restore the file from a copy")


def fault(error: BaseException, path: str) -> ToolgateError:
    """The failure of a statement."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in BUSY:
        return busy(path, 0)
    if code == sqlite3.SQLITE_NOTADB:
        return not_ours(path)
    if code in _SAID:
        said, hint = _SAID[code]
        return ToolgateError("storage", f"{said}: {path}", hint)
    if code == sqlite3.SQLITE_CONSTRAINT:
        return ToolgateError("storage", f"the database refused a change: {_line(error)}", OUR_FAULT)
    if isinstance(error, UnicodeError):
        return ToolgateError("storage", "text that is not valid unicode cannot be stored or read")
    return ToolgateError("storage", f"the database failed: {_line(error)}: {path}")


def os_fault(error: OSError, path: str) -> ToolgateError:
    """The failure of a system call on the file or its folder."""
    said = os.strerror(error.errno) if error.errno else str(error)
    return ToolgateError(
        "storage", f"the database cannot be reached: {_line(said)}: {path}", "check the permissions of the file and of its folder"
    )
