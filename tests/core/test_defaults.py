"""Defaults of a schema as the policy sees them: what is left out is filled, at any depth, and what was asked for stays as it is."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.config import Condition, Policy, Rule
from toolgate_cli.core.defaults import MOST_PLACES, filler
from toolgate_cli.core.policy import Facts, judge
from toolgate_cli.core.types import Decision, Json
from toolgate_cli.core.unsure import UNSURE

AMOUNT: Json = {"properties": {"amount": {"type": "integer", "default": 1000}}}


def filled(schema: Json, value: Json) -> Json:
    fill = filler(schema)
    return value if fill is None else fill(value)


def inside(schema: Json, **more: Json) -> Json:
    return {"type": "object", "properties": {"to": {**schema, **more}}}  # type: ignore[dict-item]  # an object


CASES: list[tuple[Json, Json, Json]] = [
    (AMOUNT, {}, {"amount": 1000}),
    (AMOUNT, {"amount": 1}, {"amount": 1}),
    (AMOUNT, {"amount": None}, {"amount": None}),  # there, and null
    (AMOUNT, {"other": 2}, {"other": 2, "amount": 1000}),
    ({"properties": {"a": {"default": None}}}, {}, {"a": None}),
    ({"additionalProperties": {"default": 7}, "allOf": [{"properties": {"a": True}}]}, {"z": 1}, {"z": 1, "a": UNSURE}),
    ({"properties": {"a": {"default": False}}}, {}, {"a": False}),
    ({"properties": {"a": {"type": "integer"}}}, {}, {}),
    (inside(AMOUNT), {}, {}),
    (inside(AMOUNT), {"to": {}}, {"to": {"amount": 1000}}),
    (inside(AMOUNT), {"to": {"amount": 5}}, {"to": {"amount": 5}}),
    (inside(AMOUNT), {"to": "text"}, {"to": "text"}),
    (inside(AMOUNT, default={}), {}, {"to": {"amount": 1000}}),
    (inside(AMOUNT, default={"amount": 3}), {}, {"to": {"amount": 3}}),
    (inside(inside(AMOUNT)), {"to": {"to": {}}}, {"to": {"to": {"amount": 1000}}}),
    # where else a default always applies: behind a reference, in allOf, in the items of a list
    ({"$ref": "#/$defs/x", "$defs": {"x": AMOUNT}}, {}, {"amount": 1000}),
    ({"properties": {"to": {"$ref": "#/$defs/x"}}, "$defs": {"x": AMOUNT}}, {"to": {}}, {"to": {"amount": 1000}}),
    ({"properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"default": 7}}}, {}, {"n": 7}),
    ({"allOf": [True, AMOUNT]}, {}, {"amount": 1000}),
    ({"allOf": [AMOUNT]}, {"amount": 1}, {"amount": 1}),
    ({"properties": {"l": {"items": AMOUNT}}}, {"l": [{}, {"amount": 1}, 3]}, {"l": [{"amount": 1000}, {"amount": 1}, 3]}),
    ({"properties": {"l": {"prefixItems": [AMOUNT]}}}, {"l": [{}, {}]}, {"l": [{"amount": 1000}, {}]}),
    ({"properties": {"l": {"items": [AMOUNT], "additionalItems": {}}}}, {"l": [{}, {}]}, {"l": [{"amount": 1000}, {}]}),
    ({"properties": {"to": {"$ref": "#x"}}, "$defs": {"x": {"$anchor": "x", **AMOUNT}}}, {"to": {}}, {"to": {"amount": 1000}}),
    ({"properties": {"t": {"$dynamicRef": "#n"}}, "$defs": {"n": {"$dynamicAnchor": "n", **AMOUNT}}}, {"t": {}}, {"t": {"amount": 1000}}),
    ({"properties": {"to": {"$ref": "#x"}}, "definitions": {"x": {"$id": "#x", **AMOUNT}}}, {"to": {}}, {"to": {"amount": 1000}}),
    ({"properties": {"n": {"$ref": "#/%24defs/n"}}, "$defs": {"n": {"default": 7}}}, {}, {"n": 7}),
    ({"properties": {"n": {"$ref": "#/$defs/big%20n"}}, "$defs": {"big n": {"default": 7}}}, {}, {"n": 7}),
    ({"additionalProperties": AMOUNT}, {"o": {}}, {"o": {"amount": 1000}}),
    ({"additionalProperties": AMOUNT, "properties": {"o": {}}}, {"o": {}, "p": {}}, {"o": {}, "p": {"amount": 1000}}),
    ({"allOf": [AMOUNT, AMOUNT], "default": {"amount": 1000}}, {}, {"amount": 1000}),  # they say the same
    ({"anyOf": [AMOUNT], **AMOUNT}, {}, {"amount": 1000}),
    # it may apply, or something else may
    *(
        (schema, {}, {"amount": UNSURE})
        for schema in (
            {"anyOf": [AMOUNT]},
            {"oneOf": [True, AMOUNT]},
            {"if": AMOUNT},
            {"if": True, "then": AMOUNT},
            {"if": True, "else": AMOUNT},
            {"not": AMOUNT},
            {"dependentSchemas": {"x": AMOUNT}},
            {"dependencies": {"x": AMOUNT, "y": ["x"]}},
            {"anyOf": [{"allOf": [{"$ref": "#/$defs/a"}]}], "$defs": {"a": AMOUNT}},
            {**AMOUNT, "allOf": [{"properties": {"amount": {"default": 1}}}]},
            {**AMOUNT, "anyOf": [{"properties": {"amount": {"default": 1}}}]},
            {"properties": {"amount": {"default": 1, "$ref": "#/$defs/a"}}, "$defs": {"a": {"default": True}}},
            {"properties": {"amount": {"anyOf": [{"default": 1}]}}},
            {"default": {"amount": 1}},
            {"default": {"amount": 1}, **AMOUNT},
            {"$ref": "#/$defs/a", "$defs": {"a": {"default": {"amount": 1}}}},
        )
    ),
    ({"default": {"o": {"amount": 1}}}, {"o": {}}, {"o": {"amount": UNSURE}}),
    ({"default": {"o": {"amount": 1}}}, {"o": {"amount": 2}}, {"o": {"amount": 2}}),
    *(
        (schema, {"o": {}}, {"o": {"amount": UNSURE}})
        for schema in (
            {"patternProperties": {"^o": AMOUNT}},
            {"patternProperties": {"x": {}}, "additionalProperties": AMOUNT},
            {"unevaluatedProperties": AMOUNT},
            {"anyOf": [{"properties": {"o": AMOUNT}}]},
            {"properties": {"o": {"oneOf": [AMOUNT]}}},
        )
    ),
    *(
        ({"properties": {"l": schema}}, {"l": [{}]}, {"l": [{"amount": UNSURE}]})
        for schema in (
            {"contains": AMOUNT},
            {"unevaluatedItems": AMOUNT},
            {"anyOf": [{"items": AMOUNT}]},
        )
    ),
    ({"properties": {"l": {"prefixItems": [{}, {}, {"default": 1}, {}]}}}, {"l": [0]}, {"l": [0, UNSURE, UNSURE]}),
    ({"properties": {"l": {"prefixItems": [{}, {"default": 1}]}}}, {"l": [0, 0]}, {"l": [0, 0]}),
    ({"anyOf": [AMOUNT]}, {"amount": 1}, {"amount": 1}),
    # a reference that leads nowhere or in a circle does no harm
    ({"$ref": "#/nowhere", **AMOUNT}, {}, {"amount": 1000}),
    ({"$ref": "#", "allOf": [{"$ref": "#"}], **AMOUNT}, {}, {"amount": 1000}),
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


def test_a_schema_that_refers_to_itself_comes_to_an_end_behind_which_nothing_is_certain() -> None:
    assert filled({"properties": {"a": {"$ref": "#", "default": {}}}}, {}) == {"a": {"a": UNSURE}}
    twice: Json = {"properties": {"a": {"$ref": "#", "default": {}}, "b": {"$ref": "#", "default": {}}}}
    assert filled(twice, {}) == {"a": {"a": UNSURE, "b": UNSURE}, "b": {"a": UNSURE, "b": UNSURE}}
    assert filled({"$ref": "#", "allOf": [{"$ref": "#"}], "not": {"$ref": "#"}, "default": 1}, {}) == {}


def test_a_schema_whose_defaults_multiply_is_filled_in_bounded_work() -> None:
    chain: dict[str, Json] = {
        f"d{depth}": {"properties": {key: {"$ref": f"#/$defs/d{depth + 1}", "default": {}} for key in "abcd"}} for depth in range(30)
    }
    places = 0
    left = [filled({"$ref": "#/$defs/d0", "$defs": chain}, {})]
    while left:
        value, places = left.pop(), places + 1
        left += value.values() if isinstance(value, dict) else ()
    assert places <= 4 * MOST_PLACES + 10


def test_a_schema_that_is_too_deep_to_be_followed_makes_nothing_certain() -> None:
    schema: Json = AMOUNT
    value: Json = {}
    for _ in range(3000):
        schema, value = inside(schema), {"to": value}
    assert filled(schema, value) is UNSURE


def test_a_schema_without_a_default_costs_nothing_and_a_member_of_that_name_is_none() -> None:
    assert filler({"properties": {"default": {"type": "string"}}, "enum": [{"default": 1}]}) is None
    assert filler(True) is None


IN_DOUBT: list[tuple[Json, list[Json]]] = [
    ({"anyOf": [AMOUNT]}, [["/amount", "gt", 500], ["/amount", "exists", True], ["/amount", "exists", False], ["/amount", "eq", 1]]),
    ({"anyOf": [AMOUNT]}, [["/amount/deep/er", "ne", 1], ["", "size", 0], ["", "eq", {}], ["", "in", [{}]], ["", "ne", {}]]),
    ({"default": {"l": [1]}}, [["/l", "any", [["", "gt", 1]]], ["/l", "all", [["", "gt", 1]]], ["/l", "matches", "x"], ["/l/0", "lt", 9]]),
    ({"properties": {"l": {"default": [{}], "items": {"anyOf": [AMOUNT]}}}}, [["/l", "any", [["/amount", "gt", 5]]], ["/l", "eq", [{}]]]),
]


@pytest.mark.parametrize(("schema", "condition"), [(schema, condition) for schema, conditions in IN_DOUBT for condition in conditions])
@pytest.mark.parametrize(("decision", "ruled"), [("deny", "deny"), ("require_approval", "require_approval"), ("allow", "deny")])
def test_what_is_not_certain_restricts_and_never_allows(schema: Json, condition: Json, decision: Decision, ruled: Decision) -> None:
    asked = filled(schema, {})
    assert isinstance(condition, list) and isinstance(asked, dict)
    rule = Rule("r", decision, when=(Condition(*condition),))  # type: ignore[arg-type]  # at, op, value
    facts = Facts("a.b", asked, "flow", None, "write", "unsafe", "ann")
    default: Decision = "deny" if decision == "allow" else "allow"
    assert judge(Policy(default, (rule,)), facts).decision == ruled


def test_what_one_value_was_filled_with_says_nothing_of_the_next() -> None:
    values = [value for _, value, _ in CASES]
    for schema in (schema for schema, _, _ in CASES):
        fill = filler(schema)
        for value in (*values, *reversed(values)) if fill is not None else ():
            assert fill(value) == filled(schema, value)
