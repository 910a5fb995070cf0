"""I4 and I5: a denial is terminal, and the absence of a decision is never consent."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from toolgate_cli.core import policy
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.workflow import validators

from . import texts
from .fakes import FAILED
from .kit import Home, payload
from .watch import changed


# ---- I4 ----
@pytest.mark.parametrize("verb", ["approve", "retry"])
def test_nobody_gets_past_a_denial_and_who_tries_is_on_record(home: Home, verb: str) -> None:
    run = home.start("deny")
    row = home.row(run)
    for count in (1, 2):
        with pytest.raises(ToolgateError) as caught:
            home.decide(verb, run, actor="bob", may_run_twice=True)
        assert caught.value.kind == "policy_denied" and home.row(run) == row
        events = home.events(run, "TOOL_INVOCATION_OVERRIDE_REJECTED")
        assert len(events) == count and events[-1].actor == "bob" and payload(events[-1])["version"] == row.version
    assert home.tools.starts == [] and home.run(run).status == "AWAITING_TOOL_DECISION"
    home.decide("continue_tool", run)
    assert home.run(run).status == "COMPLETED" and home.value(run, "tool.deny.send.error") == "by hand only"
    assert home.tools.starts == [] and "TOOL_INVOCATION_COMPLETED" not in home.types(run) and home.types(run).count("RUN_COMPLETED") == 1


def test_a_denial_outlives_the_rule_that_made_it(home: Home) -> None:
    run = home.start("deny")
    home.write(texts.operator(rules={"deny": texts.rule("deny.*", "allow")}))
    for verb in ("approve", "retry"):
        with pytest.raises(ToolgateError) as caught:
            home.decide(verb, run)
        assert caught.value.kind == "policy_denied"
    assert home.tools.starts == []


def test_a_failed_call_that_is_denied_now_does_not_run_again(home: Home) -> None:
    home.tools.plan["free.send"] = [FAILED]
    run = home.start("free")
    home.write(texts.operator(rules={"free": texts.rule("free.*", "deny")}))
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run)
    assert caught.value.kind == "policy_denied" and home.row(run).origin == "POLICY_DENIED" and len(home.tools.starts) == 1


@pytest.mark.parametrize("verb", ["reject", "continue_tool"])
def test_a_denied_call_can_be_given_up(home: Home, verb: str) -> None:
    run = home.start("deny")
    home.decide(verb, run)
    assert home.run(run).status == "COMPLETED" and home.rows(run) == [] and home.tools.starts == []


# ---- I5 ----
@pytest.mark.parametrize("decision", ["allow", "deny", "require_approval"])
def test_a_rule_that_cannot_be_evaluated_never_lets_a_call_run(quick: Home, monkeypatch: pytest.MonkeyPatch, decision: str) -> None:
    broken = texts.rule("free.*", decision, 'when = [{ arg = "/text", eq = "hi" }]')
    quick.write(texts.operator(rules={"free": broken}))

    def raises(*_: object) -> bool:
        raise RuntimeError("a fault of the evaluator")

    monkeypatch.setattr(policy, "holds", raises)
    run = quick.start("free")
    assert quick.tools.starts == []
    assert quick.row(run).origin == ("POLICY_DENIED" if decision == "deny" else "APPROVAL_REQUIRED")


@pytest.mark.parametrize("word", ["Allow", "ALLOW", "allow ", "require_aproval", "yes", ""])
def test_a_decision_that_is_not_spelt_right_is_no_decision(quick: Home, word: str) -> None:
    quick.write(texts.operator(rules={"free": texts.rule("free.*", word)}))
    with pytest.raises(ToolgateError) as caught:
        quick.start("free")
    assert caught.value.kind == "invalid" and quick.tools.starts == [] and quick.events() == []


@pytest.mark.parametrize("verb", ["approve", "reject", "continue_tool", "retry"])
@pytest.mark.parametrize("how", ["missing", "cut", "unreadable", "no rules", "a folder"])
def test_while_the_files_are_broken_nothing_is_decided(home: Home, how: str, verb: str) -> None:
    home.tools.plan["free.send"] = [FAILED]
    run = home.start("ask" if verb == "approve" else "free")
    before, starts = home.dump(), len(home.tools.starts)
    file = home.folder / "toolgate.toml"
    whole = file.read_text()
    match how:
        case "cut":
            file.write_text(whole[: len(whole) // 2])
        case "no rules":
            file.write_text("")
        case "unreadable":
            file.write_bytes(b"\xff\xfe" + whole.encode())
        case _:
            file.unlink()
            if how == "a folder":
                file.mkdir()
    with pytest.raises(ToolgateError) as caught:
        home.decide(verb, run)
    assert caught.value.kind in ("invalid", "storage")
    assert changed(before, home.dump()) == [] and len(home.tools.starts) == starts
    assert [waiting.row.run_id for waiting in home.desk().pending(None, 10)[0]] == [run]  # looking works


def test_files_that_change_while_a_call_is_judged_are_judged_again(home: Home) -> None:
    run = home.start("ask")
    desk, target = home.seen(run)
    desk.tools()  # the desk has read its files
    home.write(texts.operator(rules={"no": texts.rule("ask.*", "deny")}))
    with pytest.raises(ToolgateError) as caught:
        desk.approve(target)
    assert caught.value.kind == "policy_denied" and home.tools.starts == []


def test_an_expired_row_is_not_approved_even_if_the_clock_goes_back(home: Home) -> None:
    run = home.start("late")
    home.clock.pass_time(3601)
    home.start("free")  # an event of a later time
    home.clock.behind = 7200
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run)
    assert caught.value.kind == "expired" and home.tools.names() == ["free.send"]
    assert home.desk().pending(run, 10)[0][0].expired


def test_the_log_never_goes_back_in_time(home: Home) -> None:
    home.start("free")
    home.clock.behind = 7200
    home.start("free")
    at = [event.at for event in home.events()]
    assert at == sorted(at) and len(at) > 4


def test_while_the_clock_is_behind_the_log_nothing_that_expires_is_approved(home: Home) -> None:
    """One event of a clock that was far ahead: from then on no time passes that a row could expire by."""
    home.clock.pass_time(10 * 365 * 86_400)
    home.start("free")
    home.clock.behind = 10 * 365 * 86_400
    run, plain = home.start("late"), home.start("ask")
    home.clock.pass_time(3601)
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run)
    assert caught.value.kind == "expired" and "clock" in caught.value.message
    assert home.tools.names() == ["free.send"]
    assert home.decide("approve", plain).effect == "approved"  # what never expires needs no clock
    assert home.decide("reject", run).effect == "rejected"


def test_an_expired_row_stays_and_can_be_asked_for_again(home: Home) -> None:
    run = home.start("late")
    first = home.row(run)
    home.clock.pass_time(3601)
    desk, target = home.seen(run)
    with pytest.raises(ToolgateError) as caught:
        desk.approve(target)
    assert caught.value.kind == "expired" and home.row(run) == first and caught.value.hint.endswith(f"toolgate retry {first.id}")
    home.decide("retry", run)
    fresh = home.row(run)
    assert fresh.version == 2 and fresh.expires_at is not None and first.expires_at is not None and fresh.expires_at > first.expires_at
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 1


@pytest.mark.parametrize("verb", ["approve", "reject", "retry", "continue_tool"])
def test_an_expired_row_that_is_to_be_rejected_is_by_whoever_comes_by(home: Home, verb: str) -> None:
    run = home.start("gone")
    call = home.row(run).id
    home.clock.pass_time(3601)
    home.desk().pending(None, 10)
    assert home.row(run).id == call  # a listing drives nothing
    with pytest.raises(ToolgateError) as caught:
        home.decide(verb, run)
    assert caught.value.kind == "expired" and home.rows(run) == [] and home.tools.starts == []
    assert home.run(run).status == "COMPLETED" and home.outcome(call).status == "rejected"
    [event] = home.events(run, "TOOL_INVOCATION_REJECTED")
    assert event.actor == "system" and home.value(run, "tool.gone.send.error") == "the approval expired"


def test_recover_rejects_what_expired_and_nothing_else(home: Home) -> None:
    gone, late = home.start("gone"), home.start("late")
    home.clock.pass_time(3601)
    assert [answer.run.run.id for answer in home.desk().recover(None, None)] == [gone]
    assert home.run(gone).status == "COMPLETED" and home.row(late).origin == "APPROVAL_REQUIRED" and home.tools.starts == []


def test_an_expired_row_beside_the_decided_one_is_swept_with_the_status(home: Home) -> None:
    home.models.turns["s"] = [[{"type": "tool_invocation", "capability": name} for name in ("gone.send", "deny.send")]]
    run = home.start("talk")
    home.clock.pass_time(3601)
    [denied] = [row for row in home.rows(run) if row.origin == "POLICY_DENIED"]
    with pytest.raises(ToolgateError):
        home.decide("approve", run, denied.id)
    assert home.rows(run) == [denied] and home.run(run).status == "AWAITING_TOOL_DECISION"


# ---- who may call, and how often ----
def test_a_tool_with_a_permission_that_nobody_granted_is_not_called(home: Home) -> None:
    guarded = {"free.send": texts.tool("free.send", more='permission = "mail:send"')}
    home.write(texts.operator(guarded))
    run = home.start("free")
    [event] = home.events(run, "TOOL_INVOCATION_DENIED")
    assert payload(event)["code"] == "auth_denied" and home.row(run).origin == "EXECUTION_FAILED" and home.tools.starts == []
    home.decide("retry", run)
    assert home.tools.starts == []
    home.write(texts.operator(guarded, more='[context]\npermissions = { ann = ["mail:send"] }'))
    home.decide("retry", run, actor="bob")  # the requester is who needs it
    assert len(home.tools.starts) == 1 and home.run(run).status == "COMPLETED"


def test_a_permission_is_asked_for_again_before_an_approved_start(home: Home) -> None:
    guarded = {"ask.send": texts.tool("ask.send", more='permission = "mail:send"')}
    home.write(texts.operator(guarded, more='[context]\npermissions = { "*" = ["mail:send"] }'))
    run = home.start("ask")
    home.write(texts.operator(guarded, more='[context]\npermissions = { bob = ["mail:send"] }'))
    home.decide("approve", run, actor="bob")
    assert home.row(run).origin == "EXECUTION_FAILED" and home.tools.starts == []


def test_a_run_makes_no_more_calls_than_its_limit(home: Home) -> None:
    home.write(texts.operator(head=texts.HEAD.replace("calls_per_run = 200", "calls_per_run = 2")))
    home.write(three=texts.flow("three", *[texts.uses(id, "free.send") for id in "abc"]))
    run = home.start("three")
    assert len(home.tools.starts) == 2 and payload(home.events(run, "TOOL_INVOCATION_DENIED")[0])["code"] == "limit_exceeded"
    home.decide("retry", run)
    assert len(home.tools.starts) == 2 and home.row(run).version == 2
    home.write(texts.operator())
    home.decide("retry", run)
    assert len(home.tools.starts) == 3 and home.run(run).status == "COMPLETED"


def test_repetitions_count_towards_the_limit(home: Home) -> None:
    home.write(texts.operator(head=texts.HEAD.replace("calls_per_run = 200", "calls_per_run = 2")))
    home.tools.plan["idem.put"] = [FAILED] * 3
    run = home.start("idem")
    assert len(home.tools.starts) == 2 and home.row(run).origin == "EXECUTION_FAILED"


@pytest.mark.parametrize("text", ["x" * 1001, "x" * 5000])
def test_arguments_that_are_too_large_are_not_stored(home: Home, text: str) -> None:
    run = home.start("free", text=text)
    row = home.row(run)
    with home.store.read() as tx:
        assert tx.call(row.id)[0].arguments is None
    with suppress(ToolgateError):
        home.decide("retry", run)
    assert home.tools.starts == [] and text not in repr([event.payload for event in home.events(run)])


def test_a_check_that_breaks_is_a_failure_that_can_be_decided(quick: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    real = validators.load

    def broken(schema: Any, **how: Any) -> Any:
        def check(value: object) -> Any:
            raise OverflowError("int too large to convert to float")

        return check if schema == {"type": "object"} else real(schema, **how)

    monkeypatch.setattr(validators, "load", broken)
    quick.write(texts.operator({"free.send": texts.tool("free.send", schema='{ type = "object" }')}))
    run = quick.start("free")
    assert quick.row(run).origin == "EXECUTION_FAILED" and quick.tools.starts == []
    quick.decide("continue_tool", run)
    assert quick.run(run).status == "COMPLETED"
