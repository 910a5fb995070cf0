"""The example as somebody has it who copied it, and shells in it."""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COLUMNS = 200
# what running the example leaves in it
LEFT = (
    ".toolgate",
    ".venv",
    "repository",
    "announcement-*.json",
    "ledger.db*",
    "rates.json",
    "toolgate.lock.toml",
)  # what running the example leaves in it
Shell = Callable[..., "subprocess.CompletedProcess[str]"]
AtTerminal = Callable[[str, Path], tuple[int, str]]


def copied(to: Path) -> Path:
    """A copy of the example without what running it left in the checkout."""
    shutil.copytree(ROOT / "workflows.example", to, ignore=shutil.ignore_patterns(*LEFT))
    return to


def environment() -> dict[str, str]:
    """`toolgate` is the one that is tested; nothing else of the tester's own shell."""
    programs = os.path.dirname(sys.executable)
    return {"PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin", "HOME": os.environ["HOME"], "LANG": "C.UTF-8"}


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The copied home, with its repository."""
    home = copied(tmp_path / "home")
    subprocess.run([home / "make-repository"], check=True, stdout=subprocess.DEVNULL)
    return home


@pytest.fixture
def shell() -> Shell:
    """Runs a line of bash with streams that are no terminals; stdout and stderr apart."""

    def run(line: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", line], cwd=cwd, env={**environment(), **variables}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=120,
        )  # fmt: skip

    return run


@pytest.fixture
def at_terminal() -> AtTerminal:
    """Runs a line of bash whose output goes to a wide terminal and whose input is none, so that nothing is asked: exit code and output."""

    def run(line: str, cwd: Path) -> tuple[int, str]:
        ours, its = os.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        plain = {**environment(), "TERM": "xterm", "NO_COLOR": "1", "GIT_PAGER": "cat"}
        process = subprocess.Popen(["bash", "-c", line], cwd=cwd, env=plain, stdin=subprocess.DEVNULL, stdout=its, stderr=its)
        os.close(its)
        shown = b""
        try:
            while more := os.read(ours, 65536):
                shown += more
        except OSError:  # the last one who could write is gone
            pass
        os.close(ours)
        return process.wait(timeout=60), shown.decode().replace("\r\n", "\n")

    return run
