"""`workflow check` looks at what a scripted model will play: a tool that is not there, or not for its agent, is told with its line."""

from __future__ import annotations

import pytest

from .homes import OPERATOR, Home

SOUND = """schema = 1
[[turns]]
commands = [{ type = "tool_invocation", capability = "ledger.show" }, { type = "complete", output = "x" }]
"""


def told(home: Home, script: str) -> dict[str, str]:
    """Warnings about the script, message -> hint."""
    home.write("script.toml", script)
    [(errors, warnings)] = [seen[2:] for seen in home.files().inspect() if seen[0] == "toolgate.toml"]
    assert errors == ()
    return {message: hint for message, hint in warnings if message.startswith("script.toml:")}


def test_a_sound_script_is_no_reason_to_warn(home: Home) -> None:
    assert told(home, SOUND) == {}


def test_a_tool_that_is_not_there_is_told_with_what_was_meant(home: Home) -> None:
    assert told(home, SOUND.replace("ledger.show", "ledger.shwo")) == {
        "script.toml:3: turns[0].commands[0]: there is no tool ledger.shwo": "did you mean ledger.show?"
    }


def test_a_tool_that_the_agent_may_not_call_is_told(home: Home) -> None:
    home.edit("toolgate.toml", 'tools = ["ledger.*"]', 'tools = ["ledger.pay"]')
    assert told(home, SOUND) == {
        "script.toml:3: turns[0].commands[0]: the agent clerk may not call ledger.show": "agents.clerk.tools says what it may"
    }


def test_it_is_enough_that_one_of_the_agents_of_the_model_may(home: Home) -> None:
    other = '[agents.other]\nmodel = "default"\nprompt = "x"\ntools = ["ledger.show"]\n'
    home.write("toolgate.toml", OPERATOR.replace('tools = ["ledger.*"]', 'tools = ["ledger.pay"]') + other)
    assert told(home, SOUND) == {}
    narrowed = SOUND.replace("[[turns]]", '[[turns]]\nagent = "clerk"')
    assert list(told(home, narrowed)) == ["script.toml:4: turns[0].commands[0]: the agent clerk may not call ledger.show"]


def test_an_agent_that_has_another_model_or_is_none_is_told(home: Home) -> None:
    [message] = told(home, SOUND.replace("[[turns]]", '[[turns]]\nagent = "clark"'))
    assert message.endswith("no agent clark has the model default")


@pytest.mark.parametrize("script", ["schema = ", "schema = 1\n[[turns]]\n"])
def test_a_script_that_cannot_be_played_is_told(home: Home, script: str) -> None:
    assert len(told(home, script)) == 1


def test_a_script_that_is_not_there_is_told(home: Home) -> None:
    (home.path / "script.toml").unlink(missing_ok=True)
    assert "script.toml: there is no such file" in [message for seen in home.files().inspect() for message, _ in seen[3]]


def test_a_defect_of_a_script_has_its_line(home: Home) -> None:
    turns = 'schema = 1\n[[turns]]\ntext = "x"\n[[turns]]\ntext = "x"\nwhen_result_contains = 3\n[[turns]]\nordnal = 1\ntext = "x"\n'
    assert list(told(home, turns)) == [
        "script.toml:6: turns[1].when_result_contains: it is not a text",
        'script.toml:8: turns[2].ordnal: there is no such key, did you mean "ordinal"',
    ]


@pytest.mark.parametrize(
    ("command", "said", "hint"),
    [
        ('type = "tool_call", capability = "ledger.show"', "turns[0].commands[1].type: there is no command tool_call", "one of tool_"),
        ('type = "complete", outpt = "x"', "turns[0].commands[1]: complete has no field outpt", ""),
        ('type = "say"', "turns[0].commands[1]: say lacks message", ""),
        ('type = "say", message = 3', "turns[0].commands[1]: message of say has the wrong type", ""),
    ],
)
def test_a_command_that_no_agent_may_answer_is_told(home: Home, command: str, said: str, hint: str) -> None:
    script = f'schema = 1\n[[turns]]\ncommands = [\n  {{ type = "say", message = "x" }},\n  {{ {command} }},\n]\n'
    [(message, found)] = told(home, script).items()
    assert message == f"script.toml:5: {said}" and found.startswith(hint)


def test_what_stands_behind_complete_is_told(home: Home) -> None:
    script = SOUND.replace('output = "x" }', 'output = "x" }, { type = "say", message = "x" }')
    assert list(told(home, script)) == ["script.toml:3: turns[0].commands[1]: complete is not the last command"]


def test_more_commands_than_a_turn_may_have_are_told(home: Home) -> None:
    said = '{ type = "say", message = "x" }, '
    assert told(home, SOUND.replace("commands = [", "commands = [" + said * 198, 1)) == {}
    [message] = told(home, SOUND.replace("commands = [", "commands = [" + said * 199, 1))
    assert message.endswith("turns[0].commands[200]: a turn has at most 200 commands")


@pytest.mark.parametrize(
    ("narrowed", "said", "hint"),
    [
        ('workflow = "pya"', "turns[0].workflow: there is no workflow pya: it is never played", "did you mean pay?"),
        (
            'workflow = "pay"\nstep = "decdie"',
            "turns[0].step: the workflow pay has no step decdie: it is never played",
            "did you mean decide?",
        ),
        ('step = "paying/decdie"', "turns[0].step: no workflow has a step decdie: it is never played", "did you mean decide?"),
    ],
)
def test_a_turn_that_no_step_can_ask_for_is_told(home: Home, narrowed: str, said: str, hint: str) -> None:
    [(message, found)] = told(home, SOUND.replace("[[turns]]", f"[[turns]]\n{narrowed}")).items()
    assert message.endswith(said) and found == hint


@pytest.mark.parametrize("narrowed", ['workflow = "pay"\nstep = "decide"', 'step = "outer/decide"', 'workflow = "pay"'])
def test_a_turn_of_a_step_that_is_there_is_not(home: Home, narrowed: str) -> None:
    assert told(home, SOUND.replace("[[turns]]", f"[[turns]]\n{narrowed}")) == {}


def test_no_turn_is_told_to_be_in_vain_while_a_workflow_cannot_be_read(home: Home) -> None:
    home.write("other.toml", "id = ")
    assert told(home, SOUND.replace("[[turns]]", '[[turns]]\nworkflow = "other"')) == {}
