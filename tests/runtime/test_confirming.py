"""A tool that stops half-way with a question: it waits for a person, goes on with the answer and its state, and never without."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core import canonical
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.types import Json
from toolgate_cli.runtime.plugs import Answer

from . import texts
from .fakes import DECLINED, FAILED, LOST, OK
from .kit import Home, dies, payload

RULES = {"half": texts.rule("half.*", "allow")}
LATE = {"half": texts.rule("half.*", "require_approval", 'expires_in = "1h"')}
GONE = {"half": texts.rule("half.*", "require_approval", 'expires_in = "1h"\non_expiry = "reject"')}


def asks(question: str = "Pay 5 to bob?", state: Json = None) -> ToolResult:
    text = canonical.encode({"question": question, "state": state})
    return ToolResult("answered", ok=False, code=70, output=text, size=len(text), message="exit code 70")


def write(home: Home, effect: str = "unsafe", attempts: int = 1, rules: dict[str, str] | None = None, more: str = "", **how: str) -> None:
    tool = texts.tool("half.put", effect, attempts, more="may_confirm = true\n" + more, **how).replace(".exit]\n", ".exit]\nconfirm = 70\n")
    home.write(texts.operator({"half.put": tool}, rules or RULES), half=texts.flow("half", texts.uses("s", "half.put"), texts.AFTER))


def go(home: Home, *ends: Any, **how: Any) -> str:
    write(home, **how)
    home.tools.plan["half.put"] = list(ends)
    return home.start("half")


def test_a_question_waits_for_a_person_with_its_words_and_its_state(home: Home) -> None:
    run = go(home, asks(state={"id": 7}))
    row = home.row(run)
    assert (row.origin, row.version, row.starts, row.doubt, row.reason) == ("CONFIRMATION_REQUIRED", 1 + 1, 1, None, "Pay 5 to bob?")
    assert home.run(run).status == "AWAITING_TOOL_APPROVAL"
    [event] = home.events(run, "TOOL_INVOCATION_CONFIRMATION_PENDING")
    told = payload(event)
    assert (told["reason"], told["dispatched"], told["effect_applied"], told["round"]) == ("Pay 5 to bob?", "yes", "unknown", 1)
    assert event.attempt == 1 and "TOOL_INVOCATION_FAILED" not in home.types(run)
    _, waiting = home.seen(run)
    assert canonical.parse(waiting.row.last or "") == {"question": "Pay 5 to bob?", "round": 1, "state": {"id": 7}}


@pytest.mark.parametrize(("verb", "word"), [("approve", "yes"), ("reject", "no")])
def test_the_tool_goes_on_with_the_answer_and_its_state_and_its_result_is_final(home: Home, verb: str, word: Any) -> None:
    run = go(home, asks(state={"id": 7}), OK)
    answer = home.decide(verb, run, reason="because")
    first, second = home.tools.starts
    assert first.answer is None and second.answer == Answer(word, '{"id":7}')
    assert (first.call, first.key, first.arguments) == (second.call, second.key, second.arguments)
    assert home.run(run).status == "COMPLETED" and home.value(run, "tool.half.put") == "done" and home.value(run, "after") == "yes"
    event = "TOOL_INVOCATION_APPROVED" if verb == "approve" else "TOOL_INVOCATION_REJECTED"
    [decided] = home.events(run, event)
    assert payload(decided)["answer"] == word and payload(decided)["reason"] == "because" and decided.actor == "ann"
    assert answer.effect == ("approved" if verb == "approve" else "rejected")
    assert [event.attempt for event in home.events(run, "TOOL_INVOCATION_STARTED")] == [1, 2]


@pytest.mark.parametrize("verb", ["approve", "reject"])
@pytest.mark.parametrize(
    ("end", "origin"),
    [(FAILED, "EXECUTION_FAILED"), (LOST, "OUTCOME_UNKNOWN"), (DECLINED, None), (asks("Really?"), "CONFIRMATION_REQUIRED")],
)
def test_how_it_ends_after_the_answer_counts_as_for_any_start(home: Home, verb: str, end: ToolResult, origin: str | None) -> None:
    run = go(home, asks(), end)
    home.decide(verb, run)
    assert [row.origin for row in home.rows(run)] == ([origin] if origin else []) and len(home.tools.starts) == 2


@pytest.mark.parametrize("verb", ["retry", "continue_tool"])
def test_what_is_no_answer_is_refused_with_the_verbs_that_work(home: Home, verb: str) -> None:
    run = go(home, asks())
    desk = home.desk()
    target = desk.select([run], "reject")
    with pytest.raises(ToolgateError, match="use approve or reject") as refused:
        getattr(desk, verb)(target)
    assert refused.value.kind == "wrong_state" and refused.value.hint == f"toolgate approve {target.ref}"
    assert len(home.tools.starts) == 1 and home.row(run) == target.row


def test_an_answer_to_an_earlier_question_is_none_to_this_one(home: Home) -> None:
    run = go(home, asks("First?"), asks("Second?"), OK)
    desk, first = home.seen(run)
    home.decide("approve", run)
    assert home.row(run).reason == "Second?"
    for verb in ("approve", "reject"):
        with pytest.raises(ToolgateError) as refused:
            getattr(desk, verb)(first)
        assert refused.value.kind == "claim_lost"
    assert len(home.tools.starts) == 2


def test_it_may_ask_three_times_in_one_go(home: Home) -> None:
    run = go(home, *[asks(f"{n}?", n) for n in range(1, 5)])
    for round in (1, 2, 3):
        row = home.row(run)
        assert row.origin == "CONFIRMATION_REQUIRED" and row.reason == f"{round}?"
        home.decide("approve", run)
        assert home.tools.starts[-1].answer == Answer("yes", str(round))
    row = home.row(run)
    assert (row.origin, row.starts) == ("EXECUTION_FAILED", 4) and "more than 3 questions" in str(row.reason)
    assert payload(home.events(run, "TOOL_INVOCATION_FAILED")[-1])["code"] == "TOO_MANY_CONFIRMATIONS"
    home.tools.plan["half.put"] = [asks("again?"), OK]
    home.decide("retry", run)  # from its beginning
    assert home.tools.starts[-1].answer is None and home.row(run).origin == "CONFIRMATION_REQUIRED"
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED"


def test_a_repetition_is_told_the_same_answer(home: Home) -> None:
    precheck = '[tools."half.put".precheck]\nargv = ["true"]\n'
    run = go(home, asks(state=[1]), FAILED, LOST, OK, effect="idempotent", attempts=3, more=precheck)
    home.decide("reject", run)
    assert len(home.tools.asked) == 1  # before it began
    assert [started.answer for started in home.tools.starts] == [None, *[Answer("no", "[1]")] * 3]
    assert home.run(run).status == "COMPLETED"


def test_a_crash_after_the_answer_is_an_unknown_outcome(home: Home) -> None:
    run = go(home, asks(), dies)
    home.killed(lambda: home.decide("approve", run))
    home.desk().recover(None, None)
    row = home.row(run)
    assert (row.origin, row.doubt, row.starts) == ("OUTCOME_UNKNOWN", "unsafe", 2)
    with pytest.raises(ToolgateError, match="not declared safe"):
        home.decide("retry", run)
    assert len(home.tools.starts) == 2


@pytest.mark.parametrize("rules", [LATE, GONE])
def test_what_nobody_answered_in_time_is_not_started_again(home: Home, rules: dict[str, str]) -> None:
    run = go(home, asks(), rules=rules)
    home.decide("approve", run)
    row = home.row(run)
    assert row.origin == "CONFIRMATION_REQUIRED" and row.expires_at is not None
    home.clock.pass_time(3601)
    with pytest.raises(ToolgateError) as refused:
        home.decide("approve", run)
    assert refused.value.kind == "expired" and len(home.tools.starts) == 1
    if rules is GONE:
        assert home.run(run).status == "COMPLETED" and home.outcome(row.id).status == "rejected"
        assert home.value(run, "tool.half.put.error") == "the question expired"
        return
    assert home.row(run) == row
    home.decide("reject", run)
    assert len(home.tools.starts) == 1 and home.run(run).status == "COMPLETED"


def test_a_rule_that_asks_nobody_sets_no_time_for_a_question(home: Home) -> None:
    run = go(home, asks(), OK, rules={"half": texts.rule("half.*", "allow", 'expires_in = "1h"')})
    assert home.row(run).expires_at is None
    home.clock.pass_time(3601)
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED"


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_of_a_clock_that_was_set_back_no_question_is_answered_that_can_expire(home: Home, verb: str) -> None:
    run = go(home, asks(), rules=LATE)
    home.decide("approve", run)
    home.clock.behind = 600
    with pytest.raises(ToolgateError, match="the clock is behind"):
        home.decide(verb, run)
    assert len(home.tools.starts) == 1 and home.row(run).origin == "CONFIRMATION_REQUIRED"


def test_a_denial_keeps_it_from_going_on_and_a_no_still_ends_it(home: Home) -> None:
    run = go(home, asks())
    row = home.row(run)
    write(home, rules={"half": texts.rule("half.*", "deny", 'reason = "not today"')})
    with pytest.raises(ToolgateError, match="not today") as refused:
        home.decide("approve", run)
    assert refused.value.kind == "policy_denied" and home.row(run) == row and len(home.events(run, "DECISION_REFUSED")) == 1
    home.decide("reject", run)
    assert len(home.tools.starts) == 1 and home.run(run).status == "COMPLETED"
    assert "was not told" in str(home.value(run, "tool.half.put.error"))


def test_a_tool_that_changed_is_not_given_the_state_of_the_one_before(home: Home) -> None:
    run = go(home, asks(state={"secret plan": 1}))
    row = home.row(run)
    write(home, about="another")
    with pytest.raises(ToolgateError, match="changed") as refused:
        home.decide("approve", run)
    assert refused.value.kind == "superseded" and home.row(run) == row and len(home.tools.starts) == 1
    write(home)
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED"


@pytest.mark.parametrize("decision", ["allow", "require_approval"])
def test_what_changed_of_a_tool_that_asked_is_named_and_no_reason_of_a_rule(home: Home, decision: Any) -> None:
    rules = {"half": texts.rule("half.*", decision, 'reason = "somebody has to read it"')}
    run = go(home, asks(), rules={"half": texts.rule("half.*", "allow")})
    write(home, about="another", rules=rules)
    with pytest.raises(ToolgateError) as refused:
        home.decide("approve", run)
    why = "its tool changed since it asked: /declared/description"
    assert refused.value.message == f"{home.row(run).id} cannot go on: {why}"
    assert refused.value.hint.startswith("bring the tool back as it was and answer again, or end it without the tool: toolgate reject ")
    home.decide("reject", run)
    assert home.value(run, "tool.half.put.error") == f"rejected by a person (the tool was not told: {why})"


def test_only_who_may_approve_the_call_may_answer(home: Home) -> None:
    run = go(home, asks(), OK, rules={"half": texts.rule("half.*", "require_approval", 'approver_scope = "desk"')})
    home.decide("approve", run, actor="alice")
    for verb in ("approve", "reject"):
        with pytest.raises(ToolgateError) as refused:
            home.decide(verb, run, actor="mallory")
        assert refused.value.kind == "scope"
    home.decide("approve", run, actor="bob")
    assert home.run(run).status == "COMPLETED"


def in_doubt(home: Home, effect: str = "unsafe") -> str:
    """Nobody knows how its first start ended, and the second one stopped with a question."""
    run = go(home, LOST, asks(), OK, effect=effect)
    home.decide("retry", run, may_run_twice=True)
    return run


def test_a_question_of_a_call_in_doubt_is_answered_with_a_word_for_the_doubt(home: Home) -> None:
    run = in_doubt(home)
    with pytest.raises(ToolgateError, match="may have taken effect") as refused:
        home.decide("approve", run)
    assert refused.value.kind == "unknown_outcome" and "--may-run-twice" in refused.value.hint and "continue-tool" not in refused.value.hint
    assert len(home.tools.starts) == 2 and home.types(run)[-1] == "DECISION_REFUSED"
    home.decide("approve", run, may_run_twice=True)
    assert home.tools.starts[-1].answer == Answer("yes", "null") and home.run(run).status == "COMPLETED"


def test_a_no_to_a_call_in_doubt_ends_it_without_the_tool(home: Home) -> None:
    run = in_doubt(home)
    call = home.row(run).id
    home.decide("reject", run, reason="leave it")
    assert len(home.tools.starts) == 2 and home.run(run).status == "COMPLETED" and home.value(run, "tool.half.put.error") == "leave it"
    assert home.outcome(call).effect_applied == "unknown"  # the doubt stays on record


@pytest.mark.parametrize("tools", [{"half.put": texts.tool("half.put", "unsafe")}, {}])
def test_a_no_ends_a_call_whose_tool_is_not_declared_safe_to_repeat_any_more(home: Home, tools: dict[str, str]) -> None:
    run = in_doubt(home, "idempotent")
    row = home.row(run)
    home.write(texts.operator(tools, RULES))
    with pytest.raises(ToolgateError, match="not declared safe") as refused:
        home.decide("approve", run)
    assert refused.value.kind == "unknown_outcome" and home.row(run) == row
    home.decide("reject", run, reason="leave it")
    assert len(home.tools.starts) == 2 and home.run(run).status == "COMPLETED"
    assert "leave it (the tool was not told: " in str(home.value(run, "tool.half.put.error"))
    assert home.outcome(row.id).effect_applied == "unknown"


def test_what_may_be_repeated_is_answered_as_ever(home: Home) -> None:
    run = in_doubt(home, "idempotent")
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 3


def test_an_answer_has_no_arguments(home: Home) -> None:
    run = go(home, asks())
    with pytest.raises(ToolgateError, match="arguments"):
        home.decide("approve", run, arguments={"text": "other"})
    assert home.row(run).origin == "CONFIRMATION_REQUIRED" and len(home.tools.starts) == 1


def test_the_precheck_is_about_a_beginning(home: Home) -> None:
    write(home, more='[tools."half.put".precheck]\nargv = ["true"]\n')
    home.tools.plan["half.put"] = [asks(), OK]
    run = home.start("half")
    home.decide("approve", run)
    assert len(home.tools.asked) == 1 and home.run(run).status == "COMPLETED"


def test_a_limit_is_reserved_for_the_answer_too(home: Home) -> None:
    write(home)
    operator = (home.folder / "toolgate.toml").read_text().replace("calls_per_run = 200", "calls_per_run = 1")
    home.write(operator)
    home.tools.plan["half.put"] = [asks(), OK]
    run = home.start("half")
    with pytest.raises(ToolgateError, match="has made its 1 calls"):
        home.decide("approve", run)
    assert len(home.tools.starts) == 1 and home.row(run).origin == "CONFIRMATION_REQUIRED"


def test_two_answers_race_and_one_counts(home: Home) -> None:
    run = go(home, asks(), OK)
    yes, target = home.seen(run)
    no, _ = home.seen(run)
    yes.approve(target)
    with pytest.raises(ToolgateError) as lost:
        no.reject(target)
    assert lost.value.kind == "claim_lost" and [started.answer for started in home.tools.starts[1:]] == [Answer("yes", "null")]


def test_what_is_left_of_the_asking_process_keeps_the_answer_back(home: Home) -> None:
    run = go(home, asks()._replace(left_behind="f1"), OK)
    home.host.held.add("f1")
    for verb in ("approve", "reject"):
        with pytest.raises(ToolgateError, match="still running"):
            home.decide(verb, run)
    home.host.held.clear()
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED"


@pytest.mark.parametrize(("verb", "word"), [("approve", "yes"), ("reject", "no")])
def test_what_was_answered_stays_on_record_once_the_call_is_redacted(home: Home, verb: str, word: str) -> None:
    run = go(home, asks("Pay 5 to bob?", "his account"), OK)
    id = home.row(run).id
    home.decide(verb, run, reason="as for Pay 5 to bob?")
    desk = home.desk()
    desk.redact(desk.redactable(id), "asked for")
    [decision] = payload(home.events(run, "REDACTED")[0])["decisions"]  # type: ignore[misc]  # a list of objects
    assert (decision["answer"], decision["round"]) == (word, 1)  # type: ignore[index, call-overload]  # of JSON
    assert "Pay 5" not in str(home.dump()) and "his account" not in str(home.dump())


def test_a_cancel_closes_the_question(home: Home) -> None:
    run = go(home, asks())
    home.desk().cancel(run, None)
    assert home.rows(run) == [] and home.run(run).status == "CANCELLED" and len(home.tools.starts) == 1


def test_a_row_that_other_hands_changed_is_not_answered(home: Home) -> None:
    run = go(home, asks(state=1), OK)
    row = home.row(run)
    with home.store.write() as tx:
        tx.remove(run, row.id)
        tx.save(row._replace(last=canonical.encode({"question": "Pay 5 to bob?", "round": 1, "state": 2})))
    for verb in ("approve", "reject"):
        with pytest.raises(ToolgateError) as refused:
            home.decide(verb, run)
        assert refused.value.kind == "storage"
    assert len(home.tools.starts) == 1


def test_a_reconcilable_tool_is_asked_what_the_answer_did(home: Home) -> None:
    write(home, "reconcilable", 2, more='[tools."half.put".reconcile]\nargv = ["true"]\n')
    home.tools.plan["half.put"] = [asks(state=1), LOST, OK]
    home.tools.answers["reconcile"] = [ToolResult("answered", ok=True, code=0, output='{"applied":false}')]
    run = home.start("half")
    home.decide("approve", run)
    assert [started.answer for started in home.tools.starts] == [None, Answer("yes", "1"), Answer("yes", "1")]
    assert home.run(run).status == "COMPLETED"
