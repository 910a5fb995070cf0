"""What no tool can be given: a rule or a step about it is warned of, and whatever a schema leaves open is not."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.workflow.checks.arguments import misfits, missed, unfit

from .homes import FLOW, OPERATOR, Home

CLOSED: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["name", "size"],
    "properties": {
        "name": {"type": "string"},
        "size": {"type": "integer", "default": 1},
        "any": {},
        "open": {"type": "object", "properties": {"a": {}}},
        "inner": {"$ref": "#/$defs/inner"},
        "items": {"type": "array", "items": {"$ref": "#/$defs/inner"}},
        "pairs": {"type": "array", "prefixItems": [{"type": "string"}]},
        "parts": {"allOf": [{}, {"$ref": "#/$defs/inner"}]},
        "either": {"anyOf": [{"$ref": "#/$defs/inner"}, {}]},
        "self": {"$ref": "#"},
        "loop": {"$ref": "#/properties/loop"},
        "lost": {"$ref": "#/$defs/none"},
        "named": {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False},
    },
    "$defs": {"inner": {"type": "object", "additionalProperties": False, "properties": {"sum": {"type": "number"}}}},
}


def tokens(text: str) -> tuple[str, ...]:
    return tuple(text.split("/")[1:])


@pytest.mark.parametrize(
    ("at", "instead"),
    [
        ("/nmae", "did you mean /name?"),
        ("/inner/smu", "did you mean /inner/sum?"),
        ("/items/0/smu", "did you mean /items/0/sum?"),
        ("/parts/smu", "did you mean /parts/sum?"),
        ("/self/nmae", "did you mean /self/name?"),
        ("/name/first", ""),
        ("/inner/sum/x", ""),
    ],
)
def test_what_the_schema_accepts_nothing_at_is_missed(at: str, instead: str) -> None:
    found = missed(CLOSED, tokens(at))
    assert found is not None and found.instead() == instead


@pytest.mark.parametrize(
    "at",
    [
        "",
        "/name",
        "/any/x/y",
        "/open/b",
        "/inner/sum",
        "/items/3/sum",
        "/pairs/0/x",
        "/either/x",
        "/self/self/name",
        "/loop/x",
        "/lost/x",
        "/named/x",
    ],
)
def test_what_there_can_be_or_the_schema_leaves_open_is_not(at: str) -> None:
    assert missed(CLOSED, tokens(at)) is None


@pytest.mark.parametrize("schema", [True, {}, {"properties": {"a": {}}}, {"additionalProperties": False, "patternProperties": {"b": {}}}])
def test_an_open_schema_misses_nothing(schema: Any) -> None:
    assert missed(schema, ("b",)) is None and unfit(schema, {"b": 1}) == ([], [])


def test_arguments_are_held_against_what_is_forbidden_and_what_is_required() -> None:
    forbidden, lacking = unfit(CLOSED, {"nmae": "${inputs.x}", "any": 1})
    assert [found.token for found in forbidden] == ["nmae"] and lacking == ["name"]


def warnings(home: Home, file: str) -> list[tuple[str, str]]:
    [(errors, found)] = [seen[2:] for seen in home.files().inspect() if seen[0] == file]
    assert errors == ()
    return [pair for pair in found if "argument" in pair[0] and "unknown arguments" not in pair[0]]


def line(text: str, document: str) -> int:
    return document[: document.index(text)].count("\n") + 1


PAY = 'capability = "ledger.pay"\nwhen = '


@pytest.mark.parametrize(
    ("rule", "said", "hint"),
    [
        ('[{ arg = "/amuont", gt = 1 }]', "when[0].arg: ledger.pay takes no argument /amuont: this never holds (rule big)", "/amount?"),
        ('[{ arg = "/amuont", exists = false }]', "ledger.pay takes no argument /amuont: this always holds (rule big)", "/amount?"),
        ('[{ arg = "/to", eq = 1 }, { arg = "/too", eq = 1 }]', "when[1].arg: ledger.pay takes no argument /too", "/to?"),
        ('[{ arg = "/to", any = [{ at = "/x", eq = 1 }] }]', "when[0].any[0].at: ledger.pay takes no argument /to/0/x", ""),
    ],
)
def test_a_rule_about_an_argument_that_its_tools_do_not_take_is_warned_of(home: Home, rule: str, said: str, hint: str) -> None:
    home.edit(
        "toolgate.toml",
        'capability = "ledger.*"\nworkflow = "pay"\nwhen = [{ arg = "/amount", gt = 500 }, { arg = "/to", matches = "^a" }]',
        PAY + rule,
    )
    home.edit("toolgate.toml", 'to = { type = "string" }', 'to = { type = "array", items = { type = "string" } }')
    [(message, found)] = warnings(home, "toolgate.toml")
    near = line('name = "big"', OPERATOR) + 2
    assert message.startswith(f"toolgate.toml:{near}: policy.rules[1].") and said in message and hint in found


def test_a_rule_is_not_warned_of_while_one_of_its_tools_may_take_the_argument(home: Home) -> None:
    home.edit("toolgate.toml", 'arg = "/amount"', 'arg = "/amuont"')
    assert warnings(home, "toolgate.toml") == []  # ledger.show takes anything
    home.edit("toolgate.toml", 'capability = "ledger.*"', 'safety = "write"')
    assert len(warnings(home, "toolgate.toml")) == 1


GIVEN: list[tuple[str, str, list[str]]] = [
    # the table of the provider, and the arguments that go nowhere
    ("command", 'argv = ["true"]', []),
    ("command", 'argv = ["true"]\nstdin = "none"', ["to", "amount"]),
    ("command", 'argv = ["true", "--", "${args.to}"]\nstdin = "none"\nenv = { N = "${args.amount#/x}" }', []),
    ("command", 'argv = ["true", "--", "$${args.to}", "${env.to}"]\nstdin = "none"\nenv = { N = "${args.amount}" }', ["to"]),
    ("http", 'method = "GET"\nurl = "https://h/${args.to}"', ["amount"]),
    ("http", 'method = "GET"\nurl = "https://h/${args.to}?n=${args.amount}"', []),
    ("http", 'method = "DELETE"\nurl = "https://h/${args.to}"\nheaders = { N = "${args.amount}" }', []),
    ("http", 'method = "POST"\nurl = "https://h/"', []),
    ("http", 'method = "POST"\nurl = "https://h/"\nbody = "none"', ["to", "amount"]),
    ("http", 'method = "POST"\nurl = "https://h/"\nbody = { n = ["${args.amount}"] }', ["to"]),
    ("python", 'function = "money:pay"', []),
]


@pytest.mark.parametrize(("provider", "table", "lost"), GIVEN, ids=range(len(GIVEN)))
def test_an_argument_that_the_tool_is_not_given_is_warned_of(home: Home, provider: str, table: str, lost: list[str]) -> None:
    home.write("money.py", "def pay(**given): ...\n")
    text = (home.path / "toolgate.toml").read_text()
    before, _, rest = text.partition('[tools."ledger.pay".command]\n')
    home.write("toolgate.toml", f'{before}[tools."ledger.pay".{provider}]\n{table}\n{rest[rest.index("[[tools.") :]}')
    said = [message.partition(": ")[2] for message, _ in warnings(home, "toolgate.toml") if "is not given" in message]
    assert said == [f'tools."ledger.pay".{provider}: the tool is not given the argument {name}' for name in lost]


def test_a_step_that_its_tool_would_refuse_is_warned_of(home: Home) -> None:
    home.edit("pay.toml", '{ to = "${inputs.to}", amount', '{ too = "${inputs.to}", amount')
    near = line("arguments = {", FLOW)
    assert sorted(warnings(home, "pay.toml")) == [
        (f"pay.toml:{near}: blocks.paying[0].arguments.too: ledger.pay takes no argument too", "did you mean to?"),
        (f"pay.toml:{near}: blocks.paying[0].arguments: ledger.pay needs the argument to: without it the call is refused", ""),
    ]


def test_a_workflow_whose_steps_are_misspelt_is_told_and_does_not_vanish(home: Home) -> None:
    for name in ("workflows/other.toml", "other.toml"):
        home.write(name, FLOW.replace('id = "pay"', 'id = "other"', 1).replace("[[steps]]", "[[step]]"))
        error = home.refusal("other")
        near = line("[[steps]]", FLOW)
        assert error.kind == "invalid" and f"{name}:{near}: step: unknown key" in error.message and "did you mean steps?" in error.hint
        assert "other" in [seen[1] for seen in home.files().inspect()]
        (home.path / name).unlink()
    home.write("workflows/other.toml", 'schema = 1\nid = "other"\n')
    assert "steps: required key is missing" in home.refusal("other").message


def test_the_hint_stands_at_the_misspelt_key_and_not_at_the_missing_one(home: Home) -> None:
    home.edit("toolgate.toml", 'decision = "deny"', 'decison = "deny"')
    [(_, _, errors, _)] = home.files().inspect()
    assert {message.split(": ", 1)[1]: hint for message, hint in errors} == {
        "policy.rules[2].decison: unknown key (rule never)": "did you mean decision?",
        "policy.rules[2].decision: required key is missing (rule never)": "",
    }


@pytest.mark.parametrize(
    ("given", "problems"),
    [
        ({"name": 3, "any": "${inputs.x}"}, [("INVALID_TYPE", "/name")]),
        ({"name": "x", "size": "4"}, [("INVALID_TYPE", "/size")]),
        ({"inner": {"sum": "1"}}, [("INVALID_TYPE", "/inner/sum")]),
        ({"size": "${inputs.x}", "name": "${inputs.y}"}, []),  # what they will be is not known
        ({"name": "$${x}", "nmae": 1}, []),  # of what is not there only its name is told
        ({"name": "${"}, []),
    ],
)
def test_literal_arguments_are_held_against_their_own_schemas(given: Any, problems: list[tuple[str, str]]) -> None:
    assert [(problem.code, problem.pointer) for problem in misfits(CLOSED, given)] == problems


def test_a_literal_argument_that_its_tool_refuses_is_warned_of(home: Home) -> None:
    home.edit("pay.toml", 'amount = "${inputs.amount}"', 'amount = "many"')
    said = [message for seen in home.files().inspect() if seen[0] == "pay.toml" for message, _ in seen[3]]
    [message] = [each for each in said if "argument" in each]
    near = line("arguments = ", FLOW)
    assert message == (
        f"pay.toml:{near}: blocks.paying[0].arguments.amount: ledger.pay does not take this value (INVALID_TYPE at /amount): "
        "the call is refused"
    )


def test_an_output_that_the_inner_workflow_never_writes_is_warned_of(home: Home) -> None:
    outer = 'schema = 1\nid = "outer"\n[[steps]]\nid = "in"\ntype = "workflow"\nworkflow = "pay"\ninputs = { to = "x" }\n'
    for there, hint in (
        ("notde", "did you mean noted?"),
        ("noted", None),
        ("address.how", None),
        ("tool.ledger.pay", None),
        ("inputs.to", None),
    ):
        home.write("outer.toml", f'{outer}outputs = {{ x = "{there}" }}\n')
        found = [pair for seen in home.files().inspect() if seen[0] == "outer.toml" for pair in (*seen[2], *seen[3])]
        said = f"outer.toml:8: steps[0].outputs.x: nothing in pay writes {there}: the step fails"
        assert found == ([] if hint is None else [(said, hint)])
    home.write("outer.toml", f'{outer}outputs = {{ x = "notde" }}\n')
    home.edit("pay.toml", 'agent = "clerk"', 'agent = "clark"')  # broken: what it may write is not known
    assert not [pair for seen in home.files().inspect() if seen[0] == "outer.toml" for pair in seen[3]]
