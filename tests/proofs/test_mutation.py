"""The tests notice small faults: of the changes that somebody could make by accident to the gate, the decisions, the policy and the claim,
none to a comparison goes unnoticed, and hardly any other (all of them with `--long`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from proofs.mutation.changes import DECIDING
from proofs.mutation.known import KNOWN
from proofs.mutation.listing import MODULES, listed

pytestmark = pytest.mark.timeout(14_400)  # of the long version
TESTS = Path(__file__).resolve().parents[1]
SAMPLE, SEED = 5, 7
LEAST = 0.95  # of all changes that are not in KNOWN


def ask(*options: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "proofs.mutation.runner", "--workers", "2", *options]
    done = subprocess.run(command, cwd=TESTS, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def test_small_faults_are_noticed(long: bool, tmp_path: Path, tally: Callable[[str, float], None]) -> None:
    report = ask("--map", str(tmp_path / "map.json")) if long else ask("--sample", str(SAMPLE), "--seed", str(SEED))
    survived = {name: kind for name, kind in report["survivors"] if name not in KNOWN}
    asked = report["asked"] - (len(KNOWN) if long else 0)
    tally("changes", asked)
    tally("of 1000 were noticed", round(1000 * (1 - len(survived) / asked)))
    assert DECIDING not in survived.values() and len(survived) <= (1 - LEAST) * asked, "\n".join(survived)


def test_what_need_not_be_noticed_is_still_there() -> None:
    """An entry of KNOWN that no change has any more is stale; what it excuses has a reason."""
    there = {f"{module}: {change.name}" for module, change in listed()}
    assert set(KNOWN) <= there, sorted(set(KNOWN) - there)
    assert all(KNOWN.values()) and len(KNOWN) < len(there) // 20 and {name.split(": ")[0] for name in there} == set(MODULES)
