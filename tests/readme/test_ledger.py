"""The ledger of the example: it books once for a key, declines in words, and a doubt about a call is settled by its books."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from .conftest import Shell


def refund(home: Path, key: str, **wanted: object) -> subprocess.Popen[str]:
    """A start of `ledger.py refund` as the gate makes it."""
    started = subprocess.Popen(
        [sys.executable, "ledger.py", "refund"], cwd=home, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={"PATH": "/usr/bin:/bin", "TOOLGATE_IDEMPOTENCY_KEY": key, "TOOLGATE_CALL": "caaaaaaaaaaaaa"},
    )  # fmt: skip
    assert started.stdin is not None
    started.stdin.write(json.dumps(wanted))
    started.stdin.close()
    started.stdin = None
    return started


def books(shell: Shell, home: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shell("./ledger.py list", home).stdout)
    return found


def answer(shell: Shell, home: Path, words: str) -> dict[str, Any]:
    """What a verb of toolgate answers."""
    found: dict[str, Any] = json.loads(shell(f"toolgate {words} --json -q", home).stdout)
    return found


def events(shell: Shell, home: Path, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shell(f"toolgate events --type {kind} --json", home).stdout)["items"]
    return found


# ---- the program ----
def test_eight_starts_under_one_key_book_once_and_hear_the_same(example: Path, shell: Shell) -> None:
    said = [process.communicate(timeout=60)[0] for process in [refund(example, "k1", order="A-17", cents=700) for _ in range(8)]]
    assert set(said) == {'{"number": 1, "order": "A-17", "cents": 700}\n'}
    assert books(shell, example) == [{"number": 1, "order": "A-17", "cents": 700}]


def test_eight_keys_never_refund_more_than_was_paid(example: Path, shell: Shell) -> None:
    assert books(shell, example) == []
    held = sqlite3.connect(example / "ledger.db", isolation_level=None)
    held.execute("BEGIN IMMEDIATE")  # so that all of them are under way before the first can book
    started = [refund(example, f"k{n}", order="A-17", cents=900) for n in range(8)]
    time.sleep(1)
    held.execute("ROLLBACK")
    assert sorted(process.wait(timeout=60) for process in started) == [0, 0, 0, 0, 3, 3, 3, 3]
    assert sum(entry["cents"] for entry in books(shell, example)) == 3600


def test_a_key_is_for_one_refund(example: Path, shell: Shell) -> None:
    assert refund(example, "k1", order="A-17", cents=700).wait(timeout=60) == 0
    assert refund(example, "k1", order="A-17", cents=800).wait(timeout=60) == 65
    assert len(books(shell, example)) == 1


@pytest.mark.parametrize("call", ["caaaaaa", "caaaaaaaaaaaaa@981679bd18e4", ""])
def test_of_half_an_id_nobody_hears_that_it_has_not_booked(example: Path, shell: Shell, call: str) -> None:
    assert refund(example, "k1", order="A-17", cents=700).wait(timeout=60) == 0
    assert '"applied": true' in shell("./ledger.py outcome caaaaaaaaaaaaa", example).stdout
    refused = shell(f"./ledger.py outcome {shlex.quote(call)}", example)
    assert (refused.returncode, refused.stdout) == (65, "")


def test_it_says_how_it_is_used(example: Path, shell: Shell) -> None:
    for words in ("", "sell"):
        told = shell(f"./ledger.py {words}", example)
        assert told.returncode == 1 and "ledger.py outcome CALL" in told.stderr


# ---- its tools, behind the gate ----
def test_what_it_declines_is_an_answer_and_is_started_once(example: Path, shell: Shell) -> None:
    answer(shell, example, "start refund -i order=A-17 -i cents=9900")
    assert answer(shell, example, "approve")["run"]["status"] == "FAILED"
    settled = events(shell, example, "TOOL_INVOCATION_COMPLETED")[-1]
    assert settled["payload"]["outcome"] == "business_failed" and settled["payload"]["code"] == "MORE_THAN_WAS_PAID"
    assert [event["capability"] for event in events(shell, example, "TOOL_INVOCATION_STARTED")] == ["ledger.paid", "ledger.refund"]


def test_an_order_that_there_is_not_is_an_answer_too(example: Path, shell: Shell) -> None:
    assert "there is no order A-99" in shell("toolgate start refund -i order=A-99 -i cents=5", example).stdout
    assert events(shell, example, "TOOL_INVOCATION_COMPLETED")[-1]["payload"]["code"] == "NO_SUCH_ORDER"


def test_a_small_refund_needs_nobody_and_the_policy_knows_the_border(example: Path, shell: Shell) -> None:
    for cents, origin in ((2000, "REVIEW"), (2001, "APPROVAL_REQUIRED")):
        assert [row["origin"] for row in answer(shell, example, f"start refund -i order=A-18 -i cents={cents}")["pending"]] == [origin]


def test_a_retry_gives_the_same_arguments_under_the_same_key(example: Path, shell: Shell) -> None:
    program = example / "ledger.py"
    spy = """def refund(ledger):\n    open("seen", "a").write(os.environ["TOOLGATE_IDEMPOTENCY_KEY"] + "\\n")\n"""
    program.write_text(program.read_text().replace("def refund(ledger):\n", spy))
    answer(shell, example, "start refund -i order=A-17 -i cents=1000 -i currency=USD")
    (example / "rates.json").write_text('{"USD": "0.92"}')
    assert answer(shell, example, "retry")["run"]["status"] == "AWAITING_REVIEW"
    first, second = (example / "seen").read_text().split()
    starts = events(shell, example, "TOOL_INVOCATION_STARTED")[-2:]
    assert first == second and starts[0]["call_digest"] == starts[1]["call_digest"] and starts[0]["call_id"] == starts[1]["call_id"]


def test_a_program_that_changed_is_approved_anew(example: Path, shell: Shell) -> None:
    answer(shell, example, "start refund -i order=A-17 -i cents=3000")
    program = example / "ledger.py"
    program.write_text(program.read_text().replace('order["paid"]:', '10 * order["paid"]:'))
    refused = shell("toolgate approve", example)
    assert refused.returncode == 5 and books(shell, example) == []


def test_a_transfer_that_was_cut_off_is_in_the_books_and_is_not_made_twice(example: Path, shell: Shell) -> None:
    answer(shell, example, "start transfer -i order=A-18 -i cents=30000")
    approved = shell("toolgate approve --json -q", example)
    [row] = json.loads(approved.stdout)["pending"]
    assert (approved.returncode, row["origin"]) == (9, "OUTCOME_UNKNOWN")
    assert shell("toolgate retry", example).returncode == 5
    settled = shell(f"./ledger.py outcome {row['id']} | toolgate continue-tool --outcome-file - --json -q", example)
    assert json.loads(settled.stdout)["run"]["outputs"]["pay"] == books(shell, example)[0] == {"number": 1, "order": "A-18", "cents": 30000}


def test_a_transfer_that_is_not_in_the_books_goes_on_without(example: Path, shell: Shell) -> None:
    program = example / "ledger.py"
    program.write_text(
        program.read_text().replace("    answer = refund(ledger)\n    time.sleep(60)", "    time.sleep(60)\n    answer = refund(ledger)")
    )
    answer(shell, example, "start transfer -i order=A-18 -i cents=30000")
    [row] = answer(shell, example, "approve")["pending"]
    settled = shell(f"./ledger.py outcome {row['id']} | toolgate continue-tool --outcome-file - -q", example)
    assert settled.returncode == 0 and books(shell, example) == []
