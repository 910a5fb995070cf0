"""The example as somebody has it who copied it, and a shell in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
Shell = Callable[..., "subprocess.CompletedProcess[str]"]


def copied(to: Path) -> Path:
    """A copy of the example without what running it left in the checkout."""
    shutil.copytree(ROOT / "workflows.example", to, ignore=shutil.ignore_patterns(".toolgate", "repository", "announcement-*.json"))
    return to


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The copied home, with its repository."""
    home = copied(tmp_path / "home")
    subprocess.run([home / "make-repository"], check=True, stdout=subprocess.DEVNULL)
    return home


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """Runs a line of bash: `toolgate` is this one, stdin is no terminal, stdout and stderr come as one unless `apart`."""
    programs = os.path.dirname(sys.executable)
    kept = {"PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "HOME": os.environ["HOME"], "LANG": "C.UTF-8"}

    def run(line: str, cwd: Path | None = None, apart: bool = False, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line], cwd=cwd or tmp_path, env={**kept, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if apart else subprocess.STDOUT, text=True, timeout=120,
        )  # fmt: skip

    return run
