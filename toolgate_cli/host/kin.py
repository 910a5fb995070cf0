"""Which processes belong to the call that runs now, and their end: what is not of the call is neither killed nor reaped (I8)."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from . import kernel, lasting, tree
from .tree import Process, Session


class Kin:
    """Made before the start. With `adopted` (orphans come to us) nothing of the tool can leave our descent.

    A child of ours is of the call if it was not there before and is not older than the tool's own process.
    """

    def __init__(self, call_id: str, adopted: bool) -> None:
        self._call = call_id
        self._me = os.getpid()
        self._main = Process(0, 0, 0, "X", "")
        self._others: frozenset[int] = frozenset()
        self._adopted = adopted
        self._only_ours = adopted and not _any_child()
        if not self._only_ours:
            self._others = frozenset(tree.own_children() or (p.pid for p in tree.everything().values() if p.parent == self._me))

    def began(self, pid: int) -> None:
        """The tool's own process was started, in a session of its own; it is reaped by who started it."""
        self._main = tree.look(pid) or self._main

    @property
    def session(self) -> Session | None:
        return Session(self._main.pid, self._main.start, self._call) if self._main.pid else None

    def none_left(self) -> bool:
        """Whether the whole tree is gone. Only after the tool's own process was reaped.

        What has lost its parent has become our child: no look at all processes is needed.
        """
        if self._only_ours and not self._lasting():
            return self._no_child()
        children = tree.own_children() if self._adopted else []
        if not children:  # not even the others: this kernel does not list them
            return not self.living()
        left = [process for pid in children if (process := tree.look(pid)) and self._is_ours(process)]
        for process in left:
            if process.dead:
                self._reap(process.pid)
        return all(process.dead for process in left)

    def _no_child(self) -> bool:
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return True
            if ended is None:
                return False
            _reap(ended.si_pid)

    def living(self) -> list[Process]:
        """All of the call that still run, by descent and by environment; the dead among our own children are reaped."""
        seen = tree.everything()
        ours = {process.pid for process in seen.values() if process.parent == self._me and self._is_ours(process)}
        started = tree.of_session(seen, self.session) if self.session else tree.marked(seen, self._call)
        members = tree.family(seen, ours | started) & seen.keys()
        for pid in ours:
            if seen[pid].dead:
                self._reap(pid)
        return [seen[pid] for pid in members if not seen[pid].dead]

    def kill(self, seconds: float) -> tuple[str, ...]:
        """Names what is left after that time."""
        until = kernel.now() + seconds

        def left() -> list[Process]:
            self._strike(until)
            return self.living()

        return tree.sweep(left, kernel.now, until)

    def _strike(self, until: float) -> None:
        """Kills our children until there are none: each that dies makes its own children ours, so the tree comes down from the root,
        and a process that forks and exits faster than all of /proc can be read is still caught."""
        for _ in range(200):
            all_ours = not self._others and not self._lasting()
            found = [pid for pid in tree.own_children() if all_ours or self._is_ours(tree.look(pid))]
            for pid in found:
                _kill(pid)
            for pid in found:
                self._reap(pid)
            if not found or kernel.now() >= until:
                return
            time.sleep(0.0002)

    def _reap(self, child: int) -> None:
        if child != self._main.pid:
            _reap(child)

    def _is_ours(self, child: Process | None) -> bool:
        if child is None or self._main.pid == 0:
            return False
        return child.pid not in self._others and child.pid not in self._lasting() and child.start >= self._main.start

    def _lasting(self) -> set[int]:
        """Processes of ours that outlast one call, and were perhaps started after this one: none of this tree."""
        return lasting.pids() - {self._main.pid}


def _any_child() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _kill(child: int) -> None:
    """A child of ours that is not reaped keeps its number: nothing else can be hit."""
    with suppress(OSError):
        os.kill(child, signal.SIGKILL)


def _reap(child: int) -> None:
    with suppress(ChildProcessError):
        os.waitpid(child, os.WNOHANG)
