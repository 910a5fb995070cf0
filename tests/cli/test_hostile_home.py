"""A real home whose files, model, inputs, reasons and answers are hostile: the real gate stores it, and no command shows it as it is."""

from __future__ import annotations

import itertools
import json
import os
import random
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from contracts.raw_peers import Peer, saying
from proofs import served

from toolgate_cli.cli import streams
from toolgate_cli.cli.main import run
from toolgate_cli.cli.safe import line, show_json
from toolgate_cli.host import lasting

from .hostile import TEXTS, faults
from .test_completing import environment

ROOT = Path(__file__).parents[2]
SEVERAL = 5  # texts in the short version


def called(home: Path, provider: str, text: str) -> dict[str, Any]:
    """A tool that says the text, whichever way it is called."""
    plain = text.replace("${", "$${")  # a reference is filled in; this is no reference
    if provider == "http":
        peer = Peer(saying(text.encode(), "400 " + text.encode("ascii", "ignore").decode().replace("\r", "").replace("\n", "")))
        url = f"http://127.0.0.1:{peer.port}/a${{args.list#/0}}?q=${{args.list}}"
        return {"method": "POST", "url": url, "body": {"k": [plain, "${args.list}"]}, "allow_hosts": ["127.0.0.1"]}
    if provider == "python":
        (home / "loud.py").write_text(f"def say(**_):\n    print({text!r})\n    raise ValueError({text!r})\n")
        return {"function": "loud:say", "env": {"K": plain}}
    return {"argv": ["cat", "--", plain]}


def served_by(home: Path, text: str) -> dict[str, Any]:
    """The same of a server that says it; its tools are not pinned yet."""
    definitions: list[served.Definition] = [
        {"name": name, "title": text, "description": text, "inputSchema": {"type": "object", "description": text}}
        for name in ("pay", "drop")
    ]
    (home / "loud.py").write_text(
        served.program(f"def pay(**_):\n    print({text!r})\n    raise ValueError({text!r})\n", *definitions), "utf-8"
    )
    return {"command": [sys.executable, "-I", "-S", "loud.py"], "env": {"K": text.replace("${", "$${")}}


def write(home: Path, text: str, provider: str = "command") -> None:
    """Every place of the files that may hold any text holds this one."""
    plain = text.replace("${", "$${")  # a reference is filled in; this is no reference
    tool: dict[str, Any] = {"title": plain, "safety": "write", "effect": "unsafe"}
    servers = {"ledger": served_by(home, text)} if provider == "mcp" else {}
    if provider != "mcp":
        tool |= {"description": text, "input_schema": "any-object", provider: called(home, provider, text)}
    rule = {"name": "asked", "capability": "ledger.pay", "decision": "require_approval", "reason": text}
    denied = {"name": "never", "capability": "ledger.drop", "decision": "deny", "reason": text}
    form = [{"id": "to", "type": "SINGLE_CHOICE", "label": text, "options": [text.strip() or "a", "b"], "required": True}]
    turns: list[dict[str, Any]] = [
        {"type": "say", "message": text},
        {"type": "set_context", "values": {"k": text, "deep": [{text or "k": [text]}]}},
        *(
            {"type": "tool_invocation", "capability": name, "arguments": {text: text, "list": [text]}, "rationale": text}
            for name in ("ledger.pay", text, "ledger.drop")
        ),
    ]
    files: dict[str, dict[str, Any]] = {
        "toolgate.toml": {
            "schema": 1,
            "tools": {"ledger.pay": tool, "ledger.drop": tool},
            "mcp": servers,
            "policy": {"default": "require_approval", "rules": [rule, denied]},
            "models": {"default": {"adapter": "scripted", "script": "script.toml"}},
            "agents": {"clerk": {"model": "default", "prompt": text, "tools": ["ledger.*"], "max_turns": 1}},
        },
        "script.toml": {"schema": 1, "turns": [{"workflow": "asks", "commands": turns}]},
        "asks.toml": {
            "schema": 1,
            "id": "asks",
            "title": text,
            "inputs": {"note": {"type": "string"}},
            "steps": [{"id": "s", "title": plain, "type": "agent", "agent": "clerk", "reads": ["*"], "writes": ["*"]}],
        },
        "form.toml": {
            "schema": 1,
            "id": "form",
            "title": text,
            "forms": {"f": form},
            "steps": [
                {"id": "ask", "type": "input", "form": "f"},
                {"id": "keep", "type": "assign", "set": {"kept": plain}, "gate": "review"},
                {"id": "stop", "type": "fail", "reason": plain},
            ],
        },
        "broken.toml": {"schema": 1, "id": "broken", text: 1, "steps": [{"id": text, "type": text, text: text}]},
    }
    for name, content in files.items():
        (home / name).write_text(tomli_w.dumps(content))


class Clerk:
    """Runs command lines in this process, and looks at everything that they write."""

    def __init__(self, home: Path, capfd: pytest.CaptureFixture[str], text: str) -> None:
        self.home, self.capfd, self.text, self.screens = home, capfd, text, 0
        self.foreign = line(text) + "\n" + show_json(text)

    def say(self, *words: str) -> str:
        code = run(["-C", str(self.home), *words])
        out, err = self.capfd.readouterr()
        as_json = "--json" in words
        assert faults(out, "" if as_json else self.foreign, tabs=True) == [], (words, out)
        assert faults(err, self.foreign) == [] and "internal" not in err and code in (0, 1, 2, 3, 5, 6, 7, 9), (words, code, err)
        self.screens += 1
        return out

    def ids(self, group: str) -> list[str]:
        return [item["id"] for item in json.loads(self.say(group, "list", "--json"))["items"]]


def act(clerk: Clerk) -> None:
    """Starts, answers, decides and refuses, with the text wherever a person may say something."""
    text = clerk.text
    clerk.say("start", "asks", "-i", f"note={text}")
    for words in (["form"], ["broken"], [text], ["asks", "-i", text], ["asks", "-i", f"{text}=1"]):
        clerk.say("start", *words)
    items = json.loads(clerk.say("pending", "list", "--json"))["items"]
    assert {item["origin"] for item in items} >= {"APPROVAL_REQUIRED", "EXECUTION_FAILED", "POLICY_DENIED", "INPUT"}
    for item in items:
        if item["kind"] == "input":
            clerk.say("answer", item["run_id"], f"to={text}wrong")
            clerk.say("answer", item["run_id"], f"{text}=1")
            clerk.say("answer", item["run_id"], f"to={text}")
            clerk.say("review", item["run_id"], "-m", text)
        elif item["origin"] == "APPROVAL_REQUIRED":
            asked = item["arguments"]
            assert (
                asked == {clerk.text: clerk.text, "list": [clerk.text]}
                and item["rationale"] == item["title"] == item["reason"] == clerk.text
            )
            look(clerk, item)
            clerk.say("approve", item["ref"], "-m", text)
        else:
            look(clerk, item)
            clerk.say("approve", item["ref"], "-m", text)
            clerk.say("reject", item["ref"], "-m", text)


def look(clerk: Clerk, item: dict[str, Any]) -> None:
    for words in (["pending", "list"], ["pending", "show", item["ref"]], ["runs", "show", item["run_id"]]):
        for form in ("table", "tsv", "json", "jsonl"):
            clerk.say(*words, "-o", form)


def look_around(clerk: Clerk) -> None:
    everywhere = [["runs", "list"], ["events"], ["tools", "list"], ["tools", "show", "ledger.pay"], ["workflow", "check"]]
    everywhere += [["audit", "verify"], ["recover"]]
    everywhere += [["runs", "show", run_id] for run_id in clerk.ids("runs")]
    for words, form in itertools.product(everywhere, ("table", "tsv", "json")):
        clerk.say(*words, "-o", form)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("width", "provider"), [(40, "command"), (80, "command"), (80, "http"), (80, "mcp"), (80, "python")])
def test_nothing_of_a_hostile_home_gets_through(tmp_path, capfd, monkeypatch, long, width, provider):
    monkeypatch.setattr(streams.Stream, "terminal", lambda self: True)
    monkeypatch.setattr("toolgate_cli.cli.ask.answerable", lambda: False)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    seed = random.randrange(2**32)
    names = list(TEXTS) if long else random.Random(seed).sample(list(TEXTS), SEVERAL if provider == "command" else 2)
    screens = 0
    for name in names:
        home = tmp_path / f"home{len(list(tmp_path.iterdir()))}"
        home.mkdir()
        text = TEXTS[name].replace("\0", "")  # a file with a NUL is refused
        write(home, text, provider)
        clerk = Clerk(home, capfd, text)
        for form in ((), ("-o", "table", "--yes")) if provider == "mcp" else ():
            clerk.say("tools", "pin", "ledger", *form)
        act(clerk)
        look_around(clerk)
        screens += clerk.screens
        lasting.end_all()
        with closing(sqlite3.connect(home / ".toolgate" / "toolgate.db")) as stored:
            told = "\n".join(payload for (payload,) in stored.execute("SELECT payload FROM events") if payload)
        assert json.dumps(text, ensure_ascii=False) in told, name  # it did get there
    sys.stderr.write(f"{screens} screens of {len(names)} homes at {width} columns (seed {seed})\n")


@pytest.mark.parametrize("word", [b"\xff\x1b[2K\xfe", b"\xc0\x9b31m\xe0\x80\x9b", b"\xed\xa0\x80\xe2\x80\xae"], ids=repr)
def test_bytes_that_are_no_text_are_told_by_their_escapes(tmp_path, word):
    """As words, and as the names of files and folders that are there."""
    write(tmp_path, "x")
    folder = os.path.join(os.fsencode(tmp_path), word + b".d")
    os.mkdir(folder)
    with open(os.path.join(folder, b"toolgate.toml"), "w") as file:
        file.write("=")
    lines = [[b"start", b"asks", b"--inputs", word], [word], [b"-C", folder, b"workflow", b"check"], [b"-C", folder, b"start", b"x"]]
    lines += [[b"approve", b"-m", word], [b"--db", folder, b"runs", b"list"]]
    for words in lines:
        program = [sys.executable, "-m", "toolgate_cli"]
        done = subprocess.run([*program, *words], capture_output=True, cwd=tmp_path, env=environment(), timeout=60)
        assert done.returncode in (2, 3, 7, 10), (words, done)
        assert faults(done.stderr.decode(), tabs=True) == [] and faults(done.stdout.decode(), tabs=True) == [], (words, done)
        assert b"Traceback" not in done.stderr
