from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.steps.fake_view import FakeView
from toolgate_cli.core.intents import Done, Ended, Enter, Fail
from toolgate_cli.core.types import Json
from toolgate_cli.steps.branch import Case, Fields, check, plan

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


# ---- cases ----
def case(to: str, *when: Mapping[str, Json]) -> Case:
    return Case(to, when)


BIG: Mapping[str, Json] = {"key": "order", "at": "/amount", "gt": 500}
CASES = Fields(
    cases=(case("desk", BIG, {"key": "who", "ne": "ann"}), case("pay", BIG), case("end", {"key": "order", "exists": False}), case("small"))
)


@pytest.mark.parametrize(
    ("values", "number"),
    [
        ({"order": {"amount": 501}, "who": "bob"}, 0),
        ({"order": {"amount": 501}, "who": "ann"}, 1),
        ({"order": {"amount": 501}}, 1),
        ({}, 2),
        ({"order": {"amount": 500}}, 3),
        ({"order": {"amount": "900"}, "who": "bob"}, 3),
        ({"order": {}}, 3),
    ],
)
def test_the_first_case_that_holds_is_taken(values: dict[str, Json], number: int) -> None:
    chosen: Mapping[str, Json] = {"case": number}
    target = CASES.cases[number].to
    expected = Done(then="end", event=chosen) if target == "end" else Enter(target, memo=chosen)
    assert plan(CASES, FakeView(values=values)) == expected


def test_where_no_case_holds_the_run_fails_and_says_why_none_did() -> None:
    intent = plan(CASES._replace(cases=CASES.cases[:2]), FakeView(values={"order": {"amount": "900"}}))
    why = "order#/amount is of a type that gt cannot judge"
    assert intent == Fail(f"no case holds; case 1: {why}; case 2: {why}")


def test_the_words_of_a_case_go_on_or_fail() -> None:
    assert plan(Fields(cases=(case("continue"),)), FakeView()) == Done(event={"case": 0})
    assert plan(Fields(cases=(case("fail"),)), FakeView()) == Fail("case 1 was taken, which fails")


@pytest.mark.parametrize("arrived", [None, Ended(0)])
def test_a_case_is_decided_once_whatever_the_context_says_later(arrived: Ended | None) -> None:
    intent = plan(CASES, FakeView(arrived, {"case": 1}, {}))
    assert intent == (Done(event={"case": 1}) if arrived else Enter("pay", memo={"case": 1}))


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (Fields(), "one of them"),
        (CASES._replace(on="decision"), "one of them"),
        (CASES._replace(arms={"a": "b"}), "one of them"),
        (Fields(on="decision"), "arms is missing"),
        (Fields(arms={"a": "b"}), "on is missing"),
        (CASES._replace(cases=(*CASES.cases, case("pay", BIG))), "always holds"),
    ],
)
def test_fields_that_do_not_go_together_are_found_when_the_file_is_loaded(step: Fields, text: str) -> None:
    [defect] = check(step)
    assert text in defect.text


def test_either_form_alone_is_right() -> None:
    assert not list(check(STEP)) and not list(check(CASES))
