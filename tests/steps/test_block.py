from __future__ import annotations

from tests.steps.fake_view import FakeView
from toolgate_cli.core.intents import Done, Ended, Enter
from toolgate_cli.steps.block import Fields, Repeat, plan


def iterations(step: Fields) -> list[int]:
    view, entered = FakeView(), []
    while isinstance(intent := plan(step, view), Enter):
        assert intent.block == "pay"
        entered.append(intent.iteration)
        view = view.after(intent, Ended(intent.iteration))
    assert intent == Done()
    return entered


def test_a_plain_block_runs_once_and_is_no_loop() -> None:
    assert iterations(Fields("pay")) == [0]


def test_a_counted_block_runs_exactly_as_often_as_it_says() -> None:
    assert iterations(Fields("pay", Repeat("count", 3))) == [1, 2, 3]
    assert iterations(Fields("pay", Repeat("count", 1))) == [1]


def test_what_was_entered_is_entered_as_the_same_iteration_again() -> None:
    assert plan(Fields("pay", Repeat("count", 3)), FakeView(None, {"iteration": 2})) == Enter("pay", 2, {"iteration": 2})
