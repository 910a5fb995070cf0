"""The answers of each API in its own shape: what is malformed is told, and of what was cut off or withheld nothing is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from peers.aimock import KEY

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.turns import Completion, Exchange

from .asking import ADAPTERS, MEANS, REQUEST, called, fields
from .wire import Wire, reply

CALL = {"type": "tool_invocation", "capability": "orders.lookup", "arguments": {"order": "A"}, "call": "c1", "id": "theirs"}
Ask = Callable[..., Completion]


@pytest.fixture
def ask(wire: Wire) -> Ask:
    def asked(adapter: str, answer: object, **request: Any) -> Completion:
        wire.answers = [reply(answer)]
        found: Completion = ADAPTERS[adapter].complete(fields(adapter, wire.url), "/", REQUEST._replace(**request), MEANS)
        return found

    return asked


def changed(answer: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    at: Any = answer
    *inner, last = path.split("/")
    for key in inner:
        at = at[int(key) if isinstance(at, list) else key]
    at[int(last) if isinstance(at, list) else last] = value
    return answer


# ---- malformed ----
@pytest.mark.parametrize("value", [None, [], {}, "x", [None], [{}], [{"message": []}], [{"message": {}}, {"message": {}}]])
def test_openai_choices_that_are_none(ask: Ask, value: object) -> None:
    with pytest.raises(ToolgateError, match="malformed"):
        ask("openai", {"choices": value})


@pytest.mark.parametrize(
    "path, value",
    [
        ("content", 7),
        ("content", [{"type": "image_url"}]),
        ("content", ["x"]),
        ("tool_calls", {}),
        ("tool_calls", [None]),
        ("tool_calls", [{"type": "custom", "function": {"name": "x"}}]),
        ("tool_calls", [{"function": None}]),
        ("tool_calls", [{"function": {"name": 7}}]),
        ("tool_calls", [{"function": {"name": "x" * 201}}]),
        ("tool_calls", [{"function": {"name": "x", "arguments": 7}}]),
        ("tool_calls", [{"function": {"name": "x", "arguments": None}}]),
        ("function_call", {"name": "x", "arguments": "{}"}),
    ],
)
def test_an_openai_message_of_another_shape(ask: Ask, path: str, value: object) -> None:
    with pytest.raises(ToolgateError, match="malformed"):
        ask("openai", changed(called("openai", ("orders__lookup", "{}")), f"choices/0/message/{path}", value))


@pytest.mark.parametrize(
    "content",
    [
        *(None, {}, "x", [None], [{}], [{"type": 7}], [{"type": "image"}], [{"type": "text", "text": 7}]),
        *(
            [{"type": "tool_use", "name": "x" * 201, "input": {}}],
            [{"type": "tool_use", "name": "x"}],
            [{"type": "tool_use", "input": {}}],
            [{"type": "tool_use", "name": "x", "input": "{}"}],
        ),
    ],
)
def test_an_anthropic_content_of_another_shape(ask: Ask, content: object) -> None:
    with pytest.raises(ToolgateError, match="malformed"):
        ask("anthropic", {"content": content, "stop_reason": "end_turn"})


@pytest.mark.parametrize("adapter", sorted(ADAPTERS))
def test_a_number_in_arguments_that_no_double_holds_is_refused_and_elsewhere_it_may_stand(ask: Ask, wire: Wire, adapter: str) -> None:
    number = b"0.12345678901234567890"
    answer = str(called(adapter, ("orders__lookup", {"n": 7}))).replace("'", '"').replace("None", "null").encode()
    wire.answers = [reply(answer.replace(b"7", number))]
    with pytest.raises(ToolgateError, match="malformed"):
        ADAPTERS[adapter].complete(fields(adapter, wire.url), "/", REQUEST, MEANS)
    wire.answers = [reply(answer[:-1] + b', "timing": ' + number + b"}")]
    assert ADAPTERS[adapter].complete(fields(adapter, wire.url), "/", REQUEST, MEANS).commands[0]["arguments"] == {"n": 7}


# ---- at fault ----
@pytest.mark.parametrize(
    "adapter, end",
    [("openai", "length"), ("openai", "max_tokens"), ("anthropic", "max_tokens"), ("anthropic", "model_context_window_exceeded")],
)
def test_an_answer_that_was_cut_off_is_refused_whole_and_counted(ask: Ask, adapter: str, end: str) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "input_tokens": 3, "output_tokens": 4}
    found = ask(adapter, {**called(adapter, ("orders__lookup", {"order": "A"}), end=end), "usage": usage})
    assert found.commands is None and found.text is None and found.tokens == 7
    assert found.fault is not None and "cut off" in found.fault and end in found.fault


def test_an_answer_that_was_withheld_is_a_fault(ask: Ask) -> None:
    filtered = ask("openai", called("openai", ("orders__lookup", "{}"), end="content_filter"))
    assert filtered.fault == "the model's answer was withheld: content_filter" and filtered.commands is None
    refusal = ask("openai", changed(called("openai", text="x"), "choices/0/message/refusal", f"I will not {KEY}\n" + "x" * 9999))
    assert refusal.fault is not None and refusal.fault.startswith("the model's answer was withheld: I will not ***LIVE_KEY*** xxx")
    assert len(refusal.fault) < 400
    assert ask("anthropic", called("anthropic", text="x", end="refusal")).fault == "the model's answer was withheld: refusal"


@pytest.mark.parametrize(
    "adapter, ends", [("openai", ["abort", "error", "function_call", 7, [], {}]), ("anthropic", ["pause_turn", "new_one", None, "", 7, []])]
)
def test_an_end_that_is_not_known_is_a_fault(ask: Ask, adapter: str, ends: list[Any]) -> None:
    for end in ends:
        answer = called(adapter, ("orders__lookup", {"order": "A"}))
        found = ask(adapter, changed(answer, "choices/0/finish_reason" if adapter == "openai" else "stop_reason", end))
        assert found.commands is None and found.fault is not None and "did not come to its end" in found.fault


@pytest.mark.parametrize("end", [None, "", "stop", "tool_calls", "eos_token"])
def test_servers_name_a_whole_answer_in_several_ways(ask: Ask, end: object) -> None:
    answer = changed(called("openai", ("orders__lookup", "{}")), "choices/0/finish_reason", end)
    assert ask("openai", answer).fault is None


# ---- what is counted ----
@pytest.mark.parametrize("number", [-1, True, 1.5, "7", None, 10**12, [1]])
def test_a_count_that_is_none_is_null(ask: Ask, number: object) -> None:
    usage = {"prompt_tokens": number, "completion_tokens": 4, "total_tokens": number}
    found = ask("openai", {**called("openai", text="x"), "usage": usage})
    assert (found.tokens_in, found.tokens_out, found.tokens) == (None, 4, 4)
    assert ask("openai", {**called("openai", text="x"), "usage": number}).tokens is None


def test_what_was_read_from_a_cache_counts_as_read(ask: Ask) -> None:
    usage = {"input_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 4000}
    found = ask("anthropic", {**called("anthropic", text="x"), "usage": usage, "model": "m-1"})
    assert (found.tokens_in, found.tokens_out, found.tokens, found.answered_by) == (321, 4000, 4321, "m-1")


def test_thoughts_are_not_said(ask: Ask) -> None:
    answer = called("anthropic", text="fine")
    answer["content"][:0] = [{"type": "thinking", "thinking": "hm", "signature": "x"}, {"type": "redacted_thinking", "data": "x"}]
    assert ask("anthropic", answer) == Completion([{"type": "say", "message": "fine"}])


def test_parts_of_text_are_one(ask: Ask) -> None:
    answer = changed(called("openai", text=""), "choices/0/message/content", [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
    assert ask("openai", answer).commands == [{"type": "say", "message": "a\n\nb"}]


# ---- the conversation in the API's own shape ----
HISTORY = (
    Exchange(
        [{**CALL, "rationale": "why"}, {**CALL, "call": "c2"}, {"type": "ask", "question": "q"}],
        ('{"state":1}', "rejected: no", '{"answer":"yes"}'),
    ),
    Exchange([{"type": "say", "message": "hm"}], ()),
)


def test_openai_is_told_every_result_by_the_id_of_its_call(ask: Ask, wire: Wire) -> None:
    ask("openai", called("openai", text="x"), history=HISTORY)
    [body] = wire.bodies()
    roles = ["system", "user", "assistant", "tool", "tool", "tool", "assistant", "user"]
    assert [message["role"] for message in body["messages"]] == roles
    asked, *answers = body["messages"][2:6]
    assert asked["content"] == "why" and [call["id"] for call in asked["tool_calls"]] == [answer["tool_call_id"] for answer in answers]
    assert [call["function"]["name"] for call in asked["tool_calls"]] == ["orders__lookup", "orders__lookup", "ask"]
    assert asked["tool_calls"][0]["function"]["arguments"] == '{"order":"A"}'
    assert [answer["content"] for answer in answers] == ['{"state":1}', "rejected: no", '{"answer":"yes"}']
    assert body["messages"][6]["content"] == "hm" and "stream" not in body and "theirs" not in wire.requests[0].decode()


def test_anthropic_is_told_every_result_in_the_message_behind_its_calls(ask: Ask, wire: Wire) -> None:
    ask("anthropic", called("anthropic", text="x"), history=HISTORY)
    [body] = wire.bodies()
    assert body["system"] == "be kind" and [message["role"] for message in body["messages"]] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    asked, answers = body["messages"][1]["content"], body["messages"][2]["content"]
    assert asked[0] == {"type": "text", "text": "why"} and [block["type"] for block in asked[1:]] == ["tool_use"] * 3
    assert [block["id"] for block in asked[1:]] == [block["tool_use_id"] for block in answers]
    assert [block["content"] for block in answers] == ['{"state":1}', "rejected: no", '{"answer":"yes"}']
    assert asked[1]["input"] == {"order": "A"} and body["messages"][3]["content"] == [{"type": "text", "text": "hm"}]
    assert b"anthropic-version: 2023-06-01" in wire.requests[0].lower() and wire.requests[0].startswith(b"POST /v1/messages ")


def test_anthropic_is_sent_no_empty_text(ask: Ask, wire: Wire) -> None:
    ask("anthropic", called("anthropic", text="x"), history=(Exchange({"unparsed": ""}, ()),), prompt="")
    [body] = wire.bodies()
    assert body["messages"][1]["content"] == [{"type": "text", "text": "(nothing)"}] and "system" not in body


def test_without_anything_to_call_no_tools_are_sent(ask: Ask, wire: Wire) -> None:
    for adapter in ADAPTERS:
        ask(adapter, called(adapter, text="x"), commands=("say",))
    assert all("tools" not in body for body in wire.bodies())
