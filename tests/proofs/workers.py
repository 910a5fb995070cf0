"""Commands as forked workers: each is a process of its own, without the half second that an interpreter and its imports take.

The parent has imported the whole package; a child gets its own streams, folder and environment, runs the command line in its main
thread, and ends with its exit code. It can be killed at any moment, or at a numbered crash point.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import shlex
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import toolgate_cli
from toolgate_cli.cli import main
from toolgate_cli.host import clock, crash

COMMAND = shlex.split(os.environ.get("TOOLGATE", "toolgate"))
Point = Callable[[str], None]
LIMIT = 60.0  # seconds that no command of a proof may take


class Done(NamedTuple):
    """How a command ended; `code` is negative for a signal."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> dict[str, Any]:
        return json.loads(self.out) if self.out.strip() else {}

    @property
    def items(self) -> list[dict[str, Any]]:
        return self.answer["items"]

    @property
    def error(self) -> dict[str, Any]:
        """The refusal; {} where there was none."""
        lines = [line for line in self.err.splitlines() if line.startswith('{"error"')]
        return json.loads(lines[-1])["error"] if lines else {}


class Crash(NamedTuple):
    """The worker ends at its point number `at`; `log` gets the list of points. `late`: a crash right after a start waits until
    that file has grown, so that the tool's effect is there and its end is not yet seen."""

    at: int = 0
    log: Path | None = None
    late: Path | None = None

    def point(self) -> Point:
        """What TOOLGATE_CRASH_AT and TOOLGATE_CRASH_LOG make of `crash.point` at the start of an interpreter."""
        armed = crash._from(str(self.at), str(self.log) if self.log else None)
        return armed if self.late is None else _late(armed, self.at, self.late)


class Worker:
    def __init__(self, pid: int, out: int, err: int) -> None:
        self.pid, self._out, self._err = pid, out, err
        self._status: int | None = None

    def kill(self, number: int = signal.SIGKILL) -> None:
        if not self.ended():
            os.kill(self.pid, number)

    def ended(self) -> bool:
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = status if pid else None
        return self._status is not None

    def wait(self) -> Done:
        until = time.monotonic() + LIMIT
        pause = 0.0005
        while not self.ended():
            if time.monotonic() > until:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                raise AssertionError(f"a command took longer than {LIMIT} s")
            time.sleep(pause)
            pause = min(0.01, pause * 1.3)
        assert self._status is not None
        return Done(os.waitstatus_to_exitcode(self._status), _read(self._out), _read(self._err))


def _read(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    text = os.pread(descriptor, size, 0).decode("utf-8", "surrogateescape")
    os.close(descriptor)
    return text


@cache
def warm() -> None:
    """Imports whatever a command may import later."""
    for module in pkgutil.walk_packages(toolgate_cli.__path__, "toolgate_cli."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in ("jsonschema", "jsonschema.validators", "pydantic", "tomllib", "typer", "typer.main", "rich.table", "sqlite3", "ctypes"):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()


def environment(home: Path, **more: str) -> dict[str, str]:
    """Nothing of the real home, and no option."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("TOOLGATE", "XDG_")) and k not in ("FORCE_COLOR", "NO_COLOR")}
    return {**kept, "HOME": str(home), **more}


def spawn(
    home: Path,
    *words: str,
    crash_at: Crash | None = None,
    point: Point | None = None,
    barrier: tuple[int, int] | None = None,
    first: Callable[[], None] | None = None,
    form: tuple[str, ...] = ("--json",),
    **env: str,
) -> Worker:
    """Starts a command. `point` is called at every crash point; `barrier`: a pipe, it begins when nobody can write to that any more;
    `first` is done in the new process before the command."""
    warm()
    out, err = os.memfd_create("out"), os.memfd_create("err")
    pid = os.fork()
    if pid:
        return Worker(pid, out, err)
    code = 99
    try:
        _become(home, out, err, env)
        _arm(crash_at.point() if crash_at else point)
        if first is not None:
            first()
        if barrier is not None:
            os.close(barrier[1])
            os.read(barrier[0], 1)
        code = main.run([*words, "-C", str(home), *form])
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    os._exit(code)


def run(home: Path, *words: str, crash_at: Crash | None = None, point: Point | None = None, **env: str) -> Done:
    return spawn(home, *words, crash_at=crash_at, point=point, **env).wait()


def real(home: Path, *words: str, **env: str) -> subprocess.Popen[str]:
    """The installed command itself, in an interpreter of its own."""
    return subprocess.Popen(
        [*COMMAND, *words, "-C", str(home), "--json"],
        cwd=home, env=environment(home, **env), text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(process: subprocess.Popen[str]) -> Done:
    out, err = process.communicate(timeout=LIMIT)
    return Done(process.returncode, out, err)


def _become(home: Path, out: int, err: int, env: dict[str, str]) -> None:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, number in ((nothing, 0), (out, 1), (err, 2)):
        os.dup2(descriptor, number)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, "w" if number else "r", closefd=False) for number in (0, 1, 2))
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    kept = environment(home, **env)
    os.environ.clear()
    os.environ.update(kept)
    os.chdir(home)
    clock.SystemClock.sleep = lambda self, seconds: time.sleep(min(seconds, 0.005))  # type: ignore[method-assign]  # no backoff


def _arm(point: Point | None) -> None:
    if point is None:
        return
    idle = crash.point
    for name, module in list(sys.modules.items()):
        if name.startswith("toolgate_cli.") and vars(module).get("point") is idle:
            module.point = point  # type: ignore[attr-defined]


def _late(armed: Point, at: int, log: Path) -> Point:
    passed = 0

    def point(name: str) -> None:
        nonlocal passed
        passed += 1
        if passed == at:
            grown(log, size(log))
        armed(name)

    return point


def dying(name: str, log: Path | None = None, times: int = 1) -> Point:
    """Ends the process when it comes to a point of that name for the n-th time; `log`: once that file has grown."""
    passes = iter(range(1, times))

    def point(passed: str) -> None:
        if passed == name and next(passes, None) is None:
            if log is not None:
                grown(log, size(log))
            os._exit(crash.EXIT)

    return point


def grown(log: Path, was: int) -> None:
    until = time.monotonic() + 5
    while size(log) == was and time.monotonic() < until:
        time.sleep(0.001)


def size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def together(home: Path, *commands: Sequence[str]) -> list[Done]:
    """Several commands that begin at the same moment: when the pipe that all of them read has no writer any more."""
    reading, writing = os.pipe()
    try:
        racers = [spawn(home, *words, barrier=(reading, writing)) for words in commands]
    finally:
        os.close(reading)
        os.close(writing)
    return [racer.wait() for racer in racers]
