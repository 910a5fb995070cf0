from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.models._answering import Called, turn

from .asking import REQUEST, SECRETS

LOOKUP = {"type": "tool_invocation", "capability": "orders.lookup", "arguments": {"order": "A"}}


def commands(*parts: Any, **request: Any) -> Any:
    made = turn(parts, REQUEST._replace(**request))
    assert made.text is None
    return made.commands


def test_calls_keep_their_order_and_commands_are_what_they_are_named() -> None:
    found = commands(
        Called("orders__lookup", '{"order":"A"}'),
        Called("ask", {"question": "which?"}),
        Called("orders__lookup", '{"order":"B"}'),
        Called("set_context", {"values": {"decision": 1}}),
        Called("continue", '{"wants_another_round":false}'),
        Called("say", {"message": "so"}),
        Called("escalate", {"reason": "why"}),
        Called("complete", ""),
    )
    assert [each["type"] for each in found] == [
        *("tool_invocation", "ask", "tool_invocation", "set_context", "continue", "say", "escalate", "complete")
    ]  # fmt: skip
    assert found[0] == LOOKUP and found[3]["values"] == {"decision": 1} and found[7] == {"type": "complete"}


@pytest.mark.parametrize(
    "raw", ['{"order":"A","order":"B"}', '{"order":NaN}', '{"order":1e999}', '{"a":', '{"a":1}{"b":2}', '["A"]', '"{}"', "null"]
)
def test_arguments_that_are_no_strict_object_go_to_the_gate_as_they_were_written(raw: str) -> None:
    assert commands(Called("orders__lookup", raw))[0]["arguments"] == raw


@pytest.mark.parametrize("blank", ["", " ", "\n"])
def test_no_arguments_are_none(blank: str) -> None:
    assert commands(Called("orders__lookup", blank))[0]["arguments"] == {}


@pytest.mark.parametrize("raw", ['{"question":"a","question":"b"}', '{"question":NaN}', "{"])
def test_a_command_whose_arguments_cannot_be_read_makes_the_whole_turn_unreadable(raw: str) -> None:
    made = turn([Called("orders__lookup", "{}"), Called("ask", raw)], REQUEST)
    assert made.commands is None and made.text == raw


@pytest.mark.parametrize("given", [["a"], "x", {"type": "tool_invocation", "capability": "orders.lookup"}])
def test_a_command_cannot_pass_as_another(given: Any) -> None:
    [made] = commands(Called("ask", given if not isinstance(given, str) else f'"{given}"'))
    assert made == {"type": "ask", "arguments": given}


def test_a_name_that_was_not_offered_is_a_capability_that_the_gate_refuses() -> None:
    assert [commands(Called(name, {}))[0]["capability"] for name in ("orders.lookup", "refunds__issue", "")] == [
        "orders.lookup",
        "refunds__issue",
        "",
    ]


@pytest.mark.parametrize("label, kept", [("call_1", "call_1"), ("x" * 300, "x" * 200), ("", None), (7, None), (None, None), (["a"], None)])
def test_an_id_is_a_label_where_it_is_a_text(label: object, kept: str | None) -> None:
    assert commands(Called("orders__lookup", {}, label))[0].get("id") == kept


def test_a_call_never_brings_an_id_of_ours() -> None:
    assert "call" not in commands(Called("orders__lookup", {"call": "c1"}))[0]


def test_an_answer_of_calls_without_end_is_refused_whole() -> None:
    assert len(commands(*[Called("orders__lookup", {})] * 128)) == 128
    made = turn([Called("orders__lookup", {})] * 129, REQUEST)
    assert made.commands is None and made.fault is not None and "129 calls" in made.fault


# ---- text ----
def test_text_before_tool_calls_is_why_they_are_made() -> None:
    found = commands("because", Called("orders__lookup", {}), Called("orders__lookup", {}), "and", Called("orders__lookup", {}))
    assert [each.get("rationale") for each in found] == ["because", "because", "and"]
    assert commands("x" * 5000, Called("orders__lookup", {}))[0]["rationale"] == "x" * 4000 + "... (cut, 5000 characters)"


def test_text_beside_commands_and_behind_calls_is_said() -> None:
    found = commands("first", Called("escalate", {"reason": "r"}), "last")
    assert found == [{"type": "say", "message": "first"}, {"type": "escalate", "reason": "r"}, {"type": "say", "message": "last"}]
    assert commands("first", Called("escalate", {"reason": "r"}), commands=("escalate",)) == [{"type": "escalate", "reason": "r"}]


@pytest.mark.parametrize("text", ["the order is damaged", "[1] is the first", "{}", '[{"order": 1}]', '"[{}]"', "[]"])
def test_text_alone_is_said(text: str) -> None:
    assert commands(f" {text}\n") == [{"type": "say", "message": text}]


@pytest.mark.parametrize("text", ['[{"type":"complete"}]', '[ {"type":"complete","type":"say"}]', '[{"a":', '[{"a":NaN}]'])
def test_text_that_is_meant_as_commands_is_read_as_such_and_never_passes_as_prose(text: str) -> None:
    made = turn([text], REQUEST)
    assert made.commands is None and made.text == text


def test_nothing_at_all_and_prose_of_an_agent_that_may_not_speak_are_no_turn() -> None:
    assert turn([], REQUEST).text == "" == turn(["", " \n"], REQUEST).text
    made = turn(["prose"], REQUEST._replace(commands=("complete",)))
    assert made.commands is None and made.text == "prose"


def test_halves_of_characters_are_made_visible() -> None:
    assert "\ud800" not in str(commands("a\ud800", Called("x\ud800", '{"a":"\ud800"', "id\ud800")))


@pytest.mark.parametrize("cut", ["a rationale", "a label"])
def test_a_secret_that_would_be_cut_in_two_is_found_before_it_is(cut: str) -> None:
    value = SECRETS.value("LIVE_KEY")
    why, label = (f"{'x' * (4001 - len(value))}{value}", "c1") if cut == "a rationale" else ("", f"{'x' * (201 - len(value))}{value}")
    with pytest.raises(ToolgateError, match="holds the value of the secret LIVE_KEY"):
        turn([why, Called("orders__lookup", {"order": "A"}, label)], REQUEST, SECRETS)
