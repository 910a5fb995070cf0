"""JSON Schemas: what is refused when a file is loaded, and how arguments are judged."""

# ruff: noqa: E501 - tables and files are read by the line

from __future__ import annotations

import socket
import time
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from toolgate_cli.core.types import Json
from toolgate_cli.core.world import Problem
from toolgate_cli.workflow.checks.schemas import check_schema
from toolgate_cli.workflow.issues import Issues
from toolgate_cli.workflow.validators import load

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def faults(schema: Json) -> list[str]:
    issues = Issues()
    check_schema(schema, (), issues)
    return [issue.text for issue in issues.errors]


def doubled(levels: int) -> dict[str, Any]:
    held: dict[str, Any] = {"leaf": {"type": "string"}}
    for level in range(levels):
        below = "#/$defs/leaf" if not level else f"#/$defs/l{level - 1}"
        held[f"l{level}"] = {"allOf": [{"$ref": below}, {"$ref": below}]}
    return {"$defs": held, "$ref": f"#/$defs/l{levels - 1}"}


REFUSED: list[tuple[Json, str]] = [
    ({"$ref": "#"}, "refers to itself without end"),
    ({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}, "refers to itself without end"),
    ({"allOf": [{"anyOf": [{"$ref": "#"}]}]}, "refers to itself without end"),
    ({"if": {"$ref": "#"}}, "refers to itself without end"),
    ({"dependentSchemas": {"a": {"$ref": "#"}}}, "refers to itself without end"),
    ({"$anchor": "me", "not": {"$ref": "#me"}}, "refers to itself without end"),
    (doubled(25), "more than 10000 schemas"),
    ({"$ref": "other.json"}, "only references inside"),
    ({"properties": {"a": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}}, "only references inside"),
    ({"$ref": "#/properties/nothing"}, "nothing is at"),
    ({"$ref": "#nowhere"}, "nothing is at"),
    ({"enum": [{"a": 1}], "$ref": "#/enum/0"}, "nothing is at"),
    ({"$dynamicRef": "#x"}, "nothing is at #x"),
    ({"$dynamicRef": "https://example.com/#x"}, "only references inside this schema"),
    ({"$dynamicAnchor": "a", "allOf": [{"$dynamicRef": "#a"}]}, "refers to itself without end"),
    ({"properties": {"a": {"$id": "x"}}}, "stands at the top"),
    ({"$schema": "http://json-schema.org/draft-04/schema#"}, "only the drafts"),
    ({"$schema": "https://example.com/mine"}, "only the drafts"),
    ({"$schema": DRAFT_7, "prefixItems": []}, "unknown keyword"),
    ({"$schema": DRAFT_7, "$defs": {}}, "unknown keyword"),
    ({"minimum": "1"}, "not a value of this keyword"),
    ({"type": "text"}, "text is no type"),
    ({"type": "nteger"}, "nteger is no type"),
    ({"type": ["string", "xyz"]}, "xyz is no type"),
    ({"type": ["string", "string"]}, "not a value of this keyword"),
    ({"dependentRequired": {"type": "text"}}, "not a value of this keyword"),
    ({"required": True}, "not a value of this keyword"),
    ({"required": [{"a": number} for number in range(20_000)]}, "a name is text"),
    ({"items": {"type": [[number] for number in range(20_000)] + [{}]}}, "a name is text"),
    ({"dependentRequired": {"a": [{"a": number} for number in range(20_000)]}}, "a name is text"),
    ({"$schema": DRAFT_7, "dependencies": {"a": [{"a": number} for number in range(20_000)]}}, "a name is text"),
    ({"properties": {"a": 1}}, "must be a JSON Schema"),
    ({"maxlength": 3}, "unknown keyword"),
    ({"anyOf": [{"items": {"enums": [1]}}]}, "unknown keyword"),
    ({"format": "ipv5"}, "unknown format"),
    ({"pattern": "(?!a)"}, "linear time"),
    ({"pattern": "(a"}, "linear time"),
    ({"patternProperties": {"(?=a)": True}}, "linear time"),
    ([], "must be a JSON Schema"),
]


@pytest.mark.parametrize(("schema", "message"), REFUSED, ids=[f"{number}-{row[1][:30]}" for number, row in enumerate(REFUSED)])
def test_a_schema_that_could_mislead_or_never_end_is_refused_at_load(schema: Json, message: str) -> None:
    began = time.monotonic()
    assert any(message in fault for fault in faults(schema)), faults(schema)
    assert time.monotonic() - began < 1


TREE = {"type": "object", "properties": {"child": {"$ref": "#"}}, "additionalProperties": False}


@pytest.mark.parametrize(
    "schema",
    [TREE, {"$schema": DRAFT_7, "definitions": {"a": {"type": "string"}}, "items": [{"$ref": "#/definitions/a"}]}, True, {}, doubled(8), {"const": {"$ref": "#"}}],
)  # fmt: skip
def test_a_schema_that_comes_to_an_end_is_accepted(schema: Json) -> None:
    assert faults(schema) == []


def test_a_format_is_accepted_with_a_warning() -> None:
    issues = Issues()
    assert check_schema({"properties": {"at": {"format": "email"}}}, (), issues)
    assert [warning.text for warning in issues.warnings] == ["the format email is not enforced"]


def judged(schema: Json, value: Json) -> list[tuple[str, str]]:
    assert faults(schema) == []
    return [(problem.code, problem.pointer) for problem in load(schema)(value)]


JUDGED: list[tuple[Json, Json, list[tuple[str, str]]]] = [
    ({"type": "object", "required": ["invoiceId"]}, {}, [("REQUIRED_MISSING", "/invoiceId")]),
    ({"properties": {"a": {"required": ["b"]}}}, {"a": {}}, [("REQUIRED_MISSING", "/a/b")]),
    ({"properties": {"n": {"minimum": 1}}}, {"n": -1}, [("RANGE_VIOLATION", "/n")]),
    ({"properties": {"n": {"exclusiveMaximum": 1}}}, {"n": 1}, [("RANGE_VIOLATION", "/n")]),
    ({"properties": {"n": {"type": "integer"}}}, {"n": True}, [("INVALID_TYPE", "/n")]),
    ({"properties": {"n": {"type": "integer"}}}, {"n": 3.0}, []),
    ({"properties": {"n": {"type": "number"}}}, {"n": 10**400}, []),
    ({"properties": {"n": {"multipleOf": 0.5}}}, {"n": 10**400}, []),
    ({"properties": {"n": {"multipleOf": 0.01}}}, {"n": 19.99}, []),
    ({"properties": {"n": {"multipleOf": 0.01}}}, {"n": 19.999}, [("RANGE_VIOLATION", "/n")]),
    ({"properties": {"n": {"multipleOf": 1e-300}}}, {"n": 1e300}, []),
    ({"enum": [1]}, 1.0, []),
    ({"enum": [1]}, True, [("ENUM_MISMATCH", "")]),
    ({"const": False}, 0, [("CONST_MISMATCH", "")]),
    ({"properties": {"a/b": {"properties": {"m~n": {"type": "string"}}}}}, {"a/b": {"m~n": 1}}, [("INVALID_TYPE", "/a~1b/m~0n")]),
    ({"properties": {"a": True}, "additionalProperties": False}, {"a": 1, "x/y": 2}, [("ADDITIONAL_PROPERTY", "/x~1y")]),
    ({"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": False}, {"ab": 1}, [("INVALID_TYPE", "/ab")]),
    ({"properties": {"a": True}, "unevaluatedProperties": False}, {"b": 1}, [("ADDITIONAL_PROPERTY", "/b")]),
    ({"patternProperties": {"^a": True}, "unevaluatedProperties": False}, {"ab": 1, "b": 1}, [("ADDITIONAL_PROPERTY", "/b")]),
    (
        {"patternProperties": {"^(a+)+$": True}, "unevaluatedProperties": False},
        {"a" * 40 + "b": 1},
        [("ADDITIONAL_PROPERTY", "/" + "a" * 40 + "b")],
    ),
    ({"$dynamicRef": "#n", "$defs": {"n": {"$dynamicAnchor": "n", "type": "string"}}}, 1, [("INVALID_TYPE", "")]),
    ({"$schema": DRAFT_7, "allOf": [{"$ref": "#n"}], "definitions": {"n": {"$id": "#n", "type": "string"}}}, 1, [("INVALID_TYPE", "")]),
    ({"pattern": "^a$"}, "a\n", [("PATTERN_MISMATCH", "")]),
    ({"pattern": "^(a+)+$"}, "a" * 5000 + "!", [("PATTERN_MISMATCH", "")]),
    ({"patternProperties": {"^(a+)+$": False}}, {"a" * 5000 + "!": 1}, []),
    (
        {"additionalProperties": False, "patternProperties": {"^(a+)+$": True}},
        {"a" * 50 + "!": 1},
        [("ADDITIONAL_PROPERTY", "/" + "a" * 50 + "!")],
    ),
    ({"minLength": 2}, "a", [("LENGTH_VIOLATION", "")]),
    ({"maxItems": 1}, [1, 2], [("ITEMS_VIOLATION", "")]),
    ({"uniqueItems": True}, [1, 1.0], [("UNIQUE_VIOLATION", "")]),
    ({"uniqueItems": True}, [1, True], []),
    ({"uniqueItems": True}, [1, "1", None, {"a": 1}, {"a": 2}, [], {}], []),
    ({"uniqueItems": True}, [{"a": 1, "b": [2.0]}, 3, {"b": [2], "a": 1.0}], [("UNIQUE_VIOLATION", "")]),
    ({"uniqueItems": True}, [[1], [True], [1]], [("UNIQUE_VIOLATION", "")]),
    ({"uniqueItems": True}, [0, -0.0], [("UNIQUE_VIOLATION", "")]),
    ({"uniqueItems": True}, {"a": 1}, []),
    ({"uniqueItems": False}, [1, 1], []),
    ({"contains": {"type": "string"}, "unevaluatedItems": False}, ["a", 1], [("ITEMS_VIOLATION", "")]),
    ({"contains": {"type": "string"}, "unevaluatedItems": False}, ["a", "b"], []),
    ({"unevaluatedItems": False}, {"a": 1}, []),
    ({"items": {"type": "string"}}, ["a", 1], [("INVALID_TYPE", "/1")]),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, [("SCHEMA_VIOLATION", "")]),
    ({"not": {}}, 1, [("SCHEMA_VIOLATION", "")]),
    (False, 1, [("SCHEMA_VIOLATION", "")]),
    ({"$defs": {"s": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/s"}}}, {"a": 1}, [("INVALID_TYPE", "/a")]),
    ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, [("REQUIRED_MISSING", "/b")]),
    ({"format": "email"}, "no address", []),
    ({"$schema": DRAFT_7, "items": [{"type": "string"}], "additionalItems": False}, ["a", 1], [("ITEMS_VIOLATION", "")]),
    (
        {"$schema": DRAFT_7, "properties": {"c": {"$ref": "#"}, "p": {"pattern": "^(a+)+$"}}},
        {"c": {"p": "a" * 5000 + "!"}},
        [("PATTERN_MISMATCH", "/c/p")],
    ),
    ({"properties": {"a": {"properties": {"b": False}}}}, {"a": {"b": 1}}, [("SCHEMA_VIOLATION", "/a/b")]),
    ({"type": "integer"}, 1.5, [("INVALID_TYPE", "")]),
    ({"type": "integer"}, 1.0, []),
    ({"type": "number"}, True, [("INVALID_TYPE", "")]),
    ({"type": "number"}, 1, []),
]


@pytest.mark.parametrize(("schema", "value", "problems"), JUDGED, ids=[str(number) for number in range(len(JUDGED))])
def test_arguments_are_judged_by_code_and_pointer(schema: Json, value: Json, problems: list[tuple[str, str]]) -> None:
    began = time.monotonic()
    assert judged(schema, value) == problems
    assert time.monotonic() - began < 2


def test_three_violations_are_all_told_and_none_tells_a_value() -> None:
    schema: Json = {"properties": {"a": {"type": "string"}, "b": {"maximum": 1}, "c": {"pattern": "^x"}}}
    problems = judged(schema, {"a": 47110815, "b": 47110815, "c": "47110815"})
    assert [code for code, _ in problems] == ["INVALID_TYPE", "RANGE_VIOLATION", "PATTERN_MISMATCH"]
    assert "4711" not in str(problems)


def test_no_more_than_twenty_are_told() -> None:
    assert len(judged({"items": {"type": "string"}}, list(range(1000)))) == 20


def test_what_the_validator_cannot_do_is_no_valid_argument() -> None:
    branching: Json = {"allOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]}
    value: Json = {}
    for _ in range(60):
        value = {"a": value}
    began = time.monotonic()
    assert load(branching)(value) == (Problem("UNJUDGEABLE", ""),)
    assert time.monotonic() - began < 5
    for _ in range(2000):
        value = {"a": value}
    assert load(TREE)(value) in ((Problem("UNJUDGEABLE", ""),), (Problem("ADDITIONAL_PROPERTY", "/a"),))


LONG: list[tuple[Json, Json]] = [  # what is judged in a moment however much of it there is
    ({"uniqueItems": True}, [{"a": number} for number in range(50_000)]),
    ({"uniqueItems": True}, [*([number] for number in range(50_000)), {}]),
    ({"uniqueItems": True}, [(2**61 - 1) * number for number in range(50_000)]),
]
TOO_LONG: list[tuple[Json, Json]] = [  # and what would take its time: two sizes multiplied
    ({"allOf": [{"uniqueItems": True}] * 500}, ["x" * 500_000, "y" * 500_000]),
    ({"contains": {}, "unevaluatedItems": False}, [0] * 60_000),
    ({"items": {"enum": list(range(10_000))}}, [9_999] * 60_000),
    ({"items": {"properties": {str(number): True for number in range(10_000)}}}, [{}] * 60_000),
    ({"items": {"anyOf": [{"required": list(map(str, range(10_000)))}, True]}}, [{}] * 60_000),
]


@pytest.mark.parametrize(("schema", "value"), LONG, ids=[str(number) for number in range(len(LONG))])
def test_a_long_value_is_judged_in_a_moment(schema: Json, value: Json) -> None:
    began = time.monotonic()
    assert judged(schema, value) == []
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(("schema", "value"), TOO_LONG, ids=[str(number) for number in range(len(TOO_LONG))])
def test_what_multiplies_the_size_of_a_schema_with_that_of_a_value_is_not_judged_to_its_end(schema: Json, value: Json) -> None:
    check = load(schema)
    began = time.monotonic()
    assert check(value) == (Problem("UNJUDGEABLE", ""),)
    assert time.monotonic() - began < 5


def test_a_tree_as_deep_as_arguments_may_be_is_judged() -> None:
    schema: Json = {"type": "object", "properties": {"child": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, "additionalProperties": False}
    value: Json = {}
    for _ in range(62):
        value = {"child": value}
    assert load(schema)(value) == ()


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert load({"$ref": "http://127.0.0.1:9/schema"})({}) == (Problem("UNJUDGEABLE", ""),)
    assert load({"$ref": "file:///etc/passwd"})({}) == (Problem("UNJUDGEABLE", ""),)


TYPES = ("object", "array", "string", "integer", "number", "boolean", "null")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from((0.0, 1.0, 1.5)) | st.sampled_from(("", "a", "1")),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=8,
)
INSIDE = st.recursive(
    st.sampled_from((True, {"$ref": "#"}, {"$ref": "#/$defs/x"}))
    | st.sampled_from(TYPES).map(lambda name: {"type": name})
    | st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True).map(lambda names: {"type": names}),
    lambda inner: (
        st.fixed_dictionaries(
            {"properties": st.dictionaries(st.sampled_from("ab"), inner, min_size=1)}, optional={"required": st.just(["b"])}
        )
        | st.fixed_dictionaries({"items": inner})
        | st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)})
    ),
    max_leaves=6,
)


@given(INSIDE.filter(lambda schema: isinstance(schema, dict) and "$ref" not in schema), INSIDE, st.lists(VALUES, min_size=1, max_size=4))
def test_one_check_finds_in_each_value_what_the_library_finds(schema: dict[str, Json], other: Json, values: list[Json]) -> None:
    whole: Json = {**schema, "$defs": {"x": other}}
    assume(check_schema(whole, (), Issues()))
    check, library = load(whole), Draft202012Validator(whole)
    for value in values:
        at = {"".join(f"/{part}" for part in error.absolute_path) for error in library.iter_errors(value)}
        found = {problem.pointer.removesuffix("/b") if problem.code == "REQUIRED_MISSING" else problem.pointer for problem in check(value)}
        assert found == at


@pytest.mark.parametrize(("schema", "value", "told"), [
    ({"type": "integer"}, 4711.5, "INVALID_TYPE at (root) (not of type integer)"),
    ({"type": ["string", "null"]}, 4711, "INVALID_TYPE at (root) (not of type string or null)"),
    ({"properties": {"c": {"maximum": 500}}}, {"c": 4711}, "RANGE_VIOLATION at /c (more than the maximum 500)"),
    ({"properties": {"c": {"minimum": 5000}}}, {"c": 4711}, "RANGE_VIOLATION at /c (less than the minimum 5000)"),
    ({"exclusiveMinimum": 4711}, 4711, "RANGE_VIOLATION at (root) (not more than 4711)"),
    ({"maxLength": 3}, "4711", "LENGTH_VIOLATION at (root) (longer than 3)"),
    ({"maxItems": 1}, [4711, 1], "ITEMS_VIOLATION at (root) (more than 1 items)"),
    ({"enum": ["a"]}, 4711, "ENUM_MISMATCH at (root)"),
    ({"pattern": "^v[0-9]+$"}, "4711", "PATTERN_MISMATCH at (root) (does not match ^v[0-9]+$)"),
    ({"pattern": "^" + "v" * 60}, "4711", "PATTERN_MISMATCH at (root)"),
    ({"pattern": "^v\u202ex"}, "4711", "PATTERN_MISMATCH at (root)"),
    ({"pattern": "^v\nx"}, "4711", "PATTERN_MISMATCH at (root)"),
    ({"minimum": 10**70}, 4711, "RANGE_VIOLATION at (root)"),
])  # fmt: skip
def test_the_bound_that_is_not_kept_is_told_and_never_the_value(schema: Json, value: Json, told: str) -> None:
    [problem] = load(schema)(value)
    assert problem.told() == told


@pytest.mark.parametrize(("word", "hint"), [
    ("text", "did you mean string?"),
    ("nteger", "did you mean integer?"),
    ("xyz", "one of array, boolean, integer, null, number, object, string"),
])  # fmt: skip
def test_a_type_that_is_none_is_met_with_the_one_that_was_meant(word: str, hint: str) -> None:
    issues = Issues()
    assert not check_schema({"properties": {"a": {"type": word}}}, (), issues)
    assert [(error.text, error.hint) for error in issues.errors] == [(f"{word} is no type", hint)]
