"""A workflow, or a file that it needs, that is not right starts no run, and says where it is wrong."""

from __future__ import annotations

import pytest

from . import breaking
from .breaking import Broken, edited
from .given import EVERY
from .homes import Home, check_refusal

FILE = "workflows/every.toml"
EVERY_ID = 2  # the line of the id: a workflow that has lost it is not found, which is another test
START = ["start", "every", "-i", "to=ann"]


KEYS = [broken for broken in breaking.each_key(EVERY, free=()) if broken.line != EVERY_ID]


def in_every(old: str, new: str, said: str, at: str | None = None) -> Broken:
    return edited(old, new, said, at, EVERY)


WRONG = [
    in_every("schema = 1\n", "", "schema: required key is missing", 'id = "every"'),
    in_every("schema = 1", "schema = 9", "schema"),
    in_every('type = "assign"', 'type = "asign"', "there is no step type asign"),
    in_every('type = "assign"\n', "", "type: required key is missing", "[[steps]]"),
    in_every('id = "note"\n', "", "id: required key is missing", "[[steps]]"),
    in_every('id = "note"', 'id = "Not a name"', "not a name for a step"),
    in_every('id = "note"', 'id = "end"', "end is reserved"),
    in_every('id = "decide"', 'id = "note"', "called note already", 'id = "note"\ntype = "agent"'),
    in_every('gate = "none"', 'gate = "approve"', "gate"),
    in_every('set = { noted = "yes" }', 'set = { "inputs.to" = "yes" }', "this key is reserved"),
    in_every('agent = "clerk"', 'agent = "clark"', "there is no agent clark"),
    in_every("max_retries = 2", "max_retries = -1", "max_retries"),
    in_every('"" = "continue"', '"" = "no-such-block"', "there is no block no-such-block"),
    in_every('form = "address"', 'form = "adress"', "there is no form adress"),
    in_every('block = "paying"', 'block = "payin"', "there is no block payin"),
    in_every('tool = "ledger.pay"', 'tool = "ledger.pya"', "there is no tool ledger.pya"),
    in_every("${inputs.to}", "${inputs.too}", "there is no input too", 'prompt = "see to ${inputs.too'),
    in_every("${inputs.to}", "${inputs.to", "not closed", 'prompt = "see to ${inputs.to"'),
    in_every("${inputs.to}", "${secret.TOKEN}", "secret", 'prompt = "see to ${secret'),
    in_every('type = "TEXT"', 'type = "TEXTS"', "type"),
    in_every('options = ["post", "courier"]', "options = []", "needs options", '[[forms.address]]\nid = "how"'),
    in_every('options = ["post", "courier"]\n', "", "needs options", '[[forms.address]]\nid = "how"'),
    in_every('[inputs.to]\ntype = "string"', '[inputs.to]\ntype = "strng"', "strng is no type", 'type = "strng"'),
    in_every('[inputs.to]\ntype = "string"', '[inputs.to]\ntype = "string"\ndefault = 1', "the default does not validate", "default = 1"),
]


@pytest.mark.parametrize("broken", KEYS + WRONG, ids=lambda broken: broken.name)
def test_a_key_that_is_wrong_starts_no_run(spoilt: Home, broken: Broken) -> None:
    spoilt.write(FILE, broken.content)
    breaking.check_refused(spoilt, broken, FILE, [START])


@pytest.mark.parametrize("broken", [*breaking.whole_files(EVERY)], ids=lambda broken: broken.name)
def test_a_file_that_is_wrong_as_a_whole_starts_no_run_and_is_told_by_check(spoilt: Home, broken: Broken) -> None:
    spoilt.write(FILE, broken.content)
    breaking.check_refused(spoilt, broken, FILE, [START])
    checked = spoilt.say("workflow", "check")
    assert checked.code == 7 and FILE in checked.out and checked.err == "", checked
    assert spoilt.say("approve", "nope").code == 3 and spoilt.say("tools", "list").code == 0


def test_a_file_that_cannot_be_read_starts_no_run(spoilt: Home) -> None:
    for make in breaking.no_files(spoilt.path / FILE):
        make()
        before = spoilt.stand()
        said = spoilt.say(*START)
        check_refusal(said, 3 if said.code == 3 else 7)
        assert said.hint and spoilt.stand() == before


def test_several_faults_are_told_one_a_line_each_with_its_own_hint(spoilt: Home) -> None:
    spoilt.write(FILE, EVERY.replace('agent = "clerk"', 'agent = "clark"').replace('form = "address"', 'form = "adress"'))
    said = spoilt.say(*START)
    assert said.code == 7 and "; " not in said.err
    first, second, hint, end = said.err.split("\n")
    assert first.startswith(f"error: {FILE}:") and first.endswith("there is no agent clark (did you mean clerk?)")
    assert second.startswith(f"error: {FILE}:") and second.endswith("there is no form adress (did you mean address?)")
    assert (hint, end) == ("hint: mend the file, then: toolgate workflow check", "")
    error = spoilt.say(*START, "--json").error
    assert error["message"].count("; ") == 1 and error["hint"] == "did you mean clerk?; did you mean address?"


def test_a_file_with_an_id_and_no_steps_is_told_to_be_no_workflow(spoilt: Home) -> None:
    misspelt = EVERY.replace("[[steps]]", "[[step]]")
    for content, said_of_it in (('schema = 1\nid = "every"\n', "steps: required key is missing"), (misspelt, "step: unknown key")):
        spoilt.write(FILE, content)
        said = spoilt.say(*START)
        check_refusal(said, 7)
        assert said_of_it in said.err
        assert said.err.count("did you mean steps?") == (content is misspelt)


def test_an_unfit_file_without_an_id_or_steps_is_no_workflow(spoilt: Home) -> None:
    for content in ("", "schema = 1\n", EVERY.replace('id = "every"', 'id = "other"')):
        spoilt.write(FILE, content)
        said = spoilt.say(*START)
        check_refusal(said, 3)
        assert "no workflow every" in said.message and "workflows: " in said.hint


def test_two_workflows_of_one_id_start_neither(spoilt: Home) -> None:
    (spoilt.path / "twin.toml").write_text(EVERY)
    said = spoilt.say(*START)
    (spoilt.path / "twin.toml").unlink()
    check_refusal(said, 7)
    assert "twin.toml:2" in said.message and f"{FILE}:2" in said.message and said.hint


SCRIPTS = [
    "nonsense", "schema = 2\n", "schema = 1\nturn = []\n", "schema = 1\nturns = 1\n", "schema = 1\n[[turns]]\n", "\ufeffschema = 1\n",
    "schema = 1\n[[turns]]\nordinal = -1\ntext = ''\n", "schema = 1\n[[turns]]\ncommands = [{ tipe = 'say' }]\n",
    "schema = 1\n[[turns]]\ncommands = [{ type = 'say', message = 2026-01-01 }]\n",
    f"schema = 1\nx = {'[' * 5000}{']' * 5000}\n",
    f"schema = 1\nx = {'9' * 5000}\n",
    "schema = 1\nx = nan\n", b"\xff\xfe", b"schema = 1\n\x00",
]  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS, ids=range(len(SCRIPTS)))
def test_a_script_that_is_wrong_fails_the_run_in_words_and_starts_no_tool(home: Home, script: str | bytes) -> None:
    home.write("script.toml", script)
    before = home.stand()[1]
    said = home.say(*START, "--json")
    assert said.code in (1, 7) and "Traceback" not in said.err and "internal fault" not in said.out + said.err, said
    assert "script.toml" in said.out + said.err and home.stand()[1] == before, said
