from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from tests.steps.fake_view import FakeView
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.intents import Done, Fail, Write
from toolgate_cli.core.tables import hints
from toolgate_cli.core.types import TRUST, Json, Provenance
from toolgate_cli.steps._operations import OPERATIONS
from toolgate_cli.steps.aggregate import Fields, plan


def made(operation: Any, *values: Json) -> Json:
    named = {f"k{number}": value for number, value in enumerate(values)}
    intent = plan(Fields(tuple(named), "into", operation), FakeView(values=named))
    assert isinstance(intent, Done), intent
    [write] = intent.writes
    assert (write.key, write.value, write.provenance) == ("into", intent.output, "system")
    return write.value


def refused(operation: Any, **values: Json) -> str:
    intent = plan(Fields(tuple(values), "into", operation), FakeView(values=values))
    assert isinstance(intent, Fail) and not intent.writes
    return intent.reason


def test_every_operation_that_can_be_asked_for_is_there() -> None:
    assert set(get_args(hints(Fields)["operation"])) == set(OPERATIONS)


@pytest.mark.parametrize(
    ("operation", "values", "result"),
    [
        ("sum", (1, 2, [3, 4.5]), 10.5),
        ("sum", (0.1, 0.2), 0.3),
        ("sum", (10**30, 1), 10**30 + 1),
        ("sum", ([],), 0),
        ("min", (3, [2.5, 7]), 2.5),
        ("max", (3, [2.5, 7]), 7),
        ("max", (1e23, 10**23 - 1), 1e23),
        ("min", (1, 1.0), 1),
        ("count", (1, [1, 2], "abc", {"a": 1}, [], None), 6),
        ("concat", ("a", "", "b"), "ab"),
        ("concat", ([1], [], [[2], "c"]), [1, [2], "c"]),
        ("merge", ({"a": 1, "b": {"x": 1}}, {"b": {"y": 2}}), {"a": 1, "b": {"y": 2}}),
    ],
)
def test_what_an_operation_makes(operation: str, values: tuple[Json, ...], result: Json) -> None:
    found = made(operation, *values)
    assert found == result and json.dumps(found) == json.dumps(result)


def test_an_input_that_is_absent_or_of_another_type_fails_with_every_reason() -> None:
    intent = plan(Fields(("a", "gone", "b", "away", "c"), "into", "sum"), FakeView(values={"a": "1", "b": True, "c": [1, "2"]}))
    number = "is not a number or a list of numbers"
    assert intent == Fail(f"sum: a {number}; gone is absent; b {number}; away is absent; c {number}")


@pytest.mark.parametrize(
    ("operation", "value"),
    [("sum", None), ("min", "1"), ("max", {"a": 1}), ("max", [[1]]), ("concat", 1), ("concat", {}), ("merge", []), ("merge", "a")],
)
def test_what_an_operation_does_not_take_is_refused(operation: str, value: Json) -> None:
    assert refused(operation, k=value) == f"{operation}: k is not {OPERATIONS[operation].takes}"


def test_values_that_do_not_go_together_are_refused() -> None:
    assert refused("concat", a="x", b=[1]) == "concat of a, b: texts and lists do not go together"
    assert refused("min", a=[], b=[]) == "min of a, b: there are no numbers"
    assert refused("sum", a=10**20, b=0.5) == "sum of a, b: no number of JSON is exactly the sum"


def test_a_result_comes_to_an_end() -> None:
    assert refused("concat", a="x" * 600_000, b="y" * 600_000) == "concat of a, b: larger than 1 MiB"


@pytest.mark.parametrize("least", TRUST)
def test_it_is_no_more_trusted_than_the_least_trusted_of_what_it_was_made_of(least: Provenance) -> None:
    better = TRUST[0]
    for whose in ({"a": better, "b": least}, {"a": least, "b": better}):
        intent = plan(Fields(("a", "b"), "into", "sum"), FakeView(values={"a": 1, "b": 2}, provenances=whose))
        assert intent == Done(3, (Write("into", 3, least),))
    assert TRUST == ("system", "model", "user", "tool")


def test_an_erased_value_is_a_reason_and_a_broken_store_is_none() -> None:
    class Broken(FakeView):
        def value(self, key: str) -> Json:
            raise ToolgateError("invalid" if key == "k" else "storage", f"{key} was erased")

    assert plan(Fields(("k",), "into", "count"), Broken()) == Fail("count: k was erased")
    with pytest.raises(ToolgateError):
        plan(Fields(("other",), "into", "count"), Broken())


def test_a_reserved_key_is_not_written() -> None:
    assert isinstance(plan(Fields(("a",), "inputs.x", "sum"), FakeView(values={"a": 1})), Fail)
