"""How fast a long log is verified, and in how much memory; prints events/s and the peak.

`python tests/bench/verifying.py [EVENTS] [STORE]` makes a store (or takes the one that is there) and verifies it by the command's own way,
each time in a process of its own: the whole of it, and from its middle on.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..")]

from toolgate_cli.core import chain  # noqa: E402
from toolgate_cli.core.records import Event, EventQuery  # noqa: E402
from toolgate_cli.host.mint import RandomMint  # noqa: E402
from toolgate_cli.stores.sqlite import SqliteStore  # noqa: E402

TYPES = ("TOOL_INVOCATION_REQUESTED", "TOOL_INVOCATION_APPROVAL_PENDING", "TOOL_INVOCATION_APPROVED", "TOOL_INVOCATION_STARTED",
         "TOOL_INVOCATION_COMPLETED", "STEP_COMPLETED")  # fmt: skip


def events(identity: str) -> Iterator[Event]:
    """A log without end, of events as long as real ones."""
    mint, head, number = RandomMint(), None, 0
    while True:
        call, run = mint.id("c"), mint.id("r")
        for type in TYPES:
            number += 1
            facts = {"reason": "it is for the desk to say so", "ref": f"{call}@0123456789ab", "row": "ab" * 32, "version": 1, "user": "ann"}
            at = f"2026-01-31T12:{number // 60000 % 60:02d}:{number // 1000 % 60:02d}.{number % 1000:03d}Z"
            draft = chain.Draft(at, run, "pay", call, "ledger.pay", "cd" * 32, 1, type, "ann", facts)
            head = chain.extend(head, identity, draft, mint.salt())
            yield head


def fill(path: str, amount: int) -> None:
    store = SqliteStore(path, RandomMint())
    with store.write() as writer:
        made = events(writer.identity())
    for _ in range(0, amount, 10_000):
        with store.write() as writer:
            writer.append(list(islice(made, 10_000)))
    store.close()


def measure(path: str, since: int) -> None:
    """In a process of its own: its peak is that of the verification."""
    store = SqliteStore(path, RandomMint(), readonly=True)
    began, worked = time.perf_counter(), time.process_time()
    with store.read() as reader:
        first = reader.event(since)
        prev = first.hash if first else reader.identity()
        found = chain.verify(reader.events(EventQuery(after=since)), prev, since)
    took, worked = time.perf_counter() - began, time.process_time() - worked
    assert found.first_bad is None, found
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    rates = f"{found.events / took:.0f} events/s, {found.events / worked:.0f} a second of its own time"
    sys.stdout.write(f"since {since}: {found.events} events, {rates}, peak {peak:.1f} MiB\n")


if __name__ == "__main__":
    amount = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = sys.argv[2] if len(sys.argv) > 2 else os.path.join(folder, "store.db")
        if not os.path.exists(path):
            fill(path, amount)
        for since in (0, 0, 0, amount // 2):
            sys.stdout.flush()
            child = os.fork()
            if child == 0:
                measure(path, since)
                sys.stdout.flush()
                os._exit(0)
            os.waitpid(child, 0)
