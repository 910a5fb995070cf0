"""The question at a terminal: only the word `yes`, typed after it was asked, decides."""

from __future__ import annotations

import json
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
    def __init__(self, log: Path, *words: str, redirect: str = "", before: str = "", size: tuple[int, int] = (24, 80), **more: str) -> None:
        self.log = log
        quoted = " ".join(f"'{word}'" for word in words)
        self.child = pexpect.spawn(
            "sh",
            ["-c", f"{before} exec {sys.executable} {STUB} {log} {quoted} {redirect}"],
            encoding="utf-8",
            timeout=30,
            dimensions=size,
            env=environment() | more,
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


@pytest.mark.parametrize("columns", [{}, {"COLUMNS": "200"}], ids=str)
@pytest.mark.parametrize("stdout", ["", "> {}/answer"])
def test_a_card_is_folded_for_the_terminal_that_it_is_on(tmp_path, columns, stdout):
    terminal = Terminal(tmp_path / "log", "approve", CALL, redirect=stdout.format(tmp_path), size=(24, 50), **columns)
    terminal.child.expect_exact("as it is: ")
    lines = terminal.child.before.replace("\r\n", "\n").split("\n")
    assert all(len(text) <= 50 for text in lines) and not any(text.startswith(("z", "[/foo]")) for text in lines)
    terminal.child.sendline("no")
    assert terminal.end() == 2 and "approve" not in terminal.asked().split()[1:]


def test_an_edit_is_asked_with_both_arguments_on_the_card(tmp_path):
    (tmp_path / "new.json").write_text('{"other": "\\u001b[8m"}')
    terminal = Terminal(tmp_path / "log", "approve", CALL, "--arguments", str(tmp_path / "new.json"))
    terminal.child.expect_exact(QUESTION)
    card = re.sub(r"\s+", " ", terminal.child.before)
    assert 'other: "\\u001b[8m"' in card and "arguments before the edit" in card and "changed by the edit" in card
    assert "\x1b" not in terminal.child.before
    terminal.child.sendline("yes")
    assert terminal.end() == 0 and terminal.asked() == "select approve"


NO_CONSENT = [
    *("\n", "y\n", "Y\n", "YES\n", "Yes\n", "no\n", "yes please\n", "yesyes\n", '"yes"\n', "yes\\\n", "ye s\n", "ja\n", "1\n", "true\n"),
    *("\x04", "yes\x04\x04", "ye\x04\x04", "\x03", "yes\x03", "x\nyes\n", "\nyes\n", "\x1b[200~yes\x1b[201~\n", "yes\x00\n", "yes\t!\n"),
    *("\u0443es\n", "y\u200bes\n", "\uff59\uff45\uff53\n", "y" * 4000 + "es\n"),
]


@pytest.mark.parametrize("typed", NO_CONSENT, ids=lambda typed: ascii(typed[:20]))
def test_anything_else_decides_nothing(tmp_path, typed):
    terminal = Terminal(tmp_path / "log", "approve", CALL)
    terminal.child.expect_exact(QUESTION)
    terminal.child.send(typed)
    assert terminal.end() == 2 and terminal.asked() == "select"
    assert "nothing happened" in terminal.child.before and "hint: the same command asks again\r\n" in terminal.child.before


def test_what_was_typed_before_the_question_is_thrown_away(tmp_path):
    terminal = Terminal(tmp_path / "log", "approve", CALL, before="sleep 1;")
    terminal.child.send("yes\nyes\nyes\n" + "ye")  # before it has even started; the last not yet sent off
    terminal.child.expect_exact(QUESTION)
    time.sleep(0.3)
    assert terminal.child.isalive()
    terminal.child.sendline("no")
    assert terminal.end() == 2 and terminal.asked() == "select"


def test_a_quit_signal_at_the_question_decides_nothing(tmp_path):
    terminal = Terminal(tmp_path / "log", "approve", CALL, before="ulimit -c 0;")
    terminal.child.expect_exact(QUESTION)
    terminal.child.send("\x1c")
    assert terminal.end() != 0 and not terminal.log.exists()


@pytest.mark.parametrize(
    ("size", "more"), [((2, 10), {}), ((1, 1), {}), ((24, 80), {"TERM": "dumb"}), ((24, 80), {"NO_COLOR": "1"})], ids=str
)
def test_no_terminal_is_too_small_or_too_plain_for_the_whole_card(tmp_path, size, more):
    terminal = Terminal(tmp_path / "log", "approve", CALL, size=size, **more)
    terminal.child.expect_exact("as it is: ")
    whole = re.sub(r"(?<=.)\n {8}", "", terminal.child.before.replace("\r\n", "\n"))
    assert f"ref: {REF}\n" in whole and "z" * 200 in whole and "approvals: 1 of 2" in whole and "\x1b" not in whole
    terminal.child.sendline("  yes ")  # spaces around it are no other word
    assert terminal.end() == 0 and terminal.asked() == "select approve"


REVIEW = {"OPEN": "APPROVAL_REQUIRED INPUT STEP_APPROVAL EXECUTION_FAILED"}


def reviewed(log: Path, *answers: str, **more: str) -> tuple[int, str, str]:
    """Exit code, what was shown and what the desk was asked, after these answers to as many questions."""
    terminal = Terminal(log, "pending", "review", **(REVIEW | more))
    shown = ""
    for answer in answers:
        terminal.child.expect([r"quit or \? for \S+: ", r"left empty\): "])
        shown += terminal.child.before + terminal.child.after
        terminal.child.send(answer)
    code = terminal.end()
    return code, shown + terminal.child.before, terminal.asked()


@pytest.mark.parametrize(
    ("answers", "code", "asked"),
    [
        (["yes\n", "yes\n"], 0, "select approve select_step approve_step"),
        (["no\n", "too much\n", "skip\n"], 0, "select reject select_step"),
        (["no\n", "\n", "no\n", "\n"], 0, "select reject select_step reject_step"),
        (["skip\n", "quit\n"], 0, "select select_step"),
        (["quit\n"], 0, "select"),
        (["?\n", "y\n", "YES\n", "a\n", "\n", "quit\n"], 0, "select"),
        (["yes\nyes\n", "quit\n"], 0, "select approve select_step"),  # what was pasted behind an answer is no second one
        (["\x04"], 2, "select"),
        (["\x03"], 2, "select"),
        (["yes\n", "\x04"], 2, "select approve select_step"),
        (["no\n", "\x04"], 2, "select"),  # a no without its end is none
        (["no\n", "\x03"], 2, "select"),
    ],
    ids=str,
)
def test_a_review_goes_from_one_to_the_next_and_only_whole_words_decide(tmp_path, answers, code, asked):
    got, shown, done = reviewed(tmp_path / "log", *answers)
    assert (got, done) == (code, asked), shown
    assert "---- 1 of 2 ----" in shown and "\\x1b[8m" in shown and shown.count("\x1b") == 0


def test_a_review_needs_a_terminal_and_tells_what_it_did(tmp_path):
    for redirect, words in (("</dev/null", []), ("2>/dev/null", []), ("", ["--json"])):
        terminal = Terminal(tmp_path / "log", "pending", "review", *words, redirect=redirect, **REVIEW)
        assert terminal.end() == 2 and terminal.asked() == ""
    assert "nothing waits for a yes or a no" in re.sub(
        r"\s+", " ", reviewed(tmp_path / "log", OPEN="INPUT POLICY_DENIED OUTCOME_UNKNOWN")[1]
    )
    told = Terminal(tmp_path / "log", "pending", "review", "-o", "jsonl", redirect=f">{tmp_path / 'out'}", **REVIEW)
    for word in ("yes", "yes"):
        told.child.expect_exact("quit or ? for ")
        told.child.sendline(word)
    assert told.end() == 0
    assert [json.loads(line)["effect"] for line in (tmp_path / "out").read_text().splitlines()] == ["approved", "approved"]


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
