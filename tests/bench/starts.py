"""Cold starts: whole commands against a bare interpreter, in instructions (which repeat to a fraction of a percent), time and memory.

`python -m tests.bench starts` prints the table; `--gate` counts instructions alone (needs valgrind) and fails over a goal: CI
runs that.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

TOOL = """
schema = 1
[tools."nothing.do"]
input_schema = { type = "object", required = ["text"], properties = { text = { type = "string" } } }
[tools."nothing.do".command]
argv = ["true"]
"""
FLOW = """
schema = 1
id = "one"
[[steps]]
id = "do"
type = "tool"
tool = "nothing.do"
arguments = { text = "x" }
"""
ROUNDS = 15
BARE = [sys.executable, "-c", "pass"]
TOOLGATE = [sys.executable, "-c", "from toolgate_cli.cli.main import main; main()"]
# as a launcher that is smaller than what it measures: the memory of whoever starts a process counts for it until it is the other program
LAUNCHER = (
    "import os, sys; _, _, used = os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ), 0); os.write(2, b'%d' % used.ru_maxrss)"
)


class Start(NamedTuple):
    """`most`: bare interpreter starts that it may cost."""

    words: tuple[str, ...]
    most: float | None


STARTS = (
    Start(("--version",), 2),
    Start(("pending", "list", "--json"), 8),
    Start(("approve", "--json"), 8),
    Start(("--complete", "approve", "c"), 7),
    Start(("start", "one", "--json"), None),
    Start(("events", "--json"), None),
)


def environment(state: str) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TOOLGATE_", "PYTHONDONTWRITEBYTECODE"))}
    return {**kept, "XDG_STATE_HOME": state}


def home(folder: str) -> str:
    path = os.path.join(folder, "home")
    shutil.rmtree(path, ignore_errors=True)
    os.mkdir(path)
    Path(path, "toolgate.toml").write_text(TOOL)
    Path(path, "one.toml").write_text(FLOW)
    return path


def prepared(folder: str, start: Start) -> Callable[[list[str]], tuple[list[str], dict[str, str], str]]:
    """Words of a process on a fresh home -> the process, its environment and its folder."""

    def fresh(before: list[str]) -> tuple[list[str], dict[str, str], str]:
        path, env = home(folder), environment(os.path.join(folder, "state"))
        subprocess.run(
            [*TOOLGATE, "start", "one", "-q"], cwd=path, env=env, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        return [*before, *TOOLGATE, *start.words], env, path

    return fresh


def instructions(words: list[str], env: dict[str, str], folder: str) -> int:
    """Of the process itself; those of its children are not counted."""
    counted = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *words]
    done = subprocess.run(counted, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if found is None or done.returncode:
        raise SystemExit(f"{words} could not be counted: exit {done.returncode}\n{done.stderr[-2000:]}")
    return int(found[1])


def wall(words: list[str], env: dict[str, str], folder: str) -> float:
    began = time.perf_counter()
    subprocess.run(words, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def memory(words: list[str], env: dict[str, str], folder: str) -> float:
    """Peak, in MB."""
    launched = [sys.executable, "-S", "-c", LAUNCHER, *words]
    done = subprocess.run(launched, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return int(re.findall(r"\d+", done.stderr)[-1]) / 1024


def measure(gate: bool) -> bool:
    """Prints a line for each; whether every goal is met."""
    met = True
    with tempfile.TemporaryDirectory() as folder:
        env = environment(os.path.join(folder, "state"))
        wall([*TOOLGATE, "--version"], env, folder)
        bare = instructions(BARE, env, folder)
        sys.stdout.write(f"bare interpreter: {bare / 1e6:.1f} M instructions\n")
        for start in STARTS:
            fresh = prepared(folder, start)
            wall(*fresh([]))  # compiled, once
            counted = instructions(*fresh([])) / bare
            line = f"toolgate {' '.join(start.words)}: {counted:.2f}x in instructions"
            if not gate:
                walls = [(wall(BARE, env, folder), wall(*fresh([]))) for _ in range(ROUNDS)]
                line += f", {median(b for _, b in walls) / median(a for a, _ in walls):.1f}x in wall time, {memory(*fresh([])):.1f} MB"
            if start.most is not None:
                line += f" (goal {start.most}x{'' if counted <= start.most else ': MISSED'})"
                met = met and counted <= start.most
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    return met


def main(words: list[str]) -> int:
    return 0 if measure("--gate" in words) else 1
