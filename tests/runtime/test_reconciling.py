"""A tool that can be asked what it did: the reconciler's word decides, and what it does not know waits for a person (I8, I9)."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core import canonical
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.types import Json

from . import texts
from .fakes import ASKS, DECLINED, FAILED, LOST, OK, PERMANENT, UNSENT
from .kit import Home, dies, payload

RECONCILE = '[tools."rec.put".reconcile]\nargv = ["true", "--status", "${args.text}"]\n'
RULES = {"rec": texts.rule("rec.*", "allow")}


def says(value: Json, **how: Any) -> ToolResult:
    text = canonical.encode(value)
    return ToolResult("answered", ok=True, code=0, output=text, size=len(text))._replace(**how)


APPLIED, NOT, UNKNOWN = says({"applied": True, "result": {"id": 7}}), says({"applied": False}), says({"applied": "unknown"})
SILENT = ToolResult("uncertain", message="timed out after 5s")


def write(home: Home, attempts: int = 3, more: str = RECONCILE, effect: str = "reconcilable", rules: dict[str, str] | None = None) -> None:
    tool = texts.tool("rec.put", effect, attempts, more=more)
    home.write(texts.operator({"rec.put": tool}, rules or RULES), rec=texts.flow("rec", texts.uses("s", "rec.put"), texts.AFTER))


def go(home: Home, ends: list[Any], answers: list[Any], attempts: int = 3) -> str:
    write(home, attempts)
    home.tools.plan["rec.put"], home.tools.answers["reconcile"] = list(ends), list(answers)
    return home.start("rec")


ENDS = {"answered": FAILED._replace(message="no room"), "uncertain": LOST}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("attempts", [1, 3])
def test_what_was_applied_is_a_success_with_its_result(home: Home, end: str, attempts: int) -> None:
    run = go(home, [ENDS[end]], [APPLIED], attempts)
    assert len(home.tools.starts) == 1 and home.run(run).status == "COMPLETED" and home.rows(run) == []
    assert home.value(run, "tool.rec.put") == {"id": 7} and home.value(run, "after") == "yes"
    [done] = home.events(run, "TOOL_INVOCATION_COMPLETED")
    assert payload(done)["reconciled"] is True and payload(done)["outcome"] == "succeeded" and done.attempt == 1
    outcome = home.outcome(home.tools.starts[0].call)
    assert (outcome.status, outcome.dispatched, outcome.effect_applied) == ("succeeded", "yes", "yes")


@pytest.mark.parametrize(("result", "mark"), [({"id": 7}, None), ({"id": "7"}, "OUTPUT_MISMATCH"), ("7", "OUTPUT_MISMATCH")])
def test_what_came_of_it_is_held_to_the_output_schema_and_counts_all_the_same(home: Home, result: Json, mark: str | None) -> None:
    write(home, more='output_schema = { type = "object", properties = { id = { type = "integer" } } }\n' + RECONCILE)
    home.tools.plan["rec.put"], home.tools.answers["reconcile"] = [LOST], [says({"applied": True, "result": result})]
    run = home.start("rec")
    assert home.value(run, "tool.rec.put") == result and home.outcome(home.tools.starts[0].call).code == mark
    told = payload(home.events(run, "TOOL_INVOCATION_COMPLETED")[0])
    assert told.get("code") == mark and ("output schema" in str(told.get("message"))) == (mark is not None)


@pytest.mark.parametrize("end", ENDS)
def test_what_was_not_applied_is_started_again_under_the_same_key(home: Home, end: str) -> None:
    run = go(home, [ENDS[end], OK], [NOT])
    assert len(home.tools.starts) == 2 and home.run(run).status == "COMPLETED"
    assert len({started.key for started in home.tools.starts}) == 1 and len(home.clock.slept) == 1
    assert [payload(event).get("reconciled") for event in home.events(run, "TOOL_INVOCATION_STARTED")] == [None, "not_applied"]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("answer", [UNKNOWN, SILENT, says("garbage"), says({"applied": False}, ok=False, code=1)])
@pytest.mark.parametrize("attempts", [1, 3])
def test_what_nobody_knows_waits_for_a_person(home: Home, end: str, answer: ToolResult, attempts: int) -> None:
    run = go(home, [ENDS[end]] * 3, [answer], attempts)
    row = home.row(run)
    assert len(home.tools.starts) == 1 and (row.origin, row.doubt, row.starts) == ("OUTCOME_UNKNOWN", "reconcilable", 1)
    assert str(row.reason).startswith(f"{ENDS[end].message}; the reconciler does not know what it did: ")
    told = home.events(run)[-1]
    assert (told.type, payload(told)["code"]) == ("TOOL_INVOCATION_OUTCOME_UNKNOWN", "NOT_RECONCILED")


@pytest.mark.parametrize("end", ENDS)
def test_once_the_attempts_are_used_up_it_is_asked_once_more(home: Home, end: str) -> None:
    run = go(home, [ENDS[end]] * 3, [NOT] * 3)
    row = home.row(run)
    assert len(home.tools.starts) == 3 and len(home.tools.asked) == 3
    assert (row.origin, row.doubt, row.starts) == ("EXECUTION_FAILED", None, 3) and "not applied" in str(row.reason)
    told = home.events(run)[-1]
    assert (told.type, payload(told)["code"]) == ("TOOL_INVOCATION_FAILED", "NOT_APPLIED")
    again = go(home, [ENDS[end]] * 3, [NOT, NOT, APPLIED])
    assert home.run(again).status == "COMPLETED" and home.value(again, "tool.rec.put") == {"id": 7}


@pytest.mark.parametrize(
    ("end", "starts", "status"), [(PERMANENT, 1, None), (DECLINED, 1, "COMPLETED"), (UNSENT, 3, None), (OK, 1, "COMPLETED")]
)
def test_what_is_known_is_not_asked(home: Home, end: ToolResult, starts: int, status: str | None) -> None:
    run = go(home, [end] * 3, [])
    assert len(home.tools.starts) == starts and home.tools.asked == []
    assert home.run(run).status == status if status else home.row(run).origin == "EXECUTION_FAILED"


@pytest.mark.parametrize("end", ENDS)
def test_what_could_not_be_killed_cannot_be_asked_about(home: Home, end: str) -> None:
    run = go(home, [ENDS[end]._replace(survivors=("7 put",))], [NOT] * 3)
    assert home.tools.asked == [] and (home.row(run).origin, home.row(run).doubt) == ("OUTCOME_UNKNOWN", "reconcilable")


@pytest.mark.parametrize("end", ENDS)
def test_what_still_runs_cannot_be_asked_about(home: Home, end: str) -> None:
    run = go(home, [ENDS[end]._replace(left_behind="f1")], [NOT] * 3)
    home.host.held.add("f1")
    assert home.tools.asked == [] and (home.row(run).origin, home.row(run).doubt) == ("OUTCOME_UNKNOWN", "reconcilable")
    with pytest.raises(ToolgateError, match="still running"):
        home.decide("retry", run)
    assert home.tools.asked == []


@pytest.mark.parametrize("attempts", [1, 3])
def test_a_crash_before_the_reconcilers_word_leaves_a_doubt(home: Home, attempts: int) -> None:
    write(home, attempts)
    home.tools.plan["rec.put"], home.tools.answers["reconcile"] = [FAILED], [dies, APPLIED]
    home.killed(lambda: home.start("rec"))
    run = home.events()[0].run_id
    assert run is not None
    home.desk().recover(None, None)
    row = home.row(run)
    assert (row.origin, row.doubt, row.starts, len(home.tools.starts)) == ("OUTCOME_UNKNOWN", "reconcilable", 1, 1)
    home.decide("retry", run)
    assert len(home.tools.starts) == 1 and home.run(run).status == "COMPLETED" and home.value(run, "tool.rec.put") == {"id": 7}


@pytest.mark.parametrize(("answer", "starts"), [(APPLIED, 1), (NOT, 2)])
def test_a_retry_asks_it_first(home: Home, answer: ToolResult, starts: int) -> None:
    run = go(home, [LOST, OK], [UNKNOWN, answer])
    home.decide("retry", run)
    assert len(home.tools.starts) == starts and home.run(run).status == "COMPLETED"
    [retried] = home.events(run, "TOOL_INVOCATION_RETRIED")
    assert payload(retried)["reconciled"] == ("applied" if starts == 1 else "not_applied")


@pytest.mark.parametrize("answer", [UNKNOWN, SILENT])
def test_a_retry_of_what_nobody_knows_needs_the_flag(home: Home, answer: ToolResult) -> None:
    run = go(home, [LOST, OK], [UNKNOWN, answer, answer])
    with pytest.raises(ToolgateError, match="its reconciler does not know") as refused:
        home.decide("retry", run)
    assert refused.value.kind == "unknown_outcome" and len(home.tools.starts) == 1
    home.decide("retry", run, may_run_twice=True)
    assert len(home.tools.starts) == 2 and home.run(run).status == "COMPLETED"


def test_the_flag_does_not_run_twice_what_was_applied(home: Home) -> None:
    run = go(home, [LOST, OK], [UNKNOWN, APPLIED])
    home.decide("retry", run, may_run_twice=True)
    assert len(home.tools.starts) == 1 and home.run(run).status == "COMPLETED"


def test_what_was_not_applied_is_in_doubt_no_more(home: Home) -> None:
    run = go(home, [LOST, PERMANENT], [UNKNOWN, NOT])
    home.decide("retry", run)
    assert (home.row(run).origin, home.row(run).doubt) == ("EXECUTION_FAILED", None)
    home.decide("retry", run)
    assert home.run(run).status == "COMPLETED" and len(home.tools.asked) == 2


def test_the_answer_is_that_of_the_reconciler_as_it_is_now(home: Home) -> None:
    run = go(home, [LOST], [UNKNOWN, APPLIED])
    write(home, more=RECONCILE.replace("--status", "--state"))
    home.decide("retry", run)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 1


def test_a_tool_that_was_unsafe_when_it_was_started_is_not_settled_by_a_later_reconciler(home: Home) -> None:
    write(home, 1, "", "unsafe")
    home.tools.plan["rec.put"] = [LOST]
    run = home.start("rec")
    write(home)
    home.tools.answers["reconcile"] = [NOT]
    with pytest.raises(ToolgateError, match="not declared safe"):
        home.decide("retry", run)
    assert home.tools.asked == [] and len(home.tools.starts) == 1


@pytest.mark.parametrize("effect", ["idempotent", "unsafe"])
def test_a_tool_that_has_no_reconciler_any_more_is_not_asked(home: Home, effect: str) -> None:
    run = go(home, [LOST], [UNKNOWN])
    write(home, more="", effect=effect)
    with pytest.raises(ToolgateError, match=r"may have taken effect, and rec\.put is not declared safe"):
        home.decide("retry", run)
    assert len(home.tools.asked) == 1 == len(home.tools.starts)


def test_a_reconciler_of_a_tool_that_cannot_be_used_is_not_asked_and_it_is_said_why(home: Home) -> None:
    run = go(home, [LOST], [UNKNOWN])
    gone = texts.tool("rec.put", "reconcilable", 3, more=RECONCILE).replace('.command]\nargv = ["true"]', '.command]\nargv = ["./gone"]')
    home.write(texts.operator({"rec.put": gone}, RULES))
    with pytest.raises(ToolgateError, match=r"its reconciler does not know: it cannot be asked: .*gone"):
        home.decide("retry", run)
    assert len(home.tools.asked) == 1 == len(home.tools.starts)


def test_of_a_start_with_an_answer_it_is_said_that_it_failed_and_the_question_is_kept(home: Home) -> None:
    """What the next attempt is told stands where the end of this one would."""
    tool = texts.tool("rec.put", "reconcilable", 3, more="may_confirm = true\n" + RECONCILE).replace(".exit]\n", ".exit]\nconfirm = 70\n")
    home.write(texts.operator({"rec.put": tool}, RULES), rec=texts.flow("rec", texts.uses("s", "rec.put"), texts.AFTER))
    home.tools.plan["rec.put"], home.tools.answers["reconcile"] = [ASKS, LOST], [UNKNOWN]
    run = home.start("rec")
    home.decide("approve", run)
    assert home.row(run).origin == "OUTCOME_UNKNOWN" and str(home.row(run).reason).startswith("it failed; the reconciler does not know")


def test_a_cancel_while_it_is_asked_keeps_the_doubt_listed(home: Home) -> None:
    def cancels(started: Any) -> ToolResult:
        assert started.limits.stop() is False
        [event] = home.events(type="RUN_STARTED")
        assert event.run_id is not None
        home.desk().cancel(event.run_id, None)
        assert started.limits.stop() is True
        return APPLIED

    run = go(home, [LOST], [cancels])
    row = home.row(run)
    assert home.run(run).status == "CANCELLED" and (row.origin, row.doubt) == ("OUTCOME_UNKNOWN", "reconcilable")
    assert "TOOL_INVOCATION_COMPLETED" not in home.types(run)


def test_a_denial_between_two_attempts_starts_nothing_whatever_the_reconciler_says(home: Home) -> None:
    write(home)

    def denies(_started: Any) -> ToolResult:
        write(home, rules={"rec": texts.rule("rec.*", "deny")})
        return NOT

    home.tools.plan["rec.put"], home.tools.answers["reconcile"] = [LOST, OK], [denies, NOT]
    run = home.start("rec")
    assert home.row(run).origin == "POLICY_DENIED" and len(home.tools.starts) == 1 and home.row(run).doubt is None


def test_an_answer_under_files_that_have_changed_since_counts_for_nothing(home: Home) -> None:
    def changes(_started: Any) -> ToolResult:
        write(home, more=RECONCILE.replace("--status", "--state"))
        return APPLIED

    run = go(home, [LOST], [changes, UNKNOWN])
    assert home.row(run).origin == "OUTCOME_UNKNOWN" and len(home.tools.asked) == 2


def test_the_reconciler_is_asked_before_the_precheck(home: Home) -> None:
    write(home, more=RECONCILE + '[tools."rec.put".precheck]\nargv = ["true"]\n')
    home.tools.plan["rec.put"] = [LOST]
    home.tools.answers["reconcile"] = [APPLIED]
    run = home.start("rec")
    assert [name for name, _ in home.tools.asked] == ["precheck", "reconcile"] and home.run(run).status == "COMPLETED"


def test_the_deadline_of_the_run_does_not_keep_it_from_being_asked(home: Home) -> None:
    write(home)
    operator = texts.operator(
        {"rec.put": texts.tool("rec.put", "reconcilable", 3, more=RECONCILE)}, RULES, more='[context]\ndeadline = "10s"\n'
    )
    home.write(operator)

    def late(_started: Any) -> ToolResult:
        home.clock.pass_time(20)
        return LOST

    home.tools.plan["rec.put"], home.tools.answers["reconcile"] = [late], [APPLIED]
    run = home.start("rec")
    assert home.run(run).status == "COMPLETED" and home.tools.asked[0][1].limits.timeout == 5
