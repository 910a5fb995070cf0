"""The installed command on a disk that fails: the n-th call of a kind on a file of the store, the owners or the kept heads (faulty.c)."""

from __future__ import annotations

import errno
import shutil
import subprocess
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

from . import workers
from .workers import Done

KINDS = ("write", "sync", "rename", "open", "truncate", "unlink", "mkdir", "close")
HALF = 0  # of a write only: it writes half of what it was given, which is no error
NONE = 10**9
SOURCE = Path(__file__).with_name("faulty.c")


class Fault(NamedTuple):
    """The `at`-th call of that kind fails with that errno, and so do those after it, `times` in all; 0: for ever."""

    kind: str
    at: int
    error: int
    times: int

    def __str__(self) -> str:
        error = errno.errorcode[self.error] if self.error else "half"
        return f"{self.kind} {self.at} {error} {f'{self.times} times' if self.times else 'for ever'}"


@cache
def library(folder: Path) -> Path:
    """Compiled once; a machine without a C compiler cannot say anything here."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "a C compiler is needed: apt-get install gcc libc6-dev"
    made = folder / "faulty.so"
    options = ("-shared", "-fPIC", "-O1", "-Wall", "-Werror")
    subprocess.run([compiler, *options, "-o", str(made), str(SOURCE), "-ldl"], check=True)
    return made


def run(library: Path, home: Path, words: tuple[str, ...], fault: Fault, log: Path | None = None) -> Done:
    """The command, which ends by itself; `log` gets a letter for every call that could have failed."""
    told = f"{fault.kind}:{fault.at}:{fault.error}:{fault.times}"
    more = {"FAULT_LOG": str(log)} if log else {}
    under = f"{home / '.toolgate'}:{home / '.local'}"
    return workers.finish(workers.real(home, *words, LD_PRELOAD=str(library), FAULT=told, FAULT_UNDER=under, **more))


def calls(library: Path, home: Path, words: tuple[str, ...], log: Path) -> dict[str, int]:
    """How many calls of each kind the command makes when none fails."""
    done = run(library, home, words, Fault("write", 0, errno.EIO, 0), log)
    assert done.code in (0, 1, 9), done
    counted = Counter(log.read_text())
    return {kind: counted[kind[0]] for kind in KINDS}
