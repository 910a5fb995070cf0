"""Completion: what could stand at the cursor, from the store and the files; no trace, no message, and plain words alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tomli_w

from .hostile import TEXTS

ROOT = Path(__file__).parents[2]
PLAIN = re.compile(r"[A-Za-z0-9._@/+-]+\Z")
MANY = """
import json, os, sys
from toolgate_cli.cli.completing import complete
for words in json.load(sys.stdin):
    assert complete(words) == 0
    os.write(1, b"--\\n")
"""
TOOL = {"safety": "write", "input_schema": "any-object", "command": {"argv": ["true"]}}
FLOW = {
    "schema": 1,
    "id": "pay",
    "inputs": {"to": {"default": ""}, "amount": {"default": 1}},
    "steps": [{"id": "s", "type": "tool", "tool": "ledger.pay"}],
}


def environment(**more: str) -> dict[str, str]:
    return {"PATH": f"{os.path.dirname(sys.executable)}:/usr/bin:/bin", "HOME": os.environ["HOME"], "PYTHONPATH": str(ROOT), **more}


def toolgate(*words: str, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "toolgate_cli", *words], capture_output=True, text=True, cwd=cwd, env=environment(**more), timeout=60
    )


def completed(cwd: Path, *cases: list[str], **more: str) -> list[list[str]]:
    """What is offered for each of these command lines, by one process; nothing is said on stderr."""
    done = subprocess.run(
        [sys.executable, "-c", MANY], input=json.dumps(cases), capture_output=True, text=True, cwd=cwd, env=environment(**more), timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [part.split() for part in done.stdout.split("--\n")[:-1]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home where one call waits, a form, and a gate."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "toolgate.toml").write_text(tomli_w.dumps({"schema": 1, "tools": {"ledger.pay": TOOL, "git.tag": TOOL}}))
    (folder / "pay.toml").write_text(tomli_w.dumps(FLOW))
    gate = {"schema": 1, "id": "gated", "steps": [{"id": "look", "type": "assign", "set": {"k": "v"}, "gate": "approval"}]}
    (folder / "gated.toml").write_text(tomli_w.dumps(gate))
    for name in ("pay", "gated"):
        assert toolgate("start", name, cwd=folder).returncode == 0
    return folder


def test_every_kind_of_word_is_offered_where_it_belongs(home):
    [row] = [row for row in json.loads(toolgate("pending", "list", "--json", cwd=home).stdout)["items"] if row["kind"] == "tool"]
    runs = {run["id"] for run in json.loads(toolgate("runs", "list", "--json", cwd=home).stdout)["items"]}
    offered = {
        ("",): lambda found: {"approve", "pending", "start"} <= set(found) and not any(word.startswith("-") for word in found),
        ("app",): lambda found: found == ["approve"],
        ("pending", ""): lambda found: found == ["list", "review", "show"],
        ("approve", ""): lambda found: set(found) == runs | {row["ref"]},
        ("approve", "c"): lambda found: found == [row["ref"]],
        ("approve", row["run_id"], ""): lambda found: row["ref"] in found,
        ("-C", str(home), "approve", "c"): lambda found: found == [row["ref"]],
        (f"--home={home}", "pending", "show", "c"): lambda found: found == [row["ref"]],
        ("runs", "show", "r"): lambda found: set(found) == runs,
        ("review", row["run_id"], ""): lambda found: found == ["look"],
        ("approve", row["run_id"], "--step", ""): lambda found: found == ["look"],
        ("start", ""): lambda found: found == ["gated", "pay"],
        ("start", "pay", "-i", ""): lambda found: found == ["amount=", "to="],
        ("start", "-i", "to=x", "pay", "-i", "a"): lambda found: found == ["amount="],
        ("start", "none", "-i", ""): lambda found: found == [],
        ("help", "e"): lambda found: found == ["events", "exit-codes"],
        ("retry", ""): lambda found: found == [],  # what waits for an approval cannot be retried
        ("continue-tool", ""): lambda found: found == [],
        ("continue", ""): lambda found: found == [],
        ("reject", "c"): lambda found: found == [row["ref"]],
        ("cancel", ""): lambda found: set(found) == runs,
        ("tools", "show", ""): lambda found: found == ["git.tag", "ledger.pay"],
        ("wait", row["run_id"], "--for", ""): lambda found: found == ["approval", "decided", "done"],
        ("-o", "j"): lambda found: found == ["json", "jsonl"],
        ("events", "-o", "t"): lambda found: found == ["table", "tsv"],
        ("runs", "list", "--status", "FA"): lambda found: found == ["FAILED"],
        ("events", "--type", "RUN_ST"): lambda found: found == ["RUN_STARTED"],
        ("approve", "--may"): lambda found: found == ["--may-run-twice"],
        ("approve", "-m", ""): lambda found: found == [],
        ("start", "pay", "--inputs", ""): lambda found: found == [],
        ("nonsense", "x"): lambda found: found == [],
    }
    answers = completed(home, *map(list, offered))
    assert len(answers) == len(offered)
    for (words, right), found in zip(offered.items(), answers, strict=True):
        assert right(found), (words, found)


def test_a_verb_is_offered_what_it_would_move_and_nothing_else(tmp_path):
    failing = TOOL | {"command": {"argv": ["false"]}}
    policy = {"default": "require_approval", "rules": [{"name": "f", "capability": "t.fail", "decision": "allow"}]}
    denied = {"name": "d", "capability": "t.no", "decision": "deny"}
    tools = {"t.fail": failing, "t.no": TOOL, "t.ask": TOOL}
    operator = {"schema": 1, "tools": tools, "policy": policy | {"rules": [*policy["rules"], denied]}}
    (tmp_path / "toolgate.toml").write_text(tomli_w.dumps(operator))
    end = {"schema": 1, "id": "ends", "steps": [{"id": "s", "type": "fail", "reason": "x"}]}
    for id, tool in (("failing", "t.fail"), ("denied", "t.no"), ("asks", "t.ask")):
        (tmp_path / f"{id}.toml").write_text(tomli_w.dumps(FLOW | {"id": id, "steps": [{"id": "s", "type": "tool", "tool": tool}]}))
    (tmp_path / "ends.toml").write_text(tomli_w.dumps(end))
    runs = {}
    for id in ("failing", "denied", "asks", "ends"):
        started = toolgate("start", id, "--json", cwd=tmp_path)
        assert started.stdout, started.stderr
        runs[id] = json.loads(started.stdout)["run"]["id"]
    verbs = {
        "approve": {"asks"},
        "reject": {"failing", "denied", "asks"},
        "retry": {"failing", "ends"},
        "continue-tool": {"failing", "denied"},
    }
    verbs |= {"cancel": {"failing", "denied", "asks"}, "continue": set(), "answer": set(), "wait": set(runs)}
    found = completed(tmp_path, *([verb, "r"] for verb in verbs))
    assert [set(words) for words in found] == [{runs[id] for id in ids} for ids in verbs.values()]
    calls = [len(words) for words in completed(tmp_path, *([verb, "c"] for verb in ("approve", "reject", "retry", "continue-tool")))]
    assert calls == [1, 3, 1, 2]


def test_it_costs_no_library_and_leaves_no_trace(home, tmp_path):
    before = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in home.rglob("*") if path.is_file()}
    code = (
        "import sys\nfrom toolgate_cli.cli.main import run\nrun(['--complete', *sys.argv[1:]])\nassert set(sys.modules) & set({}) == set()"
    )
    for words in (["approve", ""], ["start", ""], ["runs", "list", "--"]):
        heavy = "{'rich', 'pydantic', 'jsonschema', 'sqlite_utils', 'click', 'typer.main', 'inspect'}"
        done = subprocess.run(
            [sys.executable, "-c", code.format(heavy), *words], capture_output=True, text=True, cwd=home, env=environment()
        )
        assert done.returncode == 0 and done.stdout, done.stderr
    assert {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in home.rglob("*") if path.is_file()} == before
    assert completed(tmp_path, ["approve", ""], ["start", ""], ["runs", "show", ""]) == [[], [], []] and list(tmp_path.iterdir()) == []


def test_it_never_fails_loudly(home, tmp_path):
    lines = (["approve", ""], ["start", ""], ["tools", "show", ""], ["runs", "show", "r"], ["review", "x", ""])
    broken = tmp_path / "broken"
    shutil.copytree(home, broken)
    (broken / "toolgate.toml").write_bytes(b"\xff = [")
    (broken / ".toolgate" / "toolgate.db").write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    for where in (broken, tmp_path):
        assert all(found == [] for found in completed(where, *lines))
    assert completed(home, ["approve", ""], TOOLGATE_HOME="/nonexistent/\udcff", TOOLGATE_OUTPUT="xml") == [[]]
    words = [text.replace("\0", "") for text in TEXTS.values()]
    around = (["{}"], ["approve", "{}"], ["{}", ""], ["-C", "{}", "approve", ""], ["approve", "--step", "{}", ""], ["--{}", ""])
    cases = [[part.replace("{}", word) for part in case] for word in words for case in around]
    for case, found in zip(cases, completed(home, *cases), strict=True):
        assert all(PLAIN.match(offer) for offer in found), case
    assert toolgate("--complete", "approve", TEXTS["link"], cwd=home).stderr == ""


def test_no_hostile_name_comes_out_of_it(tmp_path):
    """Neither of a file that nobody checked, nor of anything else."""
    texts = [text.replace("\0", "") for text in TEXTS.values()]
    tools = dict.fromkeys(texts, TOOL) | {"ledger.pay": TOOL, "$(reboot)": TOOL, "a b": TOOL, "-rf": TOOL, "a;b": TOOL, "`x`": TOOL}
    (tmp_path / "toolgate.toml").write_text(
        tomli_w.dumps({"schema": 1, "tools": tools, "mcp": {key: {} for key in [*texts, "git", "$(reboot)"]}})
    )
    for number, text in enumerate([*texts, "fine", "a\nb", "$(reboot)", "x`y`", "--yes", "*"]):
        (tmp_path / f"f{number}.toml").write_text(tomli_w.dumps(FLOW | {"id": text}))
    wanted = [["fine"], ["ledger.pay"], ["git"]]
    assert completed(tmp_path, ["start", ""], ["tools", "show", ""], ["tools", "pin", ""]) == wanted


def test_bash_completes_with_it(home):
    script = toolgate("completion", "bash", cwd=home).stdout
    assert script.startswith("# toolgate completion for bash")
    program = home.parent / "bin"
    program.mkdir(exist_ok=True)
    (program / "toolgate").write_text(f'#!/bin/sh\nexec {sys.executable} -m toolgate_cli "$@"\n')
    (program / "toolgate").chmod(0o755)
    typed = {
        "toolgate app": "approve",
        "toolgate start pa": "pay",
        "toolgate -C . tools show led": "ledger.pay",
        "toolgate start '$(x)": "",
    }
    for words, wanted in typed.items():
        parts = words.split(" ")
        array = " ".join(map(shlex.quote, parts))
        line = f"COMP_WORDS=({array}); COMP_CWORD={len(parts) - 1}; _toolgate; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run(
            ["bash", "-c", script + line],
            capture_output=True,
            text=True,
            cwd=home,
            env=environment() | {"PATH": f"{program}:/usr/bin:/bin"},
            timeout=60,
        )
        assert (done.stdout.strip(), done.stderr) == (wanted, ""), words
    for shell in ("zsh", "fish"):
        assert "toolgate --complete" in toolgate("completion", shell, cwd=home).stdout
    assert toolgate("completion", "powershell", cwd=home).returncode == 2
