"""Runs one tool process to its end: the timeout is hard, and nothing of the tool's tree is left behind unnamed (I8, I10)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Literal

from ..core.secrets import NONE, Secrets
from . import heeding, kernel, processes
from .capture import Kept
from .child import Child, Command, End
from .crash import point
from .endings import Ended
from .kin import Kin
from .processes import Fence

GRACE = 0.5  # between SIGTERM and SIGKILL
LINGER = 1.0  # what the tool left running may still write, after the tool itself has ended
SWEEP = 1.2  # with GRACE and what is around it, under the 2 s after a timeout in which everything is gone or named
ASK = 0.1  # seconds between two questions to `stop`

Why = Literal["exited", "timed_out", "cancelled"]


def ready() -> None:
    """Loads what a start needs: once it is on record nothing may be missing."""
    kernel.ready()


def run(command: Command, timeout: float, output_bytes: int, stop: Callable[[], bool], secrets: Secrets = NONE) -> Ended:
    """What it writes is kept without the values of `secrets`. An exception that a signal handler raises goes on once the tree is killed.
    From the main thread only."""
    kernel.only_from_the_main_thread("a tool")
    if timeout <= 0:
        return Ended("not_started", fault="no time was left for it")
    deadline = kernel.now() + timeout
    kernel.keep_exit_codes()
    point("spawn:before")
    try:
        fence = processes.take_fence(command.fence)
    except OSError as error:
        return Ended("not_started", fault=f"no lock for its descendants: {error}")
    held = False
    try:
        with kernel.adopting() as adopted, kernel.unstopped():
            kept = Kept(output_bytes, secrets)
            ended = _run(command, deadline, kept, stop, Kin(command.call_id, adopted), fence)
    finally:
        held = processes.release_fence(fence)
    point("outcome:seen")
    return ended._replace(left_behind=fence.name) if fence and held else ended


def _run(command: Command, deadline: float, kept: Kept, stop: Callable[[], bool], kin: Kin, fence: Fence | None) -> Ended:
    child: Child | None = None
    try:
        if stop():
            return Ended("not_started", fault="cancelled before it was started")
        with kernel.signals_held():
            if heeding.interrupted():
                return Ended("not_started", fault="interrupted before it was started")
            try:
                child = Child(command, (fence.fd,) if fence else (), kept)
            except (OSError, ValueError) as error:
                return Ended("not_started", fault=_fault(error))
            kin.began(child.pid)
            processes.mark_fence(fence, kin.session)
        point("spawn:after")
        why = _wait(child, deadline, stop)
        with kernel.signals_held():
            return _finish(child, kin, fence, why, deadline)
    except BaseException:
        if child is not None and not child.closed:
            with kernel.signals_held():
                _finish(child, kin, fence, "cancelled", kernel.now())
        raise


def _fault(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror.lower()}: {error.filename!r}" if error.filename else error.strerror.lower()
    return str(error)


def _wait(child: Child, deadline: float, stop: Callable[[], bool]) -> Why:
    ask = kernel.now() + ASK
    while not child.ended():
        now = kernel.now()
        if now >= deadline:
            return "timed_out"
        if now >= ask:
            if stop():
                return "cancelled"
            ask = kernel.now() + ASK
        child.pump(min(deadline, ask) - now)
    # whoever stopped us, or the machine: nobody knows of an end that was seen too late whether it came in time
    return "exited" if kernel.now() < deadline else "timed_out"


def _finish(child: Child, kin: Kin, fence: Fence | None, why: Why, deadline: float) -> Ended:
    """Nothing of the tree is left after this, or it is named."""
    if why == "exited":
        _linger(child, kin, deadline)
    else:
        _terminate(child, kin)
    survivors: tuple[str, ...] = ()
    if why != "exited" or not kin.none_left():
        survivors = kin.kill(SWEEP)
    if not survivors:
        processes.mark_fence(fence, None)
    _drain(child)
    child.ended()
    child.close()
    end = child.end or End("lost")
    return Ended(
        end.how if why == "exited" else why,
        end.number if why == "exited" else 0,
        bytes(child.kept.stdout.kept),
        child.kept.stdout.size,
        child.kept.stdout.digest,
        child.kept.stderr.trim(),
        survivors,
    )


def _linger(child: Child, kin: Kin, deadline: float) -> None:
    """A call ends with its own process; its descendants have a second more, but not beyond the timeout."""
    now = kernel.now()
    until = min(now + LINGER, max(now, deadline) + 0.2)
    pause = 0.002
    while not (child.silent and kin.none_left()) and kernel.now() < until:
        child.pump(until - kernel.now() if not child.silent else pause)
        pause = min(pause * 2, 0.05)


def _terminate(child: Child, kin: Kin) -> None:
    """The group is asked to end; then the tool's own process is made to."""
    _signal(child, signal.SIGTERM)
    until = kernel.now() + GRACE
    while kernel.now() < until and not (child.ended() and kin.none_left()):
        child.pump(0.05)
    _signal(child, signal.SIGKILL)
    until = kernel.now() + 0.1
    while kernel.now() < until and not child.ended():
        child.pump(0.01)


def _signal(child: Child, number: int) -> None:
    if child.ended():
        return  # not reaped before this: the number is still its own
    with suppress(OSError):
        os.killpg(child.pid, number)


def _drain(child: Child) -> None:
    """What was written before the end is still in the pipes; each is read once at least, however late it is."""
    until = kernel.now() + 0.1
    while not child.silent and child.pump(0.0) and kernel.now() < until:
        pass
