"""What long runs cost, in one process: a stretch of steps against the raw insertion of their events, ten times as many iterations, and
going on behind a thousand finished steps against going on behind ten.

`python -m tests.bench lengths`. The floor writes hash-chained events in plain sqlite3 (WAL, FULL), in one transaction. What repeats exactly
(transactions, steps of SQLite's machine, sizes) is in tests/proofs/test_long_runs.py.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from tests.runtime import texts
from tests.runtime.texts import step
from toolgate_cli import bootstrap
from toolgate_cli.core.records import Event, EventQuery
from toolgate_cli.host.mint import RandomMint
from toolgate_cli.runtime.desk import Desk
from toolgate_cli.runtime.ports import Ports
from toolgate_cli.settings import settings
from toolgate_cli.stores.sqlite import SqliteStore

from .cycles import Nothing, Raw

ROUNDS = 9
STEPS = 1_000
THRESHOLD = 200_000, 20, 20  # as every process of toolgate has it
MOST_OF_RAW, MOST_OF_TEN, MOST_OF_MEMORY, MOST_OF_A_RESUME = 4.0, 12.0, 1.1, 1.3


def seat(folder: str, *steps: dict[str, object], **blocks: list[dict[str, object]]) -> tuple[Desk, Ports]:
    """A desk in a home with one workflow, `many`, and the usual tools, which do nothing."""
    os.environ["XDG_STATE_HOME"] = os.path.join(folder, "state")
    Path(folder, "script.toml").write_text(texts.SCRIPT)
    Path(folder, "toolgate.toml").write_text(texts.operator())
    Path(folder, "many.toml").write_text(texts.flow("many", *steps, blocks=blocks))
    chosen = settings({"home": folder}, {})
    ports = bootstrap.ports(chosen, SqliteStore(chosen.db, RandomMint()))._replace(provider=lambda _tool: Nothing)  # type: ignore[arg-type,return-value]  # no process
    return bootstrap.seat(chosen, ports), ports


def assigns(number: int, first: int = 0) -> list[dict[str, object]]:
    return [step(f"n{n}", "assign", set={f"k{n}": f"v{n}"}) for n in range(first, first + number)]


def cpu(act: Callable[[], object]) -> tuple[float, float]:
    """Seconds of this process's own, and of time."""
    began, used = time.perf_counter(), time.process_time()
    act()
    return time.process_time() - used, time.perf_counter() - began


def stretch() -> float:
    """Times the CPU of the floor; a run of as many steps before it has warmed everything up."""
    with tempfile.TemporaryDirectory() as folder:
        desk, ports = seat(folder, *assigns(STEPS))
        desk.start("many", {}, {})
        with ports.store.read() as tx:
            events = list(tx.events(EventQuery()))
        floor = Raw(os.path.join(folder, "floor.db"), 3)
        ratios = [cpu(lambda: desk.start("many", {}, {}))[0] / cpu(lambda: raw(floor, events))[0] for _ in range(ROUNDS)]
    return median(ratios)


def raw(floor: Raw, events: list[Event]) -> None:
    floor.connection.execute("BEGIN IMMEDIATE")
    floor._event(str(events[0].run_id), *(event.type for event in events))
    floor.connection.execute("COMMIT")


def loop(number: int) -> dict[str, float]:
    """In a process of its own, for its peak of memory."""
    run = [sys.executable, "-m", "tests.bench", "lengths", "--loop", str(number)]
    found: dict[str, float] = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    return found


def one_loop(number: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        repeat = {"until": "count", "max": number}
        body = [step("note", "assign", set={"last": "x"})]
        desk, _ = seat(folder, step("loop", "block", block="body", repeat=repeat), body=body)
        desk.workflows("many")
        used, took = cpu(lambda: desk.start("many", {}, {}))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(json.dumps({"cpu": used, "wall": took, "MB": peak}) + "\n")


def resume() -> tuple[float, float]:
    """CPU and time of an approval behind a thousand finished steps, in those of one behind ten."""
    waits = {name: texts.uses(name, "ask.send") for name in "abcd"}
    found: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        desk, _ = seat(folder, *assigns(10), waits["a"], waits["b"], *assigns(STEPS - 10, 10), waits["c"], waits["d"])
        for _ in range(ROUNDS + 1):
            waiting = desk.start("many", {}, {}).pending
            times = []
            for _ in range(3):
                target = desk.select([waiting[0].ref], "approve")
                times.append(cpu(lambda target=target: desk.approve(target)))  # type: ignore[misc]  # of this round
                waiting = desk.show_run(target.row.run_id)[1]
            found.append((times[2][0] / times[0][0], times[2][1] / times[0][1]))
    return median(c for c, _ in found[1:]), median(w for _, w in found[1:])


def main(given: list[str]) -> int:
    gc.set_threshold(*THRESHOLD)
    if "--loop" in given:
        one_loop(int(given[-1]))
        return 0
    times = stretch()
    sys.stdout.write(f"{STEPS} steps: {times:.2f} times the CPU of their events alone (goal {MOST_OF_RAW:.0f})\n")
    small, big = loop(STEPS), loop(10 * STEPS)
    more, longer, memory = big["cpu"] / small["cpu"], big["wall"] / small["wall"], big["MB"] / small["MB"]
    sys.stdout.write(
        f"{10 * STEPS} iterations: {more:.1f} times the CPU of {STEPS} (goal {MOST_OF_TEN:.0f}), {longer:.1f} times as long, "
        f"{memory:.2f} times its memory ({big['MB']:.0f} MB, goal {MOST_OF_MEMORY})\n"
    )
    used, took = resume()
    sys.stdout.write(
        f"going on behind {STEPS} finished steps: {used:.2f} times the CPU of behind ten (goal {MOST_OF_A_RESUME}), {took:.2f} in time\n"
    )
    return int(times > MOST_OF_RAW or more > MOST_OF_TEN or memory > MOST_OF_MEMORY or used > MOST_OF_A_RESUME)
