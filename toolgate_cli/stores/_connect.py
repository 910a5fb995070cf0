"""How a database file is opened: looked at first without the power to write, so a file that is refused is left byte for byte as it was."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from ..host.crash import point
from ._faults import CAUGHT, busy, fault, is_busy
from ._place import read_only_media, refuse_pipes
from ._schema import VERSION, migrate, version_of

# a checkpoint costs three syncs more: every 3,000 pages (12 MB of log) is about every 50 decisions
_SETTINGS = ("synchronous = FULL", "foreign_keys = ON", "trusted_schema = OFF", "temp_store = MEMORY", "wal_autocheckpoint = 3000")
T = TypeVar("T")
_PLAIN = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/")


def patiently(action: Callable[[], T], path: str, patience: float, jitter: Callable[[], float]) -> T:
    """Does it as soon as nobody else's lock is in the way; after `patience` seconds that is an error. Translates every failure."""
    until = time.monotonic() + patience
    while True:
        try:
            return action()
        except CAUGHT as error:
            if not is_busy(error):
                raise fault(error, path) from error
            if time.monotonic() >= until:
                raise busy(path, patience) from error
        time.sleep(0.0005 + 0.005 * jitter())


def _raw(path: str, options: str) -> sqlite3.Connection:
    refuse_pipes(path)
    quoted = "".join(chr(byte) if byte in _PLAIN else f"%{byte:02x}" for byte in os.fsencode(path))
    return sqlite3.connect(f"file://{quoted}?{options}", uri=True, isolation_level=None, timeout=0.0, cached_statements=256)


def _options(path: str, wanted: str) -> str:
    # on read-only media a WAL database has no companion files and cannot get any; there nothing changes, so none is needed
    return "mode=ro&immutable=1" if read_only_media(path) else f"mode={wanted}"


def version_at(path: str) -> int:
    """The schema's version of an existing file, looked at without writing. Raises as `version_of`, and sqlite3's errors."""
    connection = _raw(path, _options(path, "ro"))
    try:
        return version_of(connection, path)
    finally:
        connection.close()


def connect(path: str, *, readonly: bool) -> sqlite3.Connection:
    """A connection to a file whose version is known. Raises sqlite3's errors."""
    connection = _raw(path, _options(path, "ro" if readonly else "rw"))
    try:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        version_of(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def empty() -> sqlite3.Connection:
    """A private database in memory, with all tables and nothing in them."""
    connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=256)
    migrate(connection, 0, "")
    return connection


def to_wal(connection: sqlite3.Connection) -> None:
    """Readers and the writer do not wait for each other. Raises sqlite3's errors, BUSY while another process is at the same."""
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchall()[0]
    if mode != "wal":
        raise sqlite3.OperationalError(f"the file system cannot hold a write-ahead log (journal mode {mode})")


def upgrade(connection: sqlite3.Connection, path: str, identity: str) -> None:
    """Brings the schema to this version within one BEGIN IMMEDIATE; who comes second finds it done. Raises sqlite3's errors."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = version_of(connection, path)
        if version < VERSION:
            migrate(connection, version, identity)
        point("schema:before")
        connection.execute("COMMIT")
        point("schema:after")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
