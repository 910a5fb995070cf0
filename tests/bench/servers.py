"""A call of an MCP server on an open session, by the provider and by a bare client: the same bytes over two pipes, and no more.

`python -m tests.bench servers [N]` asks each server that `.ci/peers` installs N times in turns, and prints lower quartiles: what others do
on the machine only ever adds. Which processor a server comes to run on is chance, and stays so for its life: of several sessions the median
counts. Exit 1 over the goal.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from peers.servers import ALL, Peer

from toolgate_cli.core import canonical
from toolgate_cli.host import lasting, processes
from toolgate_cli.host.owners import FileOwners
from toolgate_cli.providers import _mcp_session, mcp
from toolgate_cli.runtime.plugs import InvokeLimits

GOAL = 1.5  # times a bare client
PATH = "/usr/local/bin:/usr/bin:/bin"
ROUND = 2
SESSIONS = 5
WARM = 200  # calls of each, before they count: a server of Node.js is compiled while it runs


class Bare:
    """The least that can be done: a line out, a line in, and JSON on both ends."""

    def __init__(self, peer: Peer, home: str) -> None:
        self.process = subprocess.Popen(
            peer.command(), cwd=home, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            start_new_session=True,  # the kernel shares its time out by sessions
        )  # fmt: skip
        self.id = 0
        self.meta = _mcp_session.envelope()
        if "result" not in self.ask("server/discover", {}):
            self.meta = {}
            self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bare", "version": "1"}})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.ask("tools/list", {})

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        assert self.process.stdout is not None
        self.id += 1
        self.send({"jsonrpc": "2.0", "id": self.id, "method": method, "params": {**params, "_meta": self.meta} if self.meta else params})
        while True:
            answer: dict[str, Any] = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.id:
                return answer


class Claim:
    """As the gate gives it."""

    call_id, run_id, key = "c-bench", "r-bench", "k-bench"

    def __init__(self, bound: object, arguments: dict[str, Any]) -> None:
        self.bound, self.arguments = bound, canonical.encode(arguments)

    @property
    def fence(self) -> str:
        return mcp.lock(self.bound) or "fbench"


def ours(peer: Peer, home: str) -> Callable[[], object]:
    fields = mcp.Fields(peer.name, peer.read.tool, peer.command())
    found = mcp.offers(fields, home, PATH, InvokeLimits(60, 1, lambda: False))
    [digest] = [offer.digest for offer in found.tools if offer.name == peer.read.tool]
    bound = mcp.bind(fields._replace(definition=digest, trusted=found.server), mcp._outside(fields, home, PATH).facts, home, {})
    claim, limits = Claim(bound, peer.read.arguments), InvokeLimits(60, 1 << 20, lambda: False)

    def call() -> object:
        result = mcp.invoke(claim, limits)
        assert result.ok, result
        return result

    return call


def timed(call: Callable[[], object], times: list[float]) -> None:
    for _ in range(ROUND):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)


def compare(peer: Peer, home: str, count: int) -> tuple[float, float]:
    """Milliseconds of a call, bare and by the provider, on one session of each."""
    bare, mine = Bare(peer, home), ours(peer, home)
    theirs: list[float] = []
    times: list[float] = []
    params = {"name": peer.read.tool, "arguments": peer.read.arguments}
    for number in range((WARM + count) // ROUND + 1):
        timed(lambda: bare.ask("tools/call", params), theirs)
        timed(mine, times)
        if number == WARM // ROUND:
            theirs.clear()
            times.clear()
    bare.process.kill()
    bare.process.wait()
    lasting.end_all()
    low, ours_low = (quantiles(found, n=4)[0] * 1000 for found in (theirs, times))
    return low, ours_low


def main(words: list[str]) -> int:
    count = int(words[0]) if words else 300
    ratios: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        owners = FileOwners(f"{folder}/owners")
        processes.use_fence(owners.fence, owners.release)
        Path(folder, "toolgate.toml").touch()
        subprocess.run(["git", "init", "-q", f"{folder}/repository"], check=True)
        said = ["git", "-c", "user.name=x", "-c", "user.email=x@y", "-C", f"{folder}/repository"]
        subprocess.run([*said, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
        for peer in ALL.values():
            found = sorted((compare(peer, folder, count) for _ in range(SESSIONS)), key=lambda pair: pair[1] / pair[0])
            low, ours_low = found[SESSIONS // 2]
            ratios.append(ours_low / low)
            every = ", ".join(f"{mine / bare:.2f}" for bare, mine in found)
            print(f"{peer.name:12} bare {low:5.2f} ms   toolgate {ours_low:5.2f} ms   {ratios[-1]:.2f}x (goal {GOAL}x; {every})")  # noqa: T201
    return int(max(ratios) > GOAL)
