"""What a command costs on a big store against an empty one: nothing may grow with the log or the queue.

`python -m tests.bench growth [RUNS]` fills a store with copies of two real runs, one that is completed and one that waits (every tenth),
in one valid chain: 100,000 runs with ten events each by default. Then whole commands are measured on both, in turns, in instructions
(where valgrind is) and in time, and the whole chain is verified.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from toolgate_cli.core import chain
from toolgate_cli.core.records import Event, Run
from toolgate_cli.runtime import sealing

from .starts import TOOLGATE, environment, home, instructions, memory, wall

ROUNDS = 9
WAITING = 10  # every so many runs one waits
COMMANDS = (
    ("pending", "list", "--limit", "50", "--json"),
    ("events", "{run}", "--json"),
    ("approve", "{ref}", "--json"),
    ("start", "one", "--json"),
)
MOST = 1.2


def said(path: str, env: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [*TOOLGATE, *words, "-q"], cwd=path, env=env, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    return done.stdout


def begun(folder: str) -> tuple[str, dict[str, str]]:
    """A home with one completed run and one that waits."""
    os.mkdir(folder)
    path, env = home(folder), environment(os.path.join(folder, "state"))
    said(path, env, "start", "one")
    said(path, env, "approve")
    said(path, env, "start", "one")
    return path, env


class Copies:
    """Copies the runs that a store has, events and all, behind the end of its log."""

    def __init__(self, path: str) -> None:
        self.connection = sqlite3.connect(os.path.join(path, ".toolgate", "toolgate.db"), isolation_level=None)
        self.events = [
            Event(*row) for row in self.connection.execute(f"SELECT {', '.join(Event._fields)} FROM events WHERE seq > 0 ORDER BY seq")
        ]
        self.seq, self.head = self.events[-1].seq, self.events[-1].hash
        tables = ("runs", "calls", "outcomes", "context", "steps", "pending")
        names = {table: [row[1] for row in self.connection.execute(f"PRAGMA table_info({table})")] for table in tables}
        self.rows = {
            table: (names[table], self.connection.execute(f"SELECT {', '.join(names[table])} FROM {table}").fetchall()) for table in tables
        }
        self.runs = {run.id: run for run in self._runs()}

    def _runs(self) -> Iterator[Run]:
        for found in self.connection.execute(f"SELECT {', '.join(Run._fields)} FROM runs").fetchall():
            yield Run._make(found)

    def of(self, run: str, number: int) -> tuple[list[tuple[str, tuple[object, ...]]], list[tuple[object, ...]]]:
        """(table, row) of everything that the copy has, and its events."""
        mine = [event for event in self.events if event.run_id == run]
        ids = {run: f"r{number:013d}"} | {event.call_id: f"c{number:013d}" for event in mine if event.call_id}

        def renamed(value: object) -> object:
            if isinstance(value, str):
                for old, new in ids.items():
                    value = value.replace(old, new)
            return value

        was = self.runs[run]
        ids[sealing.seal(was)] = sealing.seal(Run._make(map(renamed, was)))  # by which the log says what the row of a run is
        moved: dict[int, int] = {}
        events: list[tuple[object, ...]] = []
        for event in mine:
            self.seq += 1
            moved[event.seq] = self.seq
            made = Event(*map(renamed, event))._replace(seq=self.seq, prev=self.head)  # type: ignore[arg-type]  # of the same types
            made = made._replace(commitment=chain.commitment(made.salt or "", made.payload or ""))
            made = made._replace(hash=chain.hash_event(made))
            self.head = made.hash
            events.append(tuple(made))
        rows = []
        for table, (names, found) in self.rows.items():
            for row in found:
                if any(value in ids for value in row):
                    copied = [
                        moved.get(value, value) if name == "parked_by" else renamed(value) for name, value in zip(names, row, strict=True)
                    ]
                    rows.append((table, tuple(copied)))
        return rows, events

    def fill(self, runs: int) -> None:
        done = next(id for id, run in self.runs.items() if run.status == "COMPLETED")
        waits = next(id for id, run in self.runs.items() if run.status != "COMPLETED")
        self.connection.execute("PRAGMA synchronous = OFF")
        self.connection.execute("BEGIN")
        for number in range(runs):
            rows, events = self.of(waits if number % WAITING == 0 else done, number)
            for table, row in rows:
                self.connection.execute(f"INSERT INTO {table} ({', '.join(self.rows[table][0])}) VALUES ({', '.join('?' * len(row))})", row)
            self.connection.executemany(
                f"INSERT INTO events ({', '.join(Event._fields)}) VALUES ({', '.join('?' * len(Event._fields))})", events
            )
        self.connection.execute("COMMIT")
        self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self.connection.close()


def words(command: tuple[str, ...], path: str, env: dict[str, str]) -> list[str]:
    """The command on a run that has just been started there."""
    answer = said(path, env, "start", "one", "--json")
    run, ref = re.findall(r'"id": "(r\w+)"', answer)[0], re.findall(r'"ref": "([^"]+)"', answer)[0]
    return [*TOOLGATE, *(word.format(run=run, ref=ref) for word in command)]


def compare(command: tuple[str, ...], small: tuple[str, dict[str, str]], big: tuple[str, dict[str, str]]) -> bool:
    walls = [tuple(wall(words(command, path, env), env, path) for path, env in (small, big)) for _ in range(ROUNDS)]
    line = f"toolgate {' '.join(command)}: {median(b / a for a, b in walls):.2f}x in time ({median(b for _, b in walls) * 1e3:.0f} ms)"
    met = True
    if shutil.which("valgrind"):
        counted = [instructions(words(command, path, env), env, path) for path, env in (small, big)]
        ratio = counted[1] / counted[0]
        met = ratio <= MOST
        line += f", {ratio:.2f}x in instructions (goal {MOST}x{'' if met else ': MISSED'})"
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
    return met


def verified(small: tuple[str, dict[str, str]], big: tuple[str, dict[str, str]]) -> None:
    """The whole chain, as a command: events a second of time and of the process's own time, and its memory against an empty store."""
    verify = [*TOOLGATE, "audit", "verify", "--json"]
    events = int(re.findall(r'"events": (\d+)', said(*big, "audit", "verify", "--json"))[0])
    before = os.times()
    took = wall(verify, big[1], big[0])
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    peaks = [memory(verify, env, path) for path, env in (small, big)]
    rates = f"{events / took:.0f} a second, {events / used:.0f} a second of its own (goal 100000)"
    sys.stdout.write(f"audit verify: {events} events, {rates}, {peaks[1]:.1f} MB ({peaks[0]:.1f} MB on the empty store)\n")


def main(given: list[str]) -> int:
    runs = next((int(word) for word in given if word.isdigit()), 100_000)
    with tempfile.TemporaryDirectory() as folder:
        small, big = begun(os.path.join(folder, "small")), begun(os.path.join(folder, "big"))
        began = time.perf_counter()
        Copies(big[0]).fill(runs)
        said(*big, "recover", "--accept-rollback")
        size = Path(big[0], ".toolgate", "toolgate.db").stat().st_size
        sys.stdout.write(f"filled with {runs} runs in {time.perf_counter() - began:.0f} s: {size / 1e6:.0f} MB\n")
        met = [compare(command, small, big) for command in COMMANDS]
        verified(small, big)
    return 0 if all(met) else 1
