"""Several candidates are told as one command a line: pasted, no line runs more than one, and no title runs at all."""

from __future__ import annotations

import json
import shlex
import subprocess
import time

import pytest

from toolgate_cli.cli.frame import Frame
from toolgate_cli.cli.safe import spaced, unescape
from toolgate_cli.cli.views import failure
from toolgate_cli.core.errors import Choice, ToolgateError

TITLES = [
    "Refund 5 cents",
    "x\nrm -rf /",
    "; touch pwned",
    "$(touch pwned)",
    "'; touch pwned #",
    "`touch pwned`",
    "a | b & c",
    "\x1b[8m\u202e",
    "!!",
]


@pytest.mark.parametrize("title", TITLES, ids=ascii)
@pytest.mark.parametrize("comments", ["-O", "+O"])
def test_a_pasted_line_runs_its_command_and_nothing_of_its_title(tmp_path, title, comments):
    [_, told] = failure.lines("several", "", [Choice("echo approve c1@ab", title)])
    assert told.startswith("hint: echo approve c1@ab # ") and "\n" not in told and "\x1b" not in told
    pasted = told.removeprefix("hint: ")
    assert shlex.split(pasted)[4:] == [unescape_free(title)]
    words = ["bash", comments, "interactive_comments", "-c", pasted]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=30, check=True)
    assert ran.stdout.startswith("approve c1@ab") and ran.stdout.count("\n") == 1 and list(tmp_path.iterdir()) == []


def unescape_free(title):
    from toolgate_cli.cli.safe import line

    assert unescape(line(title)) == title
    return str(line(title))


@pytest.mark.parametrize("width", range(20, 200, 7))
@pytest.mark.parametrize("title", ["word " * 60, "\u4e2d" * 100, "'" * 100], ids=ascii)
def test_on_a_terminal_a_title_never_stands_on_a_line_of_its_own(width, title):
    command = "toolgate approve c1@ab"
    [_, told] = failure.lines("several", "", [Choice(command, title)], width)
    from rich.cells import cell_len

    told = spaced(told)
    assert told == f"hint: {command}" or cell_len(told) <= width
    assert width < 60 or title[0] == "'" or " # " in told


def test_a_title_without_an_end_is_cut_at_once():
    began = time.monotonic()
    [_, told] = failure.lines("several", "", [Choice("toolgate approve c1@ab", "word " * 60_000)], 80)
    assert spaced(told).endswith("word...'") and time.monotonic() - began < 3


def test_titles_that_have_to_be_cut_keep_what_tells_them_apart():
    titles = ["Ship version 1.2.3 of the shop to test", "Ship version 1.2.3 of the shop to prod"]
    choices = [Choice(f"toolgate approve c{n}bcdefghijklmn@0123456789ab", title) for n, title in enumerate(titles)]
    told = [*failure.lines("several", "", choices, 80)][1:]
    assert [each.split(" # ")[1] for each in told] == ["...test", "...prod"]
    assert [each.split(" # ")[1] for each in [*failure.lines("several", "", choices, 120)][1:]] == [f"'{title}'" for title in titles]
    alike = [choice._replace(about=titles[0]) for choice in choices]
    assert all("'Ship version" in each for each in [*failure.lines("several", "", alike, 80)][1:])


def test_in_json_the_hint_is_one_text_of_one_command_a_line():
    choices = [Choice("toolgate approve c1@ab", "one\ntwo"), Choice("toolgate approve c2@cd", "three")]
    short = [*failure.lines("several", "", [Choice("toolgate approve c1@ab", "Refund A-17 and more of it")], width=45)]
    assert [*map(spaced, short)] == ["error: several", "hint: toolgate approve c1@ab # 'Refund A-...'"]  # little is better than nothing
    told = failure.to_json("ambiguous", "several", "and 3 more", 4, choices=choices)["error"]
    assert json.loads(json.dumps(told))["hint"] == "toolgate approve c1@ab # 'one\\ntwo'\ntoolgate approve c2@cd # three\nand 3 more"


def test_commands_in_hints_lead_to_the_home_that_was_given():
    refused = ToolgateError(
        "ambiguous", "m", "toolgate pending list, see toolgate.toml", choices=[Choice("toolgate approve c1", "toolgate start")]
    )
    told = Frame(home="a b", db="x").leads(refused)
    assert told.hint == "toolgate -C 'a b' --db x pending list, see toolgate.toml"
    assert told.choices == (Choice("toolgate -C 'a b' --db x approve c1", "toolgate start"),)
    assert Frame().leads(ToolgateError("usage", "m", "toolgate start")).hint == "toolgate start"


@pytest.mark.parametrize("form", ["json", "tsv", "table"])
def test_what_doctor_advises_leads_to_the_home_that_was_given(desk, say, form):
    desk.text = "first toolgate recover"
    assert "toolgate -C 'a b' --db x recover" in say("-C", "a b", "--db", "x", "doctor", "-o", form).out
    assert "toolgate recover" in say("doctor", "-o", form).out
