"""Both adapters on a stand-in that others wrote: native calls, limits of rate, dropped and malformed answers."""

from __future__ import annotations

from typing import Any

import pytest
from peers.aimock import Aimock

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.turns import Completion, Exchange

from .asking import ADAPTERS, MEANS, REQUEST, fields

pytestmark = pytest.mark.parametrize("adapter", sorted(ADAPTERS))

TWO = {
    "content": "I look both up.",
    "toolCalls": [
        {"name": "orders__lookup", "arguments": '{"order":"A-17"}'},
        {"name": "orders__lookup", "arguments": '{"order":"A-18"}'},
        {"name": "set_context", "arguments": '{"values":{"decision":"refund"}}'},
    ],
    "usage": {"prompt_tokens": 30, "completion_tokens": 12, "input_tokens": 30, "output_tokens": 12},
}
LIMITED = {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429, "retryAfter": 0}


def answer(adapter: str, aimock: Aimock, **request: Any) -> Completion:
    found: Completion = ADAPTERS[adapter].complete(fields(adapter, aimock.url), "/", REQUEST._replace(**request), MEANS)
    return found


def test_native_calls_are_commands_in_their_order_and_tokens_are_counted(adapter: str, aimock: Aimock) -> None:
    aimock.answers(TWO)
    found = answer(adapter, aimock)
    assert isinstance(found.commands, list)
    first, second, third = found.commands
    assert isinstance(first, dict) and first.pop("id")
    assert first == {
        "type": "tool_invocation", "capability": "orders.lookup", "arguments": {"order": "A-17"}, "rationale": "I look both up.",
    }  # fmt: skip
    assert isinstance(second, dict) and second["arguments"] == {"order": "A-18"}
    assert third == {"type": "set_context", "values": {"decision": "refund"}}
    assert (found.tokens_in, found.tokens_out, found.tokens, found.answered_by) == (30, 12, 42, "some-model")


def test_what_was_offered_and_what_was_answered_arrive_as_the_api_understands_them(adapter: str, aimock: Aimock) -> None:
    aimock.answers({"content": "fine"})
    call = {"type": "tool_invocation", "capability": "orders.lookup", "arguments": {"order": "A-17"}, "call": "c1"}
    past = Exchange([call, {**call, "call": "c2"}, {"type": "ask", "question": "q"}], ("one", "two", '{"answer":"yes"}'))
    assert answer(adapter, aimock, history=(past,)).commands == [{"type": "say", "message": "fine"}]
    [body] = aimock.requests()
    assert [tool["function"]["name"] for tool in body["tools"]] == [
        *("orders__lookup", "set_context", "ask", "escalate", "continue", "complete")
    ]  # fmt: skip
    asked = [call["id"] for message in body["messages"] for call in message.get("tool_calls", [])]
    told = {message["tool_call_id"]: message["content"] for message in body["messages"] if message["role"] == "tool"}
    assert len(asked) == 3 and list(told) == asked and list(told.values()) == ["one", "two", '{"answer":"yes"}']


def test_a_limit_of_rate_is_waited_for(adapter: str, aimock: Aimock) -> None:
    aimock.answers(LIMITED, LIMITED, {"content": "fine"})
    assert answer(adapter, aimock).commands == [{"type": "say", "message": "fine"}] and len(aimock.requests()) == 3


def test_dropped_connections_are_made_again_and_given_up_on(adapter: str, aimock: Aimock) -> None:
    aimock.answers({"content": "fine"})
    aimock.chaos(disconnectRate=1)
    with pytest.raises(ToolgateError, match=r"connection was lost.*\(3 attempts\)"):
        answer(adapter, aimock)


def test_a_broken_server_is_given_up_on(adapter: str, aimock: Aimock) -> None:
    aimock.answers({"content": "fine"})
    aimock.chaos(dropRate=1)
    with pytest.raises(ToolgateError, match=r"it answered 500: .*\(3 attempts\)"):
        answer(adapter, aimock)


def test_a_malformed_answer_is_told_and_not_asked_for_again(adapter: str, aimock: Aimock) -> None:
    aimock.answers({"content": "fine"})
    aimock.chaos(malformedRate=1)
    with pytest.raises(ToolgateError, match="answer is malformed: it is not JSON"):
        answer(adapter, aimock)


def test_an_answer_that_was_cut_off_is_refused_whole(adapter: str, aimock: Aimock) -> None:
    aimock.answers({**TWO, "finishReason": "length"})
    found = answer(adapter, aimock)
    assert found.fault is not None and "cut off" in found.fault and found.commands is None and found.tokens == 42


def test_a_wrong_key_is_refused(adapter: str, aimock: Aimock) -> None:
    made = fields(adapter, aimock.url, api_key="sk-wrong-key-of-somebody")
    with pytest.raises(ToolgateError, match="it answered 401") as caught:
        ADAPTERS[adapter].complete(made, "/", REQUEST, MEANS)
    assert "sk-wrong" not in caught.value.message
