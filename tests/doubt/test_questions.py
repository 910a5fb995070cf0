"""A command that stops half-way with a question, as real processes: what the person is shown, and what the tool is told."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from doubt.given import doubtful, refused, rows, until
from proofs import facts, homes, workers

ASKS = """
import json, os, sys
answer = os.environ.get("TOOLGATE_ANSWER")
given = sys.stdin.read()
note("tries.log")
if answer is None:
    print(json.dumps({"question": QUESTION, "state": {"to": json.loads(given)["to"], "step": 1}}))
    sys.exit(70)
json.dump({"answer": answer, "stdin": given, "key": os.environ["TOOLGATE_IDEMPOTENCY_KEY"]}, open("told.json", "w"))
if open("mode").read().startswith("hang"):
    import time; time.sleep(30)
if answer == "yes":
    note("effects.log")
print(json.dumps(answer))
"""


def make(home: Path, question: str = "Pay ann?", **how: str) -> dict[str, Any]:
    """A run that waits with a question: its row."""
    homes.make(home, brief=True, **how)
    script = (home / "pay.py").read_text()
    (home / "pay.py").write_text(script[: script.index("mode = ")] + f"QUESTION = {question!r}\n" + ASKS)
    file = home / "toolgate.toml"
    text = file.read_text().replace('timeout = "20s"', 'timeout = "20s"\nmay_confirm = true')
    file.write_text(text.replace("[policy]", '[tools."ledger.pay".exit]\nconfirm = 70\n[policy]'))
    done = workers.run(home, "start", "pay")
    assert done.code == 0 and done.answer["run"]["status"] == "AWAITING_TOOL_APPROVAL", done
    [row] = rows(home)
    assert row["origin"] == "CONFIRMATION_REQUIRED" and done.answer["next"] == [f"toolgate approve {row['ref']}"]
    return row


@pytest.mark.parametrize(("verb", "word"), [("approve", "yes"), ("reject", "no")])
def test_the_tool_is_told_the_answer_and_given_its_state(home: Path, verb: str, word: str) -> None:
    row = make(home)
    assert row["reason"] == "Pay ann?" and row["attempts"] == 1
    done = workers.run(home, verb, row["ref"])
    assert done.code == 0 and done.answer["run"]["status"] == "COMPLETED"
    told = json.loads((home / "told.json").read_text())
    assert told["answer"] == word and told["stdin"] == '{"step":1,"to":"ann"}' and told["key"]
    assert len(homes.effects(home)) == (word == "yes") and list(homes.tries(home).values()) == [2]


def test_the_question_is_shown_verbatim_and_harmless(home: Path) -> None:
    row = make(home, "Pay \x1b[2Jann?\nref: x\u202e")
    assert row["reason"] == "Pay \x1b[2Jann?\nref: x\u202e"
    words = [*workers.COMMAND, "pending", "show", row["ref"], "-C", str(home), "-o", "table"]
    shown = subprocess.run(words, env=workers.environment(home), text=True, capture_output=True, check=True).stdout
    assert "question: Pay \\x1b[2Jann?\\nref: x\\u202e" in shown and "\x1b" not in shown and "hidden characters" in shown


def test_of_three_answers_at_once_one_counts(home: Path) -> None:
    row = make(home)
    ended = [worker.wait() for worker in [workers.spawn(home, verb, row["ref"]) for verb in ("approve", "reject", "approve")]]
    assert sorted(done.code for done in ended) == [0, 5, 5] and list(homes.tries(home).values()) == [2]
    assert len([event for event in facts.read(home).events if event.type == "TOOL_INVOCATION_STARTED"]) == 2


def test_a_process_that_dies_after_the_answer_leaves_a_doubt(home: Path) -> None:
    row = make(home)
    homes.set_mode(home, "hang")
    worker = workers.spawn(home, "reject", row["ref"])
    until((home / "told.json").exists)
    worker.kill(signal.SIGKILL)
    worker.wait()
    left = doubtful(home)
    assert left["id"] == row["id"] and left["attempts"] == 2 and refused(workers.run(home, "retry", left["ref"])) == "unknown_outcome"
