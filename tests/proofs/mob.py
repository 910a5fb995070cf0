"""A home under random hands: verbs chosen by what stands open, each in a process that may be killed at any moment."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from . import driving, facts, homes, workers
from .facts import Facts
from .workers import Done

ROUNDS = 20  # of one home, before its runs are driven to their ends
MODES = ("ok", "ok", "ok", "fail", "fail-once", "die-once", "linger 0.02")
EDIT = ("--arguments", "edited.json")
Words = tuple[str, ...]
Tell = Callable[[str, float], None]
Lives = list[tuple[Words, float]]  # commands that run at the same time, and the seconds that each has to live
Perform = Callable[[Path, Lives], list[Done | None]]  # how each ended; None: it was killed


Span = Callable[[Path], tuple[float, float]]  # home -> the shortest and the longest life of a command


def torment(folder: Path, dice: random.Random, rounds: int, perform: Perform, span: Span, tell: Tell, provider: str = "command") -> None:
    """So many rounds of commands that live a random time; checks after each of them."""
    for begun in range(0, rounds, ROUNDS):
        home = homes.make(
            folder / f"home-{begun}",
            effect=dice.choice(("unsafe", "unsafe", "idempotent", "read_only")),
            policy=dice.choice(("allow", "require_approval")),
            gate=dice.choice(("approval", "review")),
            provider=provider,
        )
        shortest, longest = span(home)
        for _ in range(min(ROUNDS, rounds - begun)):
            homes.set_mode(home, dice.choice(MODES))
            before = facts.read(home)
            lives = [(_choose(before, dice), dice.uniform(shortest, longest)) for _ in range(dice.choice((1, 1, 1, 2)))]
            for (words, _), ended in zip(lives, perform(home, lives), strict=True):
                tell("killed" if ended is None else "came to an end", 1)
                assert ended is None or ended.code in (0, 1, 5, 9), (words, ended)
            _check(home, lives, before, tell)
        _end(home, tell)
        shutil.rmtree(home)


def _choose(seen: Facts, dice: random.Random) -> Words:
    """A verb that fits something that is open, most of the time."""
    options: list[Words] = [("start", "pay"), ("recover",)]
    for id, run in seen.runs.items():
        if run.status not in facts.OVER:
            options += [("continue", id), ("cancel", id)]
    for id, row in seen.rows.items():
        again = ("--may-run-twice",) if dice.random() < 0.5 else ()
        options += {
            "APPROVAL_REQUIRED": [("approve", id, *again), ("approve", id), ("approve", id, *EDIT), ("reject", id)],
            "EXECUTION_FAILED": [("retry", id, *again), ("retry", id), ("continue-tool", id), ("reject", id)],
            "OUTCOME_UNKNOWN": [("retry", id, *again), ("continue-tool", id, "--outcome-file", "settled.json"), ("reject", id)],
            "INPUT": [("answer", row.run, "number=7")] * 3,
            "STEP_APPROVAL": [("approve", row.run, "--step", "sign")] * 3,
            "REVIEW": [("review", row.run, "-m", "seen")] * 3,
        }[row.origin]
    return dice.choice(options)


def _check(home: Path, lives: Lives, before: Facts, tell: Tell) -> None:
    left = facts.read(home)
    facts.nothing_doubled(home, left)
    facts.nothing_lost(left)
    assert set(left.runs) >= set(before.runs) and set(left.calls) >= set(before.calls), lives
    expected = facts.doubts(left)
    tell("doubts left", len(left.unended()))
    if left.unended():
        began = time.monotonic()
        listed = {row["id"] for row in workers.run(home, "pending", "list").items if row["origin"] == "OUTCOME_UNKNOWN"}
        tell("until a doubt was listed, s", time.monotonic() - began)
        assert listed >= expected, f"not listed after {lives}: {expected - listed}"
        seen = facts.read(home)
        assert not seen.attempts and not seen.unended()
        facts.nothing_lost(seen)


def _end(home: Path, tell: Tell) -> None:
    """Every run can be brought to its end, and then everything holds together."""
    homes.set_mode(home, "ok")
    left = facts.read(home)
    for id, run in left.runs.items():
        if run.status not in facts.OVER:
            driving.to_the_end(home, id)
            tell("runs driven to an end", 1)
    ended = facts.read(home)
    facts.nothing_doubled(home, ended)
    facts.nothing_lost(ended)
    tell("runs", len(ended.runs))
    tell("effects", sum(homes.effects(home).values()))
    if ended.runs:
        assert workers.run(home, "audit", "verify").code == 0
        facts.intact(home)
