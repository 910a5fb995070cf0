"""Defaults of a schema as the policy sees them: what is left out is filled, at any depth, and what was asked for stays as it is."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.defaults import filled
from toolgate_cli.core.types import Json

AMOUNT: Json = {"properties": {"amount": {"type": "integer", "default": 1000}}}


def inside(schema: Json, **more: Json) -> Json:
    return {"type": "object", "properties": {"to": {**schema, **more}}}  # type: ignore[dict-item]  # an object


CASES: list[tuple[Json, Json, Json]] = [
    (AMOUNT, {}, {"amount": 1000}),
    (AMOUNT, {"amount": 1}, {"amount": 1}),
    (AMOUNT, {"amount": None}, {"amount": None}),  # there, and null
    (AMOUNT, {"other": 2}, {"other": 2, "amount": 1000}),
    ({"properties": {"a": {"default": None}}}, {}, {"a": None}),
    ({"properties": {"a": {"default": False}}}, {}, {"a": False}),
    ({"properties": {"a": {"type": "integer"}}}, {}, {}),
    (inside(AMOUNT), {}, {}),
    (inside(AMOUNT), {"to": {}}, {"to": {"amount": 1000}}),
    (inside(AMOUNT), {"to": {"amount": 5}}, {"to": {"amount": 5}}),
    (inside(AMOUNT), {"to": "text"}, {"to": "text"}),
    (inside(AMOUNT, default={}), {}, {"to": {"amount": 1000}}),
    (inside(AMOUNT, default={"amount": 3}), {}, {"to": {"amount": 3}}),
    (inside(inside(AMOUNT)), {"to": {"to": {}}}, {"to": {"to": {"amount": 1000}}}),
    ({"default": {"a": 1}}, {}, {}),  # of the whole: arguments are always there
    # where else a default always applies: behind a reference, in allOf, in the items of a list
    ({"$ref": "#/$defs/x", "$defs": {"x": AMOUNT}}, {}, {"amount": 1000}),
    ({"properties": {"to": {"$ref": "#/$defs/x"}}, "$defs": {"x": AMOUNT}}, {"to": {}}, {"to": {"amount": 1000}}),
    ({"properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"default": 7}}}, {}, {"n": 7}),
    ({"allOf": [True, AMOUNT]}, {}, {"amount": 1000}),
    ({"allOf": [AMOUNT]}, {"amount": 1}, {"amount": 1}),
    ({"properties": {"l": {"items": AMOUNT}}}, {"l": [{}, {"amount": 1}, 3]}, {"l": [{"amount": 1000}, {"amount": 1}, 3]}),
    ({"properties": {"l": {"prefixItems": [AMOUNT]}}}, {"l": [{}, {}]}, {"l": [{"amount": 1000}, {}]}),
    ({"properties": {"l": {"items": [AMOUNT], "additionalItems": {}}}}, {"l": [{}, {}]}, {"l": [{"amount": 1000}, {}]}),
    # one under a condition says nothing, and a reference that leads nowhere or in a circle does no harm
    ({"anyOf": [AMOUNT]}, {}, {}),
    ({"oneOf": [AMOUNT], "if": True, "then": AMOUNT}, {}, {}),
    ({"$ref": "#/nowhere"}, {}, {}),
    ({"$ref": "#"}, {"a": 1}, {"a": 1}),
    ({"allOf": [{"$ref": "#"}]}, {"a": 1}, {"a": 1}),
]


@pytest.mark.parametrize(("schema", "value", "expected"), CASES)
def test_what_is_left_out_has_its_default_and_what_is_there_stays(schema: Json, value: Json, expected: Json) -> None:
    kept = copy.deepcopy((schema, value))
    assert filled(schema, value) == expected
    assert (schema, value) == kept  # neither of them is changed


@pytest.mark.parametrize("schema", [True, False, None, [], {}, {"properties": True}, {"properties": []}, {"properties": {"a": True}}])
def test_a_schema_without_properties_fills_nothing(schema: Json) -> None:
    assert filled(schema, {"b": 1}) == {"b": 1}


@pytest.mark.parametrize("value", [None, 1, "x", [], [{}], True])
def test_what_is_no_object_has_no_defaults(value: Json) -> None:
    assert filled(AMOUNT, value) == value


def test_a_deep_schema_is_filled_to_its_end() -> None:
    schema, value, expected = AMOUNT, {}, {"amount": 1000}
    for _ in range(60):
        schema, value, expected = inside(schema), {"to": value}, {"to": expected}  # type: ignore[assignment]  # nested
    assert filled(schema, value) == expected


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abto"), inner, max_size=3),
    max_leaves=8,
)


@given(values, values)
def test_nothing_that_was_given_is_ever_changed_or_taken_away(schema: Json, value: Json) -> None:
    found = filled({"properties": schema}, value)
    if isinstance(value, dict):
        assert isinstance(found, dict) and all(key in found for key in value)
        assert all(found[key] == given for key, given in value.items() if not isinstance(given, dict))
    else:
        assert found == value


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"force": {"$ref": "#/$defs/Force"}}, "$defs": {"Force": {"type": "boolean", "default": True}}},
        {"allOf": [{"properties": {"force": {"default": True}}}]},
        {
            "$ref": "#/$defs/All",
            "$defs": {"All": {"allOf": [{"$ref": "#/$defs/One"}]}, "One": {"properties": {"force": {"default": True}}}},
        },
    ],
)
def test_a_default_applies_behind_references_and_all_of(schema: Json) -> None:
    assert filled(schema, {}) == {"force": True}
    assert filled(schema, {"force": False}) == {"force": False}


def test_a_default_applies_in_the_items_of_a_list() -> None:
    item: Json = {"properties": {"force": {"default": True}}}
    assert filled({"properties": {"items": {"items": item}}}, {"items": [{}, {"force": False}]}) == {
        "items": [{"force": True}, {"force": False}]
    }
    assert filled({"properties": {"items": {"prefixItems": [item], "items": {}}}}, {"items": [{}, {}]}) == {"items": [{"force": True}, {}]}
    assert filled({"properties": {"items": {"items": [item]}}}, {"items": [{}, {}]}) == {"items": [{"force": True}, {}]}


def test_a_schema_that_refers_to_itself_comes_to_an_end() -> None:
    at = filled({"properties": {"a": {"$ref": "#", "default": {}}}}, {})
    depth = 0
    while isinstance(at, dict) and at:
        at, depth = at["a"], depth + 1
    assert depth == 2
    twice: Json = {"properties": {"a": {"$ref": "#", "default": {}}, "b": {"$ref": "#", "default": {}}}}
    assert filled(twice, {}) == {"a": {"a": {}, "b": {}}, "b": {"a": {}, "b": {}}}
    assert filled({"$ref": "#", "allOf": [{"$ref": "#"}]}, {}) == {}


def test_a_default_under_a_condition_says_nothing() -> None:
    assert filled({"anyOf": [{"properties": {"a": {"default": 1}}}], "if": {}, "then": {"properties": {"b": {"default": 1}}}}, {}) == {}
