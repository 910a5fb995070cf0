"""A process from ours, by fork and exec alone: to load the standard library's `subprocess` costs a command more than all of its start.

It does what `subprocess.Popen` does with a `preexec_fn`: the new process has its own session, these streams, the descriptors that were
named and no other, and each signal that we or Python change as it is by default. What keeps it from becoming the program is told through a
pipe that exec closes, so a program that never began is not taken for one that failed.
"""

from __future__ import annotations

import errno
import fcntl
import gc
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from . import kernel

_FIRST = 3  # the first descriptor behind the standard streams


def spawn(argv: list[bytes], cwd: str, env: Mapping[bytes, bytes], streams: Sequence[int], inherited: Sequence[int]) -> int:
    """Its process id. `argv[0]` is an absolute path; `streams`: what is to be its standard input, output and error. From the main thread
    only. Raises OSError, with the name of what it is about, or ValueError: then there is no process."""
    if any(b"\0" in text for text in (*argv, *env, *env.values())) or "\0" in cwd:
        raise ValueError("embedded null byte")
    if any(b"=" in name or not name for name in env):
        raise ValueError("illegal environment variable name")
    tie = kernel.tie_to_parent()
    reading, writing = os.pipe()
    try:
        try:
            child = os.fork()
            if child == 0:
                try:
                    _become(tie, argv, cwd, env, streams, inherited, writing)
                finally:
                    os._exit(127)
        finally:
            os.close(writing)
        fault = os.read(reading, 64)
    finally:
        os.close(reading)
    if fault:
        with suppress(ChildProcessError):  # somebody else took its end: what it told is what happened
            os.waitpid(child, 0)
        number, about = fault.split()
        raise OSError(int(number), os.strerror(int(number)), cwd if about == b"cwd" else os.fsdecode(argv[0]))
    return child


def _become(
    tie: Callable[[], None],
    argv: list[bytes],
    cwd: str,
    env: Mapping[bytes, bytes],
    streams: Sequence[int],
    inherited: Sequence[int],
    told: int,
) -> None:
    """Returns only where it failed; `told` is told why."""
    about = "argv"
    try:
        gc.disable()  # nothing of ours is to be taken down in here
        os.setsid()  # before a signal can reach it: one of the terminal is for us
        tie()
        # out of the way first: one of them may have the number of another's place
        told, *moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _FIRST) for descriptor in (told, *streams)]
        for number, descriptor in enumerate(moved):
            os.dup2(descriptor, number)
        about = "cwd"
        os.chdir(cwd)
        about = "argv"
        for descriptor in inherited:
            os.set_inheritable(descriptor, True)
        kept = {told, *inherited}
        for name in os.listdir("/proc/self/fd"):
            if int(name) >= _FIRST and int(name) not in kept:
                with suppress(OSError):  # the one of the listing itself
                    os.close(int(name))
        os.execve(argv[0], argv, env)
    except BaseException as error:  # noqa: BLE001  # whatever it was: a program that never began is not to be taken for one that failed
        why = error.errno if isinstance(error, OSError) else errno.EAGAIN
        os.write(told, f"{why} {about}".encode())
