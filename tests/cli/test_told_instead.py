"""Slips that newcomers make are answered with what to write instead."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).resolve().parents[2])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("home")
    assert toolgate(made, "init", str(made)).returncode == 0
    assert toolgate(made, "start", "hello", "--json").returncode == 0
    return made


def toolgate(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": ROOT, "TOOLGATE_HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
    command = [sys.executable, "-m", "toolgate_cli", *words]
    return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(("words", "hint"), [
    (["start", "pay", "-i", "name", "bob"], "-i name=bob"),
    (["start", "pay", "--input", "name", "bob"], "-i name=bob"),
    (["start", "pay", "--cents=5"], "-i cents=5"),
    (["start", "pay", "to=bob"], "-i to=bob"),
    (["start", "pay", "bob"], "toolgate start --help"),
    (["start", "pay", "--inputs", '{"to": "bob"}'], "JSON text goes through stdin: -"),
    (["approve", "--arguments", '{"to": "bob"}'], "JSON text goes through stdin: -"),
    (["start", "pay", "--inputs", "none.json"], "name a file that can be read"),
    (["tools", "show", "note.add"], "did you mean notes.add"),
    (["tools", "show", "xyz"], "toolgate tools list"),
    (["workflow", "check", "helo"], "did you mean hello?"),
])  # fmt: skip
def test_a_slip_is_told_what_was_meant(home: Path, words: list[str], hint: str) -> None:
    assert toolgate(home, *words).stderr.splitlines()[-1] == f"hint: {hint}"


def test_a_status_is_known_in_any_case(home: Path) -> None:
    [status] = [line.split("\t")[1] for line in toolgate(home, "runs", "list", "-o", "tsv").stdout.splitlines()[1:]]
    found = [toolgate(home, "runs", "list", "--status", word, "-o", "tsv").stdout for word in (status, status.lower(), status.title())]
    assert len(set(found)) == 1 and status in found[0]
    assert toolgate(home, "runs", "list", "--status", "complete").returncode == 2


def test_a_type_of_event_is_known_in_any_case(home: Path) -> None:
    told = [toolgate(home, "events", "--type", word, "-o", "tsv").stdout for word in ("RUN_STARTED", "run_started", "Run_Started")]
    assert len(set(told)) == 1 and "RUN_STARTED" in told[0]
    assert toolgate(home, "events", "--type", "run_begun").returncode == 2


def test_an_empty_recovery_is_no_table_of_nothing(tmp_path: Path) -> None:
    assert toolgate(tmp_path, "init", str(tmp_path)).returncode == 0
    shown = {form: toolgate(tmp_path, "recover", "-o", form).stdout for form in ("table", "tsv", "jsonl")}
    assert shown["table"] == shown["jsonl"] == "" and shown["tsv"].startswith("run_id\t")


def test_what_is_empty_says_so_beside_the_answer(tmp_path: Path) -> None:
    home = tmp_path
    assert toolgate(home, "init", str(home)).returncode == 0
    for words, said in ((["pending", "list"], "nothing waits"), (["recover"], "nothing to recover")):
        ran = toolgate(home, *words)
        assert (ran.returncode, ran.stderr) == (0, said + "\n")
        assert toolgate(home, *words, "-q").stderr == ""


def test_a_start_tells_what_is_doubtful_in_its_workflow(tmp_path: Path) -> None:
    assert toolgate(tmp_path, "init", str(tmp_path)).returncode == 0
    keys = "".join(f'[[steps]]\nid = "a{number}"\ntype = "assign"\nset = {{ x = "${{k{number}}}" }}\n' for number in range(7))
    (tmp_path / "odd.toml").write_text(f'schema = 1\nid = "odd"\n{keys}')
    notes = [line for line in toolgate(tmp_path, "start", "odd").stderr.splitlines() if line.startswith("note: ")]
    assert notes == [
        *(f"note: odd.toml:{4 * number + 6}: steps[{number}].set.x: nothing writes k{number}" for number in range(5)),
        "note: 2 more: toolgate workflow check",
    ]


def test_what_a_store_does_not_have_is_told_with_the_store(home: Path) -> None:
    [id] = [line.split("\t")[0] for line in toolgate(home, "runs", "list", "-o", "tsv").stdout.splitlines()[1:]]
    other = str(home / "other.db")
    assert toolgate(home, "--db", other, "start", "hello").returncode == 0
    for words in (["runs", "show", id], ["approve", id]):
        assert toolgate(home, "--db", other, *words).stderr.splitlines()[0] == f"error: no run {id} (the store is {other})"
    missing = ["runs", "show", "r2345672345672"]
    assert toolgate(home, *missing).stderr.splitlines()[0].endswith(f"(the store is {home}/.toolgate/toolgate.db)")
    assert "the store is" not in toolgate(home, "start", "nothing").stderr
