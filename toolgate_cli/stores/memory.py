"""The store in memory, for tests and simulations: one lock for writers, snapshots for readers, the refusals of the durable stores."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..core.errors import ToolgateError
from ..core.records import Accepted, Attempt, Call, Definition, Event, Keep, Outcome, Row, Run, Step, Turn, Value, Vote
from ..core.types import CALL_ORIGINS
from ._refusals import OUR_FAULT, gap, nested, over, spoiled
from ._tables import MemoryReader, Tables

if TYPE_CHECKING:
    from ..runtime.answers import Remark
    from ..runtime.ports import Mint

DURABLE: Final = False
_STARTED = "TOOL_INVOCATION_STARTED"


def open_store(_place: str, mint: Mint, *, readonly: bool = False) -> MemoryStore:  # noqa: ARG001  # there is no file to change
    """An empty store; the place means nothing to it."""
    return MemoryStore(mint)


class MemoryStore:
    """`runtime.store.Store` that ends with its process; may be shared by threads."""

    def __init__(self, mint: Mint) -> None:
        self._identity = mint.id("d")
        self._tables = Tables()
        self._lock = threading.Lock()
        self._inside: dict[int, Callable[[], None]] = {}  # thread -> what ends its open transaction

    def read(self) -> _Reading:
        """One snapshot: what is committed meanwhile is not in it."""
        return _Reading(self)

    def write(self, patience: float = 30.0) -> _Writing:
        """One write transaction, as `SqliteStore.write`."""
        return _Writing(self, patience)

    def inspect(self) -> Iterator[Remark]:
        """Nothing of it is kept anywhere."""
        return iter(())

    def scrub(self, patience: float = 30.0) -> None:  # noqa: ARG002  # nobody is waited for
        """There are no files."""
        self._enter(lambda: None)
        self._leave()

    def close(self) -> None:
        """Nothing to let go; a transaction of this thread that is still open is over, as `SqliteStore.close` has it."""
        undo = self._inside.get(threading.get_ident())
        if undo is not None:
            undo()

    def _enter(self, undo: Callable[[], None]) -> None:
        if threading.get_ident() in self._inside:
            raise nested()
        self._inside[threading.get_ident()] = undo

    def _leave(self) -> None:
        self._inside.pop(threading.get_ident(), None)


class _Reading:
    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._open = False

    def __enter__(self) -> MemoryReader:
        self._store._enter(self._end)
        self._reader = MemoryReader(self._store._tables, self._store._identity)
        self._open = True
        return self._reader

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._open:  # else it ended with its store
            self._end()

    def _end(self) -> None:
        self._open = False
        self._reader.end()
        self._store._leave()


class _Writing:
    def __init__(self, store: MemoryStore, patience: float) -> None:
        self._store = store
        self._patience = patience
        self._open = False

    def __enter__(self) -> MemoryWriter:
        self._store._enter(self._undo)
        if not self._store._lock.acquire(timeout=max(0.0, self._patience)):
            self._store._leave()
            raise ToolgateError("storage", f"the store is still locked after {self._patience:g} s", "run the command again", retryable=True)
        self._tables = self._store._tables.fork()
        self._writer = MemoryWriter(self._tables, self._store._identity)
        self._open = True
        return self._writer

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._open:
            self._end(commit=kind is None)
        elif kind is None:  # its store was closed meanwhile
            raise over()

    def _undo(self) -> None:
        if self._open:
            self._end(commit=False)

    def _end(self, commit: bool) -> None:
        self._open = False
        try:
            if commit:
                self._writer.check()
                self._store._tables = self._tables
        finally:
            self._writer.end()
            self._store._lock.release()
            self._store._leave()


class MemoryWriter(MemoryReader):
    """`runtime.store.Writer` over tables of its own, which become the store's at the end."""

    def __init__(self, tables: Tables, identity: str) -> None:
        super().__init__(tables, identity)
        self._owned: set[str] = set()
        self._saved: list[Row] = []
        self._spoiled = False

    def check(self) -> None:
        """What can only be judged at the end. Raises ToolgateError("storage")."""
        if self._spoiled:
            raise spoiled()
        for row in self._saved:
            if self._tables.pending.get(row.id) == row and self.event(row.parked_by) is None:
                self._refuse("a row was parked by an event that does not exist")

    def _refuse(self, what: str) -> NoReturn:
        self._spoiled = True
        raise ToolgateError("storage", f"the store refused a change: {what}", OUR_FAULT)

    def _own(self, name: str) -> Any:
        """A table that may be changed: copied at the first change, because readers look at the former one."""
        if name not in self._owned:
            self._owned.add(name)
            setattr(self._tables, name, getattr(self._tables, name).copy())
        return getattr(self._tables, name)

    def _insert(self, name: str, key: object, record: object) -> None:
        if key in getattr(self._tables, name):
            self._refuse(f"there is such a record in {name} already")
        self._own(name)[key] = record

    def _need(self, known: bool, what: str) -> None:
        if not known:
            self._refuse(f"{what} does not exist")

    # ---- rows ----
    def save(self, row: Row) -> None:
        self._need(row.run_id in self._tables.runs, "the run of a row")
        self._need(row.definition is None or row.definition in self._tables.definitions, "the definition of a row")
        self._need(row.revision is None or (row.id, row.revision) in self._tables.calls, "the call of a row")
        if (row.origin in CALL_ORIGINS) != (row.revision is not None):
            self._refuse("a row has a revision exactly if it is a call's")
        self._insert("pending", row.id, row)
        self._saved.append(row)

    def claim(self, expected: Row) -> Row | None:
        row = self.verify_still_current(expected)
        if row is not None:
            del self._own("pending")[row.id]
        return row

    def verify_still_current(self, expected: Row) -> Row | None:
        """The row, if it is still exactly there (id, version, run)."""
        row = self.find(expected.run_id, expected.id)
        return row if row is not None and row.version == expected.version else None

    def remove(self, run: str, id: str) -> None:
        if self.find(run, id) is not None:
            del self._own("pending")[id]

    # ---- attempts ----
    def begin(self, attempt: Attempt) -> None:
        self._need(attempt.row.run_id in self._tables.runs, "the run of an attempt")
        self._insert("attempts", attempt.row.id, attempt)

    def finish(self, expected: Attempt) -> Attempt | None:
        found = self._tables.attempts.get(expected.row.id)
        if found is None or (found.row.version, found.number) != (expected.row.version, expected.number):
            return None
        del self._own("attempts")[expected.row.id]
        return found

    def mark_cancelled(self, run: str) -> None:
        for attempt in self.attempts(run):
            self._own("attempts")[attempt.row.id] = attempt._replace(cancelled=True)

    # ---- runs ----
    def put_run(self, run: Run, was: int | None) -> bool:
        found = self._tables.runs.get(run.id)
        if (None if found is None else found.version) != was:
            return False
        self._need(run.definition in self._tables.definitions, "the definition of a run")
        self._own("runs")[run.id] = run
        return True

    def add(self, facts: Iterable[Keep]) -> None:
        for fact in facts:
            if isinstance(fact, (Call, Value, Step, Turn)):
                self._need(fact.run_id in self._tables.runs, "the run of a record")
            if isinstance(fact, Call):
                self._insert("calls", (fact.id, fact.revision), fact)
            elif isinstance(fact, Outcome):
                self._insert("outcomes", fact.call_id, fact)
            elif isinstance(fact, Turn):
                self._insert("turns", (fact.run_id, fact.path, fact.number), fact)
            elif isinstance(fact, Vote):
                self._insert("votes", (fact.row_id, fact.ref, fact.actor), fact)
            elif isinstance(fact, Definition):
                self._own("definitions").setdefault(fact.digest, fact)
            elif isinstance(fact, Accepted):
                self._own("checked").setdefault(fact, fact)
            elif isinstance(fact, Value):
                self._own("context")[fact.run_id, fact.key, fact.top] = fact
            else:
                self._own("steps")[fact.run_id, fact.path] = fact

    def rewind(self, run: str, top: int) -> None:
        for name in ("context", "steps"):
            table = self._own(name)
            for key in [key for key, record in table.items() if record.run_id == run and record.top >= top]:
                del table[key]

    # ---- the log ----
    def append(self, events: Sequence[Event]) -> None:
        last = self.head()
        seq, head = (last.seq, last.hash) if last else (0, self._identity)
        for event in events:
            seq += 1
            if event.seq != seq or event.prev != head:
                self._spoiled = True
                raise gap(event.seq)
            head = event.hash
            if event.type == _STARTED and event.call_id is not None and event.attempt is not None:
                self._insert("starts", (event.call_id, event.attempt), event.seq)
            self._own("events").append(event)

    def erase(self, call: str, events: Sequence[int] = (), turns: Sequence[Turn] = ()) -> None:
        calls, log, stored = self._own("calls"), self._own("events"), self._own("turns")
        for key in [key for key in calls if key[0] == call]:
            calls[key] = calls[key]._replace(arguments=None, title=None, rationale=None, label=None)
        if call in self._tables.outcomes:
            self._own("outcomes")[call] = self._tables.outcomes[call]._replace(body=None)
        for seq in events:
            if self.event(seq) is not None:
                log[seq - 1] = log[seq - 1]._replace(payload=None, salt=None)
        for turn in turns:
            if (turn.run_id, turn.path, turn.number) in stored:
                stored[turn.run_id, turn.path, turn.number] = turn
