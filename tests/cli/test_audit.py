"""The audit commands over a real store: what they print, how they exit, and a log that somebody else can verify."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from toolgate_cli.cli import progress
from toolgate_cli.cli.frame import Frame
from toolgate_cli.cli.main import run
from toolgate_cli.cli.streams import ERR
from toolgate_cli.core.results import ToolResult
from toolgate_cli.host.heads import FileHeads

from ..runtime import kit
from ..runtime.kit import Home
from .conftest import Said

ANSWER = ToolResult("answered", ok=True, code=0, output='"a word of the bank"', size=20)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """Two runs, each with a call that was approved; its heads are kept where the commands look for them."""
    monkeypatch.setattr(kit, "_Heads", lambda home: FileHeads())
    made = Home(tmp_path, "sqlite")
    for _ in range(2):
        made.tools.plan["ask.send"] = [ANSWER]
        made.decide("approve", made.start("ask", text="a word of marie"))
    yield made
    made.close()


@pytest.fixture
def say(home: Home, capfd: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    def said(*words: str) -> Said:
        code = run(["-C", str(home.folder), *words])
        return Said(code, *capfd.readouterr())

    return said


def heads(home: Home) -> list[str]:
    return [f"{event.seq}:{event.hash}" for event in home.events()]


def of_json(said: Said) -> Any:
    assert said.out, said.err
    return json.loads(said.out)


# ---- verify ----
def test_verify_says_what_it_read_and_what_it_was_held_against(home: Home, say: Callable[..., Said]) -> None:
    known = heads(home)
    whole = of_json(say("audit", "verify", "--head", known[3], "--json"))
    assert whole == {
        "schema": "toolgate.audit/1", "ok": True, "events": len(known), "first_bad": None, "reason": None, "head": known[-1],
        "since": None, "heads": [known[3], known[-1]], "changed": [],
    }  # fmt: skip
    part = of_json(say("audit", "verify", "--since", known[5], "--json"))
    assert (part["ok"], part["events"], part["since"], part["heads"]) == (True, len(known) - 6, known[5], [known[5], known[-1]])
    last = of_json(say("audit", "verify", "--since", known[-1], "--head", known[-1], "--json"))
    assert (last["ok"], last["events"]) == (True, 0)
    assert part["events"] == len(exported(say, "--since", known[5])) - 2  # between its first and last line


def test_a_head_that_is_no_beginning_of_the_log_is_a_finding(home: Home, say: Callable[..., Said]) -> None:
    known = heads(home)
    for option in ("--head", "--since"):
        code, out, err = say("audit", "verify", option, "4:" + "ab" * 32, "--json")
        assert (code, json.loads(out)["first_bad"]) == (1, 4) and "event 4 does not hold" in err and "kept head" in err
        code, out, err = say("audit", "verify", option, f"{len(known) + 7}:" + "ab" * 32, "--json")
        assert (code, json.loads(out)["first_bad"]) == (1, len(known) + 1) and "ends at" in err


def test_from_a_head_on_a_change_behind_it_shows_and_one_before_it_does_not(home: Home, say: Callable[..., Said]) -> None:
    """What `--since` proves, and what it leaves to a verification of the whole log."""
    known = heads(home)
    home.close()
    import sqlite3

    with sqlite3.connect(home.folder / ".toolgate" / "toolgate.db") as store:
        store.execute("DROP TRIGGER events_are_final")
        store.execute("UPDATE events SET actor = 'mallory' WHERE seq = 6")
    store.close()
    assert say("audit", "verify", "--since", known[6]).code == 0
    for since in (known[2], known[5]):
        code, out, _ = say("audit", "verify", "--since", since, "--json")
        assert (code, json.loads(out)["first_bad"]) == (1, 6)
    assert of_json(say("audit", "verify", "--json"))["first_bad"] == 6


def test_a_log_whose_end_cannot_be_proved_says_so(
    home: Home, say: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert say("audit", "verify").err == ""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "elsewhere"))
    said = say("audit", "verify")
    assert said.code == 0 and said.err.startswith("note: no head was kept") and say("audit", "verify", "-q").err == ""


def test_words_that_contradict_each_other_are_usage(home: Home, say: Callable[..., Said]) -> None:
    known = heads(home)
    for words in (["--since", known[4], "--head", known[2]], ["x.jsonl", "--since", known[2]], ["--since", "4"], ["--since", "4:xyz"]):
        assert say("audit", "verify", *words).code == 2


# ---- export ----
def exported(say: Callable[..., Said], *words: str) -> list[str]:
    said = say("audit", "export", *words)
    assert said.code == 0 and said.err == "" and said.out.isascii()
    return said.out.splitlines()


def test_an_export_is_verified_without_its_store(home: Home, say: Callable[..., Said], tmp_path: Path) -> None:
    known, file = heads(home), tmp_path / "log.jsonl"
    file.write_text("\n".join(exported(say)) + "\n")
    found = of_json(say("audit", "verify", str(file), "--head", known[4], "--json"))
    assert (found["ok"], found["events"], found["head"], found["heads"]) == (True, len(known), known[-1], [known[4]])
    assert "no head was kept" in say("audit", "verify", str(file)).err
    code, out, _ = say("audit", "verify", str(file), "--head", "5:" + "ab" * 32, "--json")
    assert (code, json.loads(out)["first_bad"]) == (1, 5)


def test_somebody_else_can_verify_it_with_sha256_and_json_alone(home: Home, say: Callable[..., Said]) -> None:
    begin, *events, end = map(json.loads, exported(say))
    prev = begin["prev"]
    for event in events:
        if event["payload"] is not None:
            assert hashlib.sha256((event["salt"] + event["payload"]).encode()).hexdigest() == event["commitment"]
        bound = [value for name, value in event.items() if name not in ("payload", "salt", "hash")]
        assert event["prev"] == prev
        prev = hashlib.sha256(json.dumps(bound, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
        assert event["hash"] == prev
    assert end == {"head": f"{events[-1]['seq']}:{prev}", "events": len(events)}


CHANGES: dict[str, Callable[[list[str]], object]] = {
    "a word": lambda lines: lines.__setitem__(5, lines[5].replace('"ann"', '"bob"')),
    "a line that is gone": lambda lines: lines.pop(5),
    "two lines": lambda lines: lines.__setitem__(slice(5, 7), [lines[6], lines[5]]),
    "a line twice": lambda lines: lines.insert(5, lines[5]),
    "a blank": lambda lines: lines.__setitem__(5, lines[5].replace(":", ": ", 1)),
    "a key twice": lambda lines: lines.__setitem__(5, lines[5].replace('"seq":5', '"seq":4,"seq":5')),
    "noise": lambda lines: lines.__setitem__(5, "[" * 100_000),
    "no text": lambda lines: lines.__setitem__(5, "\udcff"),
    "a number": lambda lines: lines.__setitem__(5, lines[5].replace('"seq":5', '"seq":5.0')),
    "a list": lambda lines: lines.__setitem__(5, lines[5].replace('"actor":"ann"', '"actor":["ann"]')),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_export_is_found(home: Home, say: Callable[..., Said], tmp_path: Path, name: str) -> None:
    lines, file = exported(say), tmp_path / "log.jsonl"
    CHANGES[name](lines)
    file.write_bytes(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))
    code, out, err = say("audit", "verify", str(file), "--json")
    assert code == 1 and json.loads(out)["first_bad"] in (5, 6) and "does not hold" in err


@pytest.mark.parametrize("left", [-1, -2, 2, 1])
def test_an_export_that_is_cut_off_or_goes_on_is_found(home: Home, say: Callable[..., Said], tmp_path: Path, left: int) -> None:
    lines, file = exported(say), tmp_path / "log.jsonl"
    for part in ([*lines[:left]], [*lines, lines[left]], [*lines[:left], lines[-1]] if left != -1 else lines[:3]):
        file.write_text("\n".join(part) + "\n")
        assert say("audit", "verify", str(file)).code == 1, part


@pytest.mark.parametrize("content", ["", "\n", "{}\n", "x", '{"schema":"toolgate.log/2","database":"d","after":0,"prev":"d"}\n'])
def test_what_is_no_export_is_refused(home: Home, say: Callable[..., Said], tmp_path: Path, content: str) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text(content)
    assert say("audit", "verify", str(file)).code == 7 and say("audit", "verify", str(tmp_path / "none")).code == 7


HEADERS: dict[str, Callable[[str], str]] = {
    "another key": lambda line: line.replace("{", '{"zz":"rewritten",', 1),
    "a key twice": lambda line: line.replace("{", '{"schema":"toolgate.log/1",', 1),
    "another twice": lambda line: line.replace('"after":0', '"after":7,"after":0'),
    "a blank": lambda line: line.replace(":", ": ", 1),
    "a truth": lambda line: line.replace('"after":0', '"after":false'),
    "another order": lambda line: json.dumps(dict(sorted(json.loads(line).items())), separators=(",", ":")),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_beginning_that_is_not_as_it_was_written_is_refused(home: Home, say: Callable[..., Said], tmp_path: Path, name: str) -> None:
    lines, file = exported(say), tmp_path / "log.jsonl"
    file.write_text("\n".join([HEADERS[name](lines[0]), *lines[1:]]) + "\n")
    assert say("audit", "verify", str(file)).code == 7


@pytest.mark.parametrize("change", [('"events":', '"events":1,"events":'), ("{", '{"head":"0:x",'), (":", ": ")])
def test_an_end_that_is_not_as_it_was_written_is_found(
    home: Home, say: Callable[..., Said], tmp_path: Path, change: tuple[str, str]
) -> None:
    lines, file = exported(say), tmp_path / "log.jsonl"
    file.write_text("\n".join([*lines[:-1], lines[-1].replace(*change, 1)]) + "\n")
    assert say("audit", "verify", str(file)).code == 1


@pytest.mark.parametrize(("before", "code", "number"), [(0, 7, 1), (3, 1, 4)])
def test_an_endless_line_is_told_by_its_number_in_bounded_memory(
    home: Home, say: Callable[..., Said], tmp_path: Path, before: int, code: int, number: int
) -> None:
    file = tmp_path / "log.jsonl"
    file.write_text("".join(f"{line}\n" for line in exported(say)[:before]))
    script = 'ulimit -v 600000; { cat "$1"; head -c 800000000 /dev/zero; } | "$2" -m toolgate_cli -C "$3" audit verify -'
    words = ["sh", "-c", script, "sh", str(file), sys.executable, str(home.folder)]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    assert said.returncode == code and f"line {number} is longer than 64 MiB" in said.stderr


def test_an_export_from_an_event_on_says_where_it_begins(home: Home, say: Callable[..., Said], tmp_path: Path) -> None:
    known, file = heads(home), tmp_path / "log.jsonl"
    for since in ("5", known[4], known[4][:9]):
        assert [json.loads(line).get("seq") for line in exported(say, "--since", since)][1:-1] == list(range(6, len(known) + 1))
    file.write_text("\n".join(exported(say, "--since", known[4])) + "\n")
    found = of_json(say("audit", "verify", str(file), "--head", known[4], "--json"))
    assert (found["ok"], found["since"], found["heads"]) == (True, known[4], [known[4]])
    assert say("audit", "verify", str(file), "--head", "5:" + "ab" * 32).code == 1
    assert say("audit", "verify", str(file), "--head", known[2]).code == 7
    assert say("audit", "export", "--since", "999").code == 3 and say("audit", "export", "--since", "5:abcdef").code == 5


def test_an_export_into_a_file_is_private_whole_and_overwrites_nothing(home: Home, say: Callable[..., Said], tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    said = say("audit", "export", "--to", str(file), "--json")
    assert json.loads(said.out) == {"schema": "toolgate.exported/1", "file": str(file), "events": len(heads(home))}
    assert file.stat().st_mode & 0o777 == 0o600 and file.read_text().splitlines() == exported(say)
    before = file.read_bytes()
    assert say("audit", "export", "--to", str(file)).code == 2 and file.read_bytes() == before
    assert say("audit", "export", "--to", str(tmp_path / "none" / "x")).code == 10
    assert say("audit", "export", "--since", "999", "--to", str(tmp_path / "y")).code == 3 and not (tmp_path / "y").exists()


# ---- redact ----
def test_a_redaction_is_told_by_number_and_shown_wherever_it_is_looked_at(home: Home, say: Callable[..., Said]) -> None:
    started = home.events(type="TOOL_INVOCATION_STARTED")[0]
    call, of = started.call_id or "", started.run_id or ""
    assert say("audit", "redact", call).code == 2 and say("audit", "redact", call, "-m", " ").code == 2
    said = say("audit", "redact", call, "-m", "she asked", "--json")
    told = json.loads(said.out)
    assert said.code == 0 and told["files_clean"] and told["still"] == ["context inputs.text"]
    assert (told["call_id"], told["run_id"], told["revisions"], told["steps"], told["turns"]) == (call, of, 1, 1, 0)
    again = say("audit", "redact", call, "-m", "she asked", "--json")
    assert again.code == 0 and json.loads(again.out)["revisions"] == 0 and "nothing was left" in again.err
    listed = of_json(say("events", of, "--json"))["items"]
    assert [item["seq"] for item in listed if item.get("redacted")] == told["events"]
    assert all(item["payload"] is None for item in listed if item.get("redacted"))
    shown = of_json(say("runs", "show", of, "--json"))["run"]
    assert shown["context"]["tool.ask.send"] == {"value": None, "provenance": "tool", "redacted": True} and shown["outputs"]["s"] is None
    assert [event["payload"]["reason"] for event in shown["redactions"]] == ["she asked"]
    assert f"redacted.{call}" in say("runs", "show", of).out and "\tredacted\n" in say("events", of, "-o", "tsv").out
    assert "redacted" in say("events", of, "-o", "table").out
    assert say("audit", "verify").code == 0 and of_json(say("audit", "verify", "--since", heads(home)[0], "--json"))["ok"]
    for words in (["pending", "show", call], ["approve", call], ["runs", "list"], ["pending", "list"]):
        assert say(*words).code in (0, 5)
    assert "a word of the bank" not in "\n".join(exported(say)[:12])


def test_a_person_at_a_terminal_is_asked_before_anything_is_erased(
    home: Home, say: Callable[..., Said], monkeypatch: pytest.MonkeyPatch
) -> None:
    call = home.events(type="TOOL_INVOCATION_STARTED")[0].call_id or ""
    before, typed = home.dump(), ["no", None]
    monkeypatch.setattr("toolgate_cli.cli.ask.answerable", lambda: True)
    monkeypatch.setattr(type(ERR), "terminal", lambda self: self is ERR)
    monkeypatch.setattr("toolgate_cli.cli.ask.read_line", lambda prompt: typed.pop(0))
    for _ in range(2):
        said = say("audit", "redact", call, "-m", "she asked")
        assert said.code == 2 and "cannot be had back" in said.err and home.dump() == before
        assert f"call: {call}" in said.err and "title: " in said.err and "arguments:\n  text: " in said.err
    assert say("audit", "redact", call, "-m", "she asked", "--no-input").code == 2 and home.dump() == before
    typed.append("yes")
    assert say("audit", "redact", call, "-m", "she asked").code == 0 and home.dump() != before


# ---- progress ----
def test_progress_is_shown_at_a_terminal_alone(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    for terminal, quiet in ((False, False), (True, True)):
        monkeypatch.setattr(type(ERR), "terminal", lambda self, terminal=terminal: terminal)
        with progress.shown(Frame(quiet=quiet)) as tell:
            assert tell is None
    monkeypatch.setattr(type(ERR), "terminal", lambda self: True)
    with progress.shown(Frame()) as tell:
        assert tell is not None and capfd.readouterr() == ("", "")
    assert capfd.readouterr() == ("", "")  # what takes no time shows nothing
    with progress.shown(Frame()) as tell:
        assert tell is not None
        tell(10_000, 30_000)
        tell(20_000, None)
    assert capfd.readouterr() == ("", "\r\x1b[K10000 of 30000 events\r\x1b[K20000 events\r\x1b[K")
