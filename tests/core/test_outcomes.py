"""What results mean: declared codes, declared conditions, and doubt where neither can be judged."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.config import Condition, ExitRules, FailWhen, Tool
from toolgate_cli.core.outcomes import judge
from toolgate_cli.core.results import ToolResult

EXIT = ExitRules((75,), (64, 65), {3: "DECLINED"})
TOOL = Tool("a.b", "", None, "write", "unsafe", 1.0, 1, None, True, True, "", "command", None, EXIT, (), None)
DECLINED = FailWhen(Condition("/status", "eq", "declined"), "REFUND_DECLINED")
IGNORING = DECLINED._replace(on_missing="ignore")
BIG = FailWhen(Condition("/amount", "gt", 5), "TOO_BIG")


def ok(output: str, **fields: Any) -> ToolResult:
    return ToolResult("answered", ok=True, code=0, output=output, size=len(output), **fields)


def facts(result: ToolResult, *rules: FailWhen) -> tuple[str, str, str, str | None]:
    judged = judge(TOOL._replace(fail_when=rules), result)
    assert json.loads(judged.body) == judged.message or judged.kind == "success"
    return judged.kind, judged.dispatched, judged.effect_applied, judged.code


SUCCESS = ("success", "yes", "yes", None)
BUSINESS = ("business", "yes", "no", "REFUND_DECLINED")
UNJUDGEABLE = ("uncertain", "unknown", "unknown", "UNJUDGEABLE")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ToolResult("not_dispatched", message="no such file"), ("not_dispatched", "no", "no", "NOT_DISPATCHED")),
        (ToolResult("not_dispatched", ok=True, code=0), ("not_dispatched", "no", "no", "NOT_DISPATCHED")),
        (ToolResult("uncertain", message="timeout"), ("uncertain", "unknown", "unknown", "NO_ANSWER")),
        (ToolResult("uncertain", ok=True, code=3), ("uncertain", "unknown", "unknown", "NO_ANSWER")),
        (ToolResult("uncertain", code=75), ("uncertain", "unknown", "unknown", "NO_ANSWER")),
        (ToolResult("answered", code=75), ("not_dispatched", "no", "no", "NOT_DISPATCHED")),
        (ToolResult("answered", code=64), ("permanent", "yes", "unknown", "EXIT_64")),
        (ToolResult("answered", code=65), ("permanent", "yes", "unknown", "EXIT_65")),
        (ToolResult("answered", code=3), ("business", "yes", "no", "DECLINED")),
        (ToolResult("answered", code=1), ("answered", "yes", "unknown", "EXIT_1")),
        (ToolResult("answered", code=76), ("answered", "yes", "unknown", "EXIT_76")),
        (ToolResult("answered", code=0), ("answered", "yes", "unknown", "EXIT_0")),  # the provider says that it failed
        (ToolResult("answered"), ("answered", "yes", "unknown", "TOOL_FAILED")),
        (ToolResult("answered", ok=True), SUCCESS),
        (ToolResult("answered", ok=True, code=200), SUCCESS),
    ],
)
def test_an_end_is_told_by_its_four_facts(result: ToolResult, expected: tuple[str, str, str, str | None]) -> None:
    assert facts(result) == expected


def test_the_message_of_the_tool_comes_first_and_there_is_always_one() -> None:
    for result in (ToolResult("not_dispatched"), ToolResult("uncertain"), *(ToolResult("answered", code=code) for code in (75, 64, 3, 1))):
        assert judge(TOOL, result).message
        said = judge(TOOL, result._replace(message='it said "no"'))
        assert (said.message, json.loads(said.body)) == ('it said "no"', 'it said "no"')


def test_a_code_in_several_lists_permits_least() -> None:
    tool = TOOL._replace(exit=ExitRules((5, 6), (5,), {5: "X", 6: "Y"}))
    assert judge(tool, ToolResult("answered", code=5)).kind == "permanent"
    assert judge(tool, ToolResult("answered", code=6)).kind == "business"


def test_a_declared_code_counts_even_where_the_provider_calls_it_a_success() -> None:
    tool = TOOL._replace(exit=ExitRules(business={0: "EMPTY"}))
    assert judge(tool, ok("{}")).code == "EMPTY"


@pytest.mark.parametrize(
    ("output", "body"),
    [
        (' {"b": 1, "a": 1.0} \n', '{"a":1.0,"b":1}'),
        ("17", "17"),
        ("null\n", "null"),
        ('"x"', '"x"'),
        ("", '""'),
        ("done\n", '"done\\n"'),
        ('{"a":1,"a":2}', '"{\\"a\\":1,\\"a\\":2}"'),
        ("NaN", '"NaN"'),
        ("1e999", '"1e999"'),
        ('{"a":1} {"b":2}', '"{\\"a\\":1} {\\"b\\":2}"'),
        ("ä", '"ä"'),
        ("x\ud800", '"x\\\\ud800"'),
        ("[" * 300 + "]" * 300, '"' + "[" * 300 + "]" * 300 + '"'),
    ],
)
def test_the_result_is_one_strict_json_value_or_else_text(output: str, body: str) -> None:
    judged = judge(TOOL, ok(output))
    assert (judged.kind, judged.body) == ("success", body)


def test_cut_output_is_text_even_where_the_rest_of_it_reads_as_json() -> None:
    assert judge(TOOL, ok("123", truncated=True)).body == '"123"'


@pytest.mark.parametrize(
    ("output", "rules", "expected"),
    [
        ('{"status":"done"}', (DECLINED,), SUCCESS),
        ('{"status":"declined"}', (DECLINED,), BUSINESS),
        ('{"status":"declined"}', (IGNORING,), BUSINESS),
        ('{"state":"declined"}', (DECLINED,), UNJUDGEABLE),
        ('{"state":"declined"}', (IGNORING,), SUCCESS),
        ("[]", (DECLINED,), UNJUDGEABLE),
        ("5", (IGNORING,), SUCCESS),
        ("declined", (DECLINED,), UNJUDGEABLE),
        ("declined", (IGNORING,), UNJUDGEABLE),
        ("", (IGNORING,), UNJUDGEABLE),
        ('{"amount":5}', (BIG,), SUCCESS),
        ('{"amount":6}', (BIG,), ("business", "yes", "no", "TOO_BIG")),
        ('{"amount":"6"}', (BIG,), UNJUDGEABLE),
        ('{"amount":null}', (BIG._replace(on_missing="ignore"),), UNJUDGEABLE),
        ('{"status":"declined","amount":9}', (BIG, DECLINED), ("business", "yes", "no", "TOO_BIG")),
        ('{"status":"declined","amount":9}', (DECLINED, BIG), BUSINESS),
        ('{"status":"declined"}', (BIG, DECLINED), BUSINESS),  # a declared failure settles it, whatever else is missing
        ('{"status":"done"}', (DECLINED, BIG), UNJUDGEABLE),
        ('{"status":"done"}', (FailWhen(Condition("/error", "exists", True), "X"),), SUCCESS),
        ('{"error":null}', (FailWhen(Condition("/error", "exists", True), "X"),), ("business", "yes", "no", "X")),
        ("{}", (FailWhen(Condition("/id", "exists", False), "X"),), ("business", "yes", "no", "X")),
        ('{"status":"done"}', (FailWhen(Condition("/status", "nonsense", 1), "X"),), UNJUDGEABLE),
        ('{"status":"done"}', (FailWhen(Condition("/status", "matches", "("), "X"),), UNJUDGEABLE),
        ('{"status":"done"}', (FailWhen(Condition("status", "eq", 1), "X", "ignore"),), UNJUDGEABLE),
        ('["declined"]', (FailWhen(Condition("/0", "eq", "declined"), "REFUND_DECLINED"),), BUSINESS),
    ],
)
def test_fail_when_can_make_a_success_a_failure_or_a_doubt(
    output: str, rules: tuple[FailWhen, ...], expected: tuple[str, str, str, str | None]
) -> None:
    assert facts(ok(output), *rules) == expected


def test_cut_output_cannot_be_judged_where_it_has_to_be() -> None:
    assert facts(ok('{"status":"done"}', truncated=True), DECLINED) == UNJUDGEABLE
    assert facts(ok('{"status":"done"}', truncated=True), IGNORING) == UNJUDGEABLE


@pytest.mark.parametrize(
    "result", [ToolResult("uncertain", output='{"status":"done"}'), ToolResult("answered", code=1, output='{"status":"done"}')]
)
def test_fail_when_never_makes_a_success_of_anything(result: ToolResult) -> None:
    assert facts(result, DECLINED)[0] != "success"
    assert facts(result._replace(output='{"status":"declined"}'), DECLINED) == facts(result)


@given(st.text(), st.text(), st.sampled_from(["answered", "uncertain", "not_dispatched"]), st.booleans(), st.booleans())
def test_nothing_that_a_tool_wrote_raises(output: str, message: str, ended: Any, good: bool, cut: bool) -> None:
    judged = judge(TOOL._replace(fail_when=(DECLINED,)), ToolResult(ended, ok=good, code=0, output=output, truncated=cut, message=message))
    json.loads(judged.body)
    judged.message.encode()


def asked(output: str, **fields: Any) -> Any:
    confirming = TOOL._replace(exit=EXIT._replace(confirm=70))
    return judge(confirming, ToolResult("answered", code=70, output=output, size=len(output), message="exit code 70", **fields))


def test_a_tool_that_stops_half_way_has_asked_and_not_failed() -> None:
    found = asked('{"question": "Pay 5?\\u001b[1m", "state": {"id": 7}}')
    assert (found.kind, found.dispatched, found.effect_applied) == ("confirm", "yes", "unknown")
    assert found.message == "Pay 5?\u001b[1m" and json.loads(found.body) == {"id": 7}
    assert json.loads(asked('{"question": "Pay?"}').body) is None


@pytest.mark.parametrize(
    "output",
    ["", "Pay?", "[]", "{}", '{"question": ""}', '{"question": " "}', '{"question": 1}', '{"state": 1}',
     '{"question": "a", "answer": "yes"}', '{"question": "a", "question": "b"}'],
)  # fmt: skip
def test_a_question_that_cannot_be_read_is_in_doubt(output: str) -> None:
    assert (asked(output).kind, asked(output).code) == ("uncertain", "UNJUDGEABLE")


def test_a_question_that_was_cut_is_in_doubt() -> None:
    assert asked('{"question": "a"}', truncated=True).kind == "uncertain"


def test_without_a_declared_code_nothing_is_a_question() -> None:
    assert judge(TOOL, ToolResult("answered", code=70, output='{"question": "a"}')).kind == "answered"
