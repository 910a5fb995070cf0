"""What recovery kills of a dead owner's call, whether we run inside a call, and the fence that a tool inherits (I8)."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache

from ..core.values import NamedTuple
from . import heeding, sessions, tree

KILL = 2.0  # seconds


class HostProcesses:
    """`ports.Processes`."""

    def kill_call(self, call_id: str, before: float | None = None, session: tuple[int, int, str] | None = None) -> tuple[str, ...]:
        from . import kernel

        last = float("inf") if before is None else before * os.sysconf("SC_CLK_TCK")
        of = tree.Session(*session) if session else None
        if of is not None and of.mark == call_id:
            of = of._replace(mark="")  # a later start of the call bears it too

        def living() -> list[tree.Process]:
            seen = tree.everything()
            roots = {pid for pid in tree.marked(seen, call_id) if seen[pid].start <= last}
            roots |= tree.of_session(seen, of) if of else set()
            members = tree.family(seen, roots) & seen.keys()
            members -= {os.getpid(), *tree.ancestors()}
            return [seen[pid] for pid in members if not seen[pid].dead]

        return tree.sweep(living, kernel.now, kernel.now() + KILL)

    def ancestors(self) -> tuple[int, ...]:
        return tree.ancestors()

    def heed(self) -> None:
        heeding.heed()

    def inside_call(self) -> str | None:
        if call := os.environ.get("TOOLGATE_CALL"):
            return call
        return _call_above(os.getpid())


@lru_cache(maxsize=1)
def _call_above(_process: int) -> str | None:
    """Looked up once: a process that was started outside of any call does not come to be inside one."""
    return next((call for pid in tree.ancestors() if (call := tree.call_of(pid))), None)


class Fence(NamedTuple):
    """A lock that a tool inherits: while a descendant that escaped every kill lives, it is held."""

    name: str
    fd: int


_take: Callable[[str | None], tuple[str, int]] | None = None
_release: Callable[[str, int], bool] | None = None


def use_fence(take: Callable[[str | None], tuple[str, int]] | None, release: Callable[[str, int], bool] | None) -> None:
    """Set once by the wiring. `take` gives a lock's name and descriptor; `release` closes ours and says whether somebody still holds it."""
    global _take, _release
    _take, _release = take, release


def take_fence(name: str | None) -> Fence | None:
    """The lock of that name; OSError where there should be one and cannot be."""
    return Fence(*_take(name)) if _take else None


def mark_fence(fence: Fence | None, session: tree.Session | None) -> None:
    """Writes into the lock which session the tool is in, for whoever finds it after our death; None: nothing of the tool is left. Best
    effort: a full disk stops no tool that runs already."""
    if fence is None:
        return
    with suppress(OSError):
        if session is None:
            os.ftruncate(fence.fd, 0)
        else:
            os.pwrite(fence.fd, sessions.line(session), 0)


def release_fence(fence: Fence | None) -> bool:
    """Whether it is still held by somebody."""
    return bool(fence and _release and _release(fence.name, fence.fd))
