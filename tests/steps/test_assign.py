from __future__ import annotations

import pytest

from tests.steps.fake_view import FakeView
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.intents import Done, Fail, Write
from toolgate_cli.steps.assign import Fields, plan


def test_values_are_written_as_the_systems_with_their_type() -> None:
    intent = plan(Fields({"a": "${n}", "b": "n is ${n}", "c": [True, None]}), FakeView(values={"n": 3}))
    assert intent == Done(writes=(Write("a", 3, "system"), Write("b", "n is 3", "system"), Write("c", [True, None], "system")))


def test_all_values_are_read_before_one_is_written() -> None:
    intent = plan(Fields({"a": "${b}", "b": "${a}"}), FakeView(values={"a": 1, "b": 2}))
    assert isinstance(intent, Done) and [(w.key, w.value) for w in intent.writes] == [("a", 2), ("b", 1)]


@pytest.mark.parametrize("key", ["inputs.order", "tool.orders.lookup", "tool.x.error", "loop.item", "user.answer", "__x"])
def test_a_reserved_key_is_refused(key: str) -> None:
    intent = plan(Fields({"fine": 1, key: 2}), FakeView())
    assert isinstance(intent, Fail) and key in intent.reason


@pytest.mark.parametrize("key", ["_x", "a__b", "tool", "inputs", "toolbox.x"])
def test_a_key_that_only_looks_reserved_is_fine(key: str) -> None:
    assert isinstance(plan(Fields({key: 1}), FakeView()), Done)


def test_a_reference_that_cannot_be_filled_is_an_error() -> None:
    with pytest.raises(ToolgateError, match="gone"):
        plan(Fields({"a": "${gone}"}), FakeView())
