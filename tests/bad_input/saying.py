"""Command lines in a forked child: their words, streams and environment are exactly what the test gives them, and nothing else."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from proofs.workers import environment, warm

from toolgate_cli.cli import main
from toolgate_cli.host import clock

LIMIT = 60.0  # seconds that no child here may take
ESCAPED = 99


class Said(NamedTuple):
    """How a command ended."""

    words: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def error(self) -> dict[str, Any]:
        """The refusal, where --json was asked for."""
        found: dict[str, Any] = json.loads(self.err)["error"]
        return found

    @property
    def message(self) -> str:
        """Of several faults all of them."""
        return "; ".join(line.removeprefix("error: ") for line in self.err.split("\n") if line.startswith("error: "))

    @property
    def hint(self) -> str:
        lines = [line for line in self.err.split("\n") if line.startswith("hint: ")]
        return lines[-1].removeprefix("hint: ") if lines else ""


class Given(NamedTuple):
    """What a command gets beside its words. `closed`: descriptors that do not exist; `biggest`: bytes that a file may grow to."""

    stdin: bytes = b""
    env: Mapping[str, str] = {}
    closed: Sequence[int] = ()
    biggest: int | None = None


def say(folder: Path, *words: str, **given: Any) -> Said:
    return say_all(folder, [words], Given(**given))[0]


def say_all(folder: Path, commands: Sequence[Sequence[str]], given: Given | None = None) -> list[Said]:
    """One after the other in one child, as fast as that goes."""
    warm()
    results = os.memfd_create("results")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pid = os.fork()
    if pid == 0:
        try:
            _become(folder, given or Given())
            with os.fdopen(results, "w") as file:
                for words in commands:
                    file.write(json.dumps(_one(words, given or Given())) + "\n")
                    file.flush()
        finally:
            os._exit(0)
    status = _wait(pid)
    text = os.pread(results, os.fstat(results).st_size, 0).decode("ascii")
    os.close(results)
    found = [Said(tuple(words), *json.loads(line)) for words, line in zip(commands, text.splitlines(), strict=False)]
    assert len(found) == len(commands), f"the process ended ({status}) under {commands[len(found)]}"
    return found


def _become(folder: Path, given: Given) -> None:
    os.setsid()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kept = environment(folder, **given.env)
    os.environ.clear()
    os.environ.update(kept)
    os.chdir(folder)
    clock.SystemClock.sleep = lambda self, seconds: time.sleep(min(seconds, 0.005))  # type: ignore[method-assign]  # no backoff
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as the interpreter has it


def _one(words: Sequence[str], given: Given) -> tuple[int, str, str]:
    stdin = os.memfd_create("stdin")
    os.write(stdin, given.stdin)
    os.lseek(stdin, 0, os.SEEK_SET)
    out, err = _pipe(), _pipe()
    for number, name, descriptor in ((0, "stdin", stdin), (1, "stdout", out[1]), (2, "stderr", err[1])):
        os.dup2(descriptor, number)
        os.close(descriptor)
        setattr(sys, name, os.fdopen(number, "w" if number else "r", closefd=False))
        if number in given.closed:
            os.close(number)
            setattr(sys, name, None)  # as the interpreter has it
    code = _limited(words, given.biggest)
    for number in (1, 2):
        os.dup2(0, number)  # the pipes have no writer any more
    return code, _content(out[0]), _content(err[0])


def _limited(words: Sequence[str], biggest: int | None) -> int:
    most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most if biggest is None else biggest, most))
        return main.run(list(words))
    except BaseException:
        os.write(2, b"ESCAPED: " + traceback.format_exc().encode("utf-8", "replace"))
        return ESCAPED
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


def _pipe() -> tuple[int, int]:
    """One that holds a long answer, and that no limit on files concerns."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 1 << 20)
    return reading, writing


def _content(reading: int) -> str:
    """What was written; nobody writes any more."""
    with os.fdopen(reading, "rb") as file:
        return file.read().decode("utf-8", "surrogateescape")


def _wait(pid: int) -> int:
    until, pause = time.monotonic() + LIMIT, 0.0005
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            raise AssertionError(f"it took longer than {LIMIT} s")
        time.sleep(pause)
        pause = min(0.005, pause * 1.3)
