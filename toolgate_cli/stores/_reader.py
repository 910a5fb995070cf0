"""One snapshot of a SQLite store. Every statement is answered by an index and read to its end: else its transaction would stay open.

What a snapshot has said of one record, or of what is open, it says again: whoever looks for it twice asks the database once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ..core.digests import ref
from ..core.errors import ToolgateError
from ..core.records import (
    Accepted,
    Attempt,
    Call,
    Definition,
    Event,
    EventQuery,
    Outcome,
    Row,
    RowQuery,
    Run,
    RunQuery,
    Step,
    Turn,
    Value,
    Vote,
)
from . import _queries as queries
from . import _rows
from ._faults import CAUGHT, fault
from ._refusals import over
from ._rows import ATTEMPT, attempt, columns, pending, to_call

T = TypeVar("T")
_PAGE = 1000  # events fetched at once: memory stays constant however long the log is

_FIND = f"SELECT {columns(Row)} FROM pending WHERE id = ?"
_FIND_IN_RUN = f"{_FIND} AND run_id = ?"
_FIND_BY_RUN = f"SELECT {columns(Row)} FROM pending WHERE run_id = ? ORDER BY created_at, parked_by, id"
_ATTEMPTS = f"SELECT {ATTEMPT} FROM attempts WHERE id >= '' ORDER BY id"
_ATTEMPTS_OF = f"SELECT {ATTEMPT} FROM attempts WHERE run_id = ? ORDER BY id"
_RUN = f"SELECT {columns(Run)} FROM runs WHERE id = ?"
_SETTLED = (
    f"SELECT {columns(Call, 'c.')}, {columns(Outcome, 'o.')} FROM calls AS c LEFT JOIN outcomes AS o ON o.call_id = c.id WHERE c.id = ?"
)
_CALL = f"{_SETTLED} ORDER BY c.revision DESC LIMIT 1"
_REVISION = f"{_SETTLED} AND c.revision = ?"
_VALUE = (
    "SELECT c.run_id, c.key, c.top, CASE WHEN c.call_id IS NULL THEN c.value ELSE o.body END, c.call_id, c.provenance "
    "FROM context AS c LEFT JOIN outcomes AS o ON o.call_id = c.call_id WHERE c.run_id = ? AND c.key = ? ORDER BY c.top DESC LIMIT 1"
)
_KEYS = (
    "SELECT key FROM context AS c WHERE run_id = ? AND NOT (value IS NULL AND call_id IS NULL) "
    "AND top = (SELECT max(top) FROM context WHERE run_id = c.run_id AND key = c.key) ORDER BY key"
)
_STEPS = f"SELECT {columns(Step)} FROM steps WHERE run_id = ? ORDER BY top, at, path"
_OUTPUTS = "SELECT path, output FROM steps WHERE run_id = ? AND output IS NOT NULL ORDER BY top, at, path"
_INSIDE = f"SELECT {columns(Step)} FROM steps WHERE run_id = ? AND path >= ? AND path < ? ORDER BY top, at, path"
_STEP = f"SELECT {columns(Step)} FROM steps WHERE run_id = ? AND path = ?"
_VALUES = f"SELECT {columns(Value)} FROM context WHERE run_id = ? ORDER BY key, top"
_VALUES_OF = f"SELECT {columns(Value)} FROM context WHERE run_id = ? AND top = ? ORDER BY +key"  # +: by `context_by_top`
_TURNS = f"SELECT {columns(Turn)} FROM turns WHERE run_id = ? AND path = ? AND number >= ? ORDER BY number"
_ALL_TURNS = f"SELECT {columns(Turn)} FROM turns WHERE run_id = ? AND number >= ? ORDER BY path, number"
_NEXT_TURN = "SELECT coalesce(max(number) + 1, 0) FROM turns WHERE run_id = ? AND path = ?"
_VOTES = f"SELECT {columns(Vote)} FROM votes WHERE row_id = ? AND ref = ? ORDER BY at, actor"
_DEFINITION = f"SELECT {columns(Definition)} FROM definitions WHERE digest = ?"
_ACCEPTED = "SELECT 1 FROM checked WHERE digest = ? AND checker = ?"
_EVENT = f"SELECT {columns(Event)} FROM events WHERE seq = ?"
_HEAD = f"SELECT {columns(Event)} FROM events WHERE seq > 0 ORDER BY seq DESC LIMIT 1"
_NAMED = "SELECT id FROM identity"
_IDENTITY = f"SELECT coalesce((SELECT prev FROM events WHERE seq = 1), ({_NAMED}))"


class SqliteReader:
    """`runtime.store.Reader` within one open transaction."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._path = path
        self._said: dict[tuple[str, tuple[Any, ...]], Any] = {}  # statement and values -> the answer; whatever changes forgets all of it
        self.unread: list[ToolgateError] = []

    def end(self) -> None:
        """The transaction is over: what is asked from now on is a fault of the caller."""
        self._connection = None
        self._said = {}

    def _all(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        if self._connection is None:
            raise over()
        try:
            return self._connection.execute(statement, values).fetchall()
        except CAUGHT as error:
            raise fault(error, self._path) from error

    def _one(self, made: Callable[[Any], T], statement: str, values: tuple[Any, ...] = ()) -> T | None:
        """The first of what is found, made into a record."""
        asked = (statement, values)
        if asked not in self._said:
            found = self._all(statement, values)
            self._said[asked] = made(found[0]) if found else None
        said: T | None = self._said[asked]
        return said

    def _open(self, made: Callable[[Any], T], statement: str, values: tuple[Any, ...] = ()) -> tuple[T, ...]:
        """All of what is open, made into records."""
        asked = (statement, values)
        if asked not in self._said:
            self._said[asked] = tuple(map(made, self._all(statement, values)))
        said: tuple[T, ...] = self._said[asked]
        return said

    def _those(self, made: Callable[[Any], T], found: list[Any]) -> tuple[T, ...]:
        """Those that can be read; of the others it is kept which they are."""
        records: list[T] = []
        for each in found:
            try:
                records.append(made(each))
            except ToolgateError as fault:
                self.unread.append(fault)
        return tuple(records)

    # ---- what waits ----
    def find(self, run: str | None, id: str) -> Row | None:
        return self._one(pending, _FIND, (id,)) if run is None else self._one(pending, _FIND_IN_RUN, (id, run))

    def find_by_run(self, run: str) -> tuple[Row, ...]:
        return self._open(pending, _FIND_BY_RUN, (run,))

    def rows(self, query: RowQuery) -> tuple[Row, ...]:
        return self._those(pending, self._all(*queries.rows(query)))

    def attempts(self, run: str | None) -> tuple[Attempt, ...]:
        """By id."""
        if run is None:
            return self._those(attempt, self._all(_ATTEMPTS))
        return self._open(attempt, _ATTEMPTS_OF, (run,))

    def votes(self, row: Row) -> tuple[Vote, ...]:
        """By time."""
        return tuple(map(Vote._make, self._all(_VOTES, (row.id, ref(row)))))

    # ---- runs and what they made ----
    def run(self, id: str) -> Run | None:
        return self._one(_rows.run, _RUN, (id,))

    def runs(self, query: RunQuery) -> tuple[Run, ...]:
        return self._those(_rows.run, self._all(*queries.runs(query)))

    def call(self, id: str, revision: int | None = None) -> tuple[Call, Outcome | None] | None:
        return self._one(to_call, _CALL, (id,)) if revision is None else self._one(to_call, _REVISION, (id, revision))

    def calls(self, prefix: str, limit: int) -> tuple[Call, ...]:
        return tuple(map(Call._make, self._all(queries.CALLS, (*queries.between(prefix), limit))))

    def value(self, run: str, key: str) -> Value | None:
        value = self._one(Value._make, _VALUE, (run, key))
        return None if value is None or (value.value is None and value.call_id is None) else value

    def keys(self, run: str) -> tuple[str, ...]:
        return tuple(key for (key,) in self._all(_KEYS, (run,)))

    def steps(self, run: str, inside: str | None = None) -> tuple[Step, ...]:
        """In the order of the workflow and of time."""
        found = self._all(_STEPS, (run,)) if inside is None else self._all(_INSIDE, (run, f"{inside}/", f"{inside}0"))  # "0" follows "/"
        return tuple(map(Step._make, found))

    def outputs(self, run: str) -> tuple[tuple[str, str], ...]:
        """Path and output of the steps that completed with one, in the same order."""
        return tuple(self._all(_OUTPUTS, (run,)))

    def step(self, run: str, path: str) -> Step | None:
        return self._one(Step._make, _STEP, (run, path))

    def values(self, run: str, top: int | None = None) -> tuple[Value, ...]:
        """By key and top-level step."""
        found = self._all(_VALUES, (run,)) if top is None else self._all(_VALUES_OF, (run, top))
        return tuple(map(Value._make, found))

    def turns(self, run: str, path: str | None, since: int = 0) -> tuple[Turn, ...]:
        found = self._all(_ALL_TURNS, (run, since)) if path is None else self._all(_TURNS, (run, path, since))
        return tuple(map(Turn._make, found))

    def next_turn(self, run: str, path: str) -> int:
        return int(self._all(_NEXT_TURN, (run, path))[0][0])

    # ---- memories and the log ----
    def definition(self, digest: str) -> Definition | None:
        return self._one(Definition._make, _DEFINITION, (digest,))

    def accepted(self, seen: Accepted) -> bool:
        return self._one(bool, _ACCEPTED, seen) is not None

    def events(self, query: EventQuery) -> Iterator[Event]:
        """By seq, fetched a page at a time; to be read within the transaction."""
        if query.newest and query.limit is not None:
            yield from map(Event._make, reversed(self._all(*queries.events(query, query.after, query.limit))))
            return
        query, after, left = query._replace(newest=False), query.after, query.limit
        while left is None or left > 0:
            wanted = _PAGE if left is None else min(_PAGE, left)
            try:
                page = self._all(*queries.events(query, after, wanted))
            except ToolgateError:
                if wanted == 1:
                    raise
                yield from self._one_by_one(query, after, wanted)
                raise
            yield from map(Event._make, page)
            if len(page) < wanted:
                return
            after, left = page[-1][0], None if left is None else left - len(page)

    def _one_by_one(self, query: EventQuery, after: int, wanted: int) -> Iterator[Event]:
        """The events of a page that cannot be read, up to the one that is why."""
        for _ in range(wanted):
            for found in self._all(*queries.events(query, after, 1)):
                yield Event._make(found)
                after = found[0]

    def event(self, seq: int) -> Event | None:
        return self._one(Event._make, _EVENT, (seq,))

    def head(self) -> Event | None:
        return self._one(Event._make, _HEAD)

    def identity(self) -> str:
        """ "" where there is no database yet: the first write makes it."""
        return self._text(_IDENTITY)

    def named(self) -> str:
        return self._text(_NAMED)

    def _text(self, statement: str) -> str:
        found = self._one(tuple, statement)
        if found is None or found[0] is None:
            raise ToolgateError("storage", f"the database has lost its id: {self._path}", "restore a copy, then toolgate audit verify")
        return str(found[0])
