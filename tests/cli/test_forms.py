"""A form at a terminal and in scripts, with a real home: item by item, checked at once, and nothing of it kept until all of it is said."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pexpect
import pytest

HOSTILE = "Ship \x1b[2J\x1b]0;x\x07 to\u202e\u200b\nanswer for yes"
FORM: list[dict[str, Any]] = [
    {"id": "name", "type": "TEXT", "label": HOSTILE, "required": True},
    {"id": "note", "type": "TEXT_AREA"},
    {"id": "size", "type": "SINGLE_CHOICE", "options": ["small", "large, with\x1b[8m a bow"], "required": True},
    {"id": "days", "type": "MULTI_CHOICE", "options": ["mon", "tue", "wed, late"]},
    {"id": "gift", "type": "BOOLEAN", "required": True},
    {"id": "count", "type": "NUMBER", "required": True},
    {"id": "on", "type": "DATE", "required": True},
]
WORKFLOW = 'schema = 1\nid = "order"\n[[steps]]\nid = "ask"\ntype = "input"\nform = "ship"\n'
TYPED = ["Ann", "", "small", "mon, tue", "yes", "3", "2026-02-28"]
ANSWERS = {"name": "Ann", "size": "small", "days": ["mon", "tue"], "gift": True, "count": 3, "on": "2026-02-28"}
PROMPT = re.compile(r"answer\s+for\s.+?\):\s", re.DOTALL)


def toml(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


class Home:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        items = ("".join(f"{key} = {toml(value)}\n" for key, value in item.items()) for item in FORM)
        (folder / "toolgate.toml").write_text("schema = 1\n")
        (folder / "order.toml").write_text(WORKFLOW + "".join(f"[[forms.ship]]\n{item}" for item in items))
        self.run = self.say("start", "order")["run"]["id"]

    def say(self, *words: str, code: int | None = None, **how: Any) -> Any:
        done = subprocess.run(self.words(*words, "-o", "json"), capture_output=True, text=True, timeout=60, check=False, **how)
        assert code is None or done.returncode == code, done
        return json.loads(done.stdout or done.stderr)

    def words(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "toolgate_cli", "-C", str(self.folder), *words]

    def at_terminal(self, size: tuple[int, int] = (24, 200)) -> pexpect.spawn[str]:
        command, *words = self.words("answer", self.run)
        env = {"PATH": "/usr/bin:/bin", "TERM": "xterm", "LANG": "C.UTF-8", "HOME": str(self.folder)}
        return pexpect.spawn(command, words, encoding="utf-8", timeout=10, dimensions=size, env=env, codec_errors="backslashreplace")

    def context(self) -> dict[str, Any]:
        shown = self.say("runs", "show", self.run)
        return {key.removeprefix("ship."): entry["value"] for key, entry in shown["run"]["context"].items()}

    def status(self) -> str:
        return str(self.say("runs", "show", self.run)["run"]["status"])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def end(child: pexpect.spawn[str]) -> int:
    child.expect(pexpect.EOF)
    child.close()
    return int(child.exitstatus if child.exitstatus is not None else -1)


def test_every_item_is_asked_in_its_turn_and_a_wrong_answer_is_asked_again(home: Home) -> None:
    child, shown = home.at_terminal(), ""
    wrong = {"name": "", "size": "huge", "days": "mon, sun", "gift": "perhaps", "count": "three", "on": "2026-02-30"}
    for item, right in zip(FORM, TYPED, strict=True):
        for typed in [*([wrong[item["id"]]] if item["id"] in wrong else []), right]:
            child.expect(PROMPT)
            shown += child.before + child.after
            assert item["type"] in child.after and ("required" in child.after) is item.get("required", False)
            child.sendline(typed)
    assert end(child) == 0, child.before
    assert home.context() == ANSWERS and home.status() == "COMPLETED"
    assert "\x1b" not in shown and "\x07" not in shown and "\u202e" not in shown and "\u200b" not in shown
    assert "\\x1b[2J" in shown and "\\u202e" in shown and "\\x1b[8m" in shown
    assert not any(line.startswith(("answer for yes", "[2J", "large")) for line in re.split(r"[\r\n]+", shown))


@pytest.mark.parametrize("leave", ["\x03", "\x04"], ids=["Ctrl-C", "Ctrl-D"])
@pytest.mark.parametrize("said", [0, 3, 6])
def test_leaving_a_form_leaves_everything_as_it_was(home: Home, leave: str, said: int) -> None:
    before = home.say("events")["items"]
    child = home.at_terminal()
    for typed in TYPED[:said]:
        child.expect(PROMPT)
        child.sendline(typed)
    child.expect(PROMPT)
    child.send(leave)
    assert end(child) == 2 and "nothing happened" in child.before
    assert home.status() == "AWAITING_INPUT" and home.say("events")["items"] == before
    home.say("answer", home.run, *(f"{name}={typed}" for name, typed in zip((i["id"] for i in FORM), TYPED, strict=True) if typed), code=0)
    assert home.context() == ANSWERS  # it can still be answered


def test_what_was_typed_ahead_answers_no_later_question(home: Home) -> None:
    child = home.at_terminal()
    child.expect(PROMPT)
    child.send("Ann\nall\nof\nthis\nahead\n")
    for typed in TYPED[1:]:
        child.expect(PROMPT)
        time.sleep(0.1)
        child.sendline(typed)
    assert end(child) == 0 and home.context() == ANSWERS


@pytest.mark.parametrize("size", [(24, 20), (3, 40)], ids=str)
def test_a_narrow_terminal_shows_the_whole_question_and_no_line_begins_with_foreign_text(home: Home, size: tuple[int, int]) -> None:
    child = home.at_terminal(size)
    child.expect(re.compile(r"required\s*\):\s"))
    lines = (child.before + child.after).replace("\r\n", "\n").split("\n")
    assert all(line.startswith(("question:", "answer for", " " * 8)) for line in lines if line), lines
    assert "answer for yes" in " ".join(" ".join(lines).split())
    child.send("\x03")
    assert end(child) == 2


def test_a_choice_with_a_comma_in_it_can_be_typed(home: Home) -> None:
    child = home.at_terminal()
    for typed in ["Ann", "", "small", "wed, late, mon", "no", "1", "2026-01-31"]:
        child.expect(PROMPT)
        child.sendline(typed)
    assert end(child) == 0 and home.context()["days"] == ["wed, late", "mon"]


def test_bytes_that_are_no_text_are_asked_for_again(home: Home) -> None:
    child = home.at_terminal()
    child.expect(PROMPT)
    os.write(child.child_fd, b"A\xffnn\n")
    for typed in TYPED:
        child.expect(PROMPT)
        child.sendline(typed)
    assert end(child) == 0 and home.context() == ANSWERS


# ---- in scripts ----
def test_words_a_file_and_stdin_answer_alike_and_are_checked_together(home: Home, tmp_path: Path) -> None:
    given = tmp_path / "given.json"
    given.write_text(json.dumps({key: ANSWERS[key] for key in ("size", "days", "gift", "count")} | {"on": "2026-02-30"}))
    before = home.say("events")["items"]
    error = home.say("answer", home.run, "--answers", str(given), code=7)["error"]
    assert "name: an answer is required" in error["message"] and "on: a date as 2026-01-31" in error["message"]
    assert home.say("events")["items"] == before and home.status() == "AWAITING_INPUT"
    given.write_text(json.dumps({**ANSWERS, "name": "other", "extra": 1}))
    assert "extra: the form has no such item" in home.say("answer", home.run, "--answers", str(given), code=7)["error"]["message"]
    rest = {key: value for key, value in ANSWERS.items() if key != "name"}
    home.say("answer", home.run, "name=Ann", "--answers", "-", code=0, input=json.dumps(rest))
    assert home.context() == ANSWERS and home.status() == "COMPLETED"
