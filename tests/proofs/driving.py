"""Moves an unfinished run to its end with nothing but what toolgate itself names: the verbs of `next`, or of the hint of a refusal."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from . import facts
from .workers import Done, run

STEPS = 30


def to_the_end(home: Path, id: str, *, prefer: str = "recover") -> str:
    """Drives the run until it is over; its status. `prefer`: the verb that takes over what a dead process left."""
    following = _first(home, id, prefer)
    for _ in range(STEPS):
        status = facts.read(home).runs[id].status
        if status in facts.OVER:
            return status
        if following is None:
            following = _first(home, id, "continue")
        assert following, f"nothing moves {id}, which is {status}"
        done = _say(home, following[0])
        assert done.code in (0, 1, 9), f"{following[0]} was named and did not work: {done}"
        following = done.answer["next"]
        if not following and done.answer["run"]["status"] not in facts.OVER:
            following = None
    raise AssertionError(f"{id} is not over after {STEPS} verbs")


def _first(home: Path, id: str, prefer: str) -> list[str] | None:
    """What moves a run on whose last answer nobody has seen."""
    done = run(home, prefer, id)
    if prefer == "recover":
        assert done.code in (0, 1, 9), done
        answers: list[dict[str, Any]] = done.items
        return answers[-1]["next"] if answers and answers[-1]["next"] else _first(home, id, "continue")
    if not done.error:
        return done.answer["next"] or None
    if facts.read(home).runs[id].status in facts.OVER:
        return None
    assert done.error["kind"] == "wrong_state", done
    rows = [row for row in run(home, "pending", "list", id).items if row["run_id"] == id]
    assert rows, f"{id} cannot be continued and nothing of it waits: {done.error}"
    return [_named(_verb(done.error["hint"]), rows[0])]


def _verb(hint: str) -> str:
    """The verb of a command, behind the options that say which home and store it is about."""
    words = shlex.split(hint)[1:]
    while words[0] in ("-C", "--db"):
        words = words[2:]
    return words[0]


def _named(word: str, row: dict[str, Any]) -> str:
    """The command of a hint, said of a row."""
    if row["kind"] == "tool":
        if row["origin"] == "OUTCOME_UNKNOWN" or (row["origin"] == "EXECUTION_FAILED" and row["doubt"] == "unsafe"):
            return f"toolgate continue-tool {row['ref']} --outcome-file FILE"
        return f"toolgate {'reject' if row['doubt'] == 'unsafe' else word} {row['ref']}"
    step = f" --step {row['step']}" if row["kind"] in ("step_approval", "escalation") else ""
    return f"toolgate {word} {row['run_id']}{step}{' -m NOTE' if word == 'review' else ''}"


def _say(home: Path, command: str) -> Done:
    """A command as it is named, with what only a person can fill in."""
    words = [{"FILE": "settled.json", "NOTE": "seen"}.get(word, word) for word in shlex.split(command)[1:]]
    if words[0] == "answer":
        words.append("number=7")
    return run(home, *words)
