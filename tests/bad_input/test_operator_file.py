"""A toolgate.toml that is not right is refused by everything that needs it, in words that help; what only looks goes on (CASES B5, N4)."""

from __future__ import annotations

import os

import pytest

from . import breaking
from .breaking import Broken, edited
from .given import OPERATOR
from .homes import Home, check_refusal
from .saying import say_all

FILE = "toolgate.toml"
KEYS = [*breaking.each_key(OPERATOR, free=("desk",))]
WHOLE = [*breaking.whole_files(OPERATOR), Broken("empty", "", 1, "schema: required key is missing")]
RANGES = [
    edited("schema = 1", "schema = 2", "schema"),
    edited("schema = 1\n", "", "schema: required key is missing", "[gate]"),
    edited('timeout = "20s"', 'timeout = "0s"', "gate.timeout"),
    edited('timeout = "20s"', 'timeout = "2 minutes"', "gate.timeout"),
    edited('timeout = "20s"', 'timeout = "2m"', "longer than gate.timeout_max"),
    edited('path = "/usr/bin:/bin"', 'path = ""', "gate.path"),
    edited("arguments_bytes = 65536", "arguments_bytes = 1", "limits.arguments_bytes: must be at least"),
    edited("arguments_depth = 64", "arguments_depth = 65", "limits.arguments_depth: must be at most"),
    edited("arguments_items = 1000", "arguments_items = -1", "limits.arguments_items"),
    edited("output_bytes = 1048576", "output_bytes = 1e9", "limits.output_bytes: must be a whole number"),
    edited("calls_per_run = 200", f"calls_per_run = {'9' * 900}", "limits.calls_per_run"),
    edited('[tools."ledger.pay"]', '[tools."Ledger Pay"]', "not a capability"),
    edited('safety = "write"', 'safety = "harmless"', "safety"),
    edited('effect = "unsafe"', 'effect = "Unsafe"', "effect"),
    edited('timeout = "10s"', 'timeout = "61s"', "longer than gate.timeout_max"),
    edited("max_attempts = 1", "max_attempts = 0", "max_attempts: must be at least 1"),
    edited("max_attempts = 1", "max_attempts = 1000", "max_attempts: must be at most"),
    edited("enabled = true", 'enabled = "yes"', "enabled: must be true or false"),
    edited('input_schema_file = "pay.json"', 'input_schema_file = "none.json"', "no file none.json"),
    edited('input_schema_file = "pay.json"', 'input_schema_file = "../pay.json"', "input_schema_file"),
    edited('input_schema_file = "pay.json"', 'input_schema_file = "/etc/passwd"', "input_schema_file"),
    edited('input_schema_file = "pay.json"', 'input_schema_file = "tool.py"', "input_schema_file"),
    edited('input_schema_file = "pay.json"\n', "", "input_schema is required", '[tools."ledger.pay"]'),
    edited('[tools."ledger.drop".command]\nargv', '[tools."ledger.drop".comand]\nargv', "comand: unknown key"),
    edited("not_dispatched = [75]", "not_dispatched = [256]", "not_dispatched"),
    edited("permanent = [64, 65]", "permanent = [75]", "75 is declared under not_dispatched already"),
    edited("business = { 3 =", "business = { x =", "not an exit code"),
    edited('on_missing = "ignore"', 'on_missing = "ignored"', "on_missing"),
    edited('code = "REFUSED"\n', "", "code: required key is missing", "[[tools."),
    edited('at = "/status"\n', "", "at must be a JSON pointer", "[[tools."),
    edited('desk = ["alice", "bob", "carol"]', "desk = []", "nobody holds this scope"),
    edited('mode = "declared"', 'mode = "trusted"', "identity.mode"),
    edited('adapter = "scripted"', 'adapter = "scripded"', "there is no adapter scripded"),
    edited('model = "default"', 'model = "defualt"', "there is no model defualt"),
    edited('prompt_file = "clerk.md"', 'prompt_file = "none.md"', "no file none.md"),
    edited('tools = ["ledger.*"]', 'tools = ["leger.*"]', "no tool matches this pattern"),
    edited("max_turns = 3", "max_turns = 0", "max_turns: must be at least 1"),
    edited('commands = ["tool_invocation",', 'commands = ["tool_invocations",', "commands"),
    edited("[identity]", "[identity", "", "[identity"),
    edited("[identity]", "[policy]", "", "[policy]\nmode"),
]


@pytest.mark.parametrize("broken", KEYS + RANGES, ids=lambda broken: broken.name)
def test_a_key_that_is_wrong_stops_every_verb_at_its_line(spoilt: Home, broken: Broken) -> None:
    spoilt.write(FILE, broken.content)
    verbs = breaking.verbs(spoilt)
    breaking.check_refused(spoilt, broken, FILE, [verbs[0], verbs[1 + broken.line % (len(verbs) - 1)]])


@pytest.mark.parametrize("broken", WHOLE, ids=lambda broken: broken.name)
def test_a_file_that_is_wrong_as_a_whole_stops_every_verb_and_nobody_who_looks(spoilt: Home, broken: Broken) -> None:
    spoilt.write(FILE, broken.content)
    breaking.check_refused(spoilt, broken, FILE, breaking.verbs(spoilt))
    breaking.check_looked_at(say_all(spoilt.path, breaking.lookers(spoilt)))
    [checked] = say_all(spoilt.path, [["workflow", "check"]])
    assert checked.code == 7 and f"{FILE}:" in checked.out and checked.err == "", checked


def test_a_file_that_cannot_be_read_stops_every_verb_and_nobody_who_looks(spoilt: Home) -> None:
    for make in breaking.no_files(spoilt.path / FILE):
        make()
        before = spoilt.stand()
        for said in say_all(spoilt.path, breaking.verbs(spoilt)):
            check_refusal(said, 7)
            assert FILE in said.message and said.hint, said
        breaking.check_looked_at(say_all(spoilt.path, breaking.lookers(spoilt)))
        assert spoilt.stand() == before


def test_without_the_file_there_is_no_home(spoilt: Home) -> None:
    os.unlink(spoilt.path / FILE)
    before = spoilt.stand()
    for said in say_all(spoilt.path, [*breaking.verbs(spoilt), *breaking.lookers(spoilt), ["workflow", "check"]]):
        check_refusal(said, 7)
        assert f"no {FILE} in" in said.message and "toolgate init" in said.hint
    assert spoilt.stand() == before


def test_a_broken_file_makes_no_store(spoilt: Home) -> None:
    spoilt.write(FILE, "nonsense")
    for words in (["start", "pay"], ["approve"], ["pending", "list"], ["tools", "list"]):
        spoilt.say(*words, "--db", "fresh/store.db")
        assert not (spoilt.path / "fresh").exists(), words


def test_all_faults_are_told_at_once_and_as_one_object_where_that_is_asked_for(spoilt: Home) -> None:
    text = OPERATOR.replace("max_attempts = 1", "max_attempts = 0").replace('mode = "declared"', 'mode = "x"')
    spoilt.write(FILE, text)
    said = spoilt.say("start", "pay", "--json")
    check_refusal(said, 7)
    assert said.error["kind"] == "invalid" and said.error["message"].count(f"{FILE}:") == 2 and said.error["hint"]


def test_windows_line_ends_are_fine_and_faults_in_them_have_the_same_lines(spoilt: Home) -> None:
    spoilt.write(FILE, OPERATOR.replace("\n", "\r\n"))
    assert spoilt.say("tools", "list").code == 0
    broken = edited("max_attempts = 1", "max_attempts = 0", "max_attempts")
    assert isinstance(broken.content, str)
    spoilt.write(FILE, broken.content.replace("\n", "\r\n"))
    breaking.check_refused(spoilt, broken, FILE, [["start", "pay"]])


def test_a_run_can_be_stopped_while_the_file_is_broken(home: Home) -> None:
    home.write(FILE, "nonsense")
    said = home.say("cancel", home.runs["asked"])
    assert said.code == 0 and "CANCELLED" in said.out, said
