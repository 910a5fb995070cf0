"""`pending list --watch`: one screen that is drawn again, and nothing else than that."""

from __future__ import annotations

import re

import pytest

from toolgate_cli.cli import watching

from .given import REF, RUN
from .test_ask import Terminal

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def test_it_draws_on_a_screen_of_its_own_until_the_person_has_seen_enough(tmp_path):
    terminal = Terminal(tmp_path / "log", "pending", "list", "--watch", TEXT="[/foo] \\x1b[2J\\u202e")
    terminal.child.expect_exact(REF)
    terminal.child.expect_exact("INPUT")
    terminal.child.sendcontrol("c")
    shown = terminal.child.before
    assert terminal.end() == 0
    shown += terminal.child.before
    assert RUN in shown and "\x1b[?1049l" in shown
    assert "\x1b" not in CONTROL.sub("", shown) and "\u202e" not in shown


@pytest.mark.parametrize(
    ("words", "redirect", "more"),
    [([], ">/dev/null", {}), (["--json"], "", {}), (["-o", "tsv"], "", {}), ([], "", {"TERM": "dumb"})],
    ids=str,
)
def test_where_nothing_can_be_redrawn_it_is_refused(tmp_path, words, redirect, more):
    terminal = Terminal(tmp_path / "log", "pending", "list", "-w", *words, redirect=redirect, **more)
    assert terminal.end() == 2 and terminal.asked() == "" and "watch" in terminal.child.before


def test_what_does_not_fit_is_counted():
    drawn = "".join(f"row {number}\n" for number in range(10))
    assert watching._cut(drawn, 10) == drawn.rstrip("\n")
    assert watching._cut(drawn, 4).splitlines() == ["row 0", "row 1", "row 2", "7 more lines: toolgate pending list"]


def test_followed_events_are_folded_so_that_no_line_begins_with_theirs(tmp_path):
    terminal = Terminal(tmp_path / "log", "events", "-f", TEXT="[/foo] \\x1b[2J\\u202e " + "z" * 300)
    terminal.child.expect_exact("4  2026-01-31T12:00:00Z")
    terminal.child.expect_exact("4  2026-01-31T12:00:00Z")
    terminal.child.expect_exact("]}\r\n")
    shown = terminal.child.before.replace("\r\n", "\n")
    terminal.child.sendcontrol("c")
    assert terminal.end() == 130
    lines = shown.split("\n")[1:]
    assert len(lines) > 5 and all(len(text) <= 80 and text.startswith(" " * 8) for text in lines)
    assert "\x1b" not in shown and "\u202e" not in shown
