"""A process that is talked to in lines for as long as its session lasts: nothing it does blocks us or fills our memory, and its whole tree
ends with the session (I8)."""

from __future__ import annotations

import os
import select
import signal
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack, suppress

from ..core.secrets import Secrets
from ..core.values import NamedTuple
from . import kernel, lasting, processes
from .capture import Kept
from .child import CHUNK, Command, start
from .endings import last_words
from .kin import Kin
from .lines import Line, Lines

GRACE = 0.5  # between SIGTERM and SIGKILL
SWEEP = 1.0  # with GRACE and what is around it, under the 2 s after a timeout in which everything is gone or named
PATIENCE = 0.5  # for a server whose input has ended to come to an end of its own
_EVENTS = 4  # at once: its end, and its three streams


class Left(NamedTuple):
    """What could not be ended: processes by name, and the lock that one of them may hold."""

    survivors: tuple[str, ...] = ()
    left_behind: str | None = None


class Peer:
    """Raises OSError or ValueError where nothing was started. From the main thread only.
    `taken`: bytes of what was sent that its input has taken; `over`: nothing more will come from it."""

    def __init__(self, command: Command, line_bytes: int, secrets: Secrets) -> None:
        kernel.only_from_the_main_thread("a server")
        self.taken = 0
        self.over = False
        self.left: Left | None = None
        self._lines = Lines(line_bytes)
        self._ready: deque[Line] = deque()
        self._kept = Kept(0, secrets)
        self._out = bytearray()
        self._code: int | None = None
        self._poll = select.epoll()
        self._acts: dict[int, Callable[[int], None]] = {}
        self._stack = ExitStack()
        kernel.keep_exit_codes()
        with kernel.signals_held(), ExitStack() as undo:
            self._fence = processes.take_fence(command.fence)
            undo.callback(processes.release_fence, self._fence)
            undo.callback(self._close)
            self._kin = Kin(command.call_id, self._stack.enter_context(kernel.adopting()))
            self._start(command)
            undo.pop_all()
        self._held = lasting.keep(lambda: self.end(PATIENCE), self.pid)

    def _start(self, command: Command) -> None:
        theirs: list[int] = []
        try:
            reading, self._stdin = os.pipe()
            theirs.append(reading)
            os.set_blocking(self._stdin, False)
            theirs.append(self._output(self._heard))
            theirs.append(self._output(self._kept.of_stderr))
            self.pid = start(command, theirs, (self._fence.fd,) if self._fence else ())
        except BaseException:
            for fd in theirs:
                os.close(fd)
            raise
        self._spare = theirs[0]  # while we hold the reading end no write of ours can end in SIGPIPE
        for fd in theirs[1:]:
            os.close(fd)
        self._kin.began(self.pid)
        processes.mark_fence(self._fence, self._kin.session)
        with suppress(OSError):  # a kernel without pidfds: the ticks notice its end
            self._handle = os.pidfd_open(self.pid)
            self._add(self._handle, select.EPOLLIN, self._shut)

    _stdin = _spare = _handle = -1

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
                self.over = self.over or keep == self._heard

        reading, writing = os.pipe()
        self._add(reading, select.EPOLLIN, read)
        return writing

    def _heard(self, data: bytes) -> None:
        self._ready.extend(self._lines.feed(data))

    def _add(self, fd: int, event: int, act: Callable[[int], None]) -> None:
        self._acts[fd] = act
        os.set_blocking(fd, False)
        self._poll.register(fd, event)

    def _shut(self, fd: int) -> None:
        watched = self._acts.pop(fd, None) is not None
        if watched:
            self._poll.unregister(fd)
        if watched or fd == self._stdin:
            os.close(fd)

    # ---- talking ----
    @property
    def backlog(self) -> int:
        """Bytes that were sent and not taken yet."""
        return len(self._out)

    def send(self, data: bytes) -> int:
        """Never blocks. How many bytes its input will have taken before the first of these."""
        place = self.taken + len(self._out)
        self._out += data
        self._write(self._stdin)
        return place

    def _write(self, fd: int) -> None:
        try:
            while self._out:
                count = os.write(fd, self._out[:CHUNK])
                del self._out[:count]
                self.taken += count
        except BlockingIOError:
            if fd not in self._acts:
                self._add(fd, select.EPOLLOUT, self._write)
            return
        if fd in self._acts:
            self._poll.unregister(fd)
            del self._acts[fd]

    def stirred(self) -> bool:
        """Whether there may be anything to hear, or its end: `line` says what."""
        return self.left is None and (bool(self._ready) or self._pump(0.0) or self._handle not in self._acts)

    def line(self, until: float) -> Line | None:
        """The next line; None where none has come until then (a moment of `kernel.now`), or none will come any more."""
        while not self._ready:
            if self.over:
                return None
            left = until - kernel.now()
            moved = self._pump(max(0.0, left))
            if not moved and self._handle not in self._acts and self._ended():
                self.over = True  # whoever holds its output now is not whom we talked to
            elif left <= 0 and not self._ready:
                return None
        return self._ready.popleft()

    def _pump(self, seconds: float) -> bool:
        events = self._poll.poll(min(seconds, 0.1), _EVENTS)
        for fd, _ in events:
            if act := self._acts.get(fd):
                act(fd)
        return bool(events)

    def words(self) -> str:
        """How it ended, as far as it has, with the last that it wrote to its standard error."""
        until = kernel.now() + 0.1  # its output ends a moment before it does
        while self.left is None and not self._ended() and kernel.now() < until:
            self._pump(0.01)
        code = self._code
        how = "" if code is None else f"signal {-code}" if code < 0 else f"exit code {code}"
        return ": ".join(filter(None, (how, last_words(self._kept.stderr.trim()))))

    @property
    def lock(self) -> str | None:
        """Its name: whatever is left of the tree after our death holds it, or is in the session that it tells of. None once the process has
        ended: a second session does not get the name, for what was lost in this one bears it. Nothing is read, and nobody waited for."""
        return self._fence.name if self._fence and not self._ended() else None

    # ---- its end ----
    def _ended(self) -> bool:
        if self._code is not None:
            return True
        try:
            found = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG)
        except ChildProcessError:
            self._code = 0  # somebody else took its end
            return True
        if found is None:
            return False
        self._code = found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
        return True

    def end(self, patience: float = 0.0) -> Left:
        """Nothing of its tree is left after this, or it is named. `patience`: seconds that it has to end by itself; idempotent."""
        if self.left is not None:
            return self.left
        with kernel.signals_held():
            self._shut(self._stdin)
            self._stdin = -1
            self._out.clear()
            gone = self._wait(patience) if patience else False
            if not gone:
                self._signal(signal.SIGTERM)
                gone = self._wait(GRACE)
            self._signal(signal.SIGKILL)
            self._wait(0.1)
            survivors = () if gone else self._kin.kill(SWEEP)
            self._ended()
            lasting.let_go(self._held)
            if not survivors:
                processes.mark_fence(self._fence, None)
            held = processes.release_fence(self._fence)
            self._close()
            self.left = Left(survivors, self._fence.name if self._fence and held else None)
        return self.left

    def _wait(self, seconds: float) -> bool:
        """Whether its whole tree has gone within that time; what it says meanwhile is thrown away."""
        until = kernel.now() + seconds
        while True:
            gone = self._ended() and self._kin.none_left()
            if gone or kernel.now() >= until:
                return gone
            self._pump(min(0.02, max(0.0, until - kernel.now())))
            self._ready.clear()

    def _signal(self, number: int) -> None:
        if not self._ended():  # not reaped before this: the number is still its own
            with suppress(OSError):
                os.killpg(self.pid, number)

    def _close(self) -> None:
        self._kept.end()
        for fd in tuple(self._acts):
            self._shut(fd)
        self._poll.close()
        for fd in (self._stdin, self._spare):
            if fd >= 0:
                os.close(fd)
        self._stdin = self._spare = -1
        self.over = True
        self._stack.close()


STARTING = (OSError, ValueError)
