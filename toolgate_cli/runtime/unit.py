"""One write transaction as the use cases see it: a time that never goes back, and events that commit with what they tell of (I6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..core import chain, durations
from ..core.person import Person
from ..core.records import Call, Event, EventQuery, Row, Run
from ..core.types import Json
from ..core.values import NamedTuple
from . import heads, sealing

if TYPE_CHECKING:
    from ..core.verdict import Question, Verdict
    from ..core.world import World
    from .ports import Hold, Ports
    from .store import Writer

SLACK = 5.0  # seconds by which the clocks of two processes may differ


class Told(NamedTuple):
    """What an event says; `payload` is empty where it was erased."""

    seq: int
    step_id: str | None
    call_id: str | None
    payload: Mapping[str, Json]


class Unit:
    """`now` is the later of the clock and the last event; `behind`: the clock was set back before this transaction, so it stands
    still. `person` is the actor of events that name nobody else. `shown`: rows of which the
    log was seen to say, in this transaction, that exactly they wait. `judged`: the verdicts of this transaction, each with its world."""

    def __init__(self, tx: Writer, ports: Ports, person: Person) -> None:
        self.tx = tx
        self.ports = ports
        self.person = person
        self._head = tx.head()
        self._last = self._head  # before this transaction
        self._began = self._head.seq if self._head else 0
        self._identity = tx.identity()
        self._drafts: list[chain.Draft] = []
        self._runs: dict[str, Run | None] = {}  # as they stand now; None: other hands changed it, so no event vouches for it
        self._were: dict[str, Run] = {}  # as the log has them, of those that were written
        clock = ports.clock.now()
        self.now = clock if self._head is None else max(clock, self._head.at)
        self.behind = clock < self.now and durations.later(clock, SLACK) < self.now
        self.shown: set[Row] = set()
        self.judged: dict[Question, tuple[World, Verdict]] = {}

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
    ) -> int:
        """Adds an event, and gives its seq; it is written when the transaction ends, after everything that it tells of."""
        if run is not None:
            self._look(run.id)
            if run.correlation is not None:
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
        self._drafts.append(draft)
        return self._began + len(self._drafts)

    def decided(self, type: str, run: Run, row: Row, call: Call | None, payload: Mapping[str, Json], person: Person | None = None) -> int:
        """A decision of a person: who, as claimed and as the operating system says, and on exactly what."""
        person = person or self.person
        facts: dict[str, Json] = {"version": row.version, "origin": row.origin, **payload, **person.facts()}
        return self.record(type, run, facts, step=row.step, call=call, digest=row.call_digest, attempt=row.starts or None, person=person)

    def told(self, run: str, type: str) -> Iterator[Told]:
        """The events of a type that tell of a run, with those that this transaction is about to write."""
        for event in self.tx.events(EventQuery(run_id=run, type=type)):
            yield Told(event.seq, event.step_id, event.call_id, sealing.payload(event))
        for seq, draft in enumerate(self._drafts, self._began + 1):
            if (draft.run_id, draft.type) == (run, type):
                yield Told(seq, draft.step_id, draft.call_id, draft.payload)

    @property
    def next_seq(self) -> int:
        return self._began + len(self._drafts) + 1

    # ---- runs ----
    def run(self, id: str) -> Run | None:
        """The run as it is to be decided and driven. ToolgateError("storage") where its row is not what the log says of it."""
        found = self.tx.run(id)
        if found is not None and not self.is_sound(found):
            raise sealing.changed(id)
        return found

    def is_sound(self, run: Run) -> bool:
        """Whether its row was what the log says of it when this transaction came to it."""
        return self._look(run.id) is not None

    def begin(self, run: Run) -> None:
        self.tx.put_run(run, None)
        self._runs[run.id] = run

    def put_run(self, run: Run, was: int) -> bool:
        """As the store's; what was changed by other hands stays so in the eyes of the log."""
        known = self._look(run.id)
        done = self.tx.put_run(run, was)
        if done and known is not None:
            self._were.setdefault(run.id, known)
            self._runs[run.id] = run
        return done

    def close(self, run: Run) -> None:
        """Takes a run as it is from here on, for nothing of it will be started any more."""
        self._runs[run.id] = run

    def _look(self, id: str) -> Run | None:
        if id not in self._runs:
            found = self.tx.run(id)
            self._runs[id] = found if found is not None and sealing.holds(self.tx, found) else None
        return self._runs[id]

    # ---- the end ----
    def vouch(self) -> None:
        """Records that a run goes on from another place, where nothing that was recorded of it will say so."""
        told = {draft.run_id for draft in self._drafts}
        for id, was in self._were.items():
            run = self._runs[id]
            if id not in told and run is not None and sealing.seal(run) != sealing.seal(was):
                self.record("RUN_ADVANCED", run, {})

    @property
    def head(self) -> Event | None:
        """The last event that was written."""
        return self._head

    def hold_head(self) -> Hold | None:
        """The kept head, found to be that of this log, for as long as nobody else can keep another one. None: this transaction has no
        event. ToolgateError("storage") where a copy of this database has gone on instead (I2)."""
        if not self._drafts:
            return None
        last = (self._last.seq, self._last.hash) if self._last else None
        hold = self.ports.heads.hold(self._identity, last)
        try:
            if hold.head != last:
                heads.refuse(heads.behind(self.tx, hold.head))
        except BaseException:
            hold.close()
            raise
        return hold

    def put_head(self, hold: Hold) -> None:
        if self._head is not None:
            hold.put(self._head.seq, self._head.hash)

    def flush(self) -> None:
        """Writes the events; the last one of each run says how that stands now."""
        last = {draft.run_id: number for number, draft in enumerate(self._drafts)}
        new: list[Event] = []
        for number, draft in enumerate(self._drafts):
            run = self._runs.get(draft.run_id) if draft.run_id is not None and last[draft.run_id] == number else None
            if run is not None:
                draft = draft._replace(payload={**draft.payload, sealing.NAME: sealing.seal(run)})
            self._head = chain.extend(self._head, self._identity, draft, self.ports.mint.salt())
            new.append(self._head)
        if new:
            self.tx.append(new)
            self._drafts = []


@contextmanager
def write(ports: Ports, person: Person, *, believed: bool = False) -> Iterator[Unit]:
    """A transaction that commits with its events, or not at all; from before the commit until its head is kept nobody commits in a copy of
    this database. `believed`: a person's word stands for the kept head, and the caller keeps the new one."""
    hold: Hold | None = None
    try:
        with ports.store.write() as tx:
            unit = Unit(tx, ports, person)
            yield unit
            tx.add(ports.files.accepted())
            unit.vouch()
            hold = None if believed else unit.hold_head()
            unit.flush()
        if hold is not None:
            unit.put_head(hold)
    finally:
        if hold is not None:
            hold.close()
