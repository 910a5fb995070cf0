"""I1, I2, I3: nothing starts without its record, one start per decision, and what runs is what was shown."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core.config import Tool
from toolgate_cli.core.digests import ref
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.runtime.plugs import Answer

from . import texts
from .fakes import ASKS, COMPLETE, FAILED, LOST, Started, Wrong, call
from .kit import Home, payload
from .watch import changed


def refuses_to_write(home: Home, type: str) -> None:
    """From now on an event of that type cannot be written."""

    def full(name: str, values: tuple[Any, ...]) -> None:
        if name == "append" and any(event.type == type for event in values[0]):
            raise ToolgateError("storage", "the disk is full")

    home.watch.fault = full


# ---- I1 ----
def test_a_start_that_cannot_be_recorded_does_not_happen(home: Home) -> None:
    run = home.start("ask")
    before = home.dump()
    refuses_to_write(home, "TOOL_INVOCATION_STARTED")
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run)
    assert caught.value.kind == "storage"
    assert home.tools.starts == [] and changed(before, home.dump()) == []


def test_a_call_that_the_policy_allows_is_not_started_without_its_record_either(home: Home) -> None:
    refuses_to_write(home, "TOOL_INVOCATION_STARTED")
    home.write(free=texts.FLOWS["free"])
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.desk().start("free", {}, {})
    assert caught.value.kind == "storage"
    assert home.tools.starts == [] and changed(before, home.dump()) == []


def test_a_run_up_to_its_first_outside_work_is_one_commit(home: Home) -> None:
    home.write(free=texts.FLOWS["free"])
    commits: list[str] = []

    def looks(started: Started):  # type: ignore[no-untyped-def]
        commits.extend(home.types())
        return FAILED

    home.tools.plan["free.send"] = [looks]
    faults: list[int] = []
    home.watch.fault = lambda name, _values: faults.append(1) if name == "append" else None
    home.desk().start("free", {}, {})
    assert commits[:1] == ["RUN_STARTED"] and commits[-1] == "TOOL_INVOCATION_STARTED"
    assert len(faults) == 2  # what led to the call, and what came of it


def test_the_attempt_and_its_event_are_durable_before_the_tool_is_called(home: Home) -> None:
    def looks(started: Started):  # type: ignore[no-untyped-def]
        with home.store.read() as tx:
            [attempt] = tx.attempts(None)
        event = home.events()[-1]
        assert (event.type, event.call_id, event.attempt) == ("TOOL_INVOCATION_STARTED", started.call, 1)
        assert attempt.row.id == started.call and attempt.row.call_digest == event.call_digest and attempt.state == "running"
        assert attempt.owner == started.process.owner.name
        return FAILED

    home.tools.plan["ask.send"] = [looks]
    home.decide("approve", home.start("ask"))
    assert len(home.tools.starts) == 1


def test_a_row_that_no_event_parked_is_never_started(home: Home) -> None:
    run = home.start("ask")
    row = home.row(run)
    with home.store.write() as tx:  # by other hands
        tx.claim(row)
        tx.save(row._replace(version=7))
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run)
    assert caught.value.kind == "storage" and home.tools.starts == [] and changed(before, home.dump()) == []


def test_a_start_carries_what_a_person_answered_the_tool(home: Home) -> None:
    home.tools.plan["half.send"] = [ASKS]
    run = home.start("half")
    for _ in range(2):
        home.decide("approve", run)
    assert [started.answer for started in home.tools.starts] == [None, Answer("yes", "1")]


@pytest.mark.parametrize("lock", [None, "fofasession0000"])
def test_a_call_in_a_process_that_runs_already_is_started_under_the_lock_of_that(home: Home, lock: str | None) -> None:
    """So a process that outlives its owner is found by it."""
    process = home.process()
    provider = process.desk._ports.provider

    def locked(tool: Tool) -> Any:
        found: Any = provider(tool)
        found.lock = lambda bound: lock
        return found

    process.desk._ports = process.desk._ports._replace(provider=locked)
    home.tools.plan["free.send"] = [lambda _: process.die()]
    home.write(free=texts.FLOWS["free"])
    home.killed(lambda: process.desk.start("free", {}, {}))
    with home.store.read() as tx:
        [attempt] = tx.attempts(None)
    assert attempt.row.left_behind is not None and (attempt.row.left_behind == lock) is (lock is not None)


def test_whoever_was_told_to_end_starts_nothing_more(home: Home) -> None:
    """An interruption that was swallowed on its way is raised in the transaction that would start a call."""
    run = home.start("ask")
    before = home.dump()
    home.host.interrupted = Wrong()
    with pytest.raises(Wrong):
        home.decide("approve", run)
    assert home.tools.starts == [] and changed(before, home.dump()) == []
    home.host.interrupted = None
    home.decide("approve", run)
    assert len(home.tools.starts) == 1


# ---- I2 ----
@pytest.mark.parametrize("first", ["approve", "reject"])
@pytest.mark.parametrize("second", ["approve", "reject"])
def test_of_two_who_saw_the_same_row_one_wins(home: Home, first: str, second: str) -> None:
    run = home.start("ask")
    desk, target = home.seen(run, "bob")
    home.decide(first, run, actor="alice")
    before, starts = home.dump(), len(home.tools.starts)
    with pytest.raises(ToolgateError) as caught:
        getattr(desk, second)(target)
    assert caught.value.kind == "claim_lost"
    assert changed(before, home.dump()) == [] and len(home.tools.starts) == starts == (first == "approve")


@pytest.mark.parametrize("verb", ["retry", "continue_tool", "reject"])
def test_a_row_that_was_replaced_meanwhile_is_not_the_one_that_was_seen(home: Home, verb: str) -> None:
    home.tools.plan["free.send"] = [FAILED, FAILED]
    run = home.start("free")
    desk, target = home.seen(run)
    home.decide("retry", run)
    fresh = home.row(run)
    assert fresh.version == target.row.version + 1
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        getattr(desk, verb)(target)
    assert caught.value.kind == "claim_lost" and changed(before, home.dump()) == [] and home.row(run) == fresh


def test_an_override_is_not_recorded_of_a_row_that_is_gone(home: Home) -> None:
    run = home.start("deny")
    desk, target = home.seen(run)
    home.decide("reject", run, actor="bob")
    with pytest.raises(ToolgateError) as caught:
        desk.approve(target)
    assert caught.value.kind == "claim_lost" and "TOOL_INVOCATION_OVERRIDE_REJECTED" not in home.types(run)
    assert home.tools.starts == []


def test_while_a_call_runs_it_cannot_be_decided_again(home: Home) -> None:
    kinds = []

    def decided_again(started: Started):  # type: ignore[no-untyped-def]
        for verb in ("approve", "reject", "retry", "continue_tool"):
            with pytest.raises(ToolgateError) as caught:
                home.decide(verb, started.process.home.events()[-1].run_id, started.call)
            kinds.append(caught.value.kind)
        return FAILED

    home.tools.plan["ask.send"] = [decided_again]
    home.decide("approve", home.start("ask"))
    assert kinds == ["claim_lost"] * 4 and len(home.tools.starts) == 1


# ---- I3 ----
def test_what_runs_is_the_text_that_was_parked(home: Home) -> None:
    run = home.start("ask", text="1")
    shown = home.desk().select([run], "approve")
    home.write(ask=texts.FLOWS["ask"].replace("${inputs.text}", "999"))
    home.decide("approve", run)
    [started] = home.tools.starts
    assert started.arguments == shown.call.arguments == '{"text":"1"}'  # type: ignore[union-attr]  # a call
    for type in ("TOOL_INVOCATION_APPROVAL_PENDING", "TOOL_INVOCATION_APPROVED", "TOOL_INVOCATION_STARTED"):
        assert [event.call_digest for event in home.events(run, type)] == [shown.row.call_digest]


def test_a_yes_releases_one_call_and_not_the_next_of_the_same_tool(home: Home) -> None:
    home.write(twice=texts.flow("twice", texts.uses("a", "ask.send"), texts.uses("b", "ask.send")))
    run = home.start("twice")
    first = home.row(run)
    home.decide("approve", run)
    second = home.row(run)
    assert second.id != first.id and ref(second) != ref(first) and home.tools.names() == ["ask.send"]
    assert home.run(run).status == "AWAITING_TOOL_APPROVAL"


def test_a_call_whose_tool_changed_is_shown_again_before_it_runs(home: Home) -> None:
    run = home.start("ask")
    row = home.row(run)
    for version in (2, 3):
        home.write(texts.operator({"ask.send": texts.tool("ask.send", about=f"edition {version}")}))
        with pytest.raises(ToolgateError) as caught:
            home.decide("approve", run, row.id)
        assert caught.value.kind == "superseded"
        fresh = home.row(run)
        assert (fresh.origin, fresh.version) == ("APPROVAL_REQUIRED", version) and ref(fresh) != ref(row)
        assert fresh.call_digest != row.call_digest
        assert home.types(run)[-2:] == ["TOOL_INVOCATION_SUPERSEDED", "TOOL_INVOCATION_APPROVAL_PENDING"]
        row = fresh
    assert home.tools.starts == []
    home.decide("approve", run)
    assert home.events(run, "TOOL_INVOCATION_STARTED")[0].call_digest == row.call_digest and len(home.tools.starts) == 1


def test_a_tool_that_changed_is_asked_for_again_even_where_the_policy_now_allows_it(home: Home) -> None:
    run = home.start("ask")
    home.write(texts.operator({"ask.send": texts.tool("ask.send", about="new")}, {"ask": texts.rule("ask.*", "allow")}))
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run)
    assert caught.value.kind == "superseded" and home.tools.starts == []


@pytest.mark.parametrize("cosmetic", [{"attempts": 4}, {"more": 'title = "A title"'}])
def test_a_change_that_is_not_of_what_runs_supersedes_nothing(home: Home, cosmetic: dict[str, object]) -> None:
    run = home.start("ask")
    home.write(texts.operator({"ask.send": texts.tool("ask.send", **cosmetic)}))  # type: ignore[arg-type]  # one of its fields
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 1


def test_a_tool_that_is_gone_is_a_failure_and_not_superseded(home: Home) -> None:
    run = home.start("ask")
    home.write(texts.operator({"ask.send": "", "ask.other": texts.tool("ask.other")}))
    home.decide("approve", run)
    row = home.row(run)
    assert (row.origin, row.cleared) == ("EXECUTION_FAILED", "none") and home.tools.starts == []
    assert payload(home.events(run, "TOOL_INVOCATION_FAILED")[0])["phase"] == "RESOLVE"
    assert "TOOL_INVOCATION_SUPERSEDED" not in home.types(run)
    home.write(texts.operator())
    with pytest.raises(ToolgateError) as caught:  # it comes back: the whole gate again, so a person is asked again
        home.decide("retry", run)
    assert caught.value.kind == "superseded" and home.row(run).origin == "APPROVAL_REQUIRED" and home.tools.starts == []
    assert str(home.row(run).reason).endswith("(changed since it was asked for: the tool)")  # nothing says what it was before


def test_a_policy_that_denies_now_stops_an_approval(home: Home) -> None:
    run = home.start("ask")
    home.write(texts.operator(rules={"no": texts.rule("ask.*", "deny", 'reason = "stopped"')}))
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run)
    assert caught.value.kind == "policy_denied" and home.tools.starts == []
    assert home.row(run).origin == "POLICY_DENIED" and home.run(run).status == "AWAITING_TOOL_DECISION"


def test_a_schema_that_is_tighter_now_refuses_the_approved_call(home: Home) -> None:
    run = home.start("ask")
    tight = '{ type = "object", properties = { text = { type = "number" } } }'
    home.write(texts.operator({"ask.send": texts.tool("ask.send", schema=tight)}))
    home.decide("approve", run)
    row = home.row(run)
    assert row.origin == "EXECUTION_FAILED" and payload(home.events(run, "TOOL_INVOCATION_FAILED")[0])["phase"] == "VALIDATE"
    assert home.tools.starts == []


def test_a_retried_call_runs_under_a_new_definition_only_if_the_policy_allows_it(home: Home) -> None:
    home.tools.plan["free.send"] = [FAILED]
    run = home.start("free")
    home.write(texts.operator({"free.send": texts.tool("free.send", about="new")}))
    home.decide("retry", run)
    assert len(home.tools.starts) == 2
    home.tools.plan["ask.send"] = [FAILED]
    run = home.start("ask")
    home.decide("approve", run)
    home.write(texts.operator({"ask.send": texts.tool("ask.send", about="new")}))
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run)
    assert caught.value.kind == "superseded" and home.row(run).origin == "APPROVAL_REQUIRED" and len(home.tools.starts) == 3


def test_a_failed_call_keeps_its_approval_and_who_may_decide_it(home: Home) -> None:
    home.write(texts.operator(rules={"ask": texts.rule("ask.*", "require_approval", 'approver_scope = "desk"')}))
    home.tools.plan["ask.send"] = [FAILED]
    run = home.start("ask")
    first = home.row(run)
    home.decide("approve", run, actor="alice")
    row = home.row(run)
    assert (row.origin, row.version, row.cleared, row.approver_scope) == ("EXECUTION_FAILED", first.version + 1, "approval", "desk")
    with pytest.raises(KeyError):
        home.value(run, "tool.ask.send.error")
    home.decide("retry", run, actor="bob")
    assert home.run(run).status == "COMPLETED" and [started.key for started in home.tools.starts] == [home.tools.starts[0].key] * 2
    assert home.value(run, "tool.ask.send") == "done" and home.types(run).count("TOOL_INVOCATION_FAILED") == 1


def test_what_an_approved_call_failed_of_is_its_error_once_it_is_given_up(home: Home) -> None:
    home.tools.plan["ask.send"] = [FAILED]
    run = home.start("ask")
    home.decide("approve", run)
    home.decide("continue_tool", run)
    assert home.run(run).status == "COMPLETED" and home.value(run, "tool.ask.send.error") == "it failed" and len(home.tools.starts) == 1
    with pytest.raises(KeyError):
        home.value(run, "tool.ask.send")


@pytest.mark.parametrize("title", ["send ${args.nothing}", "${args.text#/0}", "send ${args.text", "send ${inputs.text}"])
def test_a_title_that_cannot_be_filled_falls_back_and_keeps_nothing_from_running(home: Home, title: str) -> None:
    home.write(texts.operator({"ask.send": texts.tool("ask.send", more=f'title = "{title}"')}))
    run = home.start("ask")
    shown = home.desk().select([run], "approve")
    assert shown.call is not None and shown.call.title is None and home.row(run).origin == "APPROVAL_REQUIRED"
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 1


def test_the_definition_of_a_run_is_the_one_that_it_started_with(home: Home) -> None:
    run = home.start("ask")
    home.write(ask=texts.flow("ask", texts.uses("s", "ask.send"), texts.step("after", "fail", reason="changed")))
    assert home.desk().show_run(run)[0].changed is True
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and home.value(run, "after") == "yes"


def test_the_ids_that_a_model_sends_are_labels_only(quick: Home) -> None:
    quick.models.turns["s"] = [[{**call("free.send"), "call": "cforged0000000", "id": "mine"}], [COMPLETE]]
    run = quick.start("talk")
    [started] = quick.tools.starts
    assert started.call != "cforged0000000" and quick.run(run).status == "COMPLETED"
    with quick.store.read() as tx:
        assert tx.call(started.call)[0].label == "mine"


def test_a_decision_names_the_person_and_the_system_user(home: Home) -> None:
    home.tools.plan["ask.send"] = [LOST]
    run = home.start("ask")
    home.decide("approve", run, actor="bob", reason="fine")
    [event] = home.events(run, "TOOL_INVOCATION_APPROVED")
    assert event.actor == "bob" and payload(event)["os_user"] == "os-bob" and payload(event)["reason"] == "fine"
    [row] = home.rows(run)
    assert event.call_digest == home.events(run, "TOOL_INVOCATION_STARTED")[0].call_digest == row.call_digest
