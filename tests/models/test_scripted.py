from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.turns import Completion, Exchange, TurnRequest
from toolgate_cli.models._script import tell
from toolgate_cli.models.scripted import Fields, check, complete, files

FIELDS = Fields("script.toml")
REQUEST = TurnRequest("r1", "refund", "decide", "clerk", 0, "be kind", {}, (), (), ("complete",))
SAY = 'commands = [ { type = "say", message = "%s" } ]\n'


def play(home: Path, script: str, **of_request: object) -> Completion:
    (home / "script.toml").write_text("schema = 1\n" + script)
    return complete(FIELDS, str(home), REQUEST._replace(**of_request))


def said(completion: Completion) -> object:
    assert isinstance(completion.commands, list) and isinstance(completion.commands[0], dict)
    return completion.commands[0]["message"]


def refused(home: Path, script: str) -> ToolgateError:
    (home / "script.toml").write_text(script)
    with pytest.raises(ToolgateError) as caught:
        complete(FIELDS, str(home), REQUEST)
    return caught.value


# ---- which entry ----
@pytest.mark.parametrize("key", ["workflow", "step", "agent"])
def test_a_narrowed_entry_fits_only_what_it_names(tmp_path: Path, key: str) -> None:
    script = f'[[turns]]\n{key} = "other"\n{SAY % "narrow"}[[turns]]\n{SAY % "wide"}'
    assert said(play(tmp_path, script)) == "wide"
    assert said(play(tmp_path, script, **{key: "other"})) == "narrow"


def test_the_first_entry_that_fits_wins(tmp_path: Path) -> None:
    assert said(play(tmp_path, f"[[turns]]\n{SAY % 'first'}[[turns]]\n{SAY % 'second'}")) == "first"


def test_an_ordinal_counts_the_calls_of_the_step_from_0(tmp_path: Path) -> None:
    script = "".join(f"[[turns]]\nordinal = {n}\n{SAY % n}" for n in (1, 0))
    assert [said(play(tmp_path, script, ordinal=n)) for n in (0, 1)] == ["0", "1"]


def test_a_result_is_looked_for_in_the_last_exchange_alone(tmp_path: Path) -> None:
    script = f'[[turns]]\nwhen_result_contains = "damaged"\n{SAY % "refund"}[[turns]]\n{SAY % "keep"}'
    damaged, fine = Exchange([], ("damaged",), ('{"a":1}', '{"state":"damaged"}')), Exchange([], (), ('{"state":"fine"}',))
    assert said(play(tmp_path, script, history=(fine, damaged))) == "refund"
    assert said(play(tmp_path, script, history=(damaged, fine))) == "keep"
    assert said(play(tmp_path, script)) == "keep"


def test_a_turn_that_no_entry_fits_is_named_and_nothing_is_guessed(tmp_path: Path) -> None:
    with pytest.raises(ToolgateError) as caught:
        play(tmp_path, f"[[turns]]\nordinal = 0\n{SAY % 'x'}", ordinal=1)
    assert caught.value.kind == "failed" and not caught.value.retryable
    assert "script.toml has no turn for workflow refund, step decide, agent clerk, ordinal 1" in caught.value.message


def test_an_empty_script_fits_nothing(tmp_path: Path) -> None:
    with pytest.raises(ToolgateError, match="has no turn"):
        play(tmp_path, "")


# ---- what it answers ----
def test_references_are_literal_and_commands_come_as_they_are_written(tmp_path: Path) -> None:
    commands = 'commands = [ { type = "tool_invocation", capability = "a", arguments = { n = 1.5, deep = ["${inputs.x}"] } } ]'
    assert play(tmp_path, f"[[turns]]\n{commands}").commands == [
        {"type": "tool_invocation", "capability": "a", "arguments": {"n": 1.5, "deep": ["${inputs.x}"]}}
    ]


def test_text_is_a_raw_answer(tmp_path: Path) -> None:
    assert play(tmp_path, '[[turns]]\ntext = "Sure! ["') == Completion(text="Sure! [", tokens_total=0)


def test_a_command_that_no_agent_knows_is_for_the_run_to_refuse(tmp_path: Path) -> None:
    assert play(tmp_path, '[[turns]]\ncommands = [ { type = "rm" } ]').commands == [{"type": "rm"}]


# ---- a script with a defect plays nothing ----
@pytest.mark.parametrize(
    ("entry", "defect"),
    [
        ('ordnal = 1\ntext = "x"', 'turns[1].ordnal: there is no such key, did you mean "ordinal"'),
        ('step = 3\ntext = "x"', "turns[1].step: it is not a text"),
        ('ordinal = -1\ntext = "x"', "turns[1].ordinal: it is not a whole number"),
        ('ordinal = true\ntext = "x"', "turns[1].ordinal: it is not a whole number"),
        ('ordinal = "0"\ntext = "x"', "turns[1].ordinal: it is not a whole number"),
        ("", "turns[1]: it needs commands or text"),
        ('text = "x"\ncommands = []', "turns[1]: it needs commands or text"),
        ('commands = "x"', "turns[1].commands: it is not a list"),
        ('commands = ["x"]', "turns[1].commands[0]: it is not a table with a type"),
        ('commands = [ { type = "say" }, { message = "x" } ]', "turns[1].commands[1]: it is not a table with a type"),
        ('commands = [ { type = "say", message = 2026-01-31 } ]', "turns[1].commands[0]: INVALID_TYPE at /message"),
        ('commands = [ { type = "say", message = nan } ]', "turns[1].commands[0]: NON_FINITE at /message"),
    ],
)
def test_a_defect_is_named_with_file_entry_and_field(tmp_path: Path, entry: str, defect: str) -> None:
    error = refused(tmp_path, f'schema = 1\n[[turns]]\ntext = "fits"\n[[turns]]\n{entry}\n')
    assert error.kind == "invalid" and f"script.toml: {defect}" in error.message
    assert any(defect in tell(file, problem) for file, problem in check(FIELDS, str(tmp_path)))


@pytest.mark.parametrize(
    ("script", "defect"),
    [
        ("", "schema: it has to be 1"),
        ("schema = true", "schema: it has to be 1"),
        ("schema = 2", "schema: it has to be 1"),
        ('schema = "1"', "schema: it has to be 1"),
        ("schema = 1\nturn = []", 'turn: there is no such key, did you mean "turns"'),
        ("schema = 1\nturns = 3", "turns: it is not a list of tables"),
        ("schema = 1\nturns = [3]", "turns: it is not a list of tables"),
        ("schema = ", "it is not TOML"),
    ],
)
def test_a_file_that_is_no_script_is_refused(tmp_path: Path, script: str, defect: str) -> None:
    assert defect in refused(tmp_path, script).message


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "script.toml").write_text("schema = 2\n[[turns]]\nstep = 1\n[[turns]]\n")
    assert len(check(FIELDS, str(tmp_path))) == 4
    with pytest.raises(ToolgateError, match="and 3 more"):
        complete(FIELDS, str(tmp_path), REQUEST)


def test_a_sound_script_has_no_problems_and_is_named_as_a_file_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "script.toml").write_text(f"schema = 1\n[[turns]]\n{SAY % 'x'}")
    assert check(FIELDS, str(tmp_path)) == () and files(FIELDS, str(tmp_path)) == ("script.toml",)


# ---- only a file of the home ----
def test_a_script_outside_the_home_is_not_read(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    outside = tmp_path / "outside.toml"
    outside.write_text("schema = 1\n[[turns]]\ntext = 'x'\n")
    (home / "link.toml").symlink_to(outside)
    for script in ("../outside.toml", str(outside), "link.toml"):
        with pytest.raises(ToolgateError, match="not inside the home"):
            complete(Fields(script), str(home), REQUEST)


def test_a_script_that_cannot_be_read_is_invalid_and_blocks_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "bytes.toml").write_bytes(b"schema = 1 # \xff\n")
    for script, defect in (
        ("gone.toml", "no such file"),
        ("pipe.toml", "no such file"),
        (".", "no such file"),
        ("bytes.toml", "not UTF-8"),
    ):
        with pytest.raises(ToolgateError, match=defect) as caught:
            complete(Fields(script), str(tmp_path), REQUEST)
        assert caught.value.kind == "invalid" and script in caught.value.message
