"""Durable cycles in one process: start, park, approve, complete, with a provider that does nothing and everything else as it is.

`python -m tests.bench cycles [N]` runs them against two floors in plain sqlite3 (WAL, FULL, hash-chained events): five transactions a
cycle, and the three that are the least that stays right: parked before it is shown, claimed before the tool runs, its result before
"done". Interleaved; the figure is the median ratio. `--syncs` counts the syncs of a cycle (needs strace).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from toolgate_cli import bootstrap
from toolgate_cli.core.results import ToolResult
from toolgate_cli.host.mint import RandomMint
from toolgate_cli.providers import command
from toolgate_cli.settings import settings
from toolgate_cli.stores.sqlite import SqliteStore

from .starts import home

ROUNDS = 9
Cycle = Callable[[], None]
RAW = """
CREATE TABLE runs (id TEXT PRIMARY KEY, status TEXT NOT NULL, cursor TEXT NOT NULL) STRICT;
CREATE TABLE calls (id TEXT PRIMARY KEY, run_id TEXT NOT NULL, arguments TEXT NOT NULL) STRICT;
CREATE TABLE pending (id TEXT PRIMARY KEY, version INTEGER NOT NULL, run_id TEXT NOT NULL, origin TEXT NOT NULL) STRICT;
CREATE TABLE attempts (id TEXT PRIMARY KEY, row TEXT NOT NULL) STRICT;
CREATE TABLE outcomes (id TEXT PRIMARY KEY, body TEXT) STRICT;
CREATE TABLE events (seq INTEGER PRIMARY KEY, run_id TEXT, type TEXT NOT NULL, payload TEXT, prev TEXT NOT NULL, hash TEXT NOT NULL) STRICT;
CREATE INDEX events_by_run ON events (run_id, seq);
"""


class Raw:
    """The floor: what has to be written, and no more."""

    def __init__(self, path: str, transactions: int) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; {RAW}")
        self.split = transactions == 5  # the run's start and its end are committed apart

    def cycle(self) -> None:
        execute, run, call = self.connection.execute, secrets.token_hex(7), secrets.token_hex(7)
        execute("BEGIN IMMEDIATE")
        execute("INSERT INTO runs VALUES (?, 'RUNNING', '[]')", (run,))
        self._event(run, "RUN_STARTED")
        self._boundary()
        execute("INSERT INTO calls VALUES (?, ?, ?)", (call, run, '{"text":"x"}'))
        execute("INSERT INTO pending VALUES (?, 1, ?, 'APPROVAL_REQUIRED')", (call, run))
        execute("UPDATE runs SET status = 'AWAITING_TOOL_APPROVAL' WHERE id = ?", (run,))
        self._event(run, "REQUESTED", "APPROVAL_PENDING")
        execute("COMMIT")
        execute("SELECT * FROM pending WHERE id = ?", (call,)).fetchall()
        execute("BEGIN IMMEDIATE")
        assert execute("DELETE FROM pending WHERE id = ? AND version = 1 RETURNING *", (call,)).fetchall()
        execute("INSERT INTO attempts VALUES (?, '{}')", (call,))
        self._event(run, "APPROVED", "STARTED")
        execute("COMMIT")
        execute("BEGIN IMMEDIATE")
        execute("DELETE FROM attempts WHERE id = ?", (call,))
        execute("INSERT INTO outcomes VALUES (?, '{}')", (call,))
        self._event(run, "TOOL_COMPLETED")
        self._boundary()
        execute("UPDATE runs SET status = 'COMPLETED' WHERE id = ?", (run,))
        self._event(run, "STEP_COMPLETED", "RUN_COMPLETED")
        execute("COMMIT")

    def _boundary(self) -> None:
        if self.split:
            self.connection.execute("COMMIT")
            self.connection.execute("BEGIN IMMEDIATE")

    def _event(self, run: str, *types: str) -> None:
        last = self.connection.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchall()
        seq, head = last[0] if last else (0, "")
        for type in types:
            seq += 1
            payload = json.dumps({"actor": "somebody", "at": "2026-01-01T00:00:00.000Z"})
            hash = hashlib.sha256(json.dumps([seq, run, type, payload, head]).encode()).hexdigest()
            self.connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", (seq, run, type, payload, head, hash))
            head = hash


class Nothing:
    """The command provider, but for the process."""

    Fields, pin, bind = command.Fields, staticmethod(command.pin), staticmethod(command.bind)

    @staticmethod
    def invoke(_claim: object, _limits: object) -> ToolResult:
        return ToolResult("answered", True, 0, b'{"done":true}', 13, hashlib.sha256(b'{"done":true}').hexdigest())


def ours(folder: str) -> Cycle:
    """A desk that stays: what one process pays for each cycle."""
    os.environ["XDG_STATE_HOME"] = os.path.join(folder, "state")
    chosen = settings({"home": home(folder)}, {})
    provider: Any = Nothing
    ports = bootstrap.ports(chosen, SqliteStore(chosen.db, RandomMint()))._replace(provider=lambda _tool: provider)
    desk = bootstrap.seat(chosen, ports)

    def cycle() -> None:
        started = desk.start("one", {}, {})
        target = desk.select([started.pending[0].ref], "approve")
        done = desk.approve(target)
        assert done.run.run.status == "COMPLETED"

    return cycle


def rate(cycle: Cycle, times: int) -> tuple[float, float]:
    """Cycles a second; seconds of this process's own a cycle."""
    began, used = time.perf_counter(), time.process_time()
    for _ in range(times):
        cycle()
    return times / (time.perf_counter() - began), (time.process_time() - used) / times


def compare(times: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cycles = {
            "floor, 5 transactions": Raw(os.path.join(folder, "five.db"), 5).cycle,
            "floor, 3 transactions": Raw(os.path.join(folder, "three.db"), 3).cycle,
            "toolgate": ours(folder),
        }
        rates: dict[str, list[tuple[float, float]]] = {name: [] for name in cycles}
        for cycle in cycles.values():
            rate(cycle, 20)
        for _ in range(ROUNDS):
            for name, cycle in cycles.items():
                rates[name].append(rate(cycle, times))
    mine = rates.pop("toolgate")
    sys.stdout.write(f"toolgate: {median(r for r, _ in mine):.0f} cycles/s, {median(u for _, u in mine) * 1e3:.2f} ms of CPU a cycle\n")
    for name, floor in rates.items():
        speed = median(a / b for (a, _), (b, _) in zip(mine, floor, strict=True))
        cpu = median(a / b for (_, a), (_, b) in zip(mine, floor, strict=True))
        sys.stdout.write(
            f"{name}: {median(r for r, _ in floor):.0f} cycles/s; toolgate reaches {speed:.2f} of it, with {cpu:.1f} times its CPU\n"
        )


def syncs(times: int) -> float:
    """fsyncs and fdatasyncs a cycle, counted by the kernel's own calls; opening and closing the store is not counted."""

    def counted(cycles: int) -> int:
        run = ["strace", "-f", "-c", "-e", "trace=fsync,fdatasync", sys.executable, "-m", "tests.bench", "cycles", "--only", str(cycles)]
        told = subprocess.run(run, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]).stderr
        return sum(int(calls) for calls in re.findall(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+).*f(?:data)?sync$", told, re.MULTILINE))

    return (counted(2 * times) - counted(times)) / times


def main(words: list[str]) -> int:
    times = next((int(word) for word in words if word.isdigit()), 100)
    if "--only" in words:
        with tempfile.TemporaryDirectory() as folder:
            rate(ours(folder), times)
        return 0
    if "--syncs" in words:
        found = syncs(times)
        sys.stdout.write(f"{found:.2f} syncs a cycle (goal 3.1)\n")
        return int(found > 3.1)
    compare(times)
    return 0
