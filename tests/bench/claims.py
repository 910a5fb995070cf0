"""Claims under contention: eight processes race for the same rows; prints claims/s, the waits, and how the wins were shared out.

`python -m tests.bench claims [ROWS]` measures toolgate's store and, in the same run, the same statements in plain sqlite3 behind
SQLite's own wait.
"""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from toolgate_cli.host.mint import RandomMint
from toolgate_cli.stores.sqlite import SqliteStore

from ..store_records import event_after, filled, row_of

PROCESSES = 8
Claimer = Callable[[int], bool]


def ours(path: str) -> Claimer:
    store = SqliteStore(path, RandomMint())

    def claim(number: int) -> bool:
        with store.write() as writer:
            won = writer.claim(row_of(number))
            if won is not None:
                writer.append([event_after(writer.head(), writer.identity(), call_id=won.id)])
        return won is not None

    return claim


def raw(path: str) -> Claimer:
    connection = sqlite3.connect(path, isolation_level=None, timeout=60)
    connection.execute("PRAGMA synchronous = FULL")

    def claim(number: int) -> bool:
        row = row_of(number)
        connection.execute("BEGIN IMMEDIATE")
        won = connection.execute("DELETE FROM pending WHERE id = ? AND version = ? RETURNING *", (row.id, row.version)).fetchall()
        if won:
            seq, head = connection.execute("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1").fetchall()[0]
            event = event_after(None, head, call_id=row.id)._replace(seq=seq + 1)
            connection.execute(f"INSERT INTO events VALUES ({','.join('?' * len(event))})", event)
        connection.execute("COMMIT")
        return bool(won)

    return claim


def contend(make: Callable[[str], Claimer], path: str, rows: int, me: int, barrier: Any, answers: Any) -> None:
    claim, waits, wins = make(path), [], 0
    barrier.wait()
    for number in range(rows):
        began = time.perf_counter()
        wins += claim(number)
        waits.append(time.perf_counter() - began)
    answers.put((me, wins, waits))


def measure(name: str, make: Callable[[str], Claimer], rows: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "store.db")
        store = SqliteStore(path, RandomMint())
        filled(store, rows)
        store.close()
        context = multiprocessing.get_context("fork")
        barrier, answers = context.Barrier(PROCESSES + 1), context.Queue()
        started = [context.Process(target=contend, args=(make, path, rows, me, barrier, answers)) for me in range(PROCESSES)]
        for process in started:
            process.start()
        barrier.wait()
        began = time.perf_counter()
        got = sorted(answers.get() for _ in started)
        took = time.perf_counter() - began
        for process in started:
            process.join()
    waits = sorted(wait for _, _, waits in got for wait in waits)
    wins = [won for _, won, _ in got]
    assert sum(wins) == rows, wins
    sys.stdout.write(
        f"{name}: {rows / took:.0f} claims/s ({len(waits) / took:.0f} transactions/s); wins {wins}; "
        f"p50 {waits[len(waits) // 2] * 1e3:.2f} ms, p99 {waits[int(len(waits) * 0.99)] * 1e3:.1f} ms, worst {waits[-1] * 1e3:.0f} ms\n"
    )
    return rows / took


def main(words: list[str]) -> int:
    amount = int(words[0]) if words else 2000
    for _ in range(3):
        floor, speed = measure("raw ", raw, amount), measure("ours", ours, amount)
        sys.stdout.write(f"ratio {speed / floor:.2f} (goal 0.6)\n")
    return 0
