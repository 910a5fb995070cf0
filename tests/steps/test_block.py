from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.steps.fake_view import FakeView, agent, turn
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.intents import AskModel, Continued, Done, Ended, Enter, Fail, Pause, Write
from toolgate_cli.steps.block import Fields, Repeat, check, plan

AGENTS = {"judge": agent(prompt="be strict")._replace(name="judge")}


def iterations(step: Fields, view: FakeView | None = None, *signals: Any) -> tuple[list[int], Any]:
    """The iterations that ran, and what the step wanted in the end; `signals`: what the agents of each said."""
    view, entered, said = view or FakeView(), [], list(signals)
    while isinstance(intent := plan(step, view), Enter):
        assert intent.block == "pay"
        entered.append(intent.iteration)
        view = view.after(intent, Ended(intent.iteration, said.pop(0) if said else None))
    return entered, intent


def test_a_plain_block_runs_once_and_is_no_loop() -> None:
    assert iterations(Fields("pay")) == ([0], Done())


def test_a_counted_block_runs_exactly_as_often_as_it_says_whatever_an_agent_says() -> None:
    assert iterations(Fields("pay", Repeat("count", 3)), None, "complete") == ([1, 2, 3], Done())
    assert iterations(Fields("pay", Repeat("count", 1))) == ([1], Done())


def test_what_was_entered_is_entered_as_the_same_iteration_again() -> None:
    assert plan(Fields("pay", Repeat("count", 3)), FakeView(None, {"iteration": 2})) == Enter("pay", 2, {"iteration": 2})


# ---- until an agent says so ----
@pytest.mark.parametrize(
    ("signals", "ran"),
    [(["complete"], [1]), (["continue", "complete"], [1, 2]), ([None, "complete"], [1, 2]), (["continue", None, "complete"], [1, 2, 3])],
)
def test_a_loop_ends_when_its_agent_is_done_and_not_before(signals: list[Any], ran: list[int]) -> None:
    assert iterations(Fields("pay", Repeat("agent_done", 3)), None, *signals) == (ran, Done())


@pytest.mark.parametrize("until", ["agent_done", "evaluator", "each"])
@pytest.mark.parametrize(("at_max", "kind"), [("pause", Pause), ("fail", Fail)])
def test_a_bound_that_is_reached_without_an_end_pauses_or_fails(until: Any, at_max: Any, kind: type) -> None:
    loop = Repeat(until, 2, at_max, "judge" if until == "evaluator" else None, "items" if until == "each" else None)
    view = FakeView(values={"items": [1, 2, 3]}, lists=([1, 2, 3],), agents=AGENTS)
    entered = []
    while not isinstance(intent := plan(Fields("pay", loop), view), (Pause, Fail)):
        entered += [intent.iteration] if isinstance(intent, Enter) else []
        view = view.after(intent, Ended(intent.iteration) if isinstance(intent, Enter) else turn({"type": "continue"}))
    assert entered == [1, 2] and isinstance(intent, kind) and "max of 2" in intent.reason
    if isinstance(intent, Pause):
        again = plan(Fields("pay", loop), view.after(intent, Continued()))
        assert isinstance(again, Enter) and again.iteration == (3 if until == "each" else 1)  # a list has an end: it goes on


# ---- until an evaluator says so ----
JUDGED = Fields("pay", Repeat("evaluator", 5, evaluator="judge"))


def asked(number: int = 1) -> tuple[FakeView, AskModel]:
    view = FakeView(Ended(number), {"iteration": number}, agents=AGENTS, had=7)
    intent = plan(JUDGED, view)
    assert isinstance(intent, AskModel)
    return view, intent


def test_the_evaluator_is_asked_after_each_iteration_sees_everything_and_may_say_two_words() -> None:
    view, intent = asked(2)
    assert (intent.agent, intent.reads, intent.first, intent.commands) == ("judge", ("*",), 7, ("continue", "complete"))
    assert intent.prompt.startswith("be strict") and "2 of at most 5" in intent.prompt
    assert plan(JUDGED, view.after(intent, turn({"type": "complete"}))) == Done()
    assert plan(JUDGED, view.after(intent, turn({"type": "continue", "wants_another_round": False}))) == Done()
    assert plan(JUDGED, view.after(intent, turn({"type": "continue"}))) == Enter("pay", 3, {"iteration": 3})


def test_an_evaluator_whose_answer_was_lost_is_asked_again_and_the_round_is_not_run_again() -> None:
    view, intent = asked()
    assert plan(JUDGED, view.after(intent, None)) == intent


@pytest.mark.parametrize(
    "answer",
    [
        [],
        [{"type": "say", "message": "hm"}],
        [{"type": "continue"}, {"type": "continue"}],
        [{"type": "tool_invocation", "capability": "orders.lookup"}],
        [{"type": "continue", "wants_another_round": "yes"}],
        [{"type": "continue"}, {"type": "complete"}],
    ],
)
def test_any_other_answer_of_the_evaluator_fails_the_step(answer: list[Any]) -> None:
    view, intent = asked()
    assert isinstance(plan(JUDGED, view.after(intent, turn(*answer))), Fail)


def test_an_evaluator_that_is_gone_fails_the_step() -> None:
    with pytest.raises(ToolgateError):
        plan(JUDGED, FakeView(Ended(1), {"iteration": 1}))


# ---- for each item ----
EACH = Fields("pay", Repeat("each", each="items", item="one"))


def test_each_item_is_handed_in_with_the_provenance_of_its_list() -> None:
    view = FakeView(values={"items": ["a", {"b": 1}]}, lists=(["a", {"b": 1}],), provenances={"items": "tool"})
    first = plan(EACH, view)
    assert isinstance(first, Enter) and first.writes == (Write("one", "a", "tool"),) and first.copy == '["a",{"b":1}]'
    view = view.after(first, Ended(1))
    second = plan(EACH, replace(view, values={"items": "something else"}, provenances={}))
    assert isinstance(second, Enter) and second.writes == (Write("one", {"b": 1}, "tool"),) and second.copy is None
    assert plan(EACH, view.after(second, Ended(2))) == Done()


def test_an_item_is_at_loop_item_where_no_key_is_named() -> None:
    intent = plan(Fields("pay", Repeat("each", each="items")), FakeView(values={"items": [1]}))
    assert isinstance(intent, Enter) and intent.writes[0].key == "loop.item"


def test_the_memo_does_not_grow_with_the_list() -> None:
    sizes = []
    for length in (10, 10_000):
        intent = plan(EACH, FakeView(values={"items": list(range(length))}))
        assert isinstance(intent, Enter)
        sizes.append(len(str(dict(intent.memo))))
    assert sizes[1] <= sizes[0] + 3


@pytest.mark.parametrize(("values", "said"), [({}, "is not there"), ({"items": "abc"}, "is no list"), ({"items": {"a": 1}}, "is no list")])
def test_what_is_no_list_fails_the_step(values: dict[str, Any], said: str) -> None:
    intent = plan(EACH, FakeView(values=values))
    assert isinstance(intent, Fail) and said in intent.reason


def test_an_empty_list_is_done_at_once() -> None:
    assert plan(EACH, FakeView(values={"items": []})) == Done()


# ---- what is wrong when the file is loaded ----
@pytest.mark.parametrize(
    ("loop", "wrong"),
    [
        (Repeat("count", 1), []),
        (Repeat("each", each="items"), []),
        (Repeat("each", 3, each="items", item="one"), []),
        (Repeat("evaluator", 3, evaluator="judge"), []),
        (Repeat("count"), ["max"]),
        (Repeat("agent_done"), ["max"]),
        (Repeat("evaluator"), ["max", "evaluator"]),
        (Repeat("each"), ["each"]),
        (Repeat("count", 2, each="items"), ["each"]),
        (Repeat("agent_done", 2, evaluator="judge", item="one"), ["evaluator", "item"]),
    ],
)
def test_fields_that_do_not_fit_together_are_told(loop: Repeat, wrong: list[str]) -> None:
    assert [defect.path for defect in check(Fields("pay", loop))] == [("repeat", name) for name in wrong]
    assert check(Fields("pay")) == ()
