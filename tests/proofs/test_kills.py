"""Processes are killed at random moments, again and again: nothing is lost, nothing is doubled, every doubt is listed (I1, I2, I8)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from proofs import homes, mob, workers
from proofs.workers import Done

Tell = Callable[[str, float], None]


def _seed(tell: Tell) -> random.Random:
    """SEED_OF_PROOFS repeats the choices of an earlier run (the moments of the kernel it cannot)."""
    seed = int(os.environ.get("SEED_OF_PROOFS", "0")) or random.SystemRandom().randrange(1, 10**9)
    tell("the seed", seed)
    return random.Random(seed)


def test_forked_commands_that_are_killed_at_any_moment_lose_and_double_nothing(long: bool, tally: Tell) -> None:
    def perform(home: Path, words: mob.Words, seconds: float) -> Done | None:
        worker = workers.spawn(home, *words)
        until = time.monotonic() + seconds
        while time.monotonic() < until and not worker.ended():
            time.sleep(0.0005)
        worker.kill()
        done = worker.wait()
        return None if done.code == -signal.SIGKILL else done

    with homes.folder() as folder:
        mob.torment(folder, _seed(tally), 10_000 if long else 300, perform, 0.12, tally)


def test_installed_commands_that_are_killed_at_any_moment_lose_and_double_nothing(long: bool, tally: Tell) -> None:
    def perform(home: Path, words: mob.Words, seconds: float) -> Done | None:
        process = workers.real(home, *words)
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        return None if process.returncode == -signal.SIGKILL else Done(process.returncode, out, err)

    with homes.folder() as folder:
        mob.torment(folder, _seed(tally), 1_000 if long else 20, perform, 0.8, tally)
