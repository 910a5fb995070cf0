"""`workflow check` (and so `doctor`) looks for the files that toolgate.toml counts on: what is missing is told with its line."""

from __future__ import annotations

import pytest

from .homes import OPERATOR, Home


def warnings(home: Home) -> list[tuple[str, str]]:
    [(errors, found)] = [seen[2:] for seen in home.files().inspect() if seen[0] == "toolgate.toml"]
    assert errors == ()
    return list(found)


def line(text: str) -> int:
    return OPERATOR[: OPERATOR.index(text)].count("\n") + 1


def test_the_file_of_a_secret_that_is_not_there_is_told_and_its_value_never(home: Home) -> None:
    declared = OPERATOR + '[secrets.TOKEN]\nfile = "token"\n[secrets.SHORT]\nfile = "short"\n[secrets.FROM_ENVIRONMENT]\n'
    home.write("toolgate.toml", declared)
    home.write("short", "abc")
    last = declared.count("\n")
    assert warnings(home) == [
        (f"toolgate.toml:{last - 3}: secrets.TOKEN.file: token: no such file", "calls that need it are refused until it is there"),
        (
            f"toolgate.toml:{last - 1}: secrets.SHORT.file: it is blank or has fewer than 8 characters",
            "calls that need it are refused until it is there",
        ),
    ]
    home.write("token", "a-long-enough-value")
    home.write("short", "another-long-value")
    assert warnings(home) == []


@pytest.mark.parametrize(
    ("argv", "at"),
    [
        ('["sh", "run.sh"]', 1),
        ('["sh", "-e", "tools/run.sh"]', 2),
        ('["sh", "clerk.md"]', None),  # it is there
        ('["sh", "${args.x}.sh"]', None),
        ('["sh", "--file=run.sh"]', None),
        ('["sh", "-c", "run.sh now"]', None),
        ('["sh", "https://example.org/run.sh"]', None),
        ('["sh", "out.json"]', None),  # the tool may be about to write it
    ],
)
def test_a_script_in_a_command_line_that_is_not_there_is_told(home: Home, argv: str, at: int | None) -> None:
    home.edit("toolgate.toml", 'argv = ["true"]', f"argv = {argv}")
    found = [message for message, _ in warnings(home)]
    name = argv.split('"')[-2]
    near = line('argv = ["true"]')
    told = [] if at is None else [f'toolgate.toml:{near}: tools."ledger.show".command.argv[{at}]: no file {name}']
    assert found == told


def test_the_script_of_a_model_that_is_not_there_is_told(home: Home) -> None:
    (home.path / "script.toml").unlink()
    [(message, _)] = warnings(home)
    assert "script.toml" in message and "no" in message


def test_a_rule_about_a_workflow_that_is_not_there_is_warned_of_with_what_was_meant(home: Home) -> None:
    assert warnings(home) == []
    home.edit("toolgate.toml", 'workflow = "pay"', 'workflow = "pya"')
    said = f"toolgate.toml:{line('workflow = ')}: policy.rules[1].workflow: there is no workflow pya: the rule never holds (rule big)"
    assert warnings(home) == [(said, "did you mean pay?")]
    home.edit("toolgate.toml", 'workflow = "pya"', 'workflow = "pya*"')
    assert "no workflow matches this pattern" in warnings(home)[0][0]
    home.edit("toolgate.toml", 'workflow = "pya*"', 'workflow = "p*"')
    assert warnings(home) == []


def test_a_rule_is_not_warned_of_while_a_workflow_cannot_be_read(home: Home) -> None:
    home.edit("toolgate.toml", 'workflow = "pay"', 'workflow = "pya"')
    home.write("workflows/pya.toml", "id = ")
    assert warnings(home) == []


@pytest.mark.parametrize(
    ("argv", "at", "said"),
    [
        ('argv = ["pyton3", "x"]', '[tools."ledger.show".command]', "command: there is no executable pyton3 in"),
        ('argv = ["true"]\ncwd = "nowhere"', "cwd = ", "command.cwd: there is no folder"),
        ('argv = ["true"]\npin = ["none"]', '[tools."ledger.show".command]', "command: "),
        ('argv = ["true"]\n[tools."ledger.show".precheck]\nargv = ["pyton3"]', '[tools."ledger.show".precheck]', "precheck: there is no"),
    ],
)
def test_a_tool_that_cannot_be_used_is_told_with_its_line(home: Home, argv: str, at: str, said: str) -> None:
    written = OPERATOR.replace('argv = ["true"]', argv)
    home.write("toolgate.toml", written)
    [(message, _)] = warnings(home)
    near = written[: written.index(at)].count("\n") + 1
    assert message.startswith(f'toolgate.toml:{near}: tools."ledger.show".{said}'), message


def test_an_argument_of_a_title_that_there_cannot_be_is_told_with_what_was_meant(home: Home) -> None:
    home.edit("toolgate.toml", 'title = "Pay ${args.amount}', 'title = "Pay ${args.amuont}')
    said = 'tools."ledger.pay".title: the input schema has no argument amuont: a call is shown by the tool\'s name instead'
    assert warnings(home) == [(f"toolgate.toml:{line('title = ')}: {said}", "did you mean amount?")]
    home.edit("toolgate.toml", "additionalProperties = false, ", "additionalProperties = true, ")
    assert warnings(home) == []  # there may be such a one
    home.edit("toolgate.toml", "${args.amuont}", "${arg.amount}")
    assert "nothing is called arg.amount here" in warnings(home)[0][0]
