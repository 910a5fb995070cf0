"""Records for tests of stores: a run with calls, rows and the events that parked them."""

from __future__ import annotations

from typing import Any

from toolgate_cli.core.records import Attempt, Call, Definition, Event, Outcome, Row, Run

AT = "2026-01-31T12:00:00.000Z"
RUN = "rrun0000000000"


def moment(number: int) -> str:
    """Rising times, a millisecond apart."""
    return f"2026-01-31T12:{number // 60000:02d}:{number // 1000 % 60:02d}.{number % 1000:03d}Z"


def id_of(number: int) -> str:
    return f"c{number:013d}"


def run_of(id: str = RUN, **other: Any) -> Run:
    return Run(id, "deploy", "w1", "ann", "RUNNING", "[]", 1, None, 0, 0, None, AT, AT)._replace(**other)


def call_of(number: int, run: str = RUN, **other: Any) -> Call:
    text = f'{{"n":{number}}}'
    return Call(
        id_of(number), 1, run, "s", "files.write", text, "digest", "key", "title", "why", None, None, "ann", moment(number)
    )._replace(**other)


def row_of(number: int, run: str = RUN, **other: Any) -> Row:
    row = Row(id_of(number), 1, run, "s", "APPROVAL_REQUIRED", 1, "calldigest", "t1", "none", parked_by=1, created_at=moment(number))
    return row._replace(**other)


def gate_of(id: str, run: str = RUN, **other: Any) -> Row:
    return Row(id, 1, run, "s", "STEP_APPROVAL", parked_by=1, created_at=AT)._replace(**other)


def attempt_of(row: Row, number: int = 1, **other: Any) -> Attempt:
    return Attempt(row, number, "running", "oowner", "host", "boot", "2026-01-31T12:05:00.000Z")._replace(**other)


def outcome_of(call: str, body: str | None = '{"ok":true}', **other: Any) -> Outcome:
    return Outcome(call, "succeeded", "yes", "yes", None, body, len(body or ""), AT)._replace(**other)


def event_after(last: Event | None, identity: str, **other: Any) -> Event:
    """The event that goes on from `last` (None: the first one of the database)."""
    seq, prev = (last.seq + 1, last.hash) if last else (1, identity)
    event = Event(
        seq, AT, RUN, "s", None, None, None, None, "TOOL_INVOCATION_REQUESTED", "ann", '{"p":1}', "salt", "commitment", prev, f"hash{seq}"
    )
    return event._replace(**other)


def begun(store: Any, run: str = RUN) -> None:
    """A run, the definitions that everything here refers to, and a first event."""
    with store.write() as writer:
        writer.add([Definition("w1", "workflow", "{}"), Definition("t1", "tool", "{}")])
        assert writer.put_run(run_of(run), None)
        if writer.head() is None:
            writer.append([event_after(None, writer.identity())])


def filled(store: Any, rows: int) -> None:
    """A run with that many open rows."""
    begun(store)
    with store.write() as writer:
        for number in range(rows):
            writer.add([call_of(number)])
            writer.save(row_of(number))
