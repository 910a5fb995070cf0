"""The question at a terminal: only the word `yes`, typed after it was asked, decides."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import pexpect
import pytest

from .given import CALL, REF, RUN

STUB = str(Path(__file__).parent / "at_terminal.py")
TEXT = "[/foo] \\x1b[8m " + "z" * 200
QUESTION = "leaves everything as it is: "


class Terminal:
    def __init__(self, log: Path, *words: str, redirect: str = "", before: str = "") -> None:
        self.log = log
        quoted = " ".join(f"'{word}'" for word in words)
        self.child = pexpect.spawn(
            "sh",
            ["-c", f"{before} exec {sys.executable} {STUB} {log} {quoted} {redirect}"],
            encoding="utf-8",
            timeout=30,
            dimensions=(24, 80),
            env=environment(),
        )

    def end(self) -> int:
        self.child.expect(pexpect.EOF)
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -1)

    def asked(self) -> str:
        return self.log.read_text().split("\n")[0]


def environment() -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "TERM": "xterm", "TEXT": TEXT, "LANG": "C.UTF-8"}


@pytest.mark.parametrize(
    ("words", "done"),
    [
        (["approve", CALL], "select approve"),
        (["reject", RUN], "select reject"),
        (["retry"], "select retry"),
        (["continue-tool", CALL], "select continue_tool"),
        (["approve", RUN, "--step", "s"], "select_step approve_step"),
        (["review", RUN], "select_step review"),
    ],
    ids=str,
)
def test_yes_decides_after_the_whole_card(tmp_path, words, done):
    terminal = Terminal(tmp_path / "log", *words)
    terminal.child.expect_exact(QUESTION)
    card = terminal.child.before
    assert REF in card and "approvals: 1 of 2" in card and "\\x1b[8m" in card and "\x1b" not in card
    lines = card.replace("\r\n", "\n").split("\n")
    assert all(len(text) <= 80 for text in lines) and not any(text.startswith(("z", "[/foo]")) for text in lines)
    terminal.child.sendline("yes")
    assert terminal.end() == 0 and terminal.asked() == done


def test_an_edit_is_asked_with_both_arguments_on_the_card(tmp_path):
    (tmp_path / "new.json").write_text('{"other": "\\u001b[8m"}')
    terminal = Terminal(tmp_path / "log", "approve", CALL, "--arguments", str(tmp_path / "new.json"))
    terminal.child.expect_exact(QUESTION)
    card = re.sub(r"\s+", " ", terminal.child.before)
    assert 'other: "\\u001b[8m"' in card and "arguments before the edit" in card and "changed by the edit" in card
    assert "\x1b" not in terminal.child.before
    terminal.child.sendline("yes")
    assert terminal.end() == 0 and terminal.asked() == "select approve"


@pytest.mark.parametrize("typed", ["\n", "y\n", "YES\n", "no\n", "yes please\n", "\x04", "yes\x04\x04", "\x03", "x\nyes\n"], ids=repr)
def test_anything_else_decides_nothing(tmp_path, typed):
    terminal = Terminal(tmp_path / "log", "approve", CALL)
    terminal.child.expect_exact(QUESTION)
    terminal.child.send(typed)
    assert terminal.end() == 2 and terminal.asked() == "select"
    assert "nothing happened" in terminal.child.before


def test_what_was_typed_before_the_question_is_thrown_away(tmp_path):
    terminal = Terminal(tmp_path / "log", "approve", CALL, before="sleep 1;")
    terminal.child.send("yes\n")  # before it has even started
    terminal.child.expect_exact(QUESTION)
    time.sleep(0.3)
    assert terminal.child.isalive()
    terminal.child.sendline("no")
    assert terminal.end() == 2 and terminal.asked() == "select"


@pytest.mark.parametrize(
    ("words", "redirect", "code", "done"),
    [
        (["approve", CALL, "--yes"], "", 0, "select approve"),
        (["approve", CALL, "-y"], "2>/dev/null", 0, "select approve"),
        (["approve", CALL], "2>/dev/null", 2, ""),
        (["approve", CALL, "--no-input"], "", 2, ""),
        (["approve", CALL], "</dev/null", 0, "select approve"),
        (["approve", CALL], "<&-", 0, "select approve"),
        (["approve", CALL, "--no-input"], "</dev/null", 0, "select approve"),
    ],
    ids=str,
)
def test_where_no_question_is_asked(tmp_path, words, redirect, code, done):
    terminal = Terminal(tmp_path / "log", *words, redirect=redirect)
    assert terminal.end() == code and terminal.asked() == done
    assert "type yes" not in terminal.child.before


def test_a_form_is_asked_item_by_item(tmp_path):
    terminal = Terminal(tmp_path / "log", "answer", RUN)
    terminal.child.expect_exact("answer for ")
    terminal.child.expect_exact(": ")
    terminal.child.sendline("")
    terminal.child.expect(r"an\s+answer\s+is\s+required\s*\r\n")
    terminal.child.expect_exact("answer for ")
    terminal.child.expect_exact("): ")
    terminal.child.sendline("Main Street")
    assert terminal.end() == 0 and terminal.asked() == "select_step answer"


def test_a_form_that_is_left_submits_nothing(tmp_path):
    terminal = Terminal(tmp_path / "log", "answer", RUN)
    terminal.child.expect_exact("): ")
    terminal.child.sendcontrol("d")
    assert terminal.end() == 2 and terminal.asked() == "select_step"


def test_a_terminal_gets_a_table(tmp_path):
    terminal = Terminal(tmp_path / "log", "pending", "list")
    assert terminal.end() == 0
    shown = re.sub(r"\x1b\[[0-9;]*m", "", terminal.child.before.replace("\r\n", "\n"))
    assert REF in shown and RUN in shown and max(map(len, shown.split("\n"))) <= 80
