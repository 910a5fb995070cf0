"""Options that do not exist, lack a value, have a wrong one, or contradict each other: exit 2, two lines, nothing happens (CASES M)."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import toolgate_cli
from toolgate_cli.cli.event_types import TYPES

from .homes import Home, check_refusal
from .saying import say_all

WRONG = [
    "frob", "pend", "pending", "pending lst", "tools", "audit nope", "--frob approve", "-x approve", "approve --frob", "approve --step",
    "approve -m", "approve --reason", "approve --yes=1", "approve --json=1", "approve --limit 3", "start",
    "start pay pay", "start pay -i", "start pay -i x", "start pay -i =x", "start pay -i to=a -i to=b", "start pay --inputs", "tools show",
    "answer", "answer a=1", "answer r1 r2", "answer r1 =1", "answer r1 a=1 a=2", "review", "cancel", "continue", "wait", "runs show",
    "pending list --limit", "pending list --limit 0", "pending list --limit -1", "pending list --limit x", "pending list --limit 1.5",
    "pending list --limit 1000001", f"runs list --limit {'9' * 30}", f"events --limit {'9' * 5000}", "events --since -1",
    "events --since x",
    f"events --since {'9' * 19}", "events --since 5:zz", "events --since 5:AB", "events --type NOPE", "events --type run_begun",
    "events -f --json", "events -f --limit 3", "runs list --status X", "wait r1 --timeout x", "wait r1 --timeout -1s",
    "wait r1 --timeout 0s",
    f"wait r1 --timeout {'9' * 20}d", "wait r1 --timeout 1.5h", "wait r1 --for x", "wait r1 --for", "pending list -o xml",
    "pending list -o",
    "pending list -o=json", "pending list --output jsonx", "pending list --json -o table", "-o tsv --json pending list",
    "--json tools list -ojsonl",
    "pending list --color blue", "pending list --color", "-C", "--db", "--actor", "-o", "-qqq approve", "--version x", "approve --version",
    "approve -qz", "approve --arguments",
    "approve r1 --step s --arguments given.json",
    "init a b", "recover a b", "recover --owner-dead", "help --frob", "workflow check a b", "audit verify x y", "audit verify --head 1",
    "audit export --to", "audit redact", "audit redact c0", "audit export --since x", "doctor x",
]  # fmt: skip
EMPTY = [
    "-C",
    "--db",
    "--actor",
    "--step",
    "--inputs",
    "--answers",
    "--outcome-file",
    "--arguments",
    "--type",
    "--since",
    "--timeout",
    "--owner-dead",
    "-o",
]
TAKERS = {"--step": "approve", "--inputs": "start pay", "--answers": "answer r1", "--outcome-file": "continue-tool", "--type": "events"}
TAKERS |= {"--arguments": "approve", "--since": "events", "--timeout": "wait r1", "--owner-dead": "recover"}
ACTORS = ["", " ", "a\nb", "\x1b[31mroot", "*", "system", "a" * 129, "\udcff", "\u202etoor", "alice ", "a\x00"[:2]]
VARIABLES = {
    "TOOLGATE_HOME": ("",), "TOOLGATE_DB": ("", "/", "x/"), "TOOLGATE_ACTOR": ("", "\x1b", "system", "\udcff"),
    "TOOLGATE_OUTPUT": ("", "xml", "JSON"), "TOOLGATE_COLOR": ("", "x"),
}  # fmt: skip


def test_words_that_do_not_fit_are_usage_errors_and_change_nothing(spoilt: Home) -> None:
    before = spoilt.stand()
    commands = [text.split() for text in WRONG]
    for said, as_json in zip(say_all(spoilt.path, commands), say_all(spoilt.path, [["--json", *words] for words in commands]), strict=True):
        check_refusal(said, 2)
        assert (said.hint or said.err.startswith("{")) and len(said.err) < 2500, said
        check_refusal(as_json, 2)
        assert as_json.error["kind"] == "usage" and as_json.error["hint"], as_json
    assert spoilt.stand() == before


def test_an_empty_value_is_no_value(spoilt: Home) -> None:
    before = spoilt.stand()
    for option in EMPTY:
        said = spoilt.say(*TAKERS.get(option, "pending list").split(), option, "")
        check_refusal(said, 2)
        assert said.hint, said
    for words in (["start", ""], ["tools", "show", ""], ["workflow", "check", ""], ["init", ""], ["help", ""], ["start", "pay", "-i", ""]):
        check_refusal(spoilt.say(*words), 2)
    assert spoilt.stand() == before


def test_text_that_is_not_utf_8_is_refused_before_anything_happens(spoilt: Home) -> None:
    call, form = spoilt.calls["asked"], spoilt.runs["form"]
    before = spoilt.stand()
    for words in (
        ["approve", call, "-m", "\udcff"],
        ["start", "pay", "-i", "to=\udcff"],
        ["start", "\udcff"],
        ["answer", form, "street=\udcff"],
    ):
        said = spoilt.say(*words)
        check_refusal(said, 2)
        assert "is not UTF-8" in said.message and said.hint
    assert spoilt.stand() == before


def test_a_name_that_could_be_taken_for_another_decides_nothing(spoilt: Home) -> None:
    before = spoilt.stand()
    for actor in ACTORS:
        said = spoilt.say("reject", spoilt.calls["asked"], "--actor", actor)
        check_refusal(said, 2)
        assert "--actor" in said.message and said.hint
    assert spoilt.stand() == before


def test_a_variable_that_is_set_to_nonsense_is_named(spoilt: Home) -> None:
    before = spoilt.stand()
    for name, values in VARIABLES.items():
        for value in values:
            for words in (["reject", spoilt.calls["asked"]], ["pending", "list"], ["tools", "list"]):
                said = spoilt.say(*words, env={name: value})
                check_refusal(said, 2)
                assert name in said.message or name == "TOOLGATE_HOME", said
    for name, value in (("COLUMNS", "abc"), ("COLUMNS", "0"), ("HOME", ""), ("TERM", ""), ("NO_COLOR", "x"), ("FORCE_COLOR", "-1")):
        said = spoilt.say("runs", "list", "-o", "table", "--color", "never", env={name: value})
        assert said.code == 0 and spoilt.runs["asked"] in said.out and "\x1b" not in said.out
    assert spoilt.stand() == before


def test_options_stand_before_and_after_and_two_dashes_end_them(spoilt: Home) -> None:
    run = spoilt.runs["asked"]
    for words in (["runs", "show", run, "--json"], ["--json", "runs", "show", run], ["runs", "--json", "show", "--", run]):
        said = spoilt.say(*words)
        assert said.code == 0 and said.out.startswith('{"schema": "toolgate.'), said
    check_refusal(spoilt.say("runs", "show", "--", "--json"), 3)
    check_refusal(spoilt.say("approve", "--", "--yes"), 3)
    check_refusal(spoilt.say("--", "approve"), 2)
    assert spoilt.say("start", "pay", "-h").code == 0 and spoilt.say("--help").code == 0 and spoilt.say().code == 2


def test_a_home_that_is_none_is_named(spoilt: Home) -> None:
    for folder in ("/proc/nonexistent", "/dev/null", "toolgate.toml", "workflows", "x" * 300, "\udcff", "\x1b[31m", "/proc/self/fd/0"):
        for words in (["approve"], ["start", "pay"], ["pending", "list"], ["tools", "list"], ["recover"], ["cancel", spoilt.runs["asked"]]):
            said = spoilt.say(*words, "-C", folder)
            check_refusal(said, 7)
            assert "no toolgate.toml in" in said.message and " init, or name the home with -C" in said.hint


def test_a_home_is_begun_once_and_only_where_that_is_possible(spoilt: Home) -> None:
    before = {name: (spoilt.path / name).stat().st_mtime_ns for name in os.listdir(spoilt.path)}
    for words, code in (
        (["init"], 7),
        (["init", "."], 7),
        (["init", "toolgate.toml"], 10),
        (["init", "/proc/x"], 10),
        (["init", "/dev/null/x"], 10),
    ):
        said = spoilt.say(*words)
        check_refusal(said, code)
        assert said.hint
    assert before == {name: (spoilt.path / name).stat().st_mtime_ns for name in os.listdir(spoilt.path)}


def test_every_event_that_is_recorded_has_a_type_that_can_be_asked_for(spoilt: Home) -> None:
    runtime = Path(toolgate_cli.__file__).parent / "runtime"
    words = {
        node.value
        for file in runtime.glob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.startswith(("RUN_", "STEP_", "TOOL_", "LOOP_", "LLM_"))
    }
    assert words - {"STEP_APPROVAL", "TOOL_INVOCATION_"} <= set(TYPES) and len(words) > 30
    for said in say_all(spoilt.path, [["events", "--type", type] for type in TYPES]):
        assert said.code == 0, said
