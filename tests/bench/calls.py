"""What one call of each provider costs beside its work: the time it takes, and the processor time of its process.

`python -m tests.bench calls` prints the table.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

ROUNDS = 20


def main(_words: list[str]) -> int:
    from contracts.kit_providers import KITS

    for name, kit in KITS.items():
        with tempfile.TemporaryDirectory() as home:
            taken, used = _measured(kit.tool(Path(home), "answers").call)
        sys.stdout.write(
            f"{name:8} {median(taken) * 1000:7.1f} ms, {min(taken) * 1000:7.1f} ms at best, {used * 1000:7.1f} ms of a processor\n"
        )
    return 0


def _measured(call: Callable[[], object]) -> tuple[list[float], float]:
    call()
    taken, before = [], _used()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        call()
        taken.append(time.perf_counter() - began)
    return taken, (_used() - before) / ROUNDS


def _used() -> float:
    """Of the processes that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime
