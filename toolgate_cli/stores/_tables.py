"""The tables of the store in memory, and one snapshot of them. A table that is being looked at is never changed: a writer copies it."""

from __future__ import annotations

from collections.abc import Iterator

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
from ._refusals import over


class Tables:
    """Every table, by the primary key that the durable store has; events by seq - 1."""

    def __init__(self) -> None:
        self.definitions: dict[str, Definition] = {}
        self.checked: dict[Accepted, Accepted] = {}
        self.runs: dict[str, Run] = {}
        self.context: dict[tuple[str, str, int], Value] = {}
        self.steps: dict[tuple[str, str], Step] = {}
        self.turns: dict[tuple[str, str, int], Turn] = {}
        self.calls: dict[tuple[str, int], Call] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.pending: dict[str, Row] = {}
        self.attempts: dict[str, Attempt] = {}
        self.votes: dict[tuple[str, str, str], Vote] = {}
        self.starts: dict[tuple[str, int], int] = {}  # of a call and attempt -> seq of the event
        self.events: list[Event] = []

    def fork(self) -> Tables:
        """The same tables, none of them copied yet."""
        other = Tables.__new__(Tables)
        other.__dict__.update(self.__dict__)
        return other


def _asked(row: Row) -> tuple[str, int, str]:
    return row.created_at, row.parked_by, row.id


class MemoryReader:
    """`runtime.store.Reader` over tables that nobody changes any more."""

    def __init__(self, tables: Tables, identity: str) -> None:
        self._tables_open: Tables | None = tables
        self._identity = identity
        self.unread: list[ToolgateError] = []

    def end(self) -> None:
        """The transaction is over: what is asked from now on is a fault of the caller."""
        self._tables_open = None

    @property
    def _tables(self) -> Tables:
        if self._tables_open is None:
            raise over()
        return self._tables_open

    # ---- what waits ----
    def find(self, run: str | None, id: str) -> Row | None:
        row = self._tables.pending.get(id)
        return row if row is not None and run in (None, row.run_id) else None

    def find_by_run(self, run: str) -> tuple[Row, ...]:
        return tuple(sorted((row for row in self._tables.pending.values() if row.run_id == run), key=_asked))

    def rows(self, query: RowQuery) -> tuple[Row, ...]:
        found = [
            row
            for row in self._tables.pending.values()
            if query.run_id in (None, row.run_id)
            and not (query.calls_only and (row.revision is None or self._tables.runs[row.run_id].status == "CANCELLED"))
            and not (query.expired_by is not None and (row.expires_at is None or row.expires_at > query.expired_by))
            and row.id.startswith(query.prefix or "")
        ]
        return tuple(sorted(found, key=_asked, reverse=query.newest_first)[: query.limit])

    def attempts(self, run: str | None) -> tuple[Attempt, ...]:
        """By id."""
        found = (attempt for attempt in self._tables.attempts.values() if run in (None, attempt.row.run_id))
        return tuple(sorted(found, key=lambda attempt: attempt.row.id))

    def votes(self, row: Row) -> tuple[Vote, ...]:
        """By time."""
        name = ref(row)
        found = (vote for vote in self._tables.votes.values() if vote.row_id == row.id and vote.ref == name)
        return tuple(sorted(found, key=lambda vote: (vote.at, vote.actor)))

    # ---- runs and what they made ----
    def run(self, id: str) -> Run | None:
        return self._tables.runs.get(id)

    def runs(self, query: RunQuery) -> tuple[Run, ...]:
        found = (run for run in self._tables.runs.values() if query.status in (None, run.status) and run.id.startswith(query.prefix or ""))
        return tuple(sorted(found, key=lambda run: (run.created_at, run.id), reverse=True)[: query.limit])

    def call(self, id: str, revision: int | None = None) -> tuple[Call, Outcome | None] | None:
        calls = self._tables.calls
        if revision is None:
            revision = max((number for (call, number) in calls if call == id), default=-1)
        call = calls.get((id, revision))
        return None if call is None else (call, self._tables.outcomes.get(id))

    def calls(self, prefix: str, limit: int) -> tuple[Call, ...]:
        newest: dict[str, Call] = {}
        for call in self._tables.calls.values():
            if call.id.startswith(prefix) and (call.id not in newest or newest[call.id].revision < call.revision):
                newest[call.id] = call
        return tuple(newest[id] for id in sorted(newest)[:limit])

    def value(self, run: str, key: str) -> Value | None:
        values = (value for value in self._tables.context.values() if value.run_id == run and value.key == key)
        value = max(values, key=lambda value: value.top, default=None)
        if value is None or (value.value is None and value.call_id is None):
            return None
        if value.call_id is None:
            return value
        outcome = self._tables.outcomes.get(value.call_id)
        return value._replace(value=outcome.body if outcome else None)

    def keys(self, run: str) -> tuple[str, ...]:
        written = {value.key for value in self._tables.context.values() if value.run_id == run}
        return tuple(sorted(key for key in written if self.value(run, key) is not None))

    def steps(self, run: str, inside: str | None = None) -> tuple[Step, ...]:
        """In the order of the workflow and of time."""
        below = "" if inside is None else f"{inside}/"
        found = (step for step in self._tables.steps.values() if step.run_id == run and step.path.startswith(below))
        return tuple(sorted(found, key=lambda step: (step.top, step.at, step.path)))

    def outputs(self, run: str) -> tuple[tuple[str, str], ...]:
        """Path and output of the steps that completed with one, in the same order."""
        return tuple((step.path, step.output) for step in self.steps(run) if step.output is not None)

    def step(self, run: str, path: str) -> Step | None:
        return self._tables.steps.get((run, path))

    def values(self, run: str, top: int | None = None) -> tuple[Value, ...]:
        """By key and top-level step."""
        found = (value for value in self._tables.context.values() if value.run_id == run and top in (None, value.top))
        return tuple(sorted(found, key=lambda value: (value.key, value.top)))

    def turns(self, run: str, path: str | None, since: int = 0) -> tuple[Turn, ...]:
        found = (turn for turn in self._tables.turns.values() if turn.run_id == run and path in (None, turn.path) and turn.number >= since)
        return tuple(sorted(found, key=lambda turn: (turn.path, turn.number)))

    def next_turn(self, run: str, path: str) -> int:
        numbers = (turn.number for turn in self._tables.turns.values() if turn.run_id == run and turn.path == path)
        return max(numbers, default=-1) + 1

    # ---- memories and the log ----
    def definition(self, digest: str) -> Definition | None:
        return self._tables.definitions.get(digest)

    def accepted(self, seen: Accepted) -> bool:
        return seen in self._tables.checked

    def events(self, query: EventQuery) -> Iterator[Event]:
        """By seq; to be read within the transaction."""
        found = [
            event
            for event in self._tables.events[max(query.after, 0) :]
            if query.run_id in (None, event.run_id) and query.type in (None, event.type) and query.call_id in (None, event.call_id)
        ]
        if query.limit is not None:
            found = found[max(len(found) - query.limit, 0) :] if query.newest else found[: query.limit]
        for event in found:
            _ = self._tables  # raises once the transaction is over
            yield event

    def event(self, seq: int) -> Event | None:
        events = self._tables.events
        return events[seq - 1] if 0 < seq <= len(events) else None

    def head(self) -> Event | None:
        events = self._tables.events
        return events[-1] if events else None

    def identity(self) -> str:
        return self._identity

    def named(self) -> str:
        return self._identity
