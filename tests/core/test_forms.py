"""Answers to a form: every type takes what it is and nothing else, and all that is wrong is told at once."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.forms import check
from toolgate_cli.core.types import Json


def item(type: str, **more: Json) -> list[Json]:
    return [{"id": "x", "type": type, "label": "X", **more}]


@pytest.mark.parametrize(
    ("type", "text", "value"),
    [
        ("TEXT", "a", "a"),
        ("TEXT_AREA", "a\nb", "a\nb"),
        ("NUMBER", "1.5", 1.5),
        ("BOOLEAN", "Yes", True),
        ("BOOLEAN", "false", False),
        ("SINGLE_CHOICE", "red", "red"),
        ("MULTI_CHOICE", "red, blue", ["red", "blue"]),
        ("DATE", "2024-02-29", "2024-02-29"),
    ],
)
def test_what_was_typed_becomes_the_items_type(type: str, text: str, value: Json) -> None:
    assert check(item(type, options=["red", "blue"]), {"x": text}, {}) == {"x": value}
    assert check(item(type, options=["red", "blue"]), {}, {"x": value}) == {"x": value}


@pytest.mark.parametrize(
    ("type", "value"),
    [
        ("TEXT", 1),
        ("TEXT", "a\nb"),
        ("TEXT", "half \ud800"),
        ("TEXT_AREA", "half \ud800"),
        ("NUMBER", True),
        ("NUMBER", "1"),
        ("BOOLEAN", 1),
        ("SINGLE_CHOICE", "green"),
        ("SINGLE_CHOICE", ["red"]),
        ("MULTI_CHOICE", "red"),
        ("MULTI_CHOICE", ["red", "green"]),
        ("DATE", "2023-02-29"),
        ("DATE", "2024-13-01"),
        ("DATE", "20240101"),
        ("DATE", "2024-1-01"),
        ("DATE", "0000-01-01"),
        ("DATE", "２０２４-01-01"),
        ("DATE", 20240101),
    ],
)
def test_what_it_is_not_is_refused(type: str, value: Json) -> None:
    with pytest.raises(ToolgateError) as caught:
        check(item(type, options=["red", "blue"]), {}, {"x": value})
    assert caught.value.kind == "invalid" and "x:" in caught.value.message and "x (" in caught.value.hint


def test_the_days_are_those_of_the_calendar() -> None:
    for year in (1900, 2000, 2023, 2024):
        day = date(year, 1, 1)
        while day.year == year:
            assert check(item("DATE"), {}, {"x": day.isoformat()})
            last, day = day, day + timedelta(days=1)
            if day.month != last.month:
                with pytest.raises(ToolgateError):
                    check(item("DATE"), {}, {"x": f"{last.isoformat()[:8]}{last.day + 1:02}"})


def test_all_that_is_wrong_is_told_at_once() -> None:
    form: list[Json] = [{"id": "a", "type": "NUMBER", "required": True}, {"id": "b", "type": "BOOLEAN"}]
    with pytest.raises(ToolgateError) as caught:
        check(form, {"b": "maybe", "c": "1"}, {})
    assert caught.value.message == "c: the form has no such item; a: an answer is required; b: yes or no"


@pytest.mark.parametrize(("required", "answers"), [(True, None), (False, {})])
def test_an_answer_that_is_required_is_required(required: bool, answers: dict[str, Json] | None) -> None:
    if answers is not None:
        assert check(item("TEXT", required=required), {}, {}) == answers
        return
    for texts in ({}, {"x": " "}):
        with pytest.raises(ToolgateError, match="an answer is required"):
            check(item("TEXT", required=required), texts, {})


@pytest.mark.parametrize(
    ("typed", "chosen"),
    [
        ("wed, late", ["wed, late"]),
        ("wed,late ,mon", ["wed, late", "mon"]),
        ("wed, mon", ["wed", "mon"]),
        (" mon ,, wed,", ["mon", "wed"]),
        ("late", None),
        ("mon tue", None),
    ],
)
def test_a_choice_may_have_commas_of_its_own(typed: str, chosen: list[str] | None) -> None:
    form = item("MULTI_CHOICE", options=["mon", "wed", "wed, late"])
    if chosen is not None:
        assert check(form, {"x": typed}, {}) == {"x": chosen}
        return
    with pytest.raises(ToolgateError, match="some of"):
        check(form, {"x": typed}, {})


def test_many_commas_take_no_long_time() -> None:
    with pytest.raises(ToolgateError, match="some of"):
        check(item("MULTI_CHOICE", options=["a", "b,c"]), {"x": "," * 200_000 + "d," * 20_000}, {})
