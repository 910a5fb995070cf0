"""Thousands of damaged files: each is refused in words, or means exactly what it says; none loosens anything silently (CASES B5, B6)."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from toolgate_cli.core.config import Config
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.fields import Names
from toolgate_cli.core.tables import hints
from toolgate_cli.workflow import shapes
from toolgate_cli.workflow.files import HomeFiles

from .homes import FLOW, KINDS, OPERATOR, Home, never

SHORT, LONG = 1000, 20_000
_PIECES = [
    "",
    "x",
    '"',
    "'",
    "[",
    "]",
    "{",
    "}",
    "=",
    ",",
    ".",
    "\n",
    "#",
    "\\",
    " ",
    "1",
    "-",
    "true",
    "allow",
    "deny",
    "2026-01-01",
    "inf",
    "é",
    "\ufeff",
    "\0",
]


def mutants(text: str, chance: random.Random, count: int) -> Iterator[str]:
    lines = text.split("\n")
    for _ in range(count):
        kind = chance.randrange(7)
        at = chance.randrange(len(text))
        if kind == 0:
            yield text[:at] + chance.choice(_PIECES) + text[at + chance.randrange(3) :]
        elif kind == 1:
            yield text[:at] + text[at + 1] + text[at] + text[at + 2 :] if at + 2 < len(text) else text[:at]
        elif kind == 2:
            yield text[:at]
        elif kind == 3:
            number = chance.randrange(len(lines))
            yield "\n".join(lines[:number] + lines[number + 1 :])
        elif kind == 4:
            number = chance.randrange(len(lines))
            yield "\n".join(lines[:number] + [lines[number]] * 2 + lines[number + 1 :])
        elif kind == 5:
            one, two = chance.randrange(len(lines)), chance.randrange(len(lines))
            swapped = list(lines)
            swapped[one], swapped[two] = swapped[two], swapped[one]
            yield "\n".join(swapped)
        else:
            end = min(len(text), at + chance.randrange(12))
            yield text[:at] + text[end:]


@pytest.fixture
def count(request: pytest.FixtureRequest) -> int:
    return LONG if request.config.getoption("--long", default=False) else SHORT


def test_a_damaged_operator_file_is_refused_or_means_what_it_says(home: Home, count: int) -> None:
    accepted = 0
    for text in mutants(OPERATOR, random.Random(11), count):
        home.write("toolgate.toml", text)
        try:
            config = HomeFiles(str(home.path), KINDS, never).world().config
        except ToolgateError as error:
            assert error.kind == "invalid" and "toolgate.toml" in error.message, (error.message, text)
            continue
        accepted += 1
        says_what_is_written(config, tomllib.loads(text))
    assert accepted > count // 50


def says_what_is_written(config: Config, raw: dict[str, Any]) -> None:
    """By a second, simple reading of the same file: no key is passed over, no rule is lost, every default is the strict one."""
    assert set(raw) <= set(shapes.Operator._fields)
    policy = raw.get("policy", {})
    assert set(policy) <= {"default", "rules"} and config.policy.default == policy.get("default", "require_approval")
    rules = policy.get("rules", [])
    assert len(rules) == len(config.policy.rules)
    for written, rule in zip(rules, config.policy.rules, strict=True):
        assert set(written) <= set(rule._fields)
        for key, default in shapes.Rule._field_defaults.items():
            if key not in ("when", "expires_in"):
                assert getattr(rule, key) == written.get(key, default)
        assert (rule.name, rule.decision) == (written["name"], written["decision"])
        assert len(rule.when) == len(written.get("when", [])) and (rule.expires_in is None) == ("expires_in" not in written)
    tools = raw.get("tools", {})
    assert set(tools) == set(config.tools)
    for name, written in tools.items():
        tool = config.tools[name]
        assert set(written) <= {*shapes.Tool._fields, "command"}
        assert (tool.safety, tool.effect) == (written.get("safety", "destructive"), written.get("effect", "unsafe"))
        assert (tool.permission, tool.enabled, tool.max_attempts) == (
            written.get("permission"),
            written.get("enabled", True),
            written.get("max_attempts", 1),
        )
        assert tool.schema == (True if written["input_schema"] == "any-object" else written["input_schema"])
        assert len(tool.fail_when) == len(written.get("fail_when", []))
    assert config.approvers == {scope: tuple(people) for scope, people in raw.get("approvers", {}).items()}
    assert config.identity == raw.get("identity", {}).get("mode", "declared")
    assert (config.context is None) == ("context" not in raw)


@pytest.mark.parametrize("shape", [shapes.Rule, shapes.Policy, shapes.Tool, shapes.Gate, shapes.Identity], ids=lambda shape: shape.__name__)
def test_no_key_can_be_misspelt_by_one_letter(home: Home, shape: type) -> None:
    keys = [key for key in hints(shape) if f"\n{key} =" in OPERATOR]
    assert keys
    known = (
        set(hints(shapes.Rule))
        | set(hints(shapes.Tool))
        | set(hints(shapes.Gate))
        | set(hints(shapes.Policy))
        | set(hints(shapes.Identity))
    )
    for key in keys:
        wrong = (
            {key[:at] + key[at + 1 :] for at in range(len(key))} | {key[:at] + key[at] + key[at:] for at in range(len(key))} | {key.upper()}
        )
        for word in sorted(wrong - known - {""}):
            home.write("toolgate.toml", OPERATOR.replace(f"\n{key} =", f"\n{word} =", 1))
            error = home.refusal()
            assert f"{word}: unknown key" in error.message, error.message


def test_a_damaged_workflow_is_refused_or_loads(home: Home, count: int) -> None:
    files = home.files()
    for text in mutants(FLOW, random.Random(12), count):
        home.write("pay.toml", text)
        try:
            files.workflow("pay")
        except ToolgateError as error:
            assert error.kind in ("invalid", "not_found"), error.message
            assert error.kind == "not_found" or "pay.toml:" in error.message, (error.message, text)


def test_bytes_of_any_kind_are_refused(home: Home, count: int) -> None:
    chance = random.Random(13)
    data = OPERATOR.encode()
    for _ in range(count // 3):
        at, length = chance.randrange(len(data)), chance.randrange(1, 6)
        home.write("toolgate.toml", data[:at] + chance.randbytes(length) + data[at + length :])
        try:
            home.files().world()
        except ToolgateError as error:
            assert error.kind == "invalid" and "toolgate.toml" in error.message


def test_every_value_may_be_of_every_type(home: Home) -> None:
    values = [
        "true",
        "0",
        "-1",
        "1.5",
        '""',
        '"x"',
        '"a.b"',
        "[]",
        "[1]",
        '["a"]',
        "[[]]",
        "[{}]",
        "{}",
        "{ a = 1 }",
        "{ a = { b = [] } }",
        "1979-05-27",
        "9" * 30,
    ]
    for document, name, load in ((OPERATOR, "toolgate.toml", None), (FLOW, "pay.toml", "pay")):
        lines = document.split("\n")
        for number, written in enumerate(lines):
            key, equals, _ = written.partition(" = ")
            if not equals:
                continue
            for value in values:
                home.write(name, "\n".join([*lines[:number], f"{key} = {value}", *lines[number + 1 :]]))
                files = home.files()
                try:
                    files.workflow(load) if load else files.world()
                except ToolgateError as error:
                    assert error.kind in ("invalid", "not_found") and (error.kind == "not_found" or f"{name}:" in error.message), (
                        error.message
                    )
        home.write(name, document)


def test_markers_stand_in_the_fields_of_steps() -> None:
    """What the load checks of names are made from: a kind that names a block and does not say so would go unchecked."""
    found = {kind: str(hints(KINDS.step_kind(kind).Fields)) for kind in KINDS.step_kinds()}
    for kind in ("block", "branch", "tool", "agent", "input"):
        assert Names.__name__ in found[kind]
