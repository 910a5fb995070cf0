"""Settings of the Linux kernel that tie a tool's life to ours: death with the parent, orphans that come to us, signals that wait (I8)."""

from __future__ import annotations

import os
import signal
import time
from _thread import get_native_id
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

_SET_PDEATHSIG, _SET_SUBREAPER, _GET_SUBREAPER = 1, 36, 37  # linux/prctl.h
_HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STOPS = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)  # of a terminal; SIGSTOP itself cannot be ignored
_RESET = (*_HELD, *_STOPS, signal.SIGQUIT, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ)


def now() -> float:
    """Seconds on the clock that goes on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@cache
def _prctl() -> Callable[..., int]:
    import ctypes

    call = ctypes.CDLL(None, use_errno=True).prctl
    call.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]
    call.restype = ctypes.c_int
    return call


def ready() -> None:
    """Loads what is only needed here."""
    _prctl()


@contextmanager
def adopting() -> Iterator[bool]:
    """Orphans of our descendants become our children in here; False where the kernel does not do that."""
    import ctypes

    prctl, was = _prctl(), ctypes.c_int(0)
    prctl(_GET_SUBREAPER, ctypes.addressof(was), 0, 0, 0)
    done = prctl(_SET_SUBREAPER, 1, 0, 0, 0) == 0
    try:
        yield done
    finally:
        prctl(_SET_SUBREAPER, was.value, 0, 0, 0)


@contextmanager
def signals_held() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP wait until the end of the block: a start and a kill are never half done."""
    was = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, was)


@contextmanager
def unstopped() -> Iterator[None]:
    """No terminal stops this process in here (Ctrl-Z): a timeout that is not watched over is none."""
    was = {number: signal.signal(number, signal.SIG_IGN) for number in _STOPS}
    try:
        yield
    finally:
        for number, handler in was.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


def only_from_the_main_thread(what: str) -> None:
    """RuntimeError elsewhere: see `tie_to_parent`. By the kernel's own numbers, for `threading` is not loaded for a start."""
    if get_native_id() != os.getpid():
        raise RuntimeError(f"{what} is started from the main thread")


def tie_to_parent() -> Callable[[], None]:
    """What a new child does between fork and exec; everything it needs is loaded before the fork.

    The kernel sends the signal when the *thread* that forked ends: tools are started from the main thread alone.
    """
    prctl, parent = _prctl(), os.getpid()

    def tie() -> None:
        prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the line above
            os._exit(127)
        for number in _RESET:  # a signal that we ignore (nohup; Python itself: the last two) would be ignored by the tool too
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    return tie


def keep_exit_codes() -> None:
    """Where we were started with SIGCHLD ignored the kernel would throw away every exit code, and 0 would be read from nothing."""
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
