"""What every store promises, sentence by sentence of its port; with the race of eight (processes on durable stores, threads on memory)."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from store_records import AT, RUN, attempt_of, begun, call_of, event_after, filled, gate_of, id_of, moment, outcome_of, row_of, run_of

from toolgate_cli import plugins
from toolgate_cli.core.digests import ref
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Accepted, Definition, EventQuery, RowQuery, RunQuery, Step, Turn, Value, Vote
from toolgate_cli.host.mint import RandomMint

OTHER = "rrun1111111111"


@pytest.fixture(params=plugins.stores())
def kind(request: pytest.FixtureRequest) -> Any:
    return plugins.store(request.param)


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "home" / "store.db")


@pytest.fixture
def store(kind: Any, place: str) -> Iterator[Any]:
    made = kind.open_store(place, RandomMint())
    yield made
    made.close()


@pytest.fixture
def two_runs(store: Any) -> Any:
    """Rows 0, 2, 4 of one run and 1, 3 of another, all open."""
    begun(store)
    begun(store, OTHER)
    with store.write() as writer:
        for number in range(5):
            run = RUN if number % 2 == 0 else OTHER
            writer.add([call_of(number, run)])
            writer.save(row_of(number, run))
    return store


def refused(store: Any, change: Callable[[Any], object]) -> ToolgateError:
    with pytest.raises(ToolgateError) as caught, store.write() as writer:
        change(writer)
    assert caught.value.kind == "storage"
    assert "\n" not in caught.value.message
    return caught.value


def ids(rows: Any) -> list[str]:
    return [row.id for row in rows]


# ---- an empty store ----
def test_an_empty_store_answers_every_question(store: Any) -> None:
    with store.read() as reader:
        assert reader.find(None, "c") is None
        assert reader.find_by_run(RUN) == reader.rows(RowQuery()) == reader.attempts(None) == reader.attempts(RUN) == ()
        assert reader.run(RUN) is None and reader.runs(RunQuery()) == ()
        assert reader.call("c") is None and reader.calls("c", 5) == ()
        assert reader.value(RUN, "k") is None and reader.keys(RUN) == ()
        assert reader.steps(RUN) == () and reader.step(RUN, "s") is None
        assert reader.turns(RUN, "s") == () and reader.next_turn(RUN, "s") == 0
        assert reader.votes(row_of(1)) == () and reader.definition("d") is None and not reader.accepted(Accepted("d", "c"))
        assert list(reader.events(EventQuery())) == [] and reader.event(1) is None and reader.head() is None


# ---- pending rows ----
def test_a_saved_row_comes_back_as_it_was(store: Any) -> None:
    filled(store, 1)
    full = row_of(
        7,
        cleared="approval",
        reason='r\n"é\u202e',
        rule="rule",
        approver_scope="ops",
        approvals_needed=2,
        separate_requester=True,
        starts=3,
    )._replace(doubt="unsafe", last='{"a":1}', left_behind="f1", expires_at=AT, on_expiry="reject")
    with store.write() as writer:
        writer.add([call_of(7)])
        writer.save(full)
        assert writer.find(None, full.id) == full
    with store.read() as reader:
        assert reader.find(RUN, full.id) == full
        assert reader.find(None, full.id).separate_requester is True
        assert reader.find_by_run(RUN)[0].separate_requester is False


def test_a_row_is_found_only_in_its_own_run(two_runs: Any) -> None:
    with two_runs.read() as reader:
        assert reader.find(RUN, id_of(0)) == row_of(0)
        assert reader.find(OTHER, id_of(0)) is None
        assert reader.find(None, id_of(1)) == row_of(1, OTHER)
        assert ids(reader.find_by_run(RUN)) == [id_of(0), id_of(2), id_of(4)]
        assert reader.find_by_run("rnone") == ()


def test_nothing_of_a_cancelled_run_is_an_implicit_choice(store: Any) -> None:
    begun(store)
    begun(store, OTHER)
    with store.write() as writer:
        for number, run in ((1, RUN), (2, OTHER)):
            writer.add([call_of(number, run)])
            writer.save(row_of(number, run))
        assert writer.put_run(writer.run(OTHER)._replace(status="CANCELLED", version=2), 1)
    with store.read() as reader:
        assert ids(reader.rows(RowQuery(calls_only=True))) == [id_of(1)]
        assert ids(reader.rows(RowQuery())) == [id_of(1), id_of(2)]


def test_rows_whose_time_was_over_are_found_by_it(store: Any) -> None:
    begun(store)
    with store.write() as writer:
        for number, when in ((1, moment(1)), (2, moment(2)), (3, None)):
            writer.add([call_of(number)])
            writer.save(row_of(number, expires_at=when))
    with store.read() as reader:
        assert [ids(reader.rows(RowQuery(expired_by=moment(at)))) for at in (0, 1, 2)] == [[], [id_of(1)], [id_of(1), id_of(2)]]
        assert ids(reader.rows(RowQuery(run_id=OTHER, expired_by=moment(9)))) == []


def test_rows_of_all_runs_have_one_total_order(store: Any) -> None:
    begun(store)
    begun(store, OTHER)
    with store.write() as writer:
        for number, when in ((3, 1), (1, 1), (2, 0)):
            run = OTHER if number == 1 else RUN
            writer.add([call_of(number, run)])
            writer.save(row_of(number, run, created_at=moment(when)))
        writer.save(gate_of("gate", created_at=moment(1)))
    order = [id_of(2), id_of(1), id_of(3), "gate"]
    with store.read() as reader:
        assert ids(reader.rows(RowQuery())) == order
        assert ids(reader.rows(RowQuery(newest_first=True))) == order[::-1]
        assert ids(reader.rows(RowQuery(newest_first=True, limit=2))) == order[:1:-1]
        assert ids(reader.rows(RowQuery(limit=3))) == order[:3]
        assert ids(reader.rows(RowQuery(calls_only=True))) == order[:3]
        assert ids(reader.rows(RowQuery(run_id=RUN))) == [id_of(2), id_of(3), "gate"]
        assert ids(reader.rows(RowQuery(run_id=RUN, calls_only=True, newest_first=True))) == [id_of(3), id_of(2)]
        assert ids(reader.rows(RowQuery(prefix="c"))) == order[:3]
        assert ids(reader.rows(RowQuery(prefix=id_of(3)))) == [id_of(3)]
        assert ids(reader.rows(RowQuery(prefix="ga", run_id=OTHER))) == []
        assert ids(reader.rows(RowQuery(prefix="%"))) == ids(reader.rows(RowQuery(prefix="_"))) == []


def test_rows_of_one_moment_come_in_the_order_in_which_they_were_parked(store: Any) -> None:
    begun(store)
    with store.write() as writer:
        for _ in range(2):
            writer.append([event_after(writer.head(), writer.identity())])
        for number, event in ((1, 3), (2, 1), (3, 2)):
            writer.add([call_of(number)])
            writer.save(row_of(number, created_at=moment(1), parked_by=event))
    order = [id_of(2), id_of(3), id_of(1)]
    with store.read() as reader:
        assert ids(reader.find_by_run(RUN)) == ids(reader.rows(RowQuery())) == ids(reader.rows(RowQuery(run_id=RUN))) == order
        assert ids(reader.rows(RowQuery(newest_first=True))) == order[::-1]
        assert ids(reader.rows(RowQuery(newest_first=True, calls_only=True, limit=2))) == order[:0:-1]


def test_a_claim_takes_exactly_the_row_that_was_shown(two_runs: Any) -> None:
    with two_runs.write() as writer:
        assert writer.claim(row_of(0, version=2)) is None
        assert writer.claim(row_of(0, OTHER)) is None
        assert writer.find(RUN, id_of(0)) == row_of(0)
        assert writer.claim(row_of(0)) == row_of(0)
        assert writer.claim(row_of(0)) is None
        assert writer.find(None, id_of(0)) is None
    with two_runs.read() as reader:
        assert ids(reader.rows(RowQuery())) == [id_of(1), id_of(2), id_of(3), id_of(4)]


def test_a_row_is_verified_only_while_it_is_still_there(two_runs: Any) -> None:
    with two_runs.write() as writer:
        assert writer.verify_still_current(row_of(0)) == row_of(0)
        assert writer.verify_still_current(row_of(0, version=2)) is None
        assert writer.verify_still_current(row_of(0, OTHER)) is None
        writer.claim(row_of(0))
        writer.save(row_of(0, version=2, origin="EXECUTION_FAILED"))
        assert writer.verify_still_current(row_of(0)) is None
        assert writer.verify_still_current(row_of(0, version=2)).origin == "EXECUTION_FAILED"


def test_a_row_is_removed_only_from_its_own_run(two_runs: Any) -> None:
    with two_runs.write() as writer:
        writer.remove(OTHER, id_of(0))
        assert writer.find(None, id_of(0)) is not None
        writer.remove(RUN, id_of(0))
        assert writer.find(None, id_of(0)) is None
        writer.remove(RUN, id_of(0))


def test_a_second_open_row_of_one_call_is_refused(two_runs: Any) -> None:
    refused(two_runs, lambda writer: writer.save(row_of(0, version=2)))


@pytest.mark.parametrize(
    "row", [row_of(99), row_of(0, "rnone"), row_of(0, definition="t9"), gate_of("gate", revision=1), row_of(0, revision=None)]
)
def test_a_row_without_what_it_refers_to_is_refused(store: Any, row: Any) -> None:
    begun(store)
    with store.write() as writer:
        writer.add([call_of(0)])
    refused(store, lambda writer: writer.save(row))


def test_the_event_that_parked_a_row_may_be_appended_after_it_but_not_left_out(store: Any) -> None:
    begun(store)
    with store.write() as writer:
        writer.add([call_of(0)])
        writer.save(row_of(0, parked_by=2))
        writer.append([event_after(writer.head(), writer.identity())])

    def park(writer: Any) -> None:
        writer.add([call_of(1)])
        writer.save(row_of(1, parked_by=9))

    refused(store, park)
    with store.read() as reader:
        assert ids(reader.rows(RowQuery())) == [id_of(0)]
        assert reader.call(id_of(1)) is None


# ---- attempts ----
def test_an_attempt_carries_its_row_and_gives_it_back_once(two_runs: Any) -> None:
    row = row_of(0, separate_requester=True, reason="ü\n", doubt="unsafe", starts=2)
    with two_runs.write() as writer:
        writer.claim(row_of(0))
        writer.begin(attempt_of(row, 3))
    with two_runs.write() as writer:
        assert writer.attempts(RUN) == writer.attempts(None) == (attempt_of(row, 3),)
        assert writer.attempts(OTHER) == ()
        assert writer.finish(attempt_of(row, 4)) is None
        assert writer.finish(attempt_of(row._replace(version=2), 3)) is None
        found = writer.finish(attempt_of(row, 3))
        assert found == attempt_of(row, 3) and found.row.separate_requester is True and found.cancelled is False
        assert writer.finish(attempt_of(row, 3)) is None
        assert writer.attempts(None) == ()


def test_one_call_has_one_attempt_at_a_time(two_runs: Any) -> None:
    def twice(writer: Any) -> None:
        writer.begin(attempt_of(row_of(0), 1))
        writer.begin(attempt_of(row_of(0), 2))

    refused(two_runs, twice)
    refused(two_runs, lambda writer: writer.begin(attempt_of(row_of(0, "rnone"))))


def test_cancel_marks_every_attempt_of_its_run_only(two_runs: Any) -> None:
    with two_runs.write() as writer:
        for number in range(3):
            writer.begin(attempt_of(row_of(number, OTHER if number == 1 else RUN), state="waiting"))
        writer.mark_cancelled(RUN)
    with two_runs.read() as reader:
        assert [attempt.cancelled for attempt in reader.attempts(None)] == [True, False, True]
        assert {attempt.state for attempt in reader.attempts(None)} == {"waiting"}
    with two_runs.write() as writer:
        assert writer.finish(attempt_of(row_of(0))).cancelled is True


# ---- runs ----
def test_a_run_is_replaced_only_at_the_version_that_was_read(store: Any) -> None:
    begun(store)
    with store.write() as writer:
        assert not writer.put_run(run_of(status="FAILED"), None)
        assert not writer.put_run(run_of(version=3, status="FAILED"), 2)
        assert not writer.put_run(run_of("rnone"), 1)
        assert writer.run(RUN) == run_of() and writer.run("rnone") is None
        assert writer.put_run(run_of(version=2, status="PAUSED", owner="o1:h:b", error='{"e":1}', started=4, tokens=5), 1)
        assert not writer.put_run(run_of(version=2), 1)
    with store.read() as reader:
        assert reader.run(RUN) == run_of(version=2, status="PAUSED", owner="o1:h:b", error='{"e":1}', started=4, tokens=5)


def test_a_run_of_an_unknown_definition_is_refused(store: Any) -> None:
    refused(store, lambda writer: writer.put_run(run_of(), None))


def test_runs_come_newest_first(store: Any) -> None:
    begun(store)
    with store.write() as writer:
        for number, status in enumerate(("PAUSED", "COMPLETED", "PAUSED")):
            assert writer.put_run(run_of(f"rx{number}", status=status, created_at="2026-02-01T00:00:00.000Z"), None)
    with store.read() as reader:
        assert ids(reader.runs(RunQuery())) == ["rx2", "rx1", "rx0", RUN]
        assert ids(reader.runs(RunQuery(limit=2))) == ["rx2", "rx1"]
        assert ids(reader.runs(RunQuery(status="PAUSED"))) == ["rx2", "rx0"]
        assert ids(reader.runs(RunQuery(prefix="rx"))) == ["rx2", "rx1", "rx0"]
        assert ids(reader.runs(RunQuery(prefix="rr", status="PAUSED"))) == []


# ---- calls and outcomes ----
def test_the_newest_revision_of_a_call_is_shown_and_any_can_be_asked_for(store: Any) -> None:
    begun(store)
    edited = call_of(0, revision=2, arguments='{"n":9}')
    with store.write() as writer:
        writer.add([edited, call_of(0), call_of(1)])
        assert writer.call(id_of(0)) == (edited, None)
        assert writer.call(id_of(0), 1) == (call_of(0), None)
        assert writer.call(id_of(0), 3) is None
        writer.add([outcome_of(id_of(0), None, code="E1", size=None)])
    with store.read() as reader:
        assert reader.call(id_of(0)) == (edited, outcome_of(id_of(0), None, code="E1", size=None))
        assert reader.calls("c", 9) == (edited, call_of(1))
        assert reader.calls("c", 1) == (edited,)
        assert reader.calls(id_of(1), 9) == (call_of(1),)
        assert reader.calls("x", 9) == ()


def test_a_transaction_reads_its_own_changes_however_often_it_has_asked_before(two_runs: Any) -> None:
    row, call, step, seen = row_of(0), id_of(0), Step(RUN, "s", 0, "done", "1", AT), Accepted("d", "c")
    value = Value(RUN, "k", 0, "1", None, "model")
    with two_runs.write() as writer:
        event = event_after(writer.head(), writer.identity())
        changes: list[tuple[Callable[[], Any], Callable[[], Any], Any]] = [
            (lambda: writer.claim(row), lambda: writer.find(RUN, row.id), None),
            (lambda: writer.begin(attempt_of(row, 1)), lambda: writer.attempts(RUN), (attempt_of(row, 1),)),
            (lambda: writer.finish(attempt_of(row, 1)), lambda: writer.attempts(None), ()),
            (lambda: writer.save(row), lambda: writer.verify_still_current(row), row),
            (lambda: writer.remove(RUN, row.id), lambda: row in writer.find_by_run(RUN), False),
            (lambda: writer.put_run(run_of(version=2), 1), lambda: writer.run(RUN), run_of(version=2)),
            (lambda: writer.add([outcome_of(call)]), lambda: writer.call(call), (call_of(0), outcome_of(call))),
            (lambda: writer.erase(call), lambda: writer.call(call, 1)[0].arguments, None),
            (lambda: writer.add([step]), lambda: writer.step(RUN, "s"), step),
            (lambda: writer.add([value]), lambda: writer.value(RUN, "k"), value),
            (lambda: writer.rewind(RUN, 0), lambda: writer.value(RUN, "k"), None),
            (lambda: writer.add([Definition("t2", "tool", "{}")]), lambda: writer.definition("t2").body, "{}"),
            (lambda: writer.add([seen]), lambda: writer.accepted(seen), True),
            (lambda: writer.append([event]), lambda: (writer.head(), writer.event(event.seq)), (event, event)),
        ]
        for change, read, after in changes:
            with suppress(AttributeError):  # there is none yet
                assert read() != after
            change()
            assert read() == after


@pytest.mark.parametrize(
    "fact",
    [call_of(0), outcome_of(id_of(0)), Turn(RUN, "s", 0, "[]"), Vote(id_of(0), "ref", "bo", AT)],
    ids=lambda fact: type(fact).__name__,
)
def test_what_must_be_new_is_refused_a_second_time(store: Any, fact: Any) -> None:
    begun(store)
    with store.write() as writer:
        writer.add([fact])
    refused(store, lambda writer: writer.add([fact]))


def test_records_of_an_unknown_run_are_refused(store: Any) -> None:
    for fact in (call_of(0), Turn(RUN, "s", 0, "[]"), Step(RUN, "s", 0, "done", None, AT), Value(RUN, "k", 0, "1", None, "user")):
        refused(store, lambda writer, fact=fact: writer.add([fact]))


# ---- context, steps, turns, votes ----
def test_the_newest_value_is_the_one_of_the_highest_top(store: Any) -> None:
    begun(store)
    with store.write() as writer:
        writer.add([Value(RUN, "k", 4, '"four"', None, "model"), Value(RUN, "k", -1, '"input"', None, "user")])
        assert writer.value(RUN, "k") == Value(RUN, "k", 4, '"four"', None, "model")
        writer.add([Value(RUN, "k", 4, '"again"', None, "system")])
        assert writer.value(RUN, "k") == Value(RUN, "k", 4, '"again"', None, "system")
        assert writer.value(OTHER, "k") is None and writer.value(RUN, "K") is None


def test_a_tools_value_is_filled_in_from_its_outcome(store: Any) -> None:
    begun(store)
    with store.write() as writer:
        writer.add([call_of(0), Value(RUN, "tool.files.write", 0, None, id_of(0), "tool")])
        assert writer.value(RUN, "tool.files.write") == Value(RUN, "tool.files.write", 0, None, id_of(0), "tool")
        writer.add([outcome_of(id_of(0))])
        assert writer.value(RUN, "tool.files.write") == Value(RUN, "tool.files.write", 0, '{"ok":true}', id_of(0), "tool")
        assert writer.keys(RUN) == ("tool.files.write",)


def test_a_removed_value_is_absent(store: Any) -> None:
    begun(store)
    with store.write() as writer:
        writer.add([Value(RUN, key, 0, "1", None, "user") for key in ("b", "a", "é", "Z")])
        writer.add([Value(RUN, "a", 1, None, None, "system"), Value(RUN, "n", 0, "null", None, "system")])
        assert writer.value(RUN, "a") is None
        assert writer.value(RUN, "n") is not None
        assert writer.keys(RUN) == ("Z", "b", "n", "é")


def test_rewinding_brings_back_what_was_before_the_step(store: Any) -> None:
    begun(store)
    begun(store, OTHER)
    with store.write() as writer:
        for run in (RUN, OTHER):
            writer.add([Value(run, "k", top, str(top), None, "system") for top in (0, 1, 2)])
            writer.add([Step(run, f"s{top}", top, "done", None, AT) for top in (0, 1, 2)])
        writer.rewind(RUN, 1)
    with store.read() as reader:
        assert reader.value(RUN, "k") == Value(RUN, "k", 0, "0", None, "system")
        assert [step.path for step in reader.steps(RUN)] == ["s0"]
        assert reader.value(OTHER, "k") == Value(OTHER, "k", 2, "2", None, "system")
        assert len(reader.steps(OTHER)) == 3


def test_steps_stand_in_the_order_of_the_workflow_and_a_repeated_one_replaces(store: Any) -> None:
    begun(store)
    with store.write() as writer:
        writer.add(
            [Step(RUN, "b", 1, "done", None, AT), Step(RUN, "a", 2, "failed", "1", AT), Step(RUN, "b/x", 1, "skipped", None, moment(9))]
        )
        writer.add([Step(RUN, "a", 0, "done", '"out"', AT)])
        assert [step.path for step in writer.steps(RUN)] == ["a", "b", "b/x"]
        assert writer.outputs(RUN) == (("a", '"out"'),) and writer.outputs(OTHER) == ()
        writer.add([Step(RUN, path, 1, "done", None, AT) for path in ("b-c", "bc/x", "b/x/y", "b0")])
        assert [step.path for step in writer.steps(RUN, "b")] == ["b/x/y", "b/x"] and writer.steps(OTHER, "b") == ()
        assert writer.step(RUN, "a") == Step(RUN, "a", 0, "done", '"out"', AT)
        assert writer.step(RUN, "c") is None and writer.step(OTHER, "a") is None


def test_turns_come_by_number_from_where_they_are_asked_for(store: Any) -> None:
    begun(store)
    with store.write() as writer:
        writer.add([Turn(RUN, "s", number, f"[{number}]") for number in (2, 0, 10, 1)])
        writer.add([Turn(RUN, "t", 0, "[]")])
        assert [turn.number for turn in writer.turns(RUN, "s")] == [0, 1, 2, 10]
        assert [turn.number for turn in writer.turns(RUN, "s", 2)] == [2, 10]
        assert writer.next_turn(RUN, "s") == 11 and writer.next_turn(RUN, "x") == 0


def test_votes_count_for_exactly_one_version_of_a_row(store: Any) -> None:
    filled(store, 2)
    row = row_of(0)
    votes = [Vote(row.id, ref(row), name, moment(at)) for at, name in enumerate(("zoe", "bo"))]
    with store.write() as writer:
        writer.add(votes)
    with store.read() as reader:
        assert reader.votes(row) == tuple(votes)
        for other in (row_of(1), row_of(0, version=2), row_of(0, origin="EXECUTION_FAILED"), row_of(0, call_digest="other")):
            assert reader.votes(other) == ()


def test_definitions_and_accepted_marks_that_exist_are_left_alone(store: Any) -> None:
    with store.write() as writer:
        writer.add([Definition("d", "list", "[1]"), Definition("d", "list", "[2]"), Accepted("x", "v1"), Accepted("x", "v1")])
    with store.read() as reader:
        assert reader.definition("d") == Definition("d", "list", "[1]")
        assert reader.accepted(Accepted("x", "v1")) and not reader.accepted(Accepted("x", "v2"))


# ---- the log ----
@pytest.fixture
def logged(store: Any) -> Any:
    """2,500 events: longer than any page they are fetched in."""
    begun(store)
    with store.write() as writer:
        last = writer.head()
        for number in range(2, 2501):
            last = event_after(
                last, "", call_id=id_of(number % 5), run_id=OTHER if number % 2 else RUN, type="RUN_STARTED" if number % 3 else "REJECTED"
            )
            writer.append([last])
    return store


def seqs(reader: Any, **query: Any) -> list[int]:
    return [event.seq for event in reader.events(EventQuery(**query))]


def test_events_come_by_seq_however_they_are_asked_for(logged: Any) -> None:
    with logged.read() as reader:
        everything = list(range(1, 2501))
        assert seqs(reader) == everything
        assert seqs(reader, newest=True) == everything
        assert seqs(reader, after=2490) == everything[2490:]
        assert seqs(reader, limit=1500) == everything[:1500]
        assert seqs(reader, limit=0) == []
        assert seqs(reader, limit=3, newest=True) == [2498, 2499, 2500]
        assert seqs(reader, limit=3, newest=True, after=2499) == [2500]
        assert seqs(reader, run_id=OTHER) == everything[2::2]
        assert seqs(reader, type="REJECTED", limit=2) == [3, 6]
        assert seqs(reader, call_id=id_of(0), limit=2) == [5, 10]
        assert seqs(reader, call_id=id_of(0), run_id=OTHER, type="REJECTED", limit=2, newest=True) == [2475 - 30, 2475]
        assert seqs(reader, run_id="rnone") == []
        assert reader.event(7).seq == 7 and reader.event(0) is None and reader.event(2501) is None
        assert reader.head().seq == 2500 and reader.head() == reader.event(2500)


def test_the_first_event_goes_on_from_the_identity_and_each_next_from_the_last(store: Any) -> None:
    with store.write() as writer:
        identity = writer.identity()
        assert identity.startswith("d") and len(identity) == 14
        first = event_after(None, identity)
        second = event_after(first, "")
        writer.append([])
        writer.append([first, second])
        writer.append([])
        assert list(writer.events(EventQuery())) == [first, second]
    third = event_after(second, "")
    for wrong in (first, second, third._replace(seq=4), third._replace(prev="x"), third._replace(prev=identity)):
        fault = refused(store, lambda writer, wrong=wrong: writer.append([wrong]))
        assert fault.message == f"event {wrong.seq} does not go on from the head of the log"
    refused(store, lambda writer: writer.append([third, third._replace(seq=4)]))
    with store.read() as reader:
        assert reader.head() == second
        assert reader.identity() == identity
    with store.write() as writer:
        writer.append([third])  # whoever appends need not have asked for the head
    with store.read() as reader:
        assert reader.head() == third


def test_a_first_event_that_does_not_name_the_database_is_refused(store: Any) -> None:
    refused(store, lambda writer: writer.append([event_after(None, "dsomething")]))


def test_a_call_is_started_once_per_attempt_number(store: Any) -> None:
    begun(store)

    def start(writer: Any, call: str | None, attempt: int | None) -> None:
        writer.append([event_after(writer.head(), "", type="TOOL_INVOCATION_STARTED", call_id=call, attempt=attempt)])

    with store.write() as writer:
        for call, attempt in (("c1", 1), ("c1", 2), ("c2", 1)):
            start(writer, call, attempt)
    refused(store, lambda writer: start(writer, "c1", 2))
    with store.read() as reader:
        assert reader.head().seq == 4


def test_a_redacted_call_loses_its_texts_and_nothing_else(store: Any) -> None:
    begun(store)
    with store.write() as writer:
        writer.add([call_of(0), call_of(0, revision=2), call_of(1), outcome_of(id_of(0)), outcome_of(id_of(1))])
        for number in (0, 1, 0):
            writer.append([event_after(writer.head(), "", call_id=id_of(number))])
    turns = [Turn(RUN, "s", 0, '["a"]'), Turn(RUN, "s", 1, '["b"]'), Turn(RUN, "t", 0, '["c"]')]
    with store.write() as writer:
        writer.add([call_of(2, label="a word of the model"), *turns])
    with store.read() as reader:
        before = list(reader.events(EventQuery()))
    store.scrub()
    with store.write() as writer:
        writer.erase(id_of(0), [2, 4, 99], [Turn(RUN, "s", 1, "[]"), Turn(RUN, "s", 7, "[]")])
        writer.erase(id_of(2))
        writer.erase("cnone")
    store.scrub()
    with store.read() as reader:
        assert reader.call(id_of(2))[0] == call_of(2, arguments=None, title=None, rationale=None, label=None)
        assert [turn.commands for turn in reader.turns(RUN, None)] == ['["a"]', "[]", '["c"]']
        bare = call_of(0, arguments=None, title=None, rationale=None, label=None)
        assert reader.call(id_of(0), 1) == (bare, outcome_of(id_of(0))._replace(body=None))
        assert reader.call(id_of(0), 2) == (bare._replace(revision=2), outcome_of(id_of(0))._replace(body=None))
        assert reader.call(id_of(1)) == (call_of(1), outcome_of(id_of(1)))
        after = list(reader.events(EventQuery()))
        assert after == [event._replace(payload=None, salt=None) if event.seq in (2, 4) else event for event in before]


def test_all_values_and_turns_of_a_run_are_given_as_they_are_stored(two_runs: Any) -> None:
    values = [Value(RUN, "a", 0, "1", None, "user"), Value(RUN, "a", 2, None, id_of(0), "tool"), Value(RUN, "b", 1, None, None, "user")]
    turns = [Turn(RUN, "s", 0, "[]"), Turn(RUN, "s", 3, "[]"), Turn(RUN, "t", 1, "[]")]
    with two_runs.write() as writer:
        writer.add([*reversed(values), *reversed(turns), outcome_of(id_of(0))])
    with two_runs.read() as reader:
        assert reader.values(RUN) == tuple(values) and reader.values("rnone") == ()
        assert reader.values(RUN, 0) == (values[0],) and reader.values(RUN, 9) == ()
        assert reader.turns(RUN, None) == tuple(turns) and reader.turns(RUN, None, 1) == tuple(turns[1:])


def test_a_store_is_not_scrubbed_within_a_transaction(store: Any) -> None:
    begun(store)
    for transaction in (store.read, store.write):
        with transaction(), pytest.raises(ToolgateError, match="nest"):
            store.scrub()
    store.scrub()


# ---- transactions ----
def test_raising_rolls_everything_back(two_runs: Any) -> None:
    with pytest.raises(KeyboardInterrupt), two_runs.write() as writer:
        writer.claim(row_of(0))
        writer.begin(attempt_of(row_of(0)))
        writer.put_run(run_of(version=2), 1)
        writer.add([call_of(9), Value(RUN, "k", 0, "1", None, "user"), Definition("new", "tool", "{}")])
        writer.append([event_after(writer.head(), "")])
        writer.erase(id_of(0))
        raise KeyboardInterrupt
    with two_runs.write() as writer:
        assert writer.find(RUN, id_of(0)) == row_of(0)
        assert writer.attempts(None) == () and writer.run(RUN).version == 1 and writer.head().seq == 1
        assert writer.call(id_of(9)) is None and writer.value(RUN, "k") is None and writer.definition("new") is None
        assert writer.call(id_of(0))[0] == call_of(0)


def test_a_change_that_failed_spoils_the_transaction_even_if_the_caller_goes_on(two_runs: Any) -> None:
    with pytest.raises(ToolgateError, match="undone"), two_runs.write() as writer:
        writer.claim(row_of(0))
        with pytest.raises(ToolgateError):
            writer.add([call_of(0)])
    with two_runs.read() as reader:
        assert reader.find(RUN, id_of(0)) == row_of(0)


def _start(writer: Any, **other: Any) -> None:
    told = {"type": "TOOL_INVOCATION_STARTED", "call_id": id_of(0), "attempt": 1, **other}
    writer.append([event_after(writer.head(), writer.identity(), **told)])


def _a_gap(writer: Any) -> None:
    writer.append([event_after(writer.head(), "", seq=writer.head().seq + 2)])


def _twice(writer: Any) -> None:
    _start(writer)
    _start(writer)


@pytest.mark.parametrize("wrong", [_a_gap, _twice, lambda writer: writer.save(row_of(0))], ids=["a gap", "a second start", "a second row"])
def test_whatever_was_refused_is_refused_at_once_and_undoes_the_rest(two_runs: Any, wrong: Callable[[Any], None]) -> None:
    with pytest.raises(ToolgateError, match="undone"), two_runs.write() as writer:
        writer.remove(RUN, id_of(0))
        if wrong.__name__ == "<lambda>":
            writer.save(row_of(0))
        with pytest.raises(ToolgateError) as caught:
            wrong(writer)
        assert "undone" not in caught.value.message
        writer.remove(RUN, id_of(2))
    with two_runs.read() as reader:
        assert reader.find(RUN, id_of(0)) == row_of(0) and reader.find(RUN, id_of(2)) and reader.head().seq == 1


def test_who_waited_for_the_lock_in_vain_can_try_again(two_runs: Any, kind: Any, place: str) -> None:
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        store = kind.open_store(place, RandomMint()) if kind.DURABLE else two_runs
        with store.write():
            held.set()
            over.wait(20)
        if kind.DURABLE:
            store.close()

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(20)
    began = time.monotonic()
    for _ in range(2):
        with pytest.raises(ToolgateError, match="locked"), two_runs.write(patience=0):
            pass
    assert time.monotonic() - began < 1
    over.set()
    holder.join()
    with two_runs.write() as writer:
        assert writer.claim(row_of(0)) is not None


def test_what_ends_a_spoiled_transaction_is_told_and_not_that_it_was_spoiled(two_runs: Any) -> None:
    with pytest.raises(KeyError, match="mine"), two_runs.write() as writer:
        with pytest.raises(ToolgateError):
            writer.add([call_of(0)])
        raise KeyError("mine")
    with two_runs.write() as writer:  # and the store goes on
        assert writer.claim(row_of(0)) is not None


def test_a_row_that_is_gone_at_the_end_needs_no_event(two_runs: Any) -> None:
    with two_runs.write() as writer:
        writer.add([call_of(7)])
        writer.save(row_of(7, parked_by=9_999))
        writer.remove(RUN, id_of(7))
    with two_runs.read() as reader:
        assert reader.find(RUN, id_of(7)) is None and reader.call(id_of(7)) is not None


@pytest.mark.parametrize("named", [{"call_id": None, "attempt": 1}, {"call_id": id_of(0), "attempt": None}], ids=["no call", "no attempt"])
def test_only_a_start_of_a_call_with_its_number_is_one_of_a_kind(two_runs: Any, named: dict[str, Any]) -> None:
    for _ in range(2):
        with two_runs.write() as writer:
            writer.append([event_after(writer.head(), "", type="TOOL_INVOCATION_STARTED", **named)])
    with two_runs.read() as reader:
        assert reader.head().seq == 3


def test_a_reader_or_writer_is_of_no_use_after_its_transaction(two_runs: Any) -> None:
    with two_runs.read() as reader:
        events = reader.events(EventQuery())
        next(events)
    with two_runs.write() as writer:
        pass
    for use in (
        reader.head,
        lambda: list(events) or list(reader.events(EventQuery())),
        writer.head,
        lambda: writer.append([]),
        lambda: writer.claim(row_of(0)),
    ):
        with pytest.raises(ToolgateError) as caught:
            use()
        assert caught.value.kind == "internal"


def test_transactions_of_one_store_do_not_nest(two_runs: Any) -> None:
    with two_runs.read() as reader:
        for inner in (two_runs.read, two_runs.write):
            with pytest.raises(ToolgateError) as caught, inner():
                pass
            assert caught.value.kind == "internal"
        assert reader.head() is not None
    with two_runs.write() as writer:
        with pytest.raises(ToolgateError), two_runs.read():
            pass
        writer.claim(row_of(0))
    with two_runs.read() as reader:
        assert reader.find(RUN, id_of(0)) is None


def half_read(store: Any) -> Iterator[Any]:
    """As a listing has it: a transaction that stands as long as its rows are read."""
    with store.read() as reader:
        yield from reader.events(EventQuery())


@pytest.mark.parametrize("anew", [False, True], ids=["", "and opened again"])
def test_an_iterator_that_nobody_reads_to_its_end_may_be_let_go_after_its_store(logged: Any, anew: bool) -> None:
    for let_go in (lambda found: found.close(), lambda found: next(found, None)):
        found = half_read(logged)
        assert next(found).seq == 1
        logged.close()
        if anew:
            with logged.read() as reader:
                assert reader.head().seq == 2500
                let_go_of(found, let_go)
                assert reader.head().seq == 2500  # a transaction that was begun later is none of its business
        let_go_of(found, let_go)
        with logged.write() as writer:
            assert writer.head().seq == 2500


def let_go_of(found: Any, how: Callable[[Any], object]) -> None:
    """Whatever raises must be a ToolgateError: who reads on is refused, who lets go is not."""
    try:
        how(found)
    except ToolgateError as error:
        assert error.kind == "internal" and how(found) is None


def test_what_was_not_committed_when_the_store_was_closed_is_undone_and_said(two_runs: Any) -> None:
    with pytest.raises(ToolgateError) as caught, two_runs.write() as writer:
        writer.claim(row_of(0))
        two_runs.close()
    assert caught.value.kind == "internal"
    with pytest.raises(KeyError), two_runs.write() as writer:
        writer.claim(row_of(0))
        two_runs.close()
        raise KeyError
    with two_runs.read() as reader:
        assert reader.find(RUN, id_of(0)) is not None


# ---- several at once ----
class Peers:
    """Stores for others: threads share one store in memory, a durable one is opened again."""

    def __init__(self, store: Any, kind: Any, place: str) -> None:
        self._store, self._kind, self._place = store, kind, place
        self.durable: bool = kind.DURABLE

    def another(self) -> Any:
        return self._kind.open_store(self._place, RandomMint()) if self.durable else self._store

    def start(self, work: Callable[..., None], *arguments: Any) -> Any:
        kind = multiprocessing.get_context("fork").Process if self.durable else threading.Thread
        started = kind(target=work, args=arguments, daemon=True)
        started.start()
        return started

    def barrier(self, count: int) -> Any:
        return multiprocessing.get_context("fork").Barrier(count) if self.durable else threading.Barrier(count)

    def queue(self) -> Any:
        import queue

        return multiprocessing.get_context("fork").Queue() if self.durable else queue.Queue()


@pytest.fixture
def peers(store: Any, kind: Any, place: str) -> Peers:
    return Peers(store, kind, place)


def test_a_reader_keeps_its_snapshot_while_another_writes(store: Any, peers: Peers) -> None:
    filled(store, 2)
    answers = peers.queue()

    def change() -> None:
        other = peers.another()
        with other.write() as writer:
            writer.claim(row_of(0))
            writer.append([event_after(writer.head(), "")])
            writer.add([Value(RUN, "k", 0, "1", None, "user")])
        answers.put("done")

    with store.read() as reader:  # nothing was asked yet: the snapshot is of the moment in which it was opened
        peers.start(change)
        assert answers.get(timeout=20) == "done"
        assert ids(reader.rows(RowQuery())) == [id_of(0), id_of(1)]
        assert reader.head().seq == 1 and reader.keys(RUN) == ()
    with store.read() as reader:
        assert ids(reader.rows(RowQuery())) == [id_of(1)]
        assert reader.head().seq == 2


def test_what_is_not_committed_is_not_seen(store: Any, peers: Peers) -> None:
    filled(store, 1)
    answers = peers.queue()

    def look() -> None:
        other = peers.another()
        with other.read() as reader:
            answers.put(ids(reader.rows(RowQuery())))

    with store.write() as writer:
        writer.claim(row_of(0))
        peers.start(look)
        assert answers.get(timeout=20) == [id_of(0)]


def test_who_waits_in_vain_is_told_to_try_again(store: Any, peers: Peers) -> None:
    filled(store, 1)
    answers = peers.queue()

    def wait() -> None:
        other, began = peers.another(), time.monotonic()
        try:
            with other.write(patience=0.3) as writer:
                writer.claim(row_of(0))
            answers.put("got it")
        except ToolgateError as error:
            answers.put((error.kind, error.retryable, error.message, time.monotonic() - began))

    with store.write():
        peers.start(wait)
        kind, retryable, message, took = answers.get(timeout=20)
    assert (kind, retryable) == ("storage", True) and "0.3 s" in message
    assert 0.25 < took < 3


def test_of_eight_deciders_one_wins_each_row(store: Any, peers: Peers, long: bool) -> None:
    count = 20_000 if long else 2_000
    filled(store, count)
    barrier, answers = peers.barrier(8), peers.queue()

    def decide() -> None:
        mine, won = peers.another(), []
        barrier.wait()
        for number in range(count):
            with mine.write() as writer:
                row = writer.claim(row_of(number))
                if row is not None:
                    writer.append([event_after(writer.head(), "", call_id=row.id, type="TOOL_INVOCATION_STARTED", attempt=1)])
                    won.append(number)
        answers.put(won)

    started = [peers.start(decide) for _ in range(8)]
    wins = [answers.get(timeout=280) for _ in started]
    for each in started:
        each.join()
    assert sorted(number for won in wins for number in won) == list(range(count))
    with store.read() as reader:
        assert reader.rows(RowQuery()) == ()
        log = list(reader.events(EventQuery()))
        assert [event.seq for event in log] == list(range(1, count + 2))
        assert all(event.prev == before.hash for before, event in pairwise(log))
