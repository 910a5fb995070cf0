from __future__ import annotations

from tests.steps.fake_view import FakeView
from toolgate_cli.core.intents import Fail
from toolgate_cli.steps.fail import Fields, plan


def test_the_run_ends_with_its_reason_filled() -> None:
    assert plan(Fields("no stock of ${item}"), FakeView(values={"item": "tea"})) == Fail("no stock of tea")


def test_a_reason_that_is_not_a_text_is_told_as_json() -> None:
    assert plan(Fields("${why}"), FakeView(values={"why": {"b": 1, "a": 2}})) == Fail('{"a":2,"b":1}')
