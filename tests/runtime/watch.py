"""A store that is watched: whether a transaction is open (I7), what it holds as a whole, and faults at every call of a transaction (I6)."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from toolgate_cli.stores.memory import MemoryStore

from .fakes import Killed

Dump = dict[str, list[str]]


class Watch:
    """Shared by all processes of a home. `fault`: called with the name and the values of everything that a transaction is asked for."""

    def __init__(self) -> None:
        self._inside: set[int] = set()
        self.fault: Callable[[str, tuple[Any, ...]], None] | None = None
        self.commits = 0
        self.committed: Callable[[], None] | None = None

    def outside(self, what: str) -> None:
        assert threading.get_ident() not in self._inside, f"{what} while a transaction is open"

    def enter(self) -> None:
        self._inside.add(threading.get_ident())

    def leave(self) -> None:
        self._inside.discard(threading.get_ident())


class Watched:
    """`ports.Store` of one process; once that is dead, it can do nothing more."""

    def __init__(self, store: Any, watch: Watch) -> None:
        self._store = store
        self._watch = watch
        self.dead = False

    @contextmanager
    def read(self) -> Iterator[Any]:
        self._alive()
        with self._store.read() as tx:
            self._watch.enter()
            try:
                yield tx
            finally:
                self._watch.leave()

    @contextmanager
    def write(self, patience: float = 30.0) -> Iterator[Any]:
        self._alive()
        with self._store.write(patience) as tx:
            self._watch.enter()
            try:
                yield _Faulty(tx, self._watch.fault) if self._watch.fault is not None else tx
            finally:
                self._watch.leave()
        self._watch.commits += 1
        if self._watch.committed is not None:
            self._watch.committed()

    def inspect(self) -> Iterator[Any]:
        self._alive()
        found: Iterator[Any] = self._store.inspect()
        return found

    def scrub(self, patience: float = 30.0) -> None:
        self._alive()
        self._watch.outside("the files are written anew")
        self._store.scrub(patience)

    def close(self) -> None:
        self._store.close()

    def _alive(self) -> None:
        if self.dead:
            raise Killed


class _Faulty:
    def __init__(self, tx: Any, fault: Callable[[str, tuple[Any, ...]], None]) -> None:
        self._tx = tx
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._tx, name)

        def asked(*values: Any, **named: Any) -> Any:
            self._fault(name, values)
            return method(*values, **named)

        return asked


def dump(store: Any) -> Dump:
    """Everything that a store holds, by the names of its tables, as text: two dumps are equal if nothing at all has changed."""
    found = _of_memory(store) if isinstance(store, MemoryStore) else _of_file(store._file.path)
    return {name: sorted(map(repr, table)) for name, table in found.items() if table and name not in ("identity", "starts")}


def _of_memory(store: MemoryStore) -> dict[str, list[Any]]:
    return {name: list(table.values()) if isinstance(table, dict) else table for name, table in vars(store._tables).items()}


def _of_file(path: str) -> dict[str, list[Any]]:
    if not os.path.exists(path):
        return {}
    with closing(sqlite3.connect(path)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: list(connection.execute(f"SELECT * FROM {name}")) for name in names}


def changed(before: Dump, after: Dump) -> list[str]:
    """The names of the tables that differ."""
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
