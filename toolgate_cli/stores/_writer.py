"""One write transaction of a SQLite store: every check and change in it is one point of the total order (I2, I6).

A change that failed spoils the whole transaction, so nothing half-done can be committed, even by a caller that went on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any

from ..core.errors import ToolgateError
from ..core.records import Attempt, Event, Keep, Row, Run, Turn
from ._faults import CAUGHT, fault
from ._reader import SqliteReader
from ._refusals import gap, over
from ._rows import ATTEMPT, KEEP, attempt, columns, from_attempt, insert, pending

_SAVE = insert("pending", Row)
_CLAIM = "DELETE FROM pending WHERE id = ? AND version = ? AND run_id = ? RETURNING *"
_CURRENT = f"SELECT {columns(Row)} FROM pending WHERE id = ? AND version = ? AND run_id = ?"
_REMOVE = "DELETE FROM pending WHERE id = ? AND run_id = ?"
_BEGIN = f"INSERT INTO attempts ({ATTEMPT}) VALUES ({', '.join('?' * len(ATTEMPT.split(', ')))})"
_FINISH = f"DELETE FROM attempts WHERE id = ? AND version = ? AND number = ? RETURNING {ATTEMPT}"
_MARK = "UPDATE attempts SET cancelled = 1 WHERE run_id = ?"
_NEW_RUN = insert("runs", Run, " ON CONFLICT DO NOTHING RETURNING id")
# what a run is of is never set again: SQLite would look for every row that refers to its id, in tables that have no index for that, for
# its definition, and write its place in the order of time anew
_FIXED = ("id", "workflow", "definition", "requester", "created_at")
_MOVED = [field for field in Run._fields if field not in _FIXED]
_PUT_RUN = f"UPDATE runs SET {', '.join(f'{field} = ?' for field in _MOVED)} WHERE id = ? AND version = ? RETURNING id"
_moved = itemgetter(*map(Run._fields.index, _MOVED))
_REWIND = ("DELETE FROM context WHERE run_id = ? AND top >= ?", "DELETE FROM steps WHERE run_id = ? AND top >= ?")
_LAST = "SELECT seq, hash FROM events WHERE seq > 0 ORDER BY seq DESC LIMIT 1"
_APPEND = insert("events", Event)
_ERASE = (
    "UPDATE calls SET arguments = NULL, title = NULL, rationale = NULL, label = NULL WHERE id = ?",
    "UPDATE outcomes SET body = NULL WHERE call_id = ?",
)
_ERASE_EVENT = "UPDATE events SET payload = NULL, salt = NULL WHERE seq = ?"
_ERASE_TURN = "UPDATE turns SET commands = ? WHERE run_id = ? AND path = ? AND number = ?"


class SqliteWriter(SqliteReader):
    """`runtime.store.Writer` within one open BEGIN IMMEDIATE."""

    spoiled = False  # a change failed: the store rolls back at the end
    _last: tuple[int, str] | None = None  # seq and hash that the log ends with, once that was read: nobody else adds to it meanwhile

    def _change(self, statement: str, values: Sequence[Any]) -> list[Any]:
        self._said.clear()
        try:
            return self._all(statement, values)
        except ToolgateError:
            self.spoiled = True
            raise

    def _change_many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        if self._connection is None:
            raise over()
        self._said.clear()
        try:
            self._connection.executemany(statement, values)
        except CAUGHT as error:
            self.spoiled = True
            raise fault(error, self._path) from error

    # ---- rows ----
    def save(self, row: Row) -> None:
        self._change(_SAVE, row)

    def claim(self, expected: Row) -> Row | None:
        found = self._change(_CLAIM, (expected.id, expected.version, expected.run_id))
        return pending(found[0]) if found else None

    def verify_still_current(self, expected: Row) -> Row | None:
        """The row, if it is still exactly there (id, version, run)."""
        return self._one(pending, _CURRENT, (expected.id, expected.version, expected.run_id))

    def remove(self, run: str, id: str) -> None:
        self._change(_REMOVE, (id, run))

    # ---- attempts ----
    def begin(self, attempt: Attempt) -> None:
        self._change(_BEGIN, from_attempt(attempt))

    def finish(self, expected: Attempt) -> Attempt | None:
        found = self._change(_FINISH, (expected.row.id, expected.row.version, expected.number))
        return attempt(found[0]) if found else None

    def mark_cancelled(self, run: str) -> None:
        self._change(_MARK, (run,))

    # ---- runs ----
    def put_run(self, run: Run, was: int | None) -> bool:
        if was is None:
            return bool(self._change(_NEW_RUN, run))
        return bool(self._change(_PUT_RUN, (*_moved(run), run.id, was)))

    def add(self, facts: Iterable[Keep]) -> None:
        for fact in facts:
            self._change(KEEP[type(fact)], fact)

    def rewind(self, run: str, top: int) -> None:
        for statement in _REWIND:
            self._change(statement, (run, top))

    # ---- the log ----
    def head(self) -> Event | None:
        event = super().head()
        self._last = (event.seq, event.hash) if event else None
        return event

    def append(self, events: Sequence[Event]) -> None:
        seq, head = self._last or self._one(tuple, _LAST) or (0, self.identity())
        for event in events:
            seq += 1
            if event.seq != seq or event.prev != head:
                self.spoiled = True
                raise gap(event.seq)
            head = event.hash
        self._change_many(_APPEND, events)
        if events and self._one(tuple, _LAST) != (seq, head):  # a trigger that is not ours
            self.spoiled = True
            raise gap(seq)
        self._last = (seq, head)

    def erase(self, call: str, events: Sequence[int] = (), turns: Sequence[Turn] = ()) -> None:
        for statement in _ERASE:
            self._change(statement, (call,))
        self._change_many(_ERASE_EVENT, [(seq,) for seq in events])
        self._change_many(_ERASE_TURN, [(turn.commands, turn.run_id, turn.path, turn.number) for turn in turns])
