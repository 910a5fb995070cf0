"""What `doctor` finds out about a database file: where it stands, who can read it, which SQLite reads it, and whether it is whole."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from ..core.errors import ToolgateError
from ..runtime.answers import Remark
from ._connect import connect, patiently, version_at
from ._faults import os_fault
from ._place import refuse_mount
from ._schema import VERSION

if TYPE_CHECKING:
    from sqlite_utils import Database

_SOUND = (3, 51, 3)  # the first SQLite without the fault that a log which is reset beside a writer can lose what was committed
_LITTLE = 64 * 1024 * 1024  # bytes of free space
_SHOWN = 5  # faults of one kind
_PATIENCE = 5.0  # seconds
_OTHERS = 0o077


def inspect(path: str) -> Iterator[Remark]:
    """Changes nothing; each part is looked at whatever is wrong with the others."""
    for part in (_place, _private, _content):
        try:
            yield from part(path)
        except ToolgateError as error:
            yield Remark("store", "error", error.message, error.hint)
        except OSError as error:
            refused = os_fault(error, path)
            yield Remark("store", "error", refused.message, refused.hint)
    yield from _library()


def _library() -> Iterator[Remark]:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < _SOUND:
        said = f"SQLite {version} serves: checkpoints are made in a writer's turn alone, where what 3.51.3 mended of them does no harm"
        yield Remark("store", "ok", said, "let no other program write to the file")
    else:
        yield Remark("store", "ok", f"SQLite {version} serves")


def _place(path: str) -> Iterator[Remark]:
    refuse_mount(path)
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    space = os.statvfs(folder)
    free = space.f_bavail * space.f_frsize
    said = f"{free // 1024 // 1024} MiB are free for {path}"
    if free < _LITTLE:
        yield Remark("store", "warning", said, "free some space: without it nothing can be decided")
    else:
        yield Remark("store", "ok", said)


def _private(path: str) -> Iterator[Remark]:
    folder = os.path.dirname(path)
    places = [path + suffix for suffix in ("", "-wal", "-shm", "-turn")]
    for place in (folder, os.path.join(folder, "owners"), *places):
        try:
            found = os.stat(place)
        except FileNotFoundError:
            continue
        if found.st_uid != os.geteuid():
            yield Remark("store", "error", f"{place} belongs to another user (uid {found.st_uid})", "one user decides for a home")
        elif stat.S_IMODE(found.st_mode) & _OTHERS and not (place == folder and _shared(folder)):
            mode, wanted = stat.S_IMODE(found.st_mode), "700" if stat.S_ISDIR(found.st_mode) else "600"
            yield Remark("store", "error", f"{place} can be reached by others (mode {mode:o})", f"chmod {wanted} {place}")


def _shared(folder: str) -> bool:
    """A folder of the user's own choice, which holds other things too."""
    return os.path.basename(folder) != ".toolgate"


def _content(path: str) -> Iterator[Remark]:
    if not os.path.exists(path):
        yield Remark("store", "ok", f"there is no store yet: {path}")
        return
    if os.stat(path).st_nlink > 1:
        yield Remark("store", "error", f"{path} has a second name (a hard link)", "a store has one name: remove the other")
    version = patiently(lambda: version_at(path), path, _PATIENCE, lambda: 0.5)
    if version < VERSION:
        yield Remark("store", "ok", f"schema version {version}; the next command that writes brings it to {VERSION}")
    with closing(patiently(lambda: connect(path, readonly=True), path, _PATIENCE, lambda: 0.5)) as connection:
        from sqlite_utils import Database

        database = Database(connection, recursive_triggers=False, execute_plugins=False)
        yield from patiently(lambda: tuple(_database(database, path)), path, _PATIENCE, lambda: 0.5)


def _database(database: Database, path: str) -> Iterator[Remark]:
    if database.journal_mode != "wal" and database.table_names():
        hint = "another program changed it; the next command that writes changes it back"
        yield Remark("store", "warning", f"the database is in journal mode {database.journal_mode}, not wal", hint)
    faults = [str(row[0]) for row in database.execute("PRAGMA integrity_check").fetchall() if row[0] != "ok"]
    faults += [f"{row[0]}: row {row[1]} names a row of {row[2]} that is not there" for row in database.execute("PRAGMA foreign_key_check")]
    for fault in faults[:_SHOWN]:
        said = " ".join(fault.split())
        yield Remark("store", "error", f"the database is damaged: {said}", "restore a copy of it, then toolgate audit verify")
    if not faults:
        yield Remark("store", "ok", f"the database is whole: {path}")
