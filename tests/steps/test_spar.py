from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.steps.fake_view import FakeView, agent, call, settled, turn
from toolgate_cli.core.intents import AskModel, CallTools, Done, Fail, Intent, Write
from toolgate_cli.core.records import Turn
from toolgate_cli.core.types import Json
from toolgate_cli.core.untrusted import wrap
from toolgate_cli.steps.spar import Fields, plan

STEP = Fields("clerk", "critic", "Refund it?", 3, "Decide now.", ("inputs.order",), ("decision",))
OPEN = {"type": "continue", "wants_another_round": True, "reason": "the order was delivered twice, and nobody looked at the second parcel"}
SHUT: dict[str, Json] = {"type": "continue", "wants_another_round": False, "reason": "the order was delivered twice, so it is settled"}


def say(text: str) -> dict[str, Json]:
    return {"type": "say", "message": text}


class Played:
    """A spar with these answers, one after the other; what the models were asked, and how it ended."""

    def __init__(self, *answers: list[dict[str, Json]] | Turn, step: Fields = STEP, restart: bool = False, **agents: Any) -> None:
        self.asked: list[AskModel] = []
        self.intents: list[Intent] = []
        everybody = {"clerk": agent(), "critic": agent(prompt="be hard")._replace(name="critic")} | agents
        view = FakeView(agents=everybody)
        for number, answer in enumerate((*answers, None)):
            intent = plan(step, replace(view, had=number))
            if restart and isinstance(intent, AskModel):
                assert plan(step, replace(view.after(intent, None), had=number)) == intent  # nothing that was said is asked again
            self.intents.append(intent)
            if not isinstance(intent, AskModel) or answer is None:
                break
            self.asked.append(intent)
            said = answer._replace(number=number) if isinstance(answer, Turn) else turn(*answer, number=number)
            view = view.after(intent, said)
        self.view, self.end = view, self.intents[-1]

    def speakers(self) -> list[str]:
        return [asked.agent for asked in self.asked]


def rounds(*wants: tuple[dict[str, Json], dict[str, Json]]) -> list[list[dict[str, Json]]]:
    return [[say(f"{side} {number}"), want] for number, both in enumerate(wants, 1) for side, want in zip("ac", both, strict=True)]


DONE: list[dict[str, Json]] = [
    {"type": "set_context", "values": {"decision": "refund"}},
    {"type": "complete", "output": "refund it"},
]


@pytest.mark.parametrize(
    ("wants", "executed"),
    [
        ([(SHUT, SHUT)], 1),
        ([(OPEN, SHUT), (SHUT, SHUT)], 2),
        ([(SHUT, OPEN), (SHUT, SHUT)], 2),
        ([(OPEN, OPEN), (OPEN, SHUT), (SHUT, SHUT)], 3),
        ([(OPEN, OPEN), (SHUT, OPEN), (OPEN, OPEN)], 3),  # the bound is the bound
        ([(OPEN, SHUT), (SHUT, SHUT), (OPEN, OPEN)], 2),  # what was asked for in an earlier round counts there alone
    ],
)
def test_there_is_another_round_while_one_of_them_asks_for_it_and_the_first_agent_resolves(wants: Any, executed: int) -> None:
    played = Played(*rounds(*wants)[: executed * 2], DONE, restart=True)
    assert played.speakers() == ["clerk", "critic"] * executed + ["clerk"]
    assert played.end == Done("refund it", (Write("decision", "refund", "model"),), event={"rounds": executed}, signal="complete")


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ([OPEN], True),
        ([SHUT, OPEN], True),
        ([OPEN, SHUT], False),  # only the last one counts
        ([say("I want another round, the second parcel is open")], False),
        ([{"type": "continue", "reason": OPEN["reason"]}], False),  # it does not say that it wants one
        ([{"type": "continue", "wants_another_round": True}], False),
        ([{"type": "continue", "wants_another_round": True, "reason": None}], False),
        ([OPEN, {"type": "complete", "output": "x"}], True),
    ],
)
def test_a_round_is_asked_for_by_the_last_continue_of_a_turn(said: list[dict[str, Json]], again: bool) -> None:
    played = Played([say("a"), *said], [say("c")])
    assert isinstance(played.end, AskModel) and played.end.agent == "clerk" and ("Decide now." in played.end.prompt) is not again


@pytest.mark.parametrize(
    "reason",
    [
        *("", "   ", "no", "why not", "I disagree", "I do not agree.", "needs more discussion", "We need more discussion on this.", "none"),
        *(
            "n/a",
            "just because",
            "Let's keep debating!",
            "This needs another round, I think.",
            "I still disagree with you",
            "still unclear",
        ),
        *("more more more more more", "?!?!?!?!?!?!?!", "opinion: other"),
    ],
)
def test_a_vague_or_short_reason_is_none(reason: str) -> None:
    played = Played([{"type": "continue", "wants_another_round": True, "reason": reason}], [say("c")])
    assert isinstance(played.end, AskModel) and "Decide now." in played.end.prompt


@pytest.mark.parametrize(
    "reason",
    [
        "I disagree: the amount is above the limit",
        "rollback of the payment is missing",
        "Die Frist ist nicht geklärt",
        "退款金额超过了限额而且没有人检查第二个包裹",
    ],
)
def test_a_reason_that_names_something_is_one_in_any_language(reason: str) -> None:
    played = Played([{"type": "continue", "wants_another_round": True, "reason": reason}], [say("c")])
    assert isinstance(played.end, AskModel) and "round 2 of at most 3" in played.end.prompt


def test_both_see_what_was_said_in_the_rounds_before_as_data_and_nothing_of_their_own_round() -> None:
    played = Played(*rounds((OPEN, SHUT), (SHUT, SHUT)), DONE)
    told = [
        wrap("agent in round 1", "model", f"a 1\n{OPEN['reason']}"),
        wrap("challenger in round 1", "model", f"c 1\n{SHUT['reason']}"),
        wrap("agent in round 2", "model", f"a 2\n{SHUT['reason']}"),
        wrap("challenger in round 2", "model", f"c 2\n{SHUT['reason']}"),
    ]
    shown = [[text in asked.prompt for text in told] for asked in played.asked]
    assert shown == [[False] * 4] * 2 + [[True, True, False, False]] * 2 + [[True] * 4]
    assert all(asked.prompt.count("<untrusted ") == sum(seen) for asked, seen in zip(played.asked, shown, strict=True))


def test_each_has_its_own_prompt_and_the_steps_and_only_the_rounds_have_instructions() -> None:
    first, second, resolution = Played(*rounds((SHUT, SHUT)), DONE).asked
    assert first.prompt.startswith("be kind\n\nRefund it?\n\nYou are the agent in round 1 of at most 3")
    assert second.prompt.startswith("be hard\n\nRefund it?\n\nYou are the challenger in round 1 of at most 3")
    assert resolution.prompt.startswith("be kind\n\nRefund it?\n\nDecide now.\n\n<untrusted ") and "round 1 of" not in resolution.prompt
    assert {asked.reads for asked in (first, second, resolution)} == {("inputs.order",)}
    assert [asked.first for asked in (first, second, resolution)] == [0, 1, 2]  # no round is part of another conversation


@pytest.mark.parametrize(
    "command",
    [call(), {"type": "set_context", "values": {"decision": 1}}, {"type": "ask", "question": "?"}, {"type": "escalate", "reason": "x"}],
)
def test_a_round_is_said_only_what_would_act_is_refused_and_asked_for_again(command: dict[str, Json]) -> None:
    played = Played([say("a"), command], [say("a")], [say("c"), command], [say("c"), command])
    assert [asked.commands for asked in played.asked] == [("say", "continue", "complete")] * 4
    assert [bool(asked.corrects) for asked in played.asked] == [False, True, False, True]
    assert played.speakers() == ["clerk", "clerk", "critic", "critic"]
    assert isinstance(played.end, Fail) and f"may not use {command['type']}" in played.end.reason


def test_the_resolution_is_a_conversation_with_tools_and_turns_of_its_own() -> None:
    step = STEP._replace(max_rounds=1)
    played = Played(*rounds((OPEN, OPEN)), [call(call="c7")], step=step)
    calls = played.end
    assert isinstance(calls, CallTools) and calls.calls[0].agent == "clerk"
    again = plan(step, played.view.after(calls, settled(calls)))
    assert isinstance(again, AskModel) and again.first == 2 and "agent in round 1" in again.prompt and not again.commands
    bad = replace(played.view.after(again, Turn("r1", "decide", 3, '"no"')), had=4)
    corrects = plan(step, bad)
    assert isinstance(corrects, AskModel) and corrects.refused == (3,) and "cannot be used" in corrects.prompt
    done = plan(step, bad.after(corrects, turn(*DONE, number=4)))
    assert isinstance(done, Done) and done.event == {"rounds": 1}


def test_a_resolution_that_goes_on_after_its_bound_fails_the_step() -> None:
    step = STEP._replace(max_rounds=1)
    played = Played(*rounds((OPEN, OPEN)), [{"type": "continue"}], step=step, clerk=agent(max_turns=2))
    assert isinstance(played.end, AskModel)
    failed = plan(step, replace(played.view.after(played.end, turn({"type": "continue"}, number=3)), had=4))
    assert isinstance(failed, Fail) and "used up its 2 turns" in failed.reason


def test_an_agent_that_can_say_nothing_cannot_argue() -> None:
    played = Played(step=STEP, clerk=agent(commands=("tool_invocation", "ask")))
    assert isinstance(played.end, Fail) and "clerk may use none of say, continue, complete" in played.end.reason


OUTPUTS: list[tuple[list[dict[str, Json]], str]] = [
    ([{"type": "complete", "output": {"a": 1}}], '{"a":1}'),
    ([{"type": "complete"}], ""),
    ([say("x"), say("y"), {"type": "complete", "output": "z"}], "x\ny\nz"),
]


@pytest.mark.parametrize(("said", "shown"), OUTPUTS)
def test_what_is_said_is_messages_reasons_and_output(said: list[dict[str, Json]], shown: str) -> None:
    played = Played(said, [say("c")])
    assert isinstance(played.end, AskModel) and wrap("agent in round 1", "model", shown) in played.end.prompt


def test_an_agent_may_argue_with_itself() -> None:
    check: Callable[..., Any] = Played
    assert check(*rounds((SHUT, SHUT)), DONE, step=STEP._replace(challenger="clerk")).speakers() == ["clerk"] * 3
