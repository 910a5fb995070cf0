"""Processes are killed at random moments, again and again: nothing is lost, nothing is doubled, every doubt is listed (I1, I2, I8)."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from proofs import homes, mob, workers
from proofs.workers import Done

pytestmark = pytest.mark.timeout(14_400)  # of the long version
Tell = Callable[[str, float], None]
OTHERS = [name for name in homes.TABLES if name != "command"]


def _seed(tell: Tell) -> random.Random:
    """SEED_OF_PROOFS repeats the choices of an earlier run (the moments of the kernel it cannot)."""
    seed = int(os.environ.get("SEED_OF_PROOFS", "0")) or random.SystemRandom().randrange(1, 10**9)
    tell("the seed", seed)
    return random.Random(seed)


def _forked(home: Path, lives: mob.Lives) -> list[Done | None]:
    began = time.monotonic()
    running = [(workers.spawn(home, *words), seconds) for words, seconds in lives]
    while any(not worker.ended() for worker, _ in running):
        for worker, seconds in running:
            if time.monotonic() >= began + seconds:
                worker.kill()
        time.sleep(0.0005)
    ends = [worker.wait() for worker, _ in running]
    return [None if done.code == -signal.SIGKILL else done for done in ends]


def _installed(home: Path, lives: mob.Lives) -> list[Done | None]:
    began = time.monotonic()
    running = [(workers.real(home, *words), seconds) for words, seconds in lives]
    while any(process.poll() is None for process, _ in running):
        for process, seconds in running:
            if time.monotonic() >= began + seconds:
                process.kill()
        time.sleep(0.002)
    ends = [workers.finish(process) for process, _ in running]
    return [None if done.code == -signal.SIGKILL else done for done in ends]


def _span(perform: mob.Perform, home: Path, earliest: float) -> tuple[float, float]:
    """From that part of a start, as slow as this computer is now, to a little after its end."""
    homes.set_mode(home, "ok")
    for _ in range(2):  # the first one checks the files
        began = time.monotonic()
        perform(home, [(("start", "pay"), workers.LIMIT)])
    taken = time.monotonic() - began
    return earliest * taken, 1.2 * taken


def test_forked_commands_that_are_killed_at_any_moment_lose_and_double_nothing(long: bool, tally: Tell) -> None:
    with homes.folder() as folder:
        mob.torment(folder, _seed(tally), 10_000 if long else 150, _forked, lambda home: _span(_forked, home, 0.1), tally)


def test_installed_commands_that_are_killed_at_any_moment_lose_and_double_nothing(long: bool, tally: Tell) -> None:
    with homes.folder() as folder:
        mob.torment(folder, _seed(tally), 1_000 if long else 20, _installed, lambda home: _span(_installed, home, 0.4), tally)


@pytest.mark.parametrize("provider", OTHERS)
def test_calls_of_every_provider_are_killed_at_any_moment_and_nothing_is_lost_or_doubled(provider: str, long: bool, tally: Tell) -> None:
    with homes.folder() as folder:
        rounds = 1_000 if long else 10
        mob.torment(folder, _seed(tally), rounds, _forked, lambda home: _span(_forked, home, 0.1), tally, provider)
