from __future__ import annotations

import pytest

from tests.steps.fake_view import FakeView
from toolgate_cli.core.intents import Done, Ended, Enter, Fail
from toolgate_cli.core.types import Json
from toolgate_cli.steps.branch import Fields, plan

ARMS = {
    "refund": "pay",
    "keep": "continue",
    "stop": "end",
    "broken": "fail",
    "true": "yes",
    "3": "three",
    "1.5": "half",
    "": "nothing",
    "*": "other",
}
STEP = Fields("decision", ARMS)


@pytest.mark.parametrize(
    ("value", "arm"),
    [
        ("refund", "refund"),
        (True, "true"),
        ("true", "true"),
        (3, "3"),
        (1.5, "1.5"),
        ("", ""),
        (None, ""),
        ([], ""),
        ({}, ""),
        ("else", "*"),
        ("*", "*"),
        (False, "*"),
        (0, "*"),
        (["refund"], "*"),
        ({"a": 1}, "*"),
        ("Refund", "*"),
    ],
)
def test_the_value_chooses_the_arm(value: Json, arm: str) -> None:
    assert plan(STEP, FakeView(values={"decision": value})) == Enter(ARMS[arm], memo={"arm": arm})


def test_an_absent_value_takes_the_empty_arm() -> None:
    assert plan(STEP, FakeView()) == Enter("nothing", memo={"arm": ""})


def test_an_absent_value_is_not_any_other_value() -> None:
    intent = plan(Fields("decision", {"refund": "pay", "*": "continue"}), FakeView())
    assert isinstance(intent, Fail) and "empty or absent" in intent.reason


def test_without_an_arm_that_fits_the_run_fails_and_says_what_the_value_was() -> None:
    intent = plan(Fields("decision", {"refund": "pay", "": "continue"}), FakeView(values={"decision": "x" * 500}))
    assert isinstance(intent, Fail) and '"xxx' in intent.reason and len(intent.reason) < 200


def test_the_words_go_on_end_the_sequence_or_fail() -> None:
    assert plan(STEP, FakeView(values={"decision": "keep"})) == Done(event={"arm": "keep"})
    assert plan(STEP, FakeView(values={"decision": "stop"})) == Done(then="end", event={"arm": "stop"})
    failed = plan(STEP, FakeView(values={"decision": "broken"}))
    assert isinstance(failed, Fail) and '"broken"' in failed.reason


@pytest.mark.parametrize("arrived", [None, Ended(0)])
def test_it_is_decided_once_whatever_the_key_says_later(arrived: Ended | None) -> None:
    intent = plan(STEP, FakeView(arrived, {"arm": "refund"}, {"decision": "keep"}))
    assert intent == (Done(event={"arm": "refund"}) if arrived else Enter("pay", memo={"arm": "refund"}))


def test_the_empty_arm_is_remembered_as_well() -> None:
    assert plan(STEP, FakeView(Ended(0), {"arm": ""}, {"decision": "keep"})) == Done(event={"arm": ""})
