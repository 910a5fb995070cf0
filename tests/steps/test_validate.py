from __future__ import annotations

import pytest

from tests.steps.fake_view import FakeView
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.intents import Done, Fail, Finding, Look, Observe, Observed
from toolgate_cli.core.types import Json
from toolgate_cli.steps.validate import Equal, Fields, Judged, Require, check, plan

OBJECT: Json = {"type": "object"}
ALL = Fields(
    Require(("a", "b"), ("out/x.pdf", "out/y.txt")),
    (Equal("tier", "out/r.json", "/tier"), Equal("a", "out/r.json")),
    (Judged(OBJECT, key="a"), Judged(OBJECT, file="out/r.json", at="/in"), Judged(True, key="b", at="/deep")),
)
VALUES: dict[str, Json] = {"a": {"x": 1}, "b": {"deep": 2}, "tier": 3}


def after(step: Fields, values: dict[str, Json], *findings: Finding) -> object:
    return plan(step, FakeView(Observed(findings), values=values))


def test_every_file_and_every_schema_is_looked_at_outside() -> None:
    assert plan(ALL, FakeView(values=VALUES)) == Observe(
        (
            Look("out/x.pdf", "filled"),
            Look("out/y.txt", "filled"),
            Look("out/r.json", "json", "/tier"),
            Look("out/r.json", "json"),
            Look(None, "problems", "", OBJECT, {"x": 1}),
            Look("out/r.json", "problems", "/in", OBJECT),
            Look(None, "problems", "", True, 2),
        )
    )


def test_what_is_right_passes() -> None:
    found = (Finding(True), Finding(True), Finding(3.0), Finding({"x": 1}), Finding([]), Finding([]), Finding([]))
    assert after(ALL, VALUES, *found) == Done()


def test_every_reason_is_told_and_none_shows_a_value() -> None:
    found = (
        *(Finding(error="no file out/x.pdf"), Finding(False), Finding(777), Finding(error="out/r.json: nothing is at /b")),
        *(Finding(["INVALID_TYPE", "RANGE_VIOLATION at /x"]), Finding(error="out/r.json is not UTF-8"), Finding([])),
    )
    intent = after(ALL, {"a": "secret words", "tier": 3, "b": []}, *found)
    assert intent == Fail(
        "b is empty; no file out/x.pdf; out/y.txt is empty; out/r.json#/tier is not equal to tier; out/r.json: nothing is at /b; "
        "a: INVALID_TYPE; a: RANGE_VIOLATION at /x; out/r.json is not UTF-8; b#/deep is absent"
    )


@pytest.mark.parametrize(
    ("value", "there"),
    [(0, True), (False, True), ("x", True), ([0], True), ("", False), (" \n", False), (None, False), ([], False), ({}, False)],
)
def test_a_required_key_is_there_and_not_empty(value: Json, there: bool) -> None:
    intent = plan(Fields(Require(keys=("k",))), FakeView(values={"k": value}))
    assert intent == (Done() if there else Fail("k is empty"))
    assert plan(Fields(Require(keys=("k",))), FakeView()) == Fail("k is absent")


@pytest.mark.parametrize(
    ("file", "key", "same"),
    [(1, 1.0, True), (1, True, False), ("1", 1, False), ([1, {"a": None}], [1, {"a": None}], True), (None, None, True), ({}, None, False)],
)
def test_equality_is_of_json_values(file: Json, key: Json, same: bool) -> None:
    intent = after(Fields(equal=(Equal("k", "f.json"),)), {"k": key}, Finding(file))
    assert intent == (Done() if same else Fail("f.json is not equal to k"))


def test_an_absent_key_equals_nothing_and_is_valid_by_nothing() -> None:
    step = Fields(equal=(Equal("k", "f.json"),), schema=(Judged(True, key="k"), Judged(True, key="k", at="/x")))
    assert after(step, {}, Finding(None), Finding([]), Finding([])) == Fail("k is absent; k#/x is absent")


def test_a_schema_that_could_not_be_judged_is_a_reason() -> None:
    step = Fields(schema=(Judged(True, key="k", at="/x"),))
    assert after(step, {"k": {"x": 1}}, Finding(error="could not be looked at")) == Fail("k#/x: could not be looked at")


def test_an_erased_value_is_a_reason_and_a_broken_store_is_none() -> None:
    class Broken(FakeView):
        def value(self, key: str) -> Json:
            raise ToolgateError("invalid" if key == "k" else "storage", f"{key} was erased")

    assert plan(Fields(Require(keys=("k",))), Broken()) == Fail("k was erased")
    with pytest.raises(ToolgateError):
        plan(Fields(Require(keys=("other",))), Broken())


@pytest.mark.parametrize(
    ("step", "path", "text"),
    [
        (Fields(), (), "it checks nothing"),
        (Fields(schema=(Judged(True),)), ("schema", 0), "one of them"),
        (Fields(schema=(Judged(True, "k", "f"),)), ("schema", 0), "one of them"),
    ],
)
def test_fields_that_do_not_go_together_are_found_when_the_file_is_loaded(step: Fields, path: tuple[object, ...], text: str) -> None:
    [defect] = check(step)
    assert defect.path == path and text in defect.text


def test_right_fields_have_no_defect() -> None:
    assert not list(check(ALL))
