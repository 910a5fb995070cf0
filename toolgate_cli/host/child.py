"""One started process with its pipes: never the operator's stdin, read in chunks, and no pipe that a grandchild holds can block it."""

from __future__ import annotations

import os
import select
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import ceil
from typing import Literal

from ..core.values import NamedTuple
from .capture import Kept
from .spawning import spawn

CHUNK = 65536


class Command(NamedTuple):
    """`argv[0]` is an absolute path; `env` is the whole environment; `stdin` None means /dev/null; `fence` names the lock
    that all of its descendants inherit."""

    call_id: str
    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    stdin: bytes | None
    fence: str | None = None


class End(NamedTuple):
    """How the process ended: its exit code, or the number of a signal; lost: somebody else took its end."""

    how: Literal["exited", "signalled", "lost"]
    number: int = 0


class Child:
    """Raises OSError or ValueError where nothing was started: what can fail is done before the start."""

    def __init__(self, command: Command, inherited: tuple[int, ...], kept: Kept) -> None:
        self.kept = kept
        self.end: End | None = None
        self.closed = False
        self._tick = 0.02
        self._stdin = memoryview(command.stdin or b"")
        self._poll = select.poll()
        self._acts: dict[int, Callable[[int], None]] = {}
        self._outputs: set[int] = set()
        theirs: list[int] = []
        try:
            theirs.append(self._input(command.stdin))
            theirs.append(self._output(kept.of_stdout))
            theirs.append(self._output(kept.of_stderr))
            self.pid = start(command, theirs, inherited)
        except BaseException:
            for fd in theirs:
                os.close(fd)
            theirs.clear()
            self.close()
            raise
        for fd in theirs[1:]:
            os.close(fd)
        self._spare = theirs[0]  # while we hold the reading end no write of ours can end in SIGPIPE
        self._notice_end()

    _spare = -1

    def _input(self, data: bytes | None) -> int:
        if data is None:
            return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        reading, writing = os.pipe()
        self._add(writing, select.POLLOUT, self._write)
        return reading

    def _output(self, keep: Callable[[bytes], None]) -> int:
        def read(fd: int) -> None:
            try:
                data = os.read(fd, CHUNK)
            except BlockingIOError:
                return
            if data:
                keep(data)
            else:
                self._shut(fd)

        reading, writing = os.pipe()
        self._outputs.add(reading)
        self._add(reading, select.POLLIN, read)
        return writing

    def _notice_end(self) -> None:
        try:
            handle = os.pidfd_open(self.pid)
            self._add(handle, select.POLLIN, self._shut)
        except OSError:
            return  # a kernel without pidfds: the ticks notice it
        self._tick = 0.1

    def _add(self, fd: int, event: int, act: Callable[[int], None]) -> None:
        self._acts[fd] = act
        os.set_blocking(fd, False)
        self._poll.register(fd, event)

    def _shut(self, fd: int) -> None:
        with suppress(KeyError):
            self._poll.unregister(fd)
        del self._acts[fd]
        self._outputs.discard(fd)
        os.close(fd)

    @property
    def silent(self) -> bool:
        """Nobody can write to us any more."""
        return not self._outputs

    def _write(self, fd: int) -> None:
        try:
            while self._stdin:
                self._stdin = self._stdin[os.write(fd, self._stdin) :]
        except BlockingIOError:
            return
        self._shut(fd)

    def pump(self, seconds: float) -> bool:
        """Moves what can be moved, waiting at most so long for something; whether anything moved."""
        events = self._poll.poll(ceil(max(0.0, min(seconds, self._tick)) * 1000))
        for fd, _ in events:
            if act := self._acts.get(fd):
                act(fd)
        return bool(events)

    def ended(self) -> bool:
        """Whether the process itself has come to its end (its descendants may live)."""
        if self.end is not None:
            return True
        try:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG)
        except ChildProcessError:
            self.end = End("lost")
            return True
        if found is None:
            return False
        exited = found.si_code == os.CLD_EXITED
        self.end = End("exited" if exited else "signalled", found.si_status)
        return True

    def close(self) -> None:
        """Idempotent; what has not been read is lost."""
        self.closed = True
        self.kept.end()
        for fd in tuple(self._acts):
            self._shut(fd)
        if self._spare >= 0:
            os.close(self._spare)
            self._spare = -1


def start(command: Command, streams: list[int], inherited: tuple[int, ...]) -> int:
    """Its process id: in a session of its own and tied to us, with these three as its standard streams."""
    argv = [os.fsencode(command.argv[0]), *(item.encode("utf-8", "surrogateescape") for item in command.argv[1:])]
    env = {os.fsencode(name): value.encode("utf-8", "surrogateescape") for name, value in command.env.items()}
    with warnings.catch_warnings():
        # a warning about threads that somebody made an error would come when the process runs already
        warnings.simplefilter("ignore", DeprecationWarning)
        return spawn(argv, command.cwd, env, streams, inherited)
