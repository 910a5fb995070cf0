"""What other hands put into the store, and a store that somebody took back: neither starts anything (I2, I3, I8)."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Attempt, Vote
from toolgate_cli.runtime.desk import Desk

from . import texts
from .fakes import FAILED, LOST, OK
from .kit import Home, dies
from .test_parking_digests import by_hand

RETURNS = texts.rule("two.*", "require_approval", 'approver_scope = "desk"\napprovals = 2\nexpires_in = "1h"\non_expiry = "reject"')


def forged(home: Home, attempt: Attempt) -> None:
    with home.store.write() as tx:
        tx.remove(attempt.row.run_id, attempt.row.id)
        tx.begin(attempt)


def test_a_vote_that_no_event_tells_of_is_none(home: Home) -> None:
    run = home.start("two")
    row = home.row(run)
    from toolgate_cli.core.digests import ref

    with home.store.write() as tx:
        tx.add([Vote(row.id, ref(row), "bob", "2026-01-31T12:00:00.000Z")])
    assert home.decide("approve", run, actor="alice").effect == "voted"
    assert home.tools.starts == []


@pytest.mark.parametrize("state", ["waiting", "running"])
def test_an_attempt_that_no_event_tells_of_is_in_doubt_and_cleared_for_nothing(home: Home, state: str) -> None:
    run = home.start("two")
    row = home.row(run)._replace(cleared="approval", approver_scope=None, approvals_needed=1)
    forged(home, Attempt(row, 1, state, "ogone", *home.desk()._ports.owners.place(), "2026-01-31T12:00:00.000Z"))  # type: ignore[arg-type]
    home.desk().pending(None, 9)
    found = home.row(run)
    assert (found.origin, found.doubt, found.cleared) == ("OUTCOME_UNKNOWN", "unsafe", "none")
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run, actor="mallory")
    assert caught.value.kind == "unknown_outcome" and home.tools.starts == []


def test_a_row_that_was_changed_is_not_made_good_by_parking_it_again(home: Home) -> None:
    home.tools.plan["free.send"] = [LOST]
    run = home.start("free")
    by_hand(home, home.row(run), doubt=None, origin="EXECUTION_FAILED")
    home.write(texts.operator({"free.send": texts.tool("free.send", about="new")}))
    with pytest.raises(ToolgateError, match="other hands"):
        home.decide("retry", run)
    assert len(home.tools.starts) == 1
    assert home.decide("continue_tool", run).run.run.status == "COMPLETED"  # it can still be closed


def test_a_row_that_was_changed_takes_no_vote(home: Home) -> None:
    run = home.start("two")
    row = by_hand(home, home.row(run), reason="harmless")
    with pytest.raises(ToolgateError, match="other hands"):
        home.decide("approve", run, actor="alice")
    with home.store.read() as tx:
        assert list(tx.votes(row)) == []
    assert "TOOL_INVOCATION_VOTED" not in home.types(run)


def test_no_clock_settles_a_doubt(home: Home) -> None:
    home.tools.plan["free.send"] = [LOST]
    run = home.start("free")
    asks = texts.rule("free.*", "require_approval", 'expires_in = "1h"\non_expiry = "reject"')
    home.write(texts.operator({"free.send": texts.tool("free.send", about="new")}, {"free": asks}))
    with pytest.raises(ToolgateError):
        home.decide("retry", run, may_run_twice=True)
    assert home.row(run).origin == "APPROVAL_REQUIRED" and home.row(run).on_expiry == "stay"
    home.clock.pass_time(7200)
    home.desk().recover(None, None)
    assert home.row(run).doubt == "unsafe"


def test_who_may_decide_is_said_by_the_files_as_they_are_now(home: Home) -> None:
    run = home.start("two")
    desk = home.desk("bob")
    target = desk.select([run], "reject")
    desk.tools()  # bob's command has read the files
    home.write(texts.operator(more="").replace('"bob", ', ""))
    with pytest.raises(ToolgateError) as caught:
        desk.reject(target)
    assert caught.value.kind == "scope" and home.row(run).id == target.row.id


def test_what_an_expiry_set_free_is_the_answer_and_the_refusal_stands_beside_it(home: Home) -> None:
    expiring = texts.rule("ask.*", "require_approval", 'expires_in = "1h"\non_expiry = "reject"')
    home.write(texts.operator(rules={"ask": expiring}), both=texts.flow("both", texts.uses("a", "ask.send"), texts.uses("b", "free.send")))
    run = home.start("both")
    home.tools.plan["free.send"] = [LOST]
    home.clock.pass_time(7200)
    answer = home.decide("approve", run)
    assert answer.fault is not None and answer.fault.kind == "expired"
    assert [waiting.row.origin for waiting in answer.pending] == ["OUTCOME_UNKNOWN"] and home.tools.names() == ["free.send"]


# ---- a database that was taken back ----
def test_a_restored_database_is_refused_until_somebody_accepts_it(home: Home) -> None:
    if home.kind == "sqlite":
        saved, path = None, home.folder / ".toolgate" / "toolgate.db"
    run = home.start("ask")
    if home.kind == "sqlite":
        home.store.close()
        saved = path.read_bytes()
    else:
        saved = copy.copy(home.store._tables.fork())
    home.decide("approve", run)
    assert len(home.tools.starts) == 1
    if home.kind == "sqlite":
        home.store.close()
        for name in ("toolgate.db-wal", "toolgate.db-shm"):
            (path.parent / name).unlink(missing_ok=True)
        path.write_bytes(saved)
    else:
        home.store._tables = saved
    assert home.row(run).origin == "APPROVAL_REQUIRED"  # it looks as if nobody had decided
    for act in (
        lambda: home.desk().select([run], "approve"),
        lambda: home.decide("approve", run),
        lambda: home.start("free"),
        lambda: home.desk().recover(None, None),
    ):
        with pytest.raises(ToolgateError, match="kept head") as caught:
            act()
        assert caught.value.kind == "storage" and "--accept-rollback" in caught.value.hint
    with home.store.read() as tx:
        head = tx.head()
    home.desk().pending(None, 9)  # a look neither writes into it nor forgets what was seen
    with home.store.read() as tx:
        assert tx.head() == head
    assert len(home.tools.starts) == 1 and not home.desk().verify().ok
    with pytest.raises(ToolgateError, match="kept head"):
        home.decide("approve", run)
    taken = home.desk().accept_rollback()
    assert taken is not None and taken.seen is not None and taken.seen > taken.seq > 0
    assert home.desk().accept_rollback() is None
    assert home.types()[-1] == "RUN_RECOVERED" and home.desk().verify().ok
    home.tools.plan["ask.send"] = [OK, FAILED]
    assert home.decide("approve", run).run.run.status == "COMPLETED"


def test_a_log_is_held_against_a_head_that_somebody_kept(home: Home) -> None:
    run = home.start("ask")
    events = home.events(run)
    desk = home.desk()
    assert desk.verify((events[2].seq, events[2].hash)).ok
    assert desk.verify((events[2].seq, events[1].hash)).first_bad == events[2].seq
    later = desk.verify((events[-1].seq + 5, events[1].hash))
    assert not later.ok and later.first_bad == len(home.events()) + 1


@pytest.mark.parametrize("word", [lambda desk: desk.accept_rollback(), lambda desk: desk.recover(None, "ogone")])
def test_what_only_a_person_may_say_of_a_store_is_not_said_from_inside_a_tool(home: Home, word: Callable[[Desk], object]) -> None:
    home.start("ask")
    before = home.dump()
    home.host.inside = "c0"
    with pytest.raises(ToolgateError) as caught:
        word(home.desk())
    assert caught.value.kind == "self_approval" and home.dump() == before
    home.host.inside = None
    assert home.desk().recover(None, None) == ()


def test_who_commits_while_somebody_compares_makes_no_log_look_old(home: Home) -> None:
    """What is kept is read before the snapshot: a commit between the two is no rollback."""
    home.start("ask")
    desk = home.desk()
    real = desk._ports.heads

    class Slow:
        def kept(self, identity: str) -> tuple[int, str] | None:
            found = real.kept(identity)
            home.start("free")  # somebody else, just then
            return found

    desk._ports = desk._ports._replace(heads=Slow())  # type: ignore[arg-type]  # only asked
    assert desk.verify().ok
    desk.pending(None, 9)
    from toolgate_cli.runtime import heads

    with desk._ports.store.read() as tx:
        seen = heads.look(tx)
    home.start("free")
    heads.refuse_rollback(desk._ports, seen)


def rewritten(home: Home, digest: str, old: str, new: str) -> None:
    """A definition with another content under its digest."""
    with home.store.read() as tx:
        stored = tx.definition(digest)
    assert stored is not None and old in stored.body
    changed = stored._replace(body=stored.body.replace(old, new))
    store = home.store
    if hasattr(store, "_file"):
        with store.write() as tx:
            tx._connection.execute("UPDATE definitions SET body = ? WHERE digest = ?", (changed.body, digest))
    else:
        with store.write() as tx:
            tx._tables.definitions[digest] = changed


def test_a_tool_that_was_rewritten_in_the_store_is_neither_shown_nor_started(home: Home) -> None:
    run = home.start("ask")
    row = home.row(run)
    rewritten(home, row.definition or "", "ask.send", "ask.mild")
    desk = home.desk()
    assert desk.pending(None, 9)[0][0].definition is None
    with pytest.raises(ToolgateError, match="other hands"):
        home.decide("approve", run)
    assert home.tools.starts == []
    assert home.decide("reject", run).run.run.status == "COMPLETED"


def test_a_tool_that_was_rewritten_in_the_store_lowers_no_doubt(home: Home) -> None:
    home.tools.plan["free.send"] = [dies]
    home.killed(lambda: home.start("free"))
    with home.store.read() as tx:
        [attempt] = tx.attempts(None)
    rewritten(home, attempt.row.definition or "", '"unsafe"', '"read_only"')
    home.desk().pending(None, 9)
    assert home.row(attempt.row.run_id).doubt == "unsafe"


def test_a_workflow_that_was_rewritten_in_the_store_is_not_carried_on(home: Home) -> None:
    run = home.start("ask")
    rewritten(home, home.run(run).definition, '"ask.send"', '"free.send"')
    assert home.desk().show_run(run)[0].title is None
    with pytest.raises(ToolgateError, match="other hands"):
        home.decide("approve", run)
    assert home.tools.starts == []
    home.desk().cancel(run, None)
    assert home.run(run).status == "CANCELLED"


@pytest.mark.parametrize("vouched", [False, True], ids=["and so was its run", "and the log vouches for its run"])
def test_a_row_that_was_decided_and_put_back_starts_nothing(home: Home, vouched: bool) -> None:
    run = home.start("ask")
    row = home.row(run)
    home.decide("reject", run)
    with home.store.write() as tx:
        tx.save(row)
        was = tx.run(run)
        tx.put_run(was._replace(status="AWAITING_TOOL_APPROVAL", version=was.version + 1), was.version)
    if vouched:
        home.vouch(run)
    with pytest.raises(ToolgateError, match="other hands"):
        home.decide("approve", run, row.id)
    assert home.tools.starts == []


@pytest.mark.parametrize("field", ["requested_by", "title", "idempotency_key", "rationale"])
def test_a_call_that_was_changed_is_not_the_one_that_was_parked(home: Home, field: str) -> None:
    run = home.start("ask")
    row = home.row(run)
    with home.store.write() as tx:
        call = tx.call(row.id, row.revision)[0]
        if hasattr(home.store, "_file"):
            [(trigger,)] = tx._connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'calls_are_final'").fetchall()
            tx._connection.execute("DROP TRIGGER calls_are_final")
            tx._connection.execute(f"UPDATE calls SET {field} = 'other' WHERE id = ?", (row.id,))
            tx._connection.execute(trigger)
        else:
            tx._tables.calls = {**tx._tables.calls, (call.id, call.revision): call._replace(**{field: "other"})}
    with pytest.raises(ToolgateError, match="other hands"):
        home.decide("approve", run)
    assert home.tools.starts == []


def test_a_gate_that_was_made_a_review_is_not_passed(home: Home) -> None:
    run = home.start("gate")
    row = home.row(run)
    with home.store.write() as tx:
        tx.claim(row)
        tx.save(row._replace(origin="REVIEW"))
    desk = home.desk()
    with pytest.raises(ToolgateError, match="other hands"):
        desk.review(desk.select_step(run, "s", "review"), note="fine")
    assert home.run(run).status == "AWAITING_STEP_APPROVAL"


def test_a_gate_that_other_hands_changed_can_still_be_refused(home: Home) -> None:
    run = home.start("gate")
    row = home.row(run)
    with home.store.write() as tx:
        tx.claim(row)
        tx.save(row._replace(reason="harmless"))
    desk = home.desk()
    with pytest.raises(ToolgateError, match="other hands"):
        desk.approve_step(desk.select_step(run, "s", "approve"))
    desk.reject_step(desk.select_step(run, "s", "reject"))
    assert home.run(run).status == "FAILED"
