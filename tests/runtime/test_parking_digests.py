"""A row starts a call, or is parked again, only as its event in the chain says: whatever is changed by hand shows (I3)."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from toolgate_cli.core import canonical, chain
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Event, Row
from toolgate_cli.core.verdict import Question, Start
from toolgate_cli.core.world import Needs
from toolgate_cli.runtime import gate, parking

from . import texts
from .fakes import FAILED, LOST
from .kit import Home
from .watch import changed

RULE = texts.rule(
    "ask.*", "require_approval", 'approver_scope = "desk"\napprovals = 2\nseparate_requester = true\nexpires_in = "1h"\nreason = "dear"'
)


def raw(home: Home) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(home.folder / ".toolgate" / "toolgate.db"))


def by_hand(home: Home, row: Row, **values: object) -> Row:
    """The row as somebody with the file in their hands leaves it."""
    edited = row._replace(**values)  # type: ignore[arg-type]  # any of its fields
    if home.kind == "memory":
        tables = home.store._tables.fork()
        home.store._tables = tables
        tables.pending = {**tables.pending, row.id: edited}
        return edited
    with raw(home) as db:
        db.execute("DELETE FROM pending WHERE id = ?", (row.id,))
        db.execute(f"INSERT INTO pending VALUES ({', '.join('?' * len(edited))})", edited)
        db.commit()
    return edited


def erase(home: Home, seq: int) -> None:
    """Erases the payload of an event, as a redaction does."""
    if home.kind == "memory":
        tables = home.store._tables.fork()
        home.store._tables = tables
        tables.events = [event._replace(payload=None, salt=None) if event.seq == seq else event for event in tables.events]
        return
    with raw(home) as db:
        db.execute("UPDATE events SET payload = NULL, salt = NULL WHERE seq = ?", (seq,))
        db.commit()


def refused(home: Home, verb: str, run: str, actor: str, **more: object) -> None:
    before, starts = home.dump(), len(home.tools.starts)
    with pytest.raises(ToolgateError) as caught:
        home.decide(verb, run, actor=actor, **more)
    assert caught.value.kind == "storage" and "no event of the log parked" in caught.value.message
    assert set(changed(before, home.dump())) <= {"checked"} and len(home.tools.starts) == starts


# column -> what it is made, who gains by it, and the seconds that pass before
APPROVALS: dict[str, tuple[dict[str, object], str, float]] = {
    "scope": ({"approver_scope": None}, "mallory", 0),
    "quorum": ({"approvals_needed": 1}, "carol", 0),
    "quorum below one": ({"approvals_needed": -1}, "carol", 0),
    "separation": ({"separate_requester": False}, "alice", 0),
    "cleared": ({"cleared": "approval"}, "carol", 0),
    "starts": ({"starts": 5}, "carol", 0),
    "doubt": ({"doubt": "read_only"}, "carol", 0),
    "expiry": ({"expires_at": "2027-01-31T12:00:00.000Z"}, "carol", 4000),
    "no expiry": ({"expires_at": None}, "carol", 4000),
    "on expiry": ({"on_expiry": "reject"}, "carol", 0),
    "reason": ({"reason": "harmless"}, "carol", 0),
    "rule": ({"rule": "another"}, "carol", 0),
    "no rule": ({"rule": None}, "carol", 0),
    "left behind": ({"left_behind": "f0000000000000"}, "carol", 0),
    "last": ({"last": '{"code":"OK"}'}, "carol", 0),
    "created": ({"created_at": "2025-01-31T12:00:00.000Z"}, "carol", 0),
    "step": ({"step": "after"}, "carol", 0),
    "version": ({"version": 7, "approvals_needed": 1}, "carol", 0),
}


@pytest.mark.parametrize("column", APPROVALS)
def test_an_approval_of_a_row_that_was_changed_by_hand_starts_nothing(home: Home, column: str) -> None:
    values, actor, seconds = APPROVALS[column]
    home.write(texts.operator(rules={"ask": RULE}))
    run = home.start("ask", actor="alice")
    home.decide("approve", run, actor="bob")
    by_hand(home, home.row(run), **values)
    home.clock.pass_time(seconds)
    refused(home, "approve", run, actor, may_run_twice=True)


def test_the_same_row_untouched_is_started(home: Home) -> None:
    home.write(texts.operator(rules={"ask": RULE}))
    run = home.start("ask", actor="alice")
    home.decide("approve", run, actor="bob")
    by_hand(home, home.row(run))
    home.decide("approve", run, actor="carol")
    assert len(home.tools.starts) == 1 and home.run(run).status == "COMPLETED"


RETRIES: dict[str, dict[str, object]] = {
    "scope": {"approver_scope": None},
    "separation": {"separate_requester": False},
    "quorum": {"approvals_needed": 1},
    "doubt": {"doubt": None},
    "a milder doubt": {"doubt": "idempotent"},
    "starts": {"starts": 0},
    "left behind": {"left_behind": None},
    "reason": {"reason": "harmless"},
    "rule": {"rule": "another"},
    "origin": {"origin": "EXECUTION_FAILED"},
    "last": {"last": None},
    "cleared": {"cleared": "policy"},
    "version": {"version": 9},
}


@pytest.mark.parametrize("column", RETRIES)
def test_a_retry_of_a_row_that_was_changed_by_hand_starts_nothing(home: Home, column: str) -> None:
    home.write(texts.operator(rules={"ask": RULE}))
    home.tools.plan["ask.send"] = [LOST._replace(left_behind="f1")]
    run = home.start("ask", actor="alice")
    home.decide("approve", run, actor="bob")
    home.decide("approve", run, actor="carol")
    row = home.row(run)
    assert (row.origin, row.cleared, row.doubt, row.starts, row.left_behind) == ("OUTCOME_UNKNOWN", "approval", "unsafe", 1, "f1")
    by_hand(home, row, **RETRIES[column])
    refused(home, "retry", run, {"scope": "mallory", "separation": "alice"}.get(column, "bob"), may_run_twice=True)


def test_a_row_that_never_passed_the_policy_is_not_cleared_by_hand(home: Home) -> None:
    guarded = {"ask.send": texts.tool("ask.send", more='permission = "mail:send"')}
    home.write(texts.operator(guarded))
    run = home.start("ask")
    assert home.row(run).cleared == "none"
    home.write(texts.operator(guarded, more='[context]\npermissions = { ann = ["mail:send"] }'))
    by_hand(home, home.row(run), cleared="policy")
    refused(home, "retry", run, "ann")


def test_another_definition_under_the_same_row_is_not_started(home: Home) -> None:
    home.start("gone")
    other = home.start("late")
    run = home.start("ask")
    by_hand(home, home.row(run), definition=home.row(other).definition)
    refused(home, "approve", run, "ann")


@pytest.mark.parametrize("then", ["a limit", "a disabled tool", "a changed tool", "a denial"])
def test_a_row_that_was_changed_by_hand_is_not_made_good_by_parking_it_again(home: Home, then: str) -> None:
    home.tools.plan["free.send"] = [LOST]
    run = home.start("free")
    by_hand(home, home.row(run), doubt=None)
    asks, denies = texts.rule("free.*", "require_approval"), texts.rule("free.*", "deny")
    files = {
        "a limit": texts.operator(head=texts.HEAD.replace("calls_per_run = 200", "calls_per_run = 1")),
        "a disabled tool": texts.operator({"free.send": texts.tool("free.send", more="enabled = false")}),
        "a changed tool": texts.operator({"free.send": texts.tool("free.send", about="new")}, {"free": asks}),
        "a denial": texts.operator(rules={"free": denies}),
    }
    home.write(files[then])
    refused(home, "retry", run, "ann")
    home.write(texts.operator())
    refused(home, "retry", run, "ann")


@pytest.mark.parametrize("touched", [False, True])
def test_the_gate_itself_takes_no_row_that_no_event_parked(home: Home, touched: bool) -> None:
    """Whoever has decided: it is asked once more where the start is recorded."""
    run = home.start("ask")
    stored = home.run(run)
    row = home.row(run)._replace(**({"reason": "harmless"} if touched else {}))  # type: ignore[arg-type]  # one of its fields
    engine = home.desk()._engine()
    engine.prepare(Needs(("ask.send",)))
    try:
        with engine.write() as unit:
            call = unit.tx.call(row.id)[0]  # type: ignore[index]  # it is there
            verdict = gate.judge(unit, Question(call, "ask", 0, row, "approve"), engine.world)
            assert isinstance(verdict, Start)
            gate.start(unit, stored, call, row, verdict, engine.world.config)
    except ToolgateError as refusal:
        assert touched and "no event of the log parked" in refusal.message
    assert home.types(run).count("TOOL_INVOCATION_STARTED") == (not touched) and home.tools.starts == []


# ---- the event itself ----
@pytest.mark.parametrize("seq", [0, -1, 10_000])
def test_a_row_that_names_no_event_is_not_started(home: Home, seq: int) -> None:
    run = home.start("ask")
    by_hand(home, home.row(run), parked_by=seq)
    refused(home, "approve", run, "ann")


def appended(home: Home, run: str, type: str) -> None:
    """Somebody appends an event that names the row as it now is, whatever else is true of it."""
    row = home.row(run)
    with home.store.write() as tx:
        head = tx.head()
        assert head is not None
        edited = row._replace(parked_by=head.seq + 1)
        stored = tx.call(row.id, row.revision)
        assert stored is not None
        told = {"row": parking.digest(edited), "call": parking.digest(stored[0]), "version": row.version}
        draft = chain.Draft(head.at, run, row.step, row.id, "ask.send", row.call_digest, None, type, "mallory", told)  # type: ignore[arg-type]  # JSON
        tx.append([chain.extend(head, tx.identity(), draft, "ab" * 16)])
    by_hand(home, row, parked_by=edited.parked_by)
    home.vouch(run)


OTHERS = ["TOOL_INVOCATION_REQUESTED", "TOOL_INVOCATION_APPROVED", "TOOL_INVOCATION_STARTED", "TOOL_INVOCATION_SUPERSEDED", "RUN_STARTED"]


@pytest.mark.parametrize("type", [*OTHERS, "DECISION_REFUSED", "CONTEXT_UPDATED"])
def test_an_event_of_another_type_parks_nothing(home: Home, type: str) -> None:
    run = home.start("ask")
    appended(home, run, type)
    refused(home, "approve", run, "ann")


def test_an_event_of_the_right_type_that_names_the_row_parks_it(home: Home) -> None:
    run = home.start("ask")
    appended(home, run, "TOOL_INVOCATION_APPROVAL_PENDING")
    home.decide("approve", run)
    assert len(home.tools.starts) == 1


@pytest.mark.parametrize("verb", ["approve", "retry"])
def test_an_event_whose_payload_was_erased_parks_nothing(home: Home, verb: str) -> None:
    home.tools.plan["free.send"] = [FAILED]
    run = home.start("ask" if verb == "approve" else "free")
    erase(home, home.row(run).parked_by)
    home.vouch(run)
    refused(home, verb, run, "ann")


def test_the_event_of_another_call_parks_nothing(home: Home) -> None:
    other, run = home.start("ask"), home.start("ask")
    by_hand(home, home.row(run), parked_by=home.row(other).parked_by)
    refused(home, "approve", run, "ann")


@pytest.mark.parametrize("seq", [0, -1])
def test_an_event_below_the_first_cannot_be_put_in(home: Home, seq: int) -> None:
    run = home.start("ask")
    event = home.events(run)[-1]._replace(seq=seq)
    if home.kind == "memory":
        with pytest.raises(ToolgateError), home.store.write() as tx:
            tx.append([event])
        return
    with raw(home) as db, pytest.raises(sqlite3.IntegrityError):
        db.execute(f"INSERT INTO events VALUES ({', '.join('?' * len(Event._fields))})", event)


def test_what_an_event_binds_is_every_field_of_its_row() -> None:
    row = Row("c1", 1, "r1", "s", "APPROVAL_REQUIRED", 1)
    for field in Row._fields:
        assert parking.digest(row._replace(**{field: "another"})) != parking.digest(row), field  # type: ignore[arg-type]  # any value
    assert set(canonical.parse(canonical.encode(dict(row._asdict())))) == set(Row._fields)  # type: ignore[arg-type]  # an object
