"""What the README advises when something is wrong: each trouble is made, and the advice helps."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from typing import Any

import pexpect
import pytest

from toolgate_cli.cli import exits

from . import blocks
from .conftest import Shell, environment

STORE = ".toolgate/toolgate.db"


def section() -> str:
    return blocks.text().split("## When something is wrong\n")[1].split("\n## ")[0]


def answer(shell: Shell, home: Path, words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shell(f"toolgate {words} --json -q", home).stdout)
    return found


def refused(shell: Shell, home: Path, words: str) -> tuple[int, dict[str, Any]]:
    """The exit code of a verb that is refused, and its error."""
    done = shell(f"toolgate {words} --json -q", home)
    assert done.stdout == ""
    error: dict[str, Any] = json.loads(done.stderr)["error"]
    return done.returncode, error


def test_every_kind_of_conflict_has_its_advice() -> None:
    conflicts = {kind for kind, code in exits.OF_KIND.items() if code == 5}
    assert conflicts <= set(re.findall(r"`(\w+)`", section()))


def test_a_ref_of_something_else_is_refused_and_the_new_one_is_shown(example: Path, shell: Shell) -> None:
    [row] = answer(shell, example, "start release")["pending"]
    code, error = refused(shell, example, f"approve {row['id']}@000000000000")
    assert (code, error["kind"]) == (5, "ref_mismatch")
    assert f"ref\t{row['ref']}\n" in shell("toolgate pending show -o tsv", example).stdout


def test_what_was_decided_is_shown_with_its_run(example: Path, shell: Shell) -> None:
    [row] = answer(shell, example, "start release")["pending"]
    answer(shell, example, "reject")
    code, error = refused(shell, example, f"approve {row['id']}")
    assert (code, error["kind"], error["hint"]) == (5, "claim_lost", f"toolgate runs show {row['run_id']}")


# ---- a process that is at work, and then is not ----
@pytest.fixture
def transferring(example: Path, shell: Shell) -> tuple[str, subprocess.Popen[bytes]]:
    """A run whose call is running in another process, for a minute."""
    operator = example / "toolgate.toml"
    operator.write_text(operator.read_text().replace('timeout = "3s"', 'timeout = "1m"'))
    run = answer(shell, example, "start transfer -i order=A-18 -i cents=30000")["run"]["id"]
    words = ["toolgate", "approve", "-q"]
    process = subprocess.Popen(words, cwd=example, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 30
    while not (example / "ledger.db").exists() and time.monotonic() < end:
        time.sleep(0.02)
    return run, process


def test_a_run_of_another_process_is_waited_for_and_one_of_a_dead_one_is_recovered(
    transferring: tuple[str, subprocess.Popen[bytes]], example: Path, shell: Shell
) -> None:
    run, process = transferring
    code, error = refused(shell, example, f"continue {run}")
    assert (code, error["kind"], error["hint"]) == (5, "run_owned", f"toolgate wait {run} --for done")
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    recovered = shell("toolgate recover --json -q", example)
    [row] = json.loads(recovered.stdout)["items"][0]["pending"]
    assert (recovered.returncode, row["origin"]) == (9, "OUTCOME_UNKNOWN")
    settled = shell(f"./ledger.py outcome {row['id']} | toolgate continue-tool --outcome-file - --json -q", example)
    assert json.loads(settled.stdout)["run"]["status"] == "COMPLETED"


# ---- the store ----
def test_a_store_of_a_newer_toolgate_is_refused_with_exit_10(example: Path, shell: Shell) -> None:
    answer(shell, example, "start release")
    with sqlite3.connect(example / STORE) as store:
        store.execute("PRAGMA user_version = 99")
    code, error = refused(shell, example, "approve")
    assert (code, error["kind"]) == (10, "storage") and "newer" in error["hint"]


def test_a_store_that_may_not_be_written_is_refused_with_exit_10(example: Path, shell: Shell) -> None:
    (example / "taken").write_text("")
    code, error = refused(shell, example, "start release --db taken/toolgate.db")
    assert (code, error["kind"]) == (10, "storage")


# ---- at a terminal ----
@pytest.mark.parametrize(("words", "code"), [("retract -i name=v0.1.0", 6), ("refund -i order=A-18 -i cents=60000", 5)])
def test_nobody_is_asked_for_a_yes_that_would_count_for_nothing(example: Path, shell: Shell, words: str, code: int) -> None:
    [row] = answer(shell, example, f"start {words}")["pending"]
    time.sleep(2.2 if code == 5 else 0)
    typed = pexpect.spawn("toolgate", ["approve", row["ref"]], cwd=example, env={**environment(), "TERM": "xterm"}, encoding="utf-8")
    typed.expect(pexpect.EOF, timeout=30)
    typed.close()
    assert typed.exitstatus == code and "type yes" not in typed.before and "error: " in typed.before
