"""What can never run, and what is read before anything can have written it: warnings, each at its line."""

from __future__ import annotations

import tomllib
from types import SimpleNamespace
from typing import Annotated, Any

import pytest

from toolgate_cli.core.fields import Names
from toolgate_cli.core.values import NamedTuple
from toolgate_cli.workflow.checks.flow import check_flow
from toolgate_cli.workflow.checks.steps import ANY, told
from toolgate_cli.workflow.issues import tell

from .homes import KINDS, OPERATOR, Home


class Elsewhere(NamedTuple):
    place: Annotated[str, Names("planet")]  # type: ignore[arg-type]  # something that these checks know nothing of


MADE: dict[str, Any] = {"elsewhere": SimpleNamespace(Fields=Elsewhere)}
WITH_MORE = KINDS._replace(
    step_kinds=lambda: (*KINDS.step_kinds(), *MADE), step_kind=lambda kind: MADE[kind] if kind in MADE else KINDS.step_kind(kind)
)
DEFAULTS = {"assign": "set = { x = 1 }", "fail": 'reason = "r"', "tool": 'tool = "ledger.show"', "agent": 'agent = "clerk"'}


def flow(**sequences: list[str]) -> str:
    """Steps as `ID KIND MORE`; `main` is the workflow's own sequence."""
    text = 'schema = 1\nid = "w"\n[inputs.to]\ntype = "string"\n'
    for name, steps in sequences.items():
        for step in steps:
            id, kind, *more = step.split(" ", 2)
            head = "[[steps]]" if name == "main" else f"[[blocks.{name}]]"
            text += f'{head}\nid = "{id}"\ntype = "{kind}"\n{more[0] if more else DEFAULTS[kind]}\n'
    return text + '[[forms.who]]\nid = "name"\ntype = "TEXT"\n'


@pytest.fixture
def found(home: Home) -> Any:
    def look(**sequences: list[str]) -> tuple[list[str], list[str]]:
        config, text = home.files().world().config, flow(**sequences)
        issues = check_flow(tomllib.loads(text), config, WITH_MORE, {"inner": [INNER]})
        said = (tell("w.toml", text, issues.errors), tell("w.toml", text, issues.warnings))
        return tuple(
            [f"{message.split(': ', 1)[1]} ({hint})" if hint else message.split(": ", 1)[1] for message, hint in each] for each in said
        )  # type: ignore[return-value]

    return look


INNER: Any = {"schema": 1, "id": "inner", "steps": [{"id": "s", "type": "assign", "set": {"x": 1}}]}
LEAVES = "steps[1]: nothing comes to b: a always leaves this sequence"
WHEN = 'when = [{ key = "inputs.to", eq = "x" }]'
COUNT = 'into = "n"\noperation = "count"'
BRANCH = 'on = "inputs.to"\narms = '
QUIET: list[dict[str, list[str]]] = [
    {"main": ["a assign", "b fail"]},
    {"main": ["a branch " + BRANCH + '{ x = "end", y = "continue" }', "b assign"]},
    {"main": ["a branch " + BRANCH + '{ x = "left", "*" = "fail" }', "b assign"], "left": ["c assign"]},
    {"main": ["a branch " + BRANCH + '{ x = "left", "*" = "fail" }', "b assign"], "left": ["c branch " + BRANCH + '{ z = "end" }']},
    {"main": ["a assign set = { k = 1 }", 'b assign set = { m = "${k} ${inputs.to} ${steps.a}" }']},
    {"main": ["a tool", 'b branch on = "tool.ledger.show.error"\narms = { "" = "continue" }', 'c assign set = { m = "${steps.a}" }']},
    {"main": ["a tool", 'b assign set = { m = "${tool.ledger.show#/x}" }']},
    {"main": ['a input form = "who"\nwrites = ["name"]', 'b assign set = { m = "${who.name} ${name}" }']},
    {"main": ['a agent agent = "clerk"\nwrites = ["d"]\nreads = ["d", "tool.ledger.pay"]', 'b assign set = { m = "${d}" }']},
    {"main": ['a agent agent = "clerk"\nwrites = ["*"]', 'b assign set = { m = "${whatever}" }']},
    {"main": ['a agent agent = "clerk"\nreads = ["*"]']},
    {"main": ['a block block = "in"', 'b assign set = { m = "${k} ${steps.a/c}" }'], "in": ["c assign set = { k = 1 }"]},
    {"main": ["a assign set = { k = 1 }", 'b block block = "in"'], "in": ['c assign set = { m = "${k}" }']},
    {
        "main": ['b block block = "in"\nrepeat = { until = "count", max = 2 }'],
        "in": ['c assign set = { m = "${k}" }', "d assign set = { k = 1 }"],
    },
    {"main": ['a assign set = { m = "${k}" }', "b assign set = { k = 1 }", 'c retry_previous step = "a"']},
    {"main": ['a assign set = { m = "$${k} ${loop.item} ${user.x}" }']},
    {"main": ['a fail reason = "r"\nif = [{ key = "inputs.to", eq = "x" }]', "b assign"]},
    {"main": ["a branch " + BRANCH + '{ x = "end" }\nif = [{ key = "inputs.to", eq = "x" }]', "b assign"]},
    {"main": [f'a branch cases = [{{ to = "end", {WHEN} }}, {{ to = "left" }}]', "b assign"], "left": ["c assign"]},
    {
        "main": ["a assign set = { l = [1] }", 'b block block = "in"\nrepeat = { until = "each", each = "l", item = "one" }'],
        "in": ['c assign set = { m = "${one}" }'],
    },
    {"main": ['a workflow workflow = "inner"\noutputs = { k = "x" }', 'b assign set = { m = "${k}" }']},
    {"main": ['a workflow workflow = "inner"\nshare = true', 'b assign set = { m = "${k}" }']},
    {"main": ['a resource file = "x"\nsave_as = "k"', f'b aggregate keys = ["k"]\n{COUNT}', 'c validate require = { keys = ["n"] }']},
    {"main": ["a assign", 'b retry_previous step = "a"\nfallback = "left"', "c assign"], "left": ["d fail"]},
]  # fmt: skip


@pytest.mark.parametrize("sequences", QUIET, ids=range(len(QUIET)))
def test_what_may_be_is_not_warned_of(found: Any, sequences: dict[str, list[str]]) -> None:
    assert found(**sequences) == ([], [])


WARNED: list[tuple[dict[str, list[str]], str]] = [
    ({"main": ["a fail", "b assign", "c assign"]}, LEAVES),
    ({"main": ["a branch " + BRANCH + '{ x = "end", "*" = "fail" }', "b assign"]}, LEAVES),
    (
        {"main": ["a branch " + BRANCH + '{ x = "left" }', "b assign"], "left": ["c fail"]},
        LEAVES,
    ),
    ({"main": ["a assign"], "left": ["c assign"]}, "blocks.left: nothing runs this block"),
    ({"main": ["a assign set = { k = 1 }", 'b assign set = { m = "${kk}" }']}, "steps[1].set.m: nothing writes kk (did you mean k?)"),
    (
        {"main": ["a assign set = { decision = 1 }", 'b assign set = { m = "${decison}" }']},
        "steps[1].set.m: nothing writes decison (did you mean decision?)",
    ),
    (
        {"main": ['a assign set = { k = "${k}" }']},
        "steps[0].set.k: k is read before anything can have written it (it is written further on)",
    ),
    (
        {"main": ['a assign set = { m = "${steps.b}" }', "b assign"]},
        "steps[0].set.m: steps.b is read before anything can have written it (it is written further on)",
    ),
    (
        {"main": ['a agent agent = "clerk"\nreads = ["dd"]']},
        'steps[0].reads[0]: nothing writes dd (the step a writes only what it declares: writes = ["dd"])',
    ),
    (
        {"main": ['a agent agent = "clerk"\nwrites = ["item"]', 'b assign set = { m = "${items}" }']},
        'steps[1].set.m: nothing writes items (did you mean item? or: the step a writes only what it declares: writes = ["items"])',
    ),
    (  # of two that could, neither is named
        {"main": ['a agent agent = "clerk"', 'b agent agent = "clerk"', 'c assign set = { m = "${dd}" }']},
        "steps[2].set.m: nothing writes dd",
    ),
    ({"main": ['a branch on = "tool.ledger.show"\narms = { x = "end" }']}, "steps[0].on: nothing writes tool.ledger.show"),
    ({"main": ['a assign set = { m = "${input.to}" }']}, "steps[0].set.m: nothing writes input.to (did you mean inputs.to?)"),
    (
        {"main": ['a input form = "who"', 'b assign set = { m = "${name}" }']},
        "steps[1].set.m: nothing writes name (did you mean who.name?)",
    ),
    (
        {"main": ['a block block = "in"'], "in": ['c assign set = { m = "${k}" }', "d assign set = { k = 1 }"]},
        "blocks.in[0].set.m: k is read before anything can have written it (it is written further on)",
    ),
    (
        {
            "main": ["a branch " + BRANCH + '{ x = "one", y = "two" }'],
            "one": ["c assign set = { k = 1 }"],
            "two": ['d assign set = { m = "${k}" }'],
        },
        "blocks.two[0].set.m: k is read before anything can have written it (it is written further on)",
    ),
    (
        {"main": ['a branch cases = [{ to = "end", when = [{ key = "inputs.to", eq = "x" }] }, { to = "fail" }]', "b assign"]},
        LEAVES,
    ),
    ({"main": ['a assign set = { m = 1 }\nif = [{ key = "k", eq = 1 }]']}, "steps[0].if[0].key: nothing writes k"),
    (
        {"main": ['a branch cases = [{ to = "end", when = [{ key = "k", eq = 1 }] }, { to = "continue" }]']},
        "steps[0].cases[0].when[0].key: nothing writes k",
    ),
    ({"main": ['a workflow workflow = "inner"', 'b assign set = { m = "${x}" }']}, "steps[1].set.m: nothing writes x"),
    ({"main": ['a aggregate keys = ["k"]\ninto = "n"\noperation = "count"']}, "steps[0].keys[0]: nothing writes k"),
    (
        {"main": ["a assign", 'b assign set = { m = "${k}" }', 'c retry_previous step = "b"', "d assign set = { k = 1 }"]},
        "steps[1].set.m: k is read before anything can have written it (it is written further on)",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("sequences", "warning"), WARNED, ids=range(len(WARNED)))
def test_what_cannot_be_is_warned_of_once(found: Any, sequences: dict[str, list[str]], warning: str) -> None:
    assert found(**sequences) == ([], [warning])


def test_no_step_is_said_to_declare_what_a_tool_writes(home: Home, found: Any) -> None:
    home.write("toolgate.toml", OPERATOR.replace('tools = ["ledger.*"]', 'tools = ["ledger.pay"]'))
    _, [told] = found(main=['a agent agent = "clerk"', 'b assign set = { m = "${tool.ledger.show}" }'])
    assert told == "steps[1].set.m: nothing writes tool.ledger.show (did you mean tool.ledger.pay?)"


def test_a_block_that_only_an_unused_block_runs_is_unused_too(found: Any) -> None:
    _, warnings = found(main=["a fail", 'b block block = "one"'], one=['c block block = "two"'], two=["d assign"])
    assert (
        warnings[1:] == ["blocks.one: nothing runs this block", "blocks.two: nothing runs this block"]
        and "nothing comes to b" in warnings[0]
    )


def test_a_branch_without_arms_is_refused(found: Any) -> None:
    [error] = found(main=["a branch " + BRANCH + "{}"])[0]
    assert error.startswith("steps[0]: arms is missing")


NAMED = {
    "main": [
        "a branch " + BRANCH + '{ x = "left", "*" = "continue" }',
        "b assign",
        'r retry_previous step = "b"\nfallback = "left"',
        'w workflow workflow = "inner"',
    ],
    "left": ['d block block = "deep"', 'm assign set = { x = "${steps.PATH}" }'],
    "deep": ["e assign"],
}


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        *((path, None) for path in ("a", "b", "a/d", "a/d/e", "r/d", "r/d/e", "a/m")),
        ("d", "a/d"), ("e", "a/d/e"), ("d/e", "a/d/e"), ("a/e", "a/d/e"), ("b/a", "a"), ("a/b", "b"), ("w/b", "b"),
        ("bb", "b"), ("w/s", ""), ("a/", ""), ("", ""),
    ],
)  # fmt: skip
def test_the_output_of_a_step_is_called_by_its_whole_path(found: Any, path: str, hint: str | None) -> None:
    errors, _ = found(**{name: [step.replace("PATH", path) for step in steps] for name, steps in NAMED.items()})
    if hint is None:
        assert errors == []
    else:
        [error] = errors
        assert f"blocks.left[1].set.x: there is no step {path}" in error and (f"did you mean {hint}?" in error) is bool(hint)


def test_a_wrong_field_hides_nothing_of_the_others(found: Any) -> None:
    agent = 'a agent agent = "clrk"\nwrites = ["tool.x"]\nreads = "x"\ngate = "aproval"'
    branch = 'b branch on = 1\narms = { x = "nowhere" }'
    told = " ".join(found(main=[agent, branch])[0])
    for said in ("[0].agent: there is no agent clrk", "writes[0]: this key is reserved", "[0].reads: ", "[0].gate: ", "[1].on: ",
                 "[1].arms.x: there is no block nowhere"):  # fmt: skip
        assert said in told, said


def test_a_very_long_workflow_is_looked_at(found: Any) -> None:
    long = [f'a{number} assign set = {{ k{number} = "${{k{number - 1}}}" }}' for number in range(1, 500)]
    [warning] = found(main=long)[1]
    assert warning.startswith("steps[0].set.k1: nothing writes k0")


def test_a_workflow_that_others_run_in_their_context_may_read_what_they_wrote(home: Home) -> None:
    inner: Any = {"schema": 1, "id": "inner", "steps": [{"id": "s", "type": "assign", "set": {"x": "${k}"}}]}
    config = home.files().world().config
    for share in (True, False):
        outer: Any = {"schema": 1, "id": "outer", "steps": [{"id": "s", "type": "workflow", "workflow": "inner", "share": share}]}
        warnings = check_flow(inner, config, KINDS, {"inner": [inner], "outer": [outer]}).warnings
        assert [issue.text for issue in warnings] == ([] if share else ["nothing writes k"])


def test_a_kind_that_names_something_unknown_may_write_anything(home: Home) -> None:
    steps: dict[str, Any] = {"": (("steps",), [{"id": "a", "type": "elsewhere", "place": "x"}])}
    [step] = told(steps, {}, home.files().world().config, WITH_MORE)[""]
    assert ANY in step.writes


def test_the_workflow_of_these_tests_has_a_mistake_that_is_found(home: Home) -> None:
    [warnings] = [warnings for name, _, _, warnings in home.files().inspect() if name == "pay.toml"]
    assert warnings == (
        ("pay.toml:47: blocks.paying[1].set.noted: street is read before anything can have written it", "it is written further on"),
    )
