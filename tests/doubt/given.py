"""A decider that dies while its tool runs, and what can be seen of processes."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proofs import homes, workers
from proofs.workers import Done, Worker


def until(what: Callable[[], object], seconds: float = 20.0) -> float:
    """Waits for something; how long that took."""
    began = time.monotonic()
    while not what():
        assert time.monotonic() - began < seconds, "it did not come"
        time.sleep(0.002)
    return time.monotonic() - began


def parked(home: Path, **how: str) -> dict[str, Any]:
    """A run whose first call waits for an approval: that row."""
    homes.make(home, policy="require_approval", **how)
    assert workers.run(home, "start", "pay").code == 0
    return rows(home)[0]


def at_work(home: Path, mode: str, **how: str) -> tuple[Worker, dict[str, Any]]:
    """An approval whose tool is running, and the row that was approved."""
    row = parked(home, **how)
    homes.set_mode(home, mode)
    worker = workers.spawn(home, "approve", row["ref"])
    until(lambda: (home / ("child.pid" if mode.split()[0] in ("child", "escape", "cleared") else "tries.log")).exists())
    return worker, row


def killed(home: Path, mode: str = "sleep 30", **how: str) -> dict[str, Any]:
    """The row whose decider was killed while its tool ran."""
    worker, row = at_work(home, mode, **how)
    worker.kill(signal.SIGKILL)
    worker.wait()
    return row


def rows(home: Path) -> list[dict[str, Any]]:
    return workers.run(home, "pending", "list").items


def doubtful(home: Path) -> dict[str, Any]:
    [row] = [row for row in rows(home) if row["origin"] == "OUTCOME_UNKNOWN"]
    return row


def refused(done: Done) -> str:
    """The kind of a refusal; it left standard output empty."""
    assert done.error and not done.out, done
    return str(done.error["kind"])


def child(home: Path) -> int:
    """The pid that a tool has left behind."""
    until(lambda: workers.size(home / "child.pid"))
    return int((home / "child.pid").read_text())


def alive(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in "ZX"


def change_the_tool(home: Path) -> None:
    """Another definition of the same tool."""
    file = home / "toolgate.toml"
    file.write_text(file.read_text().replace('"pay.py"]', '"pay.py", "--changed"]'))
