"""I13 and the batches of a turn: the model is asked once a turn, what was stored is what runs, and after a refusal a person is asked."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult

from . import texts
from .fakes import ASKS, COMPLETE, FAILED, LOST, OK, Started, call
from .kit import Home, dies, payload

SET = {"type": "set_context", "values": {"seen": "yes"}}
ASK = {"type": "ask", "question": "which one?"}


def talk(home: Home, *turns: list[Any]) -> str:
    home.models.turns["s"] = list(turns)
    return home.start("talk")


def open_row(home: Home, run: str, capability: str) -> Any:
    """The open row of a capability."""
    with home.store.read() as tx:
        [row] = [row for row in tx.find_by_run(run) if row.revision is not None and tx.call(row.id)[0].capability == capability]
    return row


def test_the_rest_of_a_turn_goes_on_after_every_decision_without_the_model(home: Home) -> None:
    run = talk(home, [call("ask.send"), SET, call("late.send"), ASK, {"type": "escalate", "reason": "why"}, call("free.send"), COMPLETE])
    assert home.run(run).status == "AWAITING_TOOL_APPROVAL" and home.tools.starts == []
    home.decide("approve", run)
    assert home.value(run, "seen") == "yes" and home.tools.names() == ["ask.send"]
    home.decide("approve", run)
    assert home.run(run).status == "AWAITING_INPUT"
    home.answer(run, {"answer": "this"}, {})
    assert home.run(run).status == "AWAITING_APPROVAL"
    desk = home.desk()
    desk.approve_step(desk.select_step(run, "s", "approve"), reason="go on")
    assert home.tools.names() == ["ask.send", "late.send", "free.send"] and home.run(run).status == "COMPLETED"
    assert len(home.models.asked) == 1


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_the_model_is_asked_once_a_turn_and_sees_what_came_of_it(home: Home, verb: str) -> None:
    run = talk(home, [call("ask.send"), call("free.send")], [COMPLETE])
    home.decide(verb, run)
    assert len(home.models.asked) == 2 and home.run(run).status == "COMPLETED"
    [past] = home.models.asked[1].history
    assert past.raw[0] == ('"done"' if verb == "approve" else 'rejected: "rejected by a person"')
    assert [event.type for event in home.events(run)].count("LLM_CALL_COMPLETED") == 2


def test_a_failing_retry_of_a_call_asks_no_model(home: Home) -> None:
    home.tools.plan["ask.send"] = [FAILED, FAILED, LOST]
    run = talk(home, [call("ask.send", n=1), COMPLETE])
    home.decide("approve", run)
    home.decide("retry", run)
    home.decide("retry", run)
    home.decide("retry", run, may_run_twice=True)
    assert len(home.models.asked) == 1 and {started.arguments for started in home.tools.starts} == {'{"n":1}'}
    assert len(home.tools.starts) == 4 and home.run(run).status == "COMPLETED"


def test_a_turn_survives_the_death_of_whoever_carried_it_out(home: Home) -> None:
    home.tools.plan["free.send"] = [OK, dies]
    home.models.turns["s"] = [[call("free.send", n=1), call("free.send", n=2), call("free.send", n=3), SET, COMPLETE]]
    home.write(talk=texts.FLOWS["talk"])
    home.killed(lambda: home.desk().start("talk", {}, {}))
    [waiting] = home.desk().pending(None, 10)[0]
    run = waiting.row.run_id
    assert waiting.call is not None and waiting.call.arguments == '{"n":2}'  # the first is settled, the third has not begun
    home.decide("continue_tool", run, outcome={"applied": True})
    assert [started.arguments for started in home.tools.starts] == ['{"n":1}', '{"n":2}', '{"n":3}']
    assert len(home.models.asked) == 1 and home.run(run).status == "COMPLETED"


def test_an_answer_of_the_model_that_was_not_stored_is_asked_for_again(home: Home) -> None:
    home.write(talk=texts.FLOWS["talk"])
    process = home.process()
    home.models.turns["s"] = [lambda request: process.die()]
    home.killed(lambda: process.desk.start("talk", {}, {}))
    home.models.turns["s"] = [[call("free.send"), COMPLETE]]
    run = home.events(type="RUN_STARTED")[0].run_id or ""
    home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 1
    assert [payload(event)["ordinal"] for event in home.events(run, "LLM_CALL_COMPLETED")] == [0]


# ---- batches ----
def test_all_calls_of_a_batch_are_stored_and_those_that_need_a_person_wait_together(home: Home) -> None:
    run = talk(home, [call("ask.send", n=1), call("free.send", n=2), call("ask.send", n=3), COMPLETE])
    assert [row.origin for row in home.rows(run)] == ["APPROVAL_REQUIRED"] * 2 and home.tools.names() == ["free.send"]
    assert home.types(run).count("TOOL_INVOCATION_REQUESTED") == 3 and home.run(run).status == "AWAITING_TOOL_APPROVAL"
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run)
    assert caught.value.kind == "ambiguous" and home.tools.names() == ["free.send"]
    for row in home.rows(run):
        assert any(row.id in choice.command for choice in caught.value.choices)
    first, second = home.rows(run)
    home.decide("approve", run, second.id)
    assert home.run(run).status == "AWAITING_TOOL_APPROVAL"
    home.decide("approve", run, first.id)
    assert [started.arguments for started in home.tools.starts] == ['{"n":2}', '{"n":3}', '{"n":1}']
    assert home.run(run).status == "COMPLETED" and home.types(run).count("RUN_COMPLETED") == 1


def test_cleared_calls_start_in_order_and_a_failure_holds_back_the_rest(home: Home) -> None:
    home.tools.plan["free.send"] = [OK, FAILED]
    run = talk(home, [call("free.send", n=n) for n in (1, 2, 3)] + [COMPLETE])
    assert [started.arguments for started in home.tools.starts] == ['{"n":1}', '{"n":2}']
    assert home.run(run).status == "AWAITING_TOOL_DECISION"
    home.decide("retry", run)
    assert [started.arguments for started in home.tools.starts][2:] == ['{"n":2}', '{"n":3}'] and home.run(run).status == "COMPLETED"


def test_while_one_call_runs_another_of_the_batch_can_be_decided(home: Home) -> None:
    run = talk(home, [call("ask.send"), call("late.send"), COMPLETE])
    late, ask = open_row(home, run, "late.send"), open_row(home, run, "ask.send")

    def decided_meanwhile(started: Started) -> ToolResult:
        answer = home.decide("approve", run, late.id, actor="bob")
        assert answer.run.run.status == "RUNNING" and home.run(run).status == "RUNNING"  # the first still runs
        return OK

    home.tools.plan["ask.send"] = [decided_meanwhile]
    home.decide("approve", run, ask.id)
    assert home.tools.names() == ["ask.send", "late.send"] and home.run(run).status == "COMPLETED"
    assert home.types(run).count("RUN_COMPLETED") == 1 and len(home.models.asked) == 1


def test_the_status_says_what_is_still_open_while_a_call_runs(home: Home) -> None:
    home.tools.plan["late.send"] = [FAILED]
    run = talk(home, [call("ask.send"), call("late.send"), COMPLETE])
    home.decide("approve", run, open_row(home, run, "late.send").id)
    assert home.run(run).status == "AWAITING_TOOL_APPROVAL"
    seen = []

    def looks(started: Started) -> ToolResult:
        seen.append(home.run(run).status)
        return OK

    home.tools.plan["ask.send"] = [looks]
    home.decide("approve", run, open_row(home, run, "ask.send").id)
    assert seen == ["AWAITING_TOOL_DECISION"] and home.run(run).status == "AWAITING_TOOL_DECISION"


def test_a_batch_of_which_nothing_could_be_judged_yet_is_stored_once(home: Home) -> None:
    run = talk(home, [call("free.send"), call("idem.put"), call("ask.send"), COMPLETE])
    assert home.types(run).count("TOOL_INVOCATION_REQUESTED") == 3 and len(home.dump()["calls"]) == 3


# ---- wary ----
@pytest.mark.parametrize("verb", ["reject", "continue_tool"])
def test_after_a_refusal_what_was_allowed_is_asked_for_in_the_rest_of_the_batch(home: Home, verb: str) -> None:
    if verb == "continue_tool":
        home.tools.plan["free.send"] = [FAILED]
        run = talk(home, [call("free.send", n=1), call("free.send", n=2), COMPLETE])
    else:
        home.tools.plan["idem.put"] = [FAILED] * 3
        run = talk(home, [call("idem.put", n=1), call("free.send", n=2), COMPLETE])
    before = len(home.tools.starts)
    home.decide(verb, run)
    assert home.row(run).origin == "APPROVAL_REQUIRED" and len(home.tools.starts) == before
    home.decide("approve", run)
    assert len(home.tools.starts) == before + 1 and home.run(run).status == "COMPLETED"


@pytest.mark.parametrize("between", [SET, ASK, {"type": "say", "message": "hm"}])
def test_a_refusal_makes_the_later_batches_of_its_turn_ask_and_the_next_turn_is_free_again(home: Home, between: dict[str, Any]) -> None:
    turn = [call("ask.send"), between, call("free.send", n=1), SET, call("free.send", n=2)]
    run = talk(home, turn, [call("free.send", n=3), COMPLETE])
    home.decide("reject", run)
    if between is ASK:
        home.answer(run, {"answer": "this"}, {})
    for n in (1, 2):
        assert home.row(run).origin == "APPROVAL_REQUIRED" and len(home.tools.starts) == n - 1, n
        home.decide("approve", run)
    assert [started.arguments for started in home.tools.starts] == ['{"n":1}', '{"n":2}', '{"n":3}']
    assert home.run(run).status == "COMPLETED" and len(home.models.asked) == 2


def test_a_denial_that_was_given_up_makes_the_rest_ask(home: Home) -> None:
    run = talk(home, [call("deny.send"), call("free.send"), COMPLETE])
    assert home.tools.starts == []
    home.decide("continue_tool", run)
    assert home.row(run).origin == "APPROVAL_REQUIRED" and home.tools.starts == []


@pytest.mark.parametrize("verb", ["reject", "approve"])
def test_a_no_to_a_tool_that_asked_makes_the_rest_of_its_turn_ask_whatever_came_of_it(home: Home, verb: str) -> None:
    home.write(texts.operator(rules={"half": texts.rule("half.*", "allow")}).replace('"ask.*"', '"ask.*", "half.*"'))
    home.tools.plan["half.send"] = [ASKS, OK]
    run = talk(home, [call("half.send"), SET, call("free.send", n=1)], [call("free.send", n=2), COMPLETE])
    home.decide(verb, run)
    assert home.outcome(home.tools.starts[0].call).status == "succeeded"
    if verb == "reject":
        assert home.tools.names() == ["half.send"] * 2 and home.row(run).origin == "APPROVAL_REQUIRED"
        home.decide("approve", run)
    assert home.tools.names() == [*["half.send"] * 2, *["free.send"] * 2] and home.run(run).status == "COMPLETED"


def test_a_success_makes_nobody_wary(home: Home) -> None:
    run = talk(home, [call("ask.send"), SET, call("free.send"), COMPLETE])
    home.decide("approve", run)
    assert home.tools.names() == ["ask.send", "free.send"] and home.run(run).status == "COMPLETED"


# ---- what an agent may do ----
@pytest.mark.parametrize("capability", ["read.it", "unsafe.put", "nothing.here", "Free.send", "free.send ", "free.send.", "free", ""])
def test_an_agent_calls_only_its_own_tools(home: Home, capability: str) -> None:
    run = talk(home, [call(capability), COMPLETE])
    [event] = home.events(run, "TOOL_INVOCATION_FAILED")
    assert payload(event)["phase"] == "RESOLVE" and home.tools.starts == []
    offered = {offer.capability for offer in home.models.asked[0].tools}
    assert capability not in offered and "free.send" in offered


def test_a_call_without_arguments_has_none_and_the_tool_is_given_an_object(home: Home) -> None:
    run = talk(home, [{"type": "tool_invocation", "capability": "free.send"}, COMPLETE])
    assert [started.arguments for started in home.tools.starts] == ["{}"] and home.run(run).status == "COMPLETED"


@pytest.mark.parametrize("arguments", ['{"a":1,"a":2}', "[1]", "{", '{"a":NaN}', "null", '{"a":1} x'])
def test_arguments_that_are_not_one_strict_object_are_refused_and_not_stored(quick: Home, arguments: str) -> None:
    run = talk(quick, [{"type": "tool_invocation", "capability": "free.send", "arguments": arguments}, COMPLETE])
    row = quick.row(run)
    with quick.store.read() as tx:
        assert tx.call(row.id)[0].arguments is None
    assert payload(quick.events(run, "TOOL_INVOCATION_FAILED")[0])["phase"] == "RECEIVE" and quick.tools.starts == []
    quick.decide("continue_tool", run)
    assert quick.run(run).status == "COMPLETED"


def test_a_turn_that_is_not_in_order_runs_nothing_of_itself(quick: Home) -> None:
    run = talk(quick, [call("free.send"), {"type": "set_context", "values": {"tool.free.send": 1}}])
    assert quick.run(run).status == "FAILED" and quick.tools.starts == []
