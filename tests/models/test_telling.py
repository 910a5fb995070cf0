from __future__ import annotations

from typing import Any

from toolgate_cli.core.turns import Exchange
from toolgate_cli.core.untrusted import wrap
from toolgate_cli.models._telling import GO_ON, opening, rounds

from .asking import REQUEST


def past(commands: Any, *results: str) -> Any:
    [found] = rounds(REQUEST._replace(history=(Exchange(commands, results),)))
    return found


def call(minted: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_invocation", "capability": "orders.lookup", "arguments": {"order": minted}, "call": minted, **more}


def test_what_is_read_is_told_by_its_key_as_it_is_handed_over() -> None:
    data = wrap("inputs.o", "user", "A")
    assert opening(REQUEST._replace(context={"inputs.o": data, "note": "[1]"})) == f'"inputs.o": {data}\n"note": [1]'


def test_nothing_to_read_is_a_beginning_all_the_same() -> None:
    assert opening(REQUEST) == "Begin."


def test_every_call_has_an_id_of_ours_whatever_the_model_sent_and_its_own_result() -> None:
    found = past([call("c1", id="same"), {"type": "say", "message": "so"}, call("c2", id="same"), call("c3", id="")], "one", "two", "three")
    assert [each.result for each in found.calls] == ["one", "two", "three"] and found.text == "so" and found.after == ""
    assert [each.id for each in found.calls] == ["t00000001", "t00000002", "t00000003"]
    assert [each.name for each in found.calls] == ["orders__lookup"] * 3


def test_ids_go_on_from_turn_to_turn() -> None:
    found = rounds(REQUEST._replace(history=(Exchange([call("c1")], ("1",)), Exchange([call("c2")], ("2",)))))
    assert [each.calls[0].id for each in found] == ["t00000001", "t00000002"]


def test_people_answer_what_was_asked_of_them_and_other_commands_are_done() -> None:
    commands = [
        {"type": "ask", "question": "a?"},
        call("c1"),
        {"type": "set_context", "values": {"k": 1}},
        {"type": "escalate", "reason": "r"},
    ]
    found = past(commands, "result", '{"answer":"yes"}', '{"note":"go on"}')
    assert [(each.name, each.result) for each in found.calls] == [
        ("ask", '{"answer":"yes"}'), ("orders__lookup", "result"), ("set_context", "done"), ("escalate", '{"note":"go on"}'),
    ]  # fmt: skip
    assert found.calls[0].arguments == {"question": "a?"}


def test_a_turn_without_calls_is_answered_too() -> None:
    assert past([{"type": "say", "message": "hm"}]) == ("hm", (), GO_ON)


def test_what_is_left_over_of_what_was_heard_is_told_behind_the_results() -> None:
    assert past([call("c1")], "result", "more").after == "more"


def test_a_turn_that_could_not_be_read_is_told_as_it_was() -> None:
    assert past({"unparsed": "{oops"}, "that is no JSON") == ("{oops", (), "that is no JSON")
    assert past([7, {"no": "type"}]) == ('7\n\n{"no":"type"}', (), GO_ON)


def test_arguments_that_the_gate_refused_are_told_inside_an_object_and_a_reason_once() -> None:
    found = past([call("c1", rationale="why") | {"arguments": '{"a":1,"a":2}'}, call("c2", rationale="why")], "refused", "ok")
    assert found.calls[0].arguments == {"refused": '{"a":1,"a":2}'} and found.text == "why"
