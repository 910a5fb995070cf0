"""Processes as /proc shows them: who belongs to a call, and how to end all of them; a recycled pid is never hit (I8)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping

from ..core.values import NamedTuple

MARK = b"TOOLGATE_CALL="


class Process(NamedTuple):
    """`start` is in clock ticks since boot: with the pid it names one process for ever."""

    pid: int
    parent: int
    start: int
    state: str
    name: str
    session: int = 0

    @property
    def dead(self) -> bool:
        return self.state in "ZX"


class Session(NamedTuple):
    """The session that a tool was started in: its number, and the start of its first process in clock ticks since boot. `mark`: what stands
    in the environment of all that was started with it, a call or, where it serves more than one, the name of its lock."""

    id: int
    start: int
    mark: str = ""


def _read(path: str) -> bytes:
    """b"" where the process is gone or is not ours to read."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.readall()
    except OSError:
        return b""


def look(pid: int) -> Process | None:
    text = _read(f"/proc/{pid}/stat")
    head, _, rest = text.rpartition(b")")  # the name may hold spaces and brackets
    if not head:
        return None
    fields = rest.split()
    name = head.partition(b"(")[2].decode("utf-8", "backslashreplace")
    return Process(pid, int(fields[1]), int(fields[19]), fields[0].decode(), name, int(fields[3]))


def everything() -> dict[int, Process]:
    found = (look(int(entry)) for entry in os.listdir("/proc") if entry.isdigit())
    return {process.pid: process for process in found if process is not None}


def own_children() -> list[int]:
    """Unreaped children of this process, far faster than by a look at everything; [] on a kernel that does not list them."""
    listed = b" ".join(_read(f"/proc/self/task/{thread}/children") for thread in os.listdir("/proc/self/task"))
    return [int(pid) for pid in listed.split()]


def call_of(pid: int) -> str | None:
    """The call that a process was started for by its environment; None also where it cannot be read."""
    for item in _read(f"/proc/{pid}/environ").split(b"\0"):
        if item.startswith(MARK):
            return item[len(MARK) :].decode("utf-8", "backslashreplace") or None
    return None


def ancestors() -> tuple[int, ...]:
    """Pids from the parent upwards."""
    line: list[int] = []
    pid = os.getppid()
    while pid > 0 and pid not in line:
        line.append(pid)
        process = look(pid)
        pid = process.parent if process else 0
    return tuple(line)


def family(processes: Mapping[int, Process], roots: Iterable[int]) -> set[int]:
    """The roots and all their descendants."""
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    found: set[int] = set()
    left = list(roots)
    while left:
        pid = left.pop()
        if pid not in found:
            found.add(pid)
            left.extend(children.get(pid, ()))
    return found


def marked(processes: Iterable[int], mark: str) -> set[int]:
    """Those that were started for a call, or for a lock, of that name; never this process or one above it."""
    own = {os.getpid(), *ancestors()}
    return {pid for pid in processes if pid not in own and call_of(pid) == mark}


def of_session(processes: Mapping[int, Process], session: Session) -> set[int]:
    """Those that are in it, or bear its mark; never this process or one above it. Its number is given to nobody else while one
    of them lives; if the process of that number is another one than the first of the session, nobody was left in it."""
    started = marked(processes, session.mark) if session.mark else set()
    first = processes.get(session.id)
    if first is not None and first.start != session.start:
        return started
    own = {os.getpid(), *ancestors()}
    return started | {
        pid for pid, process in processes.items() if process.session == session.id and process.start >= session.start and pid not in own
    }


def kill(process: Process) -> None:
    """SIGKILL to exactly this process: a descriptor of it is held while its start is compared."""
    import signal

    try:
        handle = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    except OSError:  # a kernel without pidfds
        handle = -1
    try:
        now = look(process.pid)
        if now is None or now.start != process.start:
            return
        if handle >= 0:
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        else:
            os.kill(process.pid, signal.SIGKILL)
    except OSError:
        pass  # gone, or not ours to kill: the sweep names what stays
    finally:
        if handle >= 0:
            os.close(handle)


def sweep(living: Callable[[], list[Process]], clock: Callable[[], float], until: float) -> tuple[str, ...]:
    """Kills what `living` finds, again and again until it finds nothing or the time is over; names what is left.

    One that is ending has no environment any more but still its descriptors: it is waited for.
    """
    known: dict[int, Process] = {}
    pause = 0.001
    while True:
        known = {pid: process for pid, process in known.items() if _still(process)}
        known.update((process.pid, process) for process in living())
        if not known or clock() >= until:
            return tuple(f"pid {process.pid} {process.name}" for process in known.values())
        for process in known.values():
            kill(process)
        time.sleep(pause)
        pause = min(pause * 2, 0.05)


def _still(process: Process) -> bool:
    now = look(process.pid)
    return now is not None and now.start == process.start and not now.dead
