from __future__ import annotations

from tests.steps.fake_view import FakeView
from toolgate_cli.core.intents import Done, Ended, Replay
from toolgate_cli.steps.retry_previous import Fields, plan


def test_it_wants_the_earlier_step_once_and_is_done_at_its_end() -> None:
    step = Fields("draft", "from", 3, "give-up")
    assert plan(step, FakeView()) == Replay("draft", "from", 3, "give-up")
    assert plan(step, FakeView(Ended(0))) == Done()


def test_a_sequence_that_was_ended_in_the_replay_is_ended() -> None:
    assert plan(Fields("draft"), FakeView(Ended(0, None, True))) == Done(then="end")
