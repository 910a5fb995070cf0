"""Workflow files: which are found, what they become, and what is refused, with line, field and what was meant."""

from __future__ import annotations

import json

import pytest

from toolgate_cli.core.definition import Definition
from toolgate_cli.core.digests import sha256
from toolgate_cli.core.errors import ToolgateError

from .homes import FLOW, Home


def test_a_workflow_is_pinned_whole_and_raw(home: Home) -> None:
    bundle = home.files().workflow("pay")
    assert bundle.id == "pay" and bundle.digest == sha256(bundle.body)
    held = json.loads(bundle.body)
    assert held["root"] == "pay" and set(held["workflows"]["pay"]) == {"id", "title", "inputs", "steps", "blocks", "forms"}
    assert [step["id"] for step in held["workflows"]["pay"]["steps"]] == ["show", "decide", "route", "ask"]
    assert bundle.inputs == {"to": {"type": "string"}, "amount": {"type": "number", "default": 20}}
    assert [step["id"] for step in Definition(bundle.body).sequence("paying")] == ["issue", "note"]


def test_workflows_are_found_beside_the_file_and_in_their_folder(home: Home) -> None:
    home.write("workflows/other.toml", FLOW.replace('id = "pay"', 'id = "other"', 1))
    home.write("workflows/deeper/third.toml", FLOW.replace('id = "pay"', 'id = "third"', 1))
    home.write("notes.toml", "just = 'notes'\n")
    files = home.files()
    assert files.workflow("other").id == "other"
    with pytest.raises(ToolgateError) as caught:
        files.workflow("third")
    assert caught.value.kind == "not_found" and "other" in caught.value.hint and "pay" in caught.value.hint


def test_a_mistyped_id_is_met_with_the_one_that_was_meant(home: Home) -> None:
    error = home.refusal("pya")
    assert (error.kind, error.message, error.hint) == ("not_found", "no workflow pya", "did you mean pay? workflows: pay")


def test_a_file_that_does_not_say_its_id_is_named_where_a_workflow_is_not_found(home: Home) -> None:
    home.write("workflows/ship.toml", FLOW.replace('id = "pay"', "", 1))
    error = home.refusal("ship")
    assert (error.kind, error.message) == ("not_found", "no workflow ship, and no id in workflows/ship.toml")
    with pytest.raises(ToolgateError) as checked:
        home.files().check("ship")
    assert checked.value.message == error.message
    assert home.files().workflow("pay").id == "pay"


def test_one_id_in_two_files_is_refused_with_both_places(home: Home) -> None:
    home.write("workflows/twin.toml", "# a twin\n" + FLOW)
    error = home.refusal("pay")
    assert error.kind == "invalid" and "pay.toml:2" in error.message and "workflows/twin.toml:3" in error.message


def test_a_file_that_the_operator_names_is_no_workflow(home: Home) -> None:
    home.write("script.toml", FLOW)
    assert home.files().workflow("pay").id == "pay"


def test_a_broken_file_hinders_no_other_and_is_told_where_it_might_be_meant(home: Home) -> None:
    home.write("broken.toml", "schema = 1\nid = \n")
    assert home.files().workflow("pay").id == "pay"
    assert "broken.toml:2:" in home.refusal("broken").message


ASK = 'type = "input"\nform = "address"\nwrites = ["street"]'
ARMS = 'on = "decision"\narms = { pay = "paying", keep = "end", "" = "fail" }'
MALFORMED = [
    ('type = "tool"\ntool = "ledger.show"', 'type = "tol"\ntool = "ledger.show"', "there is no step type tol", "did you mean tool?"),
    ('tool = "ledger.show"', 'tool = "ledger.shw"', "there is no tool ledger.shw", "did you mean ledger.show?"),
    ('save_as = "shown"', 'save_ass = "shown"', "steps[0].save_ass: unknown key", "did you mean save_as?"),
    ('save_as = "shown"', 'save_as = "tool.x"', "this key is reserved", "inputs."),
    ('save_as = "shown"', 'save_as = "__x"', "this key is reserved", ""),
    ('save_as = "shown"', 'save_as = ""', "not a key", ""),
    ('save_as = "shown"', 'iff = [{ key = "a", eq = 1 }]', "unknown key", "did you mean if?"),
    ('save_as = "shown"', 'if = { key = "a", eq = 1 }', "steps[0].if: must be a list of conditions", "key ="),
    ('save_as = "shown"', "if = []", "an empty list says nothing", "leave it out"),
    ('save_as = "shown"', 'if = ["a"]', "steps[0].if[0]: must be a table", ""),
    ('save_as = "shown"', "if = [{ eq = 1 }]", "key must be the context key", 'key = "decision"'),
    ('save_as = "shown"', "if = [{ key = 7, eq = 1 }]", "steps[0].if[0].key: key must be", ""),
    ('save_as = "shown"', 'if = [{ key = "a", equals = 1 }]', "if[0].equals: unknown key or operator", ""),
    ('save_as = "shown"', 'if = [{ key = "a" }]', "exactly one operator, it has 0", "operators: all"),
    ('save_as = "shown"', 'if = [{ key = "a", eq = 1, ne = 2 }]', "exactly one operator, it has 2", ""),
    ('save_as = "shown"', 'if = [{ key = "a", gt = "1" }]', "compare with a number", ""),
    ('save_as = "shown"', 'if = [{ key = "a", at = "x", eq = 1 }]', "a JSON pointer is empty or begins with", ""),
    ('save_as = "shown"', 'if = [{ key = "a#/x", eq = 1 }]', "a place in a value is named by at", 'key = "a", at = "/x"'),
    ('save_as = "shown"', 'if = [{ key = "inputs.too", eq = 1 }]', "there is no input too", "did you mean to?"),
    ('save_as = "shown"', 'if = [{ key = "a", eq = "${inputs.to}" }]', "a reference is not filled", "key and at"),
    ('save_as = "shown"', 'if = [{ key = "a", any = [{ at = "", lk = 1 }] }]', "if[0].any[0].lk: unknown key or operator", ""),
    ('agent = "clerk"', 'agent = "clark"', "there is no agent clark", "did you mean clerk?"),
    ('writes = ["decision"]', 'writes = ["user.name"]', "this key is reserved", ""),
    ('"inputs.to", "tool', '"inputs.too", "tool', "there is no input too", "did you mean to?"),
    ('"tool.ledger.show"]', '"tool.ledger.shwo"]', "there is no tool ledger.shwo", "did you mean ledger.show?"),
    ('on = "decision"', 'on = "decision#/any"', "a key, no pointer", 'set = { any = "${decision#/any}" }'),
    ('on = "decision"', 'on = "${decision}"', "a key, no reference", 'write "decision"'),
    ('on = "decision"', 'on = "steps.decide"', "the output of a step is none", "${steps.decide}"),
    ('"tool.ledger.show"]', '"tool.ledger.show#/0"]', "a key, no pointer", ""),
    ('gate = "approval"', 'gate = "aproval"', "not one of none, review, approval", "did you mean approval?"),
    ("max_retries = 3", "max_retries = 0", "must be at least 1", ""),
    ("max_retries = 3", "max_retry = 3", "unknown key", "did you mean max_retries?"),
    ('pay = "paying"', 'pay = "payin"', "there is no block payin", "did you mean paying?"),
    ('keep = "end"', 'keep = "ends"', "there is no block ends", "did you mean end?"),
    ('on = "decision"\n', "", "steps[2]: on is missing", ""),
    ('on = "decision"', 'on = "decision"\ncases = [{ to = "end" }]', "takes on and arms, or cases: one of them", ""),
    (ARMS, 'cases = [{ to = "payin" }]', "there is no block payin", "did you mean paying?"),
    (ARMS, "cases = [{ when = [] }]", "cases[0].to: required key is missing", ""),
    (ARMS, 'cases = [{ when = [], to = "end" }]', "cases[0].when: an empty list says nothing", ""),
    (ARMS, 'cases = [{ when = [{ key = "a", lk = 1 }], to = "end" }]', "cases[0].when[0].lk: unknown key or operator", ""),
    (ARMS, 'cases = [{ when = [{ key = "inputs.too", eq = 1 }], to = "end" }]', "there is no input too", "did you mean to?"),
    (ARMS, 'cases = [{ to = "paying" }, { to = "end" }]', "cases[0]: a case without when always holds", "put it last"),
    (ASK, 'type = "validate"', "steps[3]: it checks nothing", "require, equal or schema"),
    (ASK, 'type = "validate"\nrequire = { key = ["a"] }', "steps[3].require.key: unknown key", "did you mean keys?"),
    (ASK, 'type = "validate"\nrequire = { keys = ["inputs.too"] }', "steps[3].require.keys[0]: there is no input too", ""),
    (ASK, 'type = "validate"\nrequire = { files = ["../x"] }', "steps[3].require.files[0]: not a path inside the home", ""),
    (ASK, 'type = "validate"\nequal = [{ file = "a.json" }]', "steps[3].equal[0].key: required key is missing", ""),
    (ASK, 'type = "validate"\nequal = [{ file = "/a", key = "b" }]', "steps[3].equal[0].file: not a path inside the home", ""),
    (
        ASK,
        'type = "validate"\nequal = [{ file = "a", key = "b", at = "x" }]',
        "steps[3].equal[0].at: a JSON pointer is empty or begins",
        "",
    ),
    (
        ASK,
        'type = "validate"\nschema = [{ by = { type = "text" }, key = "a" }]',
        "steps[3].schema[0].by.type: text is no type",
        "mean string?",
    ),
    (ASK, 'type = "validate"\nschema = [{ by = { typ = "string" }, key = "a" }]', "steps[3].schema[0].by.typ: unknown keyword", "type?"),
    (
        ASK,
        'type = "validate"\nschema = [{ by = true, key = "a", file = "b" }]',
        "steps[3].schema[0]: needs a key or a file, one of them",
        "",
    ),
    (ASK, 'type = "validate"\nschema = [{ key = "a" }]', "steps[3].schema[0].by: required key is missing", ""),
    (ASK, 'type = "resource"\nfile = "${inputs.to}.md"\nsave_as = "a"', "steps[3].file: a path is taken as it is written", ""),
    (ASK, 'type = "validate"\nrequire = { files = ["a/${inputs.to}"] }', "files[0]: a path is taken as it is written", "name the file"),
    (ASK, 'type = "aggregate"\nkeys = []\ninto = "a"\noperation = "sum"', "steps[3].keys: must have at least 1 entries", ""),
    (ASK, 'type = "aggregate"\nkeys = ["a"]\ninto = "a"\noperation = "add"', '"add" is not one of sum, min', ""),
    (ASK, 'type = "aggregate"\nkeys = ["inputs.too"]\ninto = "a"\noperation = "sum"', "there is no input too", "did you mean to?"),
    (ASK, 'type = "aggregate"\nkeys = ["a"]\ninto = "tool.a"\noperation = "sum"', "steps[3].into: this key is reserved", ""),
    (ASK, 'type = "resource"\nfile = "../x"\nsave_as = "a"', "steps[3].file: not a path inside the home", ""),
    (ASK, 'type = "resource"\nfile = "x"\nsave_as = "__a"', "steps[3].save_as: this key is reserved", ""),
    (ASK, 'type = "resource"\nfile = "x"', "steps[3].save_as: required key is missing", ""),
    ('form = "address"', 'form = "adress"', "there is no form adress", "did you mean address?"),
    ('writes = ["street"]', 'writes = ["inputs.to"]', "this key is reserved", ""),
    ('${inputs.amount}" }\n\n[[blocks', '${inputs.amont}" }\n\n[[blocks', "there is no input amont", "did you mean amount?"),
    ('${inputs.amount}" }\n\n[[blocks', '${inputs.amount" }\n\n[[blocks', "a reference is not closed", ""),
    ('${inputs.amount}" }\n\n[[blocks', '${}" }\n\n[[blocks', "without a proper name", ""),
    ('${inputs.amount}" }\n\n[[blocks', '${secret.TOKEN}" }\n\n[[blocks', "cannot be used in a workflow", "toolgate.toml only"),
    ("${street}", "${steps.nothing}", "there is no step nothing", ""),
    ("set = { noted", 'set = { "loop.x" = 1, noted', "this key is reserved", ""),
    ('id = "note"', 'id = "issue"', "called issue already", ""),
    ('id = "note"', 'id = "end"', "end is reserved", ""),
    ('id = "note"', 'id = "Note"', "not a name for a step", ""),
    ('id = "note"\n', "", "id: required key is missing", ""),
    ('type = "assign"\n', "", "type: required key is missing", ""),
    ('type = "SINGLE_CHOICE"', 'type = "SINGLE_CHOISE"', "not one of", "did you mean SINGLE_CHOICE?"),
    ('options = ["post", "courier"]\n', "", "SINGLE_CHOICE needs options", ""),
    ('label = "Street"', 'options = ["a"]', "TEXT has no options", ""),
    (
        'options = ["post", "courier"]',
        'options = ["post", " courier"]',
        "an option cannot begin or end with a space",
        "nobody could type it",
    ),
    ('id = "how"', 'id = "street"', "called street already", ""),
    (
        'type = "number"\ndefault = 20',
        'type = "number"\ndefault = "20"',
        "the default does not validate: INVALID_TYPE (not of type number)",
        "",
    ),
    ('type = "number"\ndefault = 20', 'type = "numbr"\ndefault = 20', "numbr is no type", "did you mean number?"),
    ('type = "number"\ndefault = 20', 'typ = "number"\ndefault = 20', "unknown keyword", "did you mean type?"),
    ("schema = 1", "schema = 1\nsteps_ = 1", "steps_: unknown key", "did you mean steps?"),
    ("schema = 1", 'schema = "1"', '"1" is not one of 1', ""),
    ("schema = 1", "schema = 2", "2 is not one of 1", ""),
    ("schema = 1", "schema = 1.0", "1.0 is not one of 1", ""),
    ("schema = 1", f"schema = {2**32 + 1}", f"{2**32 + 1} is not one of 1", ""),
    ("schema = 1", f"schema = {2**64 + 1}", "schema: not an accepted value", ""),
    ("schema = 1", "", "schema: required key is missing", ""),
    ("schema = 1", "schema = true", "true is not one of 1", ""),
    ('title = "Pay somebody"', "title = 07:32:00", "dates and times", "put it in quotes"),
]


@pytest.mark.parametrize(
    ("old", "new", "message", "hint"), MALFORMED, ids=[f"{number}-{row[2][:40]}" for number, row in enumerate(MALFORMED)]
)
def test_what_is_wrong_is_told_with_its_line_its_field_and_what_was_meant(home: Home, old: str, new: str, message: str, hint: str) -> None:
    home.edit("pay.toml", old, new)
    error = home.refusal("pay")
    told = [part for part in error.message.split("; ") if message in part]
    assert error.kind == "invalid" and told, error.message
    changed = FLOW.replace(old, new)
    start = FLOW[: FLOW.index(old)].count("\n") + 1
    header = changed[: FLOW.index(old)].rfind("\n[")
    first = changed[: header + 1].count("\n") + 1 if header >= 0 else 1
    line = int(told[0].split(":")[1])
    assert told[0].startswith("pay.toml:") and first <= line <= start + new.count("\n") + 1, (told[0], first, start)
    assert hint in error.hint, error.hint


def test_all_errors_of_a_workflow_are_told_at_once(home: Home) -> None:
    home.edit("pay.toml", 'form = "address"', 'form = "adress"')
    home.edit("pay.toml", 'agent = "clerk"', 'agent = "clark"')
    home.edit("pay.toml", 'title = "Pay somebody"', 'titel = "Pay somebody"')
    assert len(home.refusal("pay").message.split("; ")) == 3


def test_a_literal_dollar_brace_is_no_reference(home: Home) -> None:
    home.edit("pay.toml", "paid ${inputs.amount} to", "paid $${nothing at all} to")
    assert home.files().workflow("pay").id == "pay"


def blocks(chain: list[tuple[str, str]]) -> str:
    text = 'schema = 1\nid = "deep"\n[[steps]]\nid = "go"\ntype = "block"\nblock = "b0"\n'
    for name, target in chain:
        text += f'[[blocks.{name}]]\nid = "go"\n' + (f'type = "block"\nblock = "{target}"\n' if target else 'type = "fail"\nreason = "x"\n')
    return text


def test_blocks_in_a_circle_are_refused_with_their_path(home: Home) -> None:
    home.write("deep.toml", blocks([("b0", "b1"), ("b1", "b2"), ("b2", "b0")]))
    error = home.refusal("deep")
    assert "blocks in a circle: b0 > b1 > b2 > b0" in error.message and "deep.toml:18:" in error.message
    home.write("deep.toml", blocks([("b0", "b0")]))
    assert "b0 > b0" in home.refusal("deep").message


@pytest.mark.parametrize(("count", "fits"), [(31, True), (32, False), (500, False)])
def test_blocks_are_nested_at_most_as_deep_as_a_cursor_grows(home: Home, count: int, fits: bool) -> None:
    chain = [(f"b{number}", f"b{number + 1}" if number + 1 < count else "") for number in range(count)]
    home.write("deep.toml", blocks(chain))
    if fits:
        assert home.files().workflow("deep").id == "deep"
    else:
        assert "nested more than 32 deep" in home.refusal("deep").message


def test_a_mistake_in_a_block_is_told_once_however_often_the_block_is_run(home: Home) -> None:
    text = blocks([("b0", "")]).replace('reason = "x"', 'reson = "x"')
    text += '[[steps]]\nid = "more"\ntype = "block"\nblock = "b0"\n'
    home.write("deep.toml", text.replace("[[blocks", '[[steps]]\nid = "third"\ntype = "block"\nblock = "b0"\n[[blocks', 1))
    assert home.refusal("deep").message.count("reson") == 1
    home.write("deep.toml", text.replace("reson", "reason"))
    assert home.files().workflow("deep").id == "deep"


def test_looking_tells_every_file_and_starts_nothing(home: Home) -> None:
    home.write("workflows/twin.toml", FLOW)
    home.write("broken.toml", "x = \n")
    home.write("odd.toml", FLOW.replace('id = "pay"', 'id = "odd"', 1).replace('agent = "clerk"', 'agent = "nobody"'))
    home.edit("toolgate.toml", 'input_schema = "any-object"', 'input_schema = { properties = { at = { format = "email" } } }')
    home.edit("toolgate.toml", 'argv = ["true"]', 'argv = ["no-such-program"]')
    seen = {name: (id, errors, warnings) for name, id, errors, warnings in home.files().inspect()}
    assert set(seen) == {"toolgate.toml", "pay.toml", "workflows/twin.toml", "broken.toml", "odd.toml"}
    warned = " ".join(message for message, _ in seen["toolgate.toml"][2])
    assert "the format email is not enforced" in warned and "unknown arguments are accepted" in warned and "no-such-program" in warned
    assert seen["toolgate.toml"][1] == ()
    assert "used in workflows/twin.toml too" in seen["pay.toml"][1][0][0]
    assert "broken.toml:1:" in seen["broken.toml"][1][0][0]
    assert seen["odd.toml"][0] == "odd" and "there is no agent nobody" in seen["odd.toml"][1][0][0]
    home.edit("toolgate.toml", "[policy]", "[polcy]")
    [(name, _, errors, _)] = home.files().inspect()
    assert name == "toolgate.toml" and errors


def test_a_branch_of_cases_is_accepted_and_its_steps_are_known_by_their_holder(home: Home) -> None:
    home.edit("pay.toml", ARMS, 'cases = [{ when = [{ key = "decision", matches = "^pay" }], to = "paying" }, { to = "end" }]')
    found = Definition(home.files().workflow("pay").body)
    assert found.holder("issue") == "route"
