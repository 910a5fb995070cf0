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
