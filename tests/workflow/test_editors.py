"""The JSON Schemas for editors say of the shape of a file what `workflow check` says: neither more, nor less."""

from __future__ import annotations

import copy
import json
import random
import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from toolgate_cli import bootstrap
from toolgate_cli.workflow import models, shapes
from toolgate_cli.workflow.checks.flow import check_flow
from toolgate_cli.workflow.checks.operator import check_operator
from toolgate_cli.workflow.editors import operator_schema, workflow_schema
from toolgate_cli.workflow.issues import Issues
from toolgate_cli.workflow.outside import Outside
from toolgate_cli.workflow.servers import SECTION

from .homes import FLOW, KINDS, OPERATOR, Home

EVERY = """schema = 1
id = "every"
[[steps]]
id = "terms"
type = "resource"
file = "terms.txt"
save_as = "terms"
if = [{ key = "decision", at = "/x", eq = "refund" }, { key = "list", any = [{ at = "/y", gt = 1 }] }]
[[steps]]
id = "route"
type = "branch"
cases = [{ when = [{ key = "decision", exists = true }], to = "body" }, { to = "continue" }]
[[steps]]
id = "again"
type = "retry_previous"
step = "terms"
mode = "from"
max_retries = 2
fallback = "body"
[[steps]]
id = "each"
type = "block"
block = "body"
repeat = { until = "each", each = "terms", item = "one", max = 3, at_max = "fail" }
[[steps]]
id = "inside"
type = "workflow"
workflow = "inner"
inputs = { name = "x" }
outputs = { text = "text" }
[[steps]]
id = "check"
type = "validate"
require = { keys = ["text"], files = ["out/a.json"] }
equal = [{ key = "text", file = "out/a.json", at = "/t" }]
schema = [{ by = { type = "object", required = ["t"] }, file = "out/a.json", at = "/t" }]
[[steps]]
id = "sum"
type = "aggregate"
keys = ["text", "terms"]
into = "all"
operation = "concat"
[[blocks.body]]
id = "stop"
type = "fail"
reason = "no"
if = [{ key = "all", size = { gt = 3 } }]
"""
INNER: Any = {"schema": 1, "id": "inner", "inputs": {"name": {"type": "string"}}, "steps": [{"id": "s", "type": "fail", "reason": "r"}]}
EXAMPLE = Path(__file__).parents[2] / "workflows.example"
FLOWS = [FLOW, EVERY, *(path.read_text() for path in sorted((EXAMPLE / "workflows").glob("*.toml")))]
# what a check says of the shape of a table, as against what names in it refer to
SHAPE = re.compile(
    "unknown key( or operator)?$|required key is missing$|.* is not one of |" + "|".join(w.split("{")[0] for w in models._WORDS.values())
)
VALUES: list[Any] = [True, 0, -1, 7, 1.5, "", "x", "a.b", "30s", [], [1], ["a"], [[]], [{}], {}, {"a": 1}, {"a": {"b": []}}]
MUTANTS = 400


@pytest.fixture(scope="module")
def of_workflow() -> Draft202012Validator:
    return Draft202012Validator(workflow_schema(KINDS))


@pytest.fixture(scope="module")
def of_operator() -> Draft202012Validator:
    return Draft202012Validator(operator_schema(KINDS))


def test_the_schemas_are_schemas_and_are_what_is_printed(of_workflow: Any, of_operator: Any) -> None:
    for schema, of in ((of_workflow.schema, "workflow"), (of_operator.schema, "operator")):
        Draft202012Validator.check_schema(schema)
        assert json.loads(json.dumps(bootstrap.schema(of))) == schema  # type: ignore[arg-type]


def test_all_example_files_validate(of_workflow: Any, of_operator: Any) -> None:
    for text in FLOWS:
        assert not list(of_workflow.iter_errors(tomllib.loads(text)))
    for text in (OPERATOR, (EXAMPLE / "toolgate.toml").read_text(), (EXAMPLE / "coding" / "toolgate.toml").read_text()):
        assert not list(of_operator.iter_errors(tomllib.loads(text)))


def test_no_table_is_left_open(of_workflow: Any, of_operator: Any) -> None:
    """A section, a step kind, a provider or an adapter that nobody told the schema of would complete nothing, and accept anything."""
    for name in shapes.Operator._fields:
        held = of_operator.schema["properties"][name]
        assert held.get("additionalProperties") is not True and (held.get("type") != "object" or "additionalProperties" in held), name
    for kind in KINDS.step_kinds():
        held = of_workflow.schema["$defs"][f"step_{kind}"]
        assert held["additionalProperties"] is False and held["description"]
        assert set(held["properties"]) == {*models.names(shapes.Common), shapes.CONDITIONS, *models.names(KINDS.step_kind(kind).Fields)}
    assert set(KINDS.providers()) - {SECTION} <= set(of_operator.schema["$defs"]["tool"]["properties"])
    assert all(f"model_{adapter}" in of_operator.schema["$defs"] for adapter in KINDS.models())


@pytest.mark.parametrize(
    "on_failure, accepted, good", [("all", None, False), ("all", False, False), ("all", True, True), ("throw", None, True)]
)
def test_failing_open_is_said_twice(of_operator: Any, on_failure: str, accepted: bool | None, good: bool) -> None:
    raw = tomllib.loads(OPERATOR)
    held = raw["agents"]["clerk"]["selection"]
    held["on_failure"] = on_failure
    held |= {} if accepted is None else {"accept_fail_open": accepted}
    assert of_operator.is_valid(raw) == good


SERVED = """schema = 1
[mcp.git]
command = ["git-server"]
env = { A = "b" }
[mcp.far]
url = "https://far.example/mcp"
[tools."git.log"]
safety = "read_only"
remote = "gitLog"
[tools."far.say"]
input_schema = { type = "object" }
"""


def test_a_server_and_what_is_said_of_its_tools_are_known(of_operator: Any) -> None:
    raw = tomllib.loads(SERVED)
    assert of_operator.is_valid(raw)
    for bad in (
        {**raw, "mcp": {"git": {"command": ["x"], "url": "https://x"}}},
        {**raw, "mcp": {"git": {"commands": ["x"]}}},
        {**raw, "mcp": {"git": {}}},
        {**raw, "tools": {"git.log": {"mcp": {"server": "git"}}}},
        {**raw, "tools": {"git.log": {"input_schema": {}, "input_schema_file": "x"}}},
        {**raw, "tools": {"other": {"input_schema": {}, "remote": "x", "command": {"argv": ["x"]}}}},
        {"schema": 1, "tools": raw["tools"]},
    ):
        assert not of_operator.is_valid(bad), bad


def test_a_mistake_in_a_step_is_told_in_the_words_of_its_kind(of_workflow: Any) -> None:
    raw = tomllib.loads(FLOW)
    raw["steps"][0]["save_ass"] = "x"
    [error] = of_workflow.iter_errors(raw)
    assert list(error.absolute_path) == ["steps", 0] and "'save_ass' was unexpected" in error.message


@pytest.mark.parametrize("key", ["inputs.x", "tool.x", "loop.x", "user.x", "__x"])
def test_reserved_keys_are_refused_wherever_a_step_writes(of_workflow: Any, key: str) -> None:
    for name, held in (("writes", [key]), ("save_as", key), ("set", {key: 1})):
        raw = tomllib.loads(FLOW)
        steps = [*raw["steps"], *raw["blocks"]["paying"]]
        [step] = [step for step in steps if name in step and step["type"] != "input"]
        step[name] = held
        assert not of_workflow.is_valid(raw), name


# ---- by thousands of changed files ----
def places(raw: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for key, held in raw.items() if isinstance(raw, dict) else enumerate(raw) if isinstance(raw, list) else ():
        yield from places(held, (*path, key))


def changed(raw: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    made = copy.deepcopy(raw)
    *above, key = chance.choice(list(places(made)))
    here: Any = made
    for step in above:
        here = here[step]
    what = chance.randrange(4)
    if what == 0:
        here[key] = copy.deepcopy(chance.choice(VALUES))
    elif what == 1:
        del here[key]
    elif isinstance(here, dict) and what == 2:
        here[chance.choice([f"{key}x", "extra", key.upper() + "_"])] = here.pop(key)
    elif isinstance(here, dict):
        other = chance.choice(list(places(made)))
        source: Any = made
        for step in other:
            source = source[step]
        here[chance.choice(["title", "gate", "timeout", "when", "options", str(other[-1])])] = copy.deepcopy(source)
    return made


def agree(validator: Any, raw: dict[str, Any], check: Callable[[dict[str, Any]], Issues], count: int, seed: int) -> None:
    chance = random.Random(seed)
    accepted = refused = 0
    for _ in range(count):
        made = changed(raw, chance)
        if chance.random() < 0.3:
            made = changed(made, chance)
        issues = check(made)
        fine = validator.is_valid(made)
        if not issues.errors:
            accepted += 1
            assert fine, (seed, made, next(validator.iter_errors(made)).message)
        elif of_shape := [issue for issue in issues.errors if SHAPE.match(issue.text)]:
            refused += 1
            assert not fine, (seed, of_shape[0], made)
    assert accepted > count // 50 and refused > count // 4


@pytest.mark.parametrize("text", [FLOW, EVERY], ids=["some", "every"])
@pytest.mark.parametrize("seed", range(2))
def test_a_changed_workflow_is_seen_alike(home: Home, of_workflow: Any, text: str, seed: int, long: bool) -> None:
    config, raws = home.files().world().config, {"inner": [INNER]}
    assert check_flow(tomllib.loads(text), config, KINDS, raws).errors == {}
    agree(of_workflow, tomllib.loads(text), lambda raw: check_flow(raw, config, KINDS, raws), MUTANTS * 10 if long else MUTANTS, seed)


@pytest.mark.parametrize("seed", range(4))
def test_a_changed_operators_file_is_seen_alike(home: Home, of_operator: Any, seed: int, long: bool) -> None:
    def check(raw: dict[str, Any]) -> Issues:
        return check_operator(raw, KINDS, Outside(str(home.path), raw))

    agree(of_operator, tomllib.loads(OPERATOR), check, MUTANTS * 10 if long else MUTANTS, seed)
