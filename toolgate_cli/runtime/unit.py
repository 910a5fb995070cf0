"""One write transaction as the use cases see it: a time that never goes back, and events that commit with what they tell of (I6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..core import chain, durations
from ..core.person import Person
from ..core.records import Call, Event, EventQuery, Row, Run
from ..core.types import Json

if TYPE_CHECKING:
    from .ports import Ports
    from .store import Writer

SLACK = 5.0  # seconds by which the clocks of two processes may differ


class Unit:
    """`now` is the later of the clock and the last event. `person` is the actor of events that name nobody else. `shown`: rows of which the
    log was seen to say, in this transaction, that exactly they wait."""

    def __init__(self, tx: Writer, ports: Ports, person: Person) -> None:
        self.tx = tx
        self.ports = ports
        self.person = person
        self._head = tx.head()
        self._last = self._head
        self._identity = tx.identity()
        self._new: list[Event] = []
        self._clock = clock = ports.clock.now()
        self.now = clock if self._head is None else max(clock, self._head.at)
        self.shown: set[Row] = set()

    def record(
        self,
        type: str,
        run: Run | None,
        payload: Mapping[str, Json],
        *,
        step: str | None = None,
        call: Call | None = None,
        digest: str | None = None,
        attempt: int | None = None,
        person: Person | None = None,
    ) -> Event:
        """Adds an event; it is written when the transaction ends, after everything that it tells of."""
        if run is not None and run.correlation is not None:
            payload = {**payload, "correlation": run.correlation}
        draft = chain.Draft(
            at=self.now,
            run_id=run.id if run else None,
            step_id=step if step is not None else call.step if call else None,
            call_id=call.id if call else None,
            capability=call.capability if call else None,
            call_digest=digest,
            attempt=attempt,
            type=type,
            actor=(person or self.person).name,
            payload=payload,
        )
        event = chain.extend(self._head, self._identity, draft, self.ports.mint.salt())
        self._head = event
        self._new.append(event)
        return event

    def decided(self, type: str, run: Run, row: Row, call: Call | None, payload: Mapping[str, Json], person: Person | None = None) -> Event:
        """A decision of a person: who, as claimed and as the operating system says, and on exactly what."""
        person = person or self.person
        facts: dict[str, Json] = {"version": row.version, "origin": row.origin, **payload, **person.facts()}
        return self.record(type, run, facts, step=row.step, call=call, digest=row.call_digest, attempt=row.starts or None, person=person)

    def told(self, run: Run, type: str) -> Iterator[Event]:
        """The events of a type that tell of a run, with those that this transaction is about to write."""
        yield from self.tx.events(EventQuery(run_id=run.id, type=type))
        yield from (event for event in self._new if (event.run_id, event.type) == (run.id, type))

    @property
    def behind(self) -> bool:
        """The clock was set back before this transaction, so `now` stands still."""
        return self._last is not None and durations.later(self._clock, SLACK) < self._last.at

    @property
    def next_seq(self) -> int:
        return 1 if self._head is None else self._head.seq + 1

    def keep_head(self) -> None:
        """After the commit: the kept head is never ahead of what is durable."""
        if self._head is not None and self._head is not self._last:
            self.ports.heads.keep(self._identity, self._head.seq, self._head.hash)

    def flush(self) -> None:
        if self._new:
            self.tx.append(self._new)
            self._new = []


@contextmanager
def write(ports: Ports, person: Person) -> Iterator[Unit]:
    """A transaction that commits with its events, or not at all."""
    with ports.store.write() as tx:
        unit = Unit(tx, ports, person)
        yield unit
        tx.add(ports.files.accepted())
        unit.flush()
    unit.keep_head()
