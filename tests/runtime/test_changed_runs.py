"""The row of a run is what the last event of the run says of it, or nothing is decided, driven or started for it (I3, I4, I6, I10)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.person import SYSTEM
from toolgate_cli.core.records import Run
from toolgate_cli.core.results import ToolResult
from toolgate_cli.runtime import sealing
from toolgate_cli.runtime.unit import write

from . import texts
from .fakes import FAILED, LOST, OK, Started
from .kit import Home, dies
from .test_parking_digests import raw

START = '[["",1,0,"",{},[],false,null]]'


def changed(home: Home, run: str, **values: object) -> None:
    """The row of a run as somebody with the file in their hands leaves it."""
    edited = home.run(run)._replace(**values)  # type: ignore[arg-type]  # any of its fields
    if home.kind == "memory":
        tables = home.store._tables.fork()
        home.store._tables = tables
        tables.runs = {**tables.runs, run: edited}
        return
    with raw(home) as db:
        names = ", ".join(f"{name} = ?" for name in values)
        db.execute(f"UPDATE runs SET {names} WHERE id = ?", (*values.values(), run))
        db.commit()


def hidden(home: Home, run: str) -> None:
    """What waits or runs is taken out of the tables."""
    if home.kind == "memory":
        tables = home.store._tables.fork()
        home.store._tables = tables
        tables.pending, tables.attempts = {}, {}
        return
    with raw(home) as db:
        db.execute("DELETE FROM pending")
        db.execute("DELETE FROM attempts")
        db.commit()


def refused(act: Callable[[], object]) -> None:
    with pytest.raises(ToolgateError, match="changed by other hands") as caught:
        act()
    assert caught.value.kind == "storage" and "audit verify" in caught.value.hint


def complaints(home: Home) -> list[str]:
    verified = home.desk().verify()
    found = [remark.message for remark in home.desk().examine() if remark.level == "error" and remark.about == "log"]
    assert list(verified.changed) == found and verified.ok == (not found) and verified.first_bad is None
    return found


def gated(home: Home) -> str:
    home.write(gated=texts.flow("gated", texts.uses("a", "ask.send"), texts.uses("s", "free.send")))
    return home.start("gated")


def test_what_somebody_does_with_what_they_were_shown_changes_nothing(home: Home) -> None:
    home.write(list=texts.flow("list", texts.step("l", "assign", set={"l": [1, {"a": 2}]}), texts.uses("s", "free.send")))
    run = home.start("list")
    desk, before = home.desk(), home.dump()
    view = desk.show_run(run)[0]
    assert view.context is not None
    for held in (view.context, view.outputs):
        with suppress(TypeError):  # some cannot even be tried
            held["forged"] = 1  # type: ignore[index]  # not meant to be written
    view.context["l"][0].append("forged")  # type: ignore[index, union-attr]
    again = desk.show_run(run)[0]
    assert again.context is not None and "forged" not in f"{again.context} {again.outputs}" and again.context["l"][0] == [1, {"a": 2}]
    with pytest.raises(AttributeError):
        view.run.status = "RUNNING"  # type: ignore[misc]
    assert home.dump() == before


COLUMNS: dict[str, object] = {
    "workflow": "another", "requester": "mallory", "status": "RUNNING", "cursor": START, "owner": "o1:h:b", "started": -5, "tokens": -5,
    "error": "{}", "created_at": "2030-01-31T12:00:00.000Z", "correlation": "else",
}  # fmt: skip


@pytest.mark.parametrize("column", COLUMNS)
def test_a_run_that_was_changed_in_any_column_is_decided_by_no_verb_but_cancel(home: Home, column: str) -> None:
    run = home.start("ask")
    assert complaints(home) == []
    changed(home, run, **{column: COLUMNS[column]})
    for verb in ("approve", "reject"):
        refused(lambda verb=verb: home.decide(verb, run))
    assert home.tools.starts == [] and complaints(home) == [f"the run {run} was changed by other hands"]
    assert home.desk().cancel(run, None).run.run.status == "CANCELLED"
    assert complaints(home) == [] and home.rows(run) == []


def test_a_run_that_was_changed_to_have_failed_is_cancelled_like_any_other(home: Home) -> None:
    run = home.start("ask")
    changed(home, run, status="FAILED")
    refused(lambda: home.desk().continue_run(run))
    assert home.desk().cancel(run, None).run.run.status == "CANCELLED"
    assert complaints(home) == [] and home.rows(run) == []


def test_every_field_that_decides_is_in_the_seal() -> None:
    run = Run("r1", "w", "d", "ann", "RUNNING", "[]", 1, None, 0, 0, None, "a", "b")
    same = {name for name in Run._fields if sealing.seal(run._replace(**{name: "another"})) == sealing.seal(run)}  # type: ignore[arg-type]
    assert same == {"version", "updated_at"}


def test_a_run_that_goes_on_from_another_place_without_a_word_is_told_of_in_the_log(home: Home) -> None:
    run = home.start("ask")
    for cursor, told in ((home.run(run).cursor, False), (START, True)):
        with write(home.desk()._ports, SYSTEM) as unit:
            found = unit.run(run)
            assert found is not None and unit.put_run(found._replace(cursor=cursor, version=found.version + 1), found.version)
        assert (home.events(run)[-1].type == "RUN_ADVANCED") is told
        assert complaints(home) == []


def test_a_run_that_is_set_past_its_call_is_not_driven(home: Home) -> None:
    home.tools.plan["ask.send"] = [OK]
    run, sound = gated(home), home.start("ask")
    hidden(home, run)
    changed(home, run, status="RUNNING", owner=None, cursor=START)
    answers = {answer.run.run.id: answer.fault for answer in home.desk().recover(None, None)}
    assert all(fault is not None and fault.kind == "storage" for fault in answers.values()) and set(answers) == {run, sound}
    refused(lambda: home.desk().continue_run(run))
    assert home.tools.starts == []


def test_one_run_that_was_changed_keeps_no_other_from_being_recovered(home: Home) -> None:
    home.tools.plan["free.send"] = [dies]
    run = gated(home)
    changed(home, run, status="RUNNING", owner=None)
    home.killed(lambda: home.start("free"))
    other = next(event.run_id for event in home.events() if event.run_id != run and event.run_id)
    faults = {answer.run.run.id: answer.fault is not None for answer in home.desk().recover(None, None)}
    assert faults == {run: True, other: False} and home.row(other).origin == "OUTCOME_UNKNOWN"


@pytest.mark.parametrize("status", ["COMPLETED", "FAILED", "CANCELLED"])
def test_a_run_that_is_over_by_hand_starts_nothing(home: Home, status: str) -> None:
    run = home.start("ask")
    desk, target = home.seen(run)
    changed(home, run, status=status)
    refused(lambda: desk.approve(target))
    assert home.tools.starts == [] and len(complaints(home)) == 1


def test_a_cancelled_doubt_is_not_brought_back(home: Home) -> None:
    home.tools.plan["free.send"] = [LOST]
    run = home.start("free")
    home.desk().cancel(run, None)
    changed(home, run, status="AWAITING_TOOL_DECISION")
    refused(lambda: home.decide("retry", run, may_run_twice=True))
    assert len(home.tools.starts) == 1


def test_a_wait_that_was_taken_away_is_missed(home: Home) -> None:
    run = home.start("ask")
    row = home.row(run)
    hidden(home, run)
    assert complaints(home) == [f"{row.id} of {run} waits or runs by the log, and is in no table"]
    [answer] = home.desk().recover(None, None)
    assert answer.run.run.id == run and answer.fault is not None and row.id in answer.fault.message


@pytest.mark.parametrize("flow", ["review", "gate", "form"])
def test_a_step_that_waits_and_was_taken_away_is_missed(home: Home, flow: str) -> None:
    run = home.start(flow)
    assert complaints(home) == [] and home.rows(run)
    hidden(home, run)
    assert len(complaints(home)) == 1


def test_what_came_of_a_call_is_kept_whatever_was_done_to_its_run_meanwhile(home: Home) -> None:
    def meddles(started: Started) -> ToolResult:
        changed(home, home.events()[0].run_id or "", requester="mallory")
        return OK

    home.tools.plan["free.send"] = [meddles]
    run = home.start("free")
    assert home.types(run)[-1] == "TOOL_INVOCATION_COMPLETED" and home.run(run).status == "RUNNING"
    assert complaints(home) == [f"the run {run} was changed by other hands"]  # what is recorded of it does not vouch for it


def test_recovery_does_not_vouch_for_what_other_hands_changed(home: Home) -> None:
    home.tools.plan["free.send"] = [dies]
    home.killed(lambda: home.start("free"))
    run = home.events()[0].run_id or ""
    changed(home, run, requester="mallory")
    home.desk().pending(None, 9)
    assert home.row(run).origin == "OUTCOME_UNKNOWN" and len(complaints(home)) == 1
    refused(lambda: home.decide("retry", run, may_run_twice=True))


def test_the_seal_outlives_a_redaction(home: Home) -> None:
    home.write(both=texts.flow("both", texts.uses("a", "free.send"), texts.uses("b", "ask.send")))
    run = home.start("both")
    call = next(event.call_id for event in home.events(run, "TOOL_INVOCATION_COMPLETED")) or ""
    desk = home.desk()
    desk.redact(desk.redactable(call), "asked for")
    assert complaints(home) == []
    assert home.decide("approve", run).run.run.status == "COMPLETED" and complaints(home) == []


def test_a_run_without_a_word_in_the_log_is_none(home: Home) -> None:
    run = home.start("ask")
    made = home.run(run)._replace(id="r" + "0" * 13, status="RUNNING", owner=None)
    with home.store.write() as tx:
        tx.put_run(made, None)
    [answer] = home.desk().recover(None, None)
    assert answer.fault is not None and answer.run.run.id == made.id and home.tools.starts == []


def test_a_failed_run_that_is_retried_is_sound_all_along(home: Home) -> None:
    home.tools.plan["free.send"] = [FAILED, OK]
    run = home.start("free")
    assert complaints(home) == []
    home.decide("retry", run)
    assert home.run(run).status == "COMPLETED" and complaints(home) == []
