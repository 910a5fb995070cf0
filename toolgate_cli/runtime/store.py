"""The store's port: nothing above it may know which store it is. Every store passes the same contract suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from ..core.records import (
    Accepted,
    Attempt,
    Call,
    Definition,
    Event,
    EventQuery,
    Keep,
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

if TYPE_CHECKING:
    from ..core.errors import ToolgateError
    from .answers import Remark


class Reader(Protocol):
    """One snapshot of the store. What cannot be read, because other hands changed it, is ToolgateError("storage"); a list over all runs
    leaves it out, and `unread` says what was left out so far."""

    unread: list[ToolgateError]

    def find(self, run: str | None, id: str) -> Row | None:
        """The open row of that id; with a run, only if it is that run's."""
        ...

    def find_by_run(self, run: str) -> tuple[Row, ...]:
        """All open rows of a run, in the one total order (created_at, parked_by, id)."""
        ...

    def rows(self, query: RowQuery) -> tuple[Row, ...]: ...
    def attempts(self, run: str | None) -> tuple[Attempt, ...]:
        """Attempts that have not come to an end, of a run or of all."""
        ...

    def run(self, id: str) -> Run | None: ...
    def runs(self, query: RunQuery) -> tuple[Run, ...]: ...
    def call(self, id: str, revision: int | None = None) -> tuple[Call, Outcome | None] | None:
        """A call (its newest revision) and how it was settled."""
        ...

    def calls(self, prefix: str, limit: int) -> tuple[Call, ...]:
        """Calls whose id begins with `prefix`, newest revisions."""
        ...

    def value(self, run: str, key: str) -> Value | None:
        """The newest value of a key (the highest `top`); a tool's value is filled in from its outcome. None: absent or removed."""
        ...

    def keys(self, run: str) -> tuple[str, ...]:
        """Every key that has a value now, by code point."""
        ...

    def steps(self, run: str, inside: str | None = None) -> tuple[Step, ...]:
        """In the order of the workflow and of time; `inside`: only those below the step at that path."""
        ...

    def outputs(self, run: str) -> tuple[tuple[str, str], ...]:
        """Path and output of the steps that completed with one, in the same order; costs nothing for those that did not."""
        ...

    def step(self, run: str, path: str) -> Step | None: ...
    def values(self, run: str, top: int | None = None) -> tuple[Value, ...]:
        """Every stored value, of every top-level step or of one, and as it is stored: a tool's is not filled in."""
        ...

    def turns(self, run: str, path: str | None, since: int = 0) -> tuple[Turn, ...]:
        """Turns of one step (None: of all) from number `since` on, by path and number."""
        ...

    def next_turn(self, run: str, path: str) -> int:
        """The number of the turn that comes next at this step: one more than the highest so far."""
        ...

    def votes(self, row: Row) -> tuple[Vote, ...]:
        """Votes for exactly this row (id, version, origin, digest)."""
        ...

    def definition(self, digest: str) -> Definition | None: ...
    def accepted(self, seen: Accepted) -> bool: ...
    def events(self, query: EventQuery) -> Iterator[Event]: ...
    def event(self, seq: int) -> Event | None: ...
    def head(self) -> Event | None: ...
    def identity(self) -> str:
        """The random id of this database: `prev` of the first event, or while there is none, as it is `named`."""
        ...

    def named(self) -> str:
        """The id as it stands beside the log: what other hands write there is no other history."""
        ...


class Writer(Reader, Protocol):
    """One write transaction; every check and change in it is one point of the total order. Raising rolls it back."""

    def save(self, row: Row) -> None: ...
    def claim(self, expected: Row) -> Row | None:
        """Takes the row away if it is still exactly there (id, version, run), and gives it back; None if somebody else has it."""
        ...

    def verify_still_current(self, expected: Row) -> Row | None: ...
    def remove(self, run: str, id: str) -> None: ...
    def begin(self, attempt: Attempt) -> None: ...
    def finish(self, expected: Attempt) -> Attempt | None:
        """Takes the attempt away if it is still there (id, version, number); None if recovery or cancel has settled it."""
        ...

    def mark_cancelled(self, run: str) -> None:
        """Marks every attempt of the run as cancelled."""
        ...

    def put_run(self, run: Run, was: int | None) -> bool:
        """Inserts (was = None) or replaces a run whose stored version is `was`; False if it is not. What it is of never changes (workflow,
        definition, requester, created_at)."""
        ...

    def add(self, facts: Iterable[Keep]) -> None:
        """Records. Definitions and accepted marks that exist already are left alone; a value or step of the same key replaces; the rest
        must be new."""
        ...

    def rewind(self, run: str, top: int) -> None:
        """Removes context values and finished steps written at or after the top-level step `top`."""
        ...

    def append(self, events: Sequence[Event]) -> None:
        """Events whose seq, prev and hash go on exactly from the head."""
        ...

    def erase(self, call: str, events: Sequence[int] = (), turns: Sequence[Turn] = ()) -> None:
        """Redacts a call: arguments, title, rationale and label of every revision and the body of its outcome become null, and so do
        payload and salt of the events of those seqs; each of the turns takes the place of the one of its key."""
        ...


class Store(Protocol):
    def read(self) -> AbstractContextManager[Reader]: ...
    def write(self, patience: float = 30.0) -> AbstractContextManager[Writer]:
        """Commits at the end. Waits at most `patience` seconds for the lock, then ToolgateError("storage")."""
        ...

    def inspect(self) -> Iterator[Remark]:
        """What is wrong with how and where the data is kept; changes nothing. Nothing is raised for what it finds."""
        ...

    def scrub(self, patience: float = 30.0) -> None:
        """Leaves nothing in its files but what it holds now; outside of any transaction. What was erased or replaced before may stay in
        free places until then. Waits at most `patience` seconds for those who are at work, then ToolgateError("storage")."""
        ...

    def close(self) -> None: ...
