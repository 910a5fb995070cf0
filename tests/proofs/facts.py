"""What a store says after a crash, read with sqlite3 alone, and what must be true of it: nothing doubled, nothing lost."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from toolgate_cli.core import cursor

from .homes import effects, tries

OVER = ("COMPLETED", "FAILED", "CANCELLED")
STATUSES = (
    *OVER, "RUNNING", "PAUSED", "AWAITING_INPUT", "AWAITING_APPROVAL", "AWAITING_TOOL_APPROVAL", "AWAITING_TOOL_DECISION",
    "AWAITING_REVIEW", "AWAITING_STEP_APPROVAL",
)  # fmt: skip
_ENDS = ("COMPLETED", "FAILED", "OUTCOME_UNKNOWN", "CONFIRMATION_PENDING", "LATE_RESULT", "CANCELLED")
ENDS = tuple(f"TOOL_INVOCATION_{end}" for end in _ENDS)
REPEATS = ("TOOL_INVOCATION_APPROVED", "TOOL_INVOCATION_RETRIED")  # a person's word that a call may be started


class Run(NamedTuple):
    status: str
    owner: str | None
    open_calls: tuple[str, ...]  # of the batch that its cursor stands on


class Row(NamedTuple):
    run: str
    origin: str
    version: int
    doubt: str | None


class Event(NamedTuple):
    seq: int
    run: str | None
    call: str | None
    attempt: int | None
    type: str
    payload: dict[str, object]


class Facts(NamedTuple):
    runs: dict[str, Run]
    calls: dict[str, str]  # id -> run
    rows: dict[str, Row]
    attempts: dict[str, int]  # call -> number of its running or waiting start
    outcomes: dict[str, str]  # call -> status
    events: tuple[Event, ...]

    def count(self, *types: str, run: str | None = None, call: str | None = None) -> int:
        return sum(e.type in types and run in (None, e.run) and call in (None, e.call) for e in self.events)

    def repositioned(self, run: str) -> int:
        """How often a person has moved it back to a step; what a step runs again by itself is part of the run."""
        return sum(e.type == "STEP_RETRIED" and e.run == run and "status" in e.payload for e in self.events)

    def starts(self) -> dict[tuple[str, int], Event]:
        """(call, attempt) -> its STARTED event."""
        return {(e.call, e.attempt): e for e in self.events if e.type == "TOOL_INVOCATION_STARTED"}  # type: ignore[misc]  # both are there

    def undispatched(self) -> set[tuple[str, int | None]]:
        """(call, attempt) of starts that came to nothing: the tool never ran, which is proved, so the next start is no repetition."""
        failed = [e for e in self.events if e.type == "TOOL_INVOCATION_FAILED"]
        return {(e.call or "", e.attempt) for e in failed if e.payload.get("dispatched") == "no"}

    def unended(self) -> set[str]:
        """Calls with a start whose end nobody has recorded."""
        ended = {(e.call, e.attempt) for e in self.events if e.type in ENDS}
        return {call for call, attempt in self.starts() if (call, attempt) not in ended}


def read(home: Path) -> Facts:
    path = home / ".toolgate" / "toolgate.db"
    if not path.exists() or path.stat().st_size == 0:
        return Facts({}, {}, {}, {}, {}, ())
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as db:
        db.execute("BEGIN")
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'runs'").fetchall():
            return Facts({}, {}, {}, {}, {}, ())
        events = db.execute("SELECT seq, run_id, call_id, attempt, type, payload FROM events ORDER BY seq").fetchall()
        return Facts(
            {id: Run(status, owner, _batch(at)) for id, status, owner, at in db.execute("SELECT id, status, owner, cursor FROM runs")},
            dict(db.execute("SELECT id, run_id FROM calls").fetchall()),
            {id: Row(*rest) for id, *rest in db.execute("SELECT id, run_id, origin, version, doubt FROM pending")},
            dict(db.execute("SELECT id, number FROM attempts").fetchall()),
            dict(db.execute("SELECT call_id, status FROM outcomes").fetchall()),
            tuple(Event(*event[:5], json.loads(event[5] or "{}")) for event in events),
        )


def _batch(text: str) -> tuple[str, ...]:
    frame = cursor.load(text)[-1]
    return frame.calls if frame.phase in (cursor.ASKED, cursor.CALLS) else ()


def intact(home: Path) -> None:
    """The file itself is sound."""
    path = home / ".toolgate" / "toolgate.db"
    if path.exists():
        with closing(sqlite3.connect(path, timeout=30)) as db:
            assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert db.execute("PRAGMA foreign_key_check").fetchall() == []


def nothing_doubled(home: Path, facts: Facts) -> None:
    """No start without its event, no repetition without a person's word or an effect class that permits it, one effect at most a start."""
    starts = Counter(call for call, attempt in facts.starts() if (call, attempt) not in facts.undispatched())
    for counted in (tries(home), effects(home)):
        assert not (over := {call: n for call, n in counted.items() if n > starts[call]}), f"more effects than STARTED events: {over}"
    for call, number in starts.items():
        own = [event for (of, _), event in facts.starts().items() if of == call]
        if all(event.payload["effect"] == "unsafe" for event in own):
            free = sum(event.payload["cleared"] == "policy" and event.attempt == 1 for event in own)
            said = facts.count(*REPEATS, call=call)
            said += sum(e.call == call and e.type == "TOOL_INVOCATION_REJECTED" and "answer" in e.payload for e in facts.events)
            assert number <= free + said, f"{call} was started {number} times: {free} by policy, {said} by a person"
    late = {e.call for e in facts.events if e.type == "TOOL_INVOCATION_COMPLETED"} - set(effects(home))
    assert not late, f"done without an effect: {late}"


def no_turn_twice(facts: Facts) -> None:
    """What a model answered is never asked for again (I13): a script has one answer to each call of a talk."""
    more = [event.payload["message"] for event in facts.events if event.type == "RUN_FAILED"]
    assert not any("has no turn" in str(message) or "no tools were selected" in str(message) for message in more), more
    chosen = Counter((event.run, event.payload["turn"]) for event in facts.events if event.type == "TOOLS_SELECTED")
    assert set(chosen.values()) <= {1}, f"tools were chosen twice: {chosen}"


def nothing_lost(facts: Facts) -> None:
    """Every run stands in a documented state, every call is open, running, settled, or next in the batch of its run."""
    for run in facts.runs.values():
        assert run.status in STATUSES
    for call, of in facts.calls.items():
        run = facts.runs[of]
        places = [call in facts.rows, call in facts.attempts, call in facts.outcomes]
        assert sum(places) <= 1, f"{call} is in several places: row, attempt, outcome = {places}"
        if not any(places):
            unstarted = call in run.open_calls and (call, 1) not in facts.starts() and run.status not in OVER
            closed = run.status == "CANCELLED"
            assert unstarted or closed, f"{call} is lost; its run is {run.status}"
    for call in facts.unended():
        assert call in facts.attempts, f"a start of {call} has neither an end nor an attempt"
    for id, run in facts.runs.items():
        ends = facts.count("RUN_COMPLETED", "RUN_FAILED", "RUN_CANCELLED", run=id) - facts.repositioned(id)
        assert ends == (run.status in OVER), f"{id} is {run.status} with {ends} terminal events"


def doubts(facts: Facts) -> set[str]:
    """Calls that have to be listed as OUTCOME_UNKNOWN once their owners are dead: of a cancelled run only what may have had an effect."""
    effect = {call: event.payload["effect"] for (call, _), event in facts.starts().items()}
    over = {call for call in effect if facts.runs[facts.calls[call]].status == "CANCELLED" and effect[call] == "read_only"}
    return (facts.unended() - over) | {call for call, row in facts.rows.items() if row.origin == "OUTCOME_UNKNOWN"}
