from __future__ import annotations

import pytest

from tests.steps.fake_view import FakeView
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.intents import Done, Fail, Write
from toolgate_cli.core.types import Json
from toolgate_cli.steps.assign import Fields, plan


def test_values_keep_their_type_and_a_copy_the_origin_of_what_it_copies() -> None:
    intent = plan(Fields({"a": "${n}", "b": "n is ${n}", "c": [True, None]}), FakeView(values={"n": 3}, provenances={"n": "user"}))
    assert intent == Done(writes=(Write("a", 3, "user"), Write("b", "n is 3", "user"), Write("c", [True, None], "system")))


@pytest.mark.parametrize(
    ("template", "origin"),
    [
        ("plain", "system"),
        ("$${t}", "system"),
        ("${s}", "system"),
        ("${m}${s}", "model"),
        ("${u} ${m}", "user"),
        (["${s}", {"deep": ["${t}"]}, "${u}"], "tool"),
        ("${m} ${t#/0}", "tool"),
        ("${steps.first}", "tool"),  # nobody knows what went into it
    ],
)
def test_a_mixture_is_as_little_trusted_as_the_least_of_it(template: Json, origin: str) -> None:
    values: dict[str, Json] = {"s": 1, "m": 2, "u": 3, "t": [4], "steps.first": 5}
    view = FakeView(values=values, provenances={"s": "system", "m": "model", "u": "user", "t": "tool"})
    intent = plan(Fields({"a": template}), view)
    assert isinstance(intent, Done) and [w.provenance for w in intent.writes] == [origin]


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
