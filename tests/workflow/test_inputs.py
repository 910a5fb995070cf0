"""Inputs of a run, typed at a shell or given as JSON."""

from __future__ import annotations

import subprocess
import sys

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import Json
from toolgate_cli.workflow.inputs import fill_inputs

INPUTS: dict[str, Json] = {
    "to": {"type": "string"},
    "amount": {"type": "number", "default": 20},
    "mode": {"enum": ["fast", "slow"], "default": "slow"},
    "tags": {"type": "array", "items": {"type": "string"}, "default": []},
    "maybe": {"type": ["string", "null"], "default": None},
    "urgent": {"type": "boolean", "default": False},
}


def test_defaults_fill_what_was_not_given() -> None:
    filled = fill_inputs(INPUTS, {}, {"to": "ann"})
    assert filled == {"to": "ann", "amount": 20, "mode": "slow", "tags": [], "maybe": None, "urgent": False}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("to", "17", "17"),
        ("to", "", ""),
        ("to", "null", "null"),
        ("amount", "7.50", 7.5),
        ("amount", "9007199254740993", 9007199254740993),
        ("mode", "fast", "fast"),
        ("tags", '["a"]', ["a"]),
        ("maybe", "x", "x"),
    ],
)
def test_a_text_is_text_where_the_schema_says_string_and_json_elsewhere(name: str, text: str, value: Json) -> None:
    filled = fill_inputs(INPUTS, {}, {"to": "ann", name: text})
    assert filled[name] == value and type(filled[name]) is type(value)


WRONG: list[tuple[dict[str, Json], dict[str, str], str, str]] = [
    ({}, {}, "to: this input is required", "-i to=VALUE"),
    ({}, {"to": "a", "amout": "1"}, "there is no input amout", "did you mean amount?"),
    ({}, {"to": "a", "amount": "many"}, "amount: must be of type number", "amount (number)"),
    ({}, {"to": "a", "tags": "many"}, "tags: not JSON", "quoted"),
    ({}, {"to": "a", "amount": "1e999"}, "NON_FINITE", ""),
    ({}, {"to": "a", "amount": '{"a":1,"a":2}'}, "DUPLICATE_KEY", ""),
    ({}, {"to": "a", "amount": "true"}, "amount: must be of type number", ""),
    ({"to": "a"}, {"urgent": "yes"}, "urgent: must be of type boolean: true or false", ""),
    ({"to": "a"}, {"urgent": "True"}, "urgent: must be of type boolean: true or false", ""),
    ({"to": "a"}, {"urgent": "1"}, "urgent: must be of type boolean: true or false", ""),
    ({"to": 1}, {}, "to: must be of type string", ""),
    ({"to": "\ud800"}, {}, "LONE_SURROGATE", ""),
    ({"to": "a", "mode": "medium"}, {}, "mode: not one of the accepted values", "fast"),
    ({"to": "a", "tags": [1]}, {}, "tags: does not validate: INVALID_TYPE at /0", ""),
    ({"to": "a"}, {"to": "b"}, "to: given twice", ""),
]


@pytest.mark.parametrize(("given", "texts", "message", "hint"), WRONG, ids=[row[2][:40] for row in WRONG])
def test_what_is_wrong_is_told(given: dict[str, Json], texts: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(ToolgateError) as caught:
        fill_inputs(INPUTS, given, texts)
    assert caught.value.kind == "invalid" and message in caught.value.message and hint in caught.value.hint


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ToolgateError) as caught:
        fill_inputs(INPUTS, {"nothing": 1}, {"amount": "x"})
    assert len(caught.value.message.split("; ")) == 3


def test_plain_types_are_judged_without_the_validator() -> None:
    code = (
        "import sys; from toolgate_cli.workflow.inputs import fill_inputs;"
        "fill_inputs({'a': {'type': 'integer', 'title': 'A', 'enum': [1, 2]}, 'b': {'type': 'string', 'default': ''}}, {'a': 2.0}, {});"
        "sys.exit(sorted({'jsonschema', 'pydantic', 're2'} & set(sys.modules)) != [])"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
