"""A disk that fails under a verb, at every write, sync, rename, open, truncate, unlink, mkdir and close: nothing starts without a durable
record, nothing is half-done, and the verb can be said again (I1, I6, I8)."""

from __future__ import annotations

import errno
import os
import random
import resource
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from proofs import aftermath, facts, faulty, homes, scenarios, workers
from proofs.faulty import HALF, KINDS, Fault
from proofs.scenarios import SCENARIOS, Ready, Scenario
from proofs.workers import Done

pytestmark = pytest.mark.timeout(14_400)  # of the long version
Tell = Callable[[str, int], None]

BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
VERBS = ("start", "approve", "reject", "retry", "continue-tool", "answer", "cancel", "continue", "recover")  # without `--long`
STARTING = ("start from nothing", "start", "approve", "retry")
FEW = 6  # faults of a verb without `--long`
REFUSED = {10: {"storage"}, 5: {"claim_lost", "wrong_state", "run_owned", "unknown_outcome"}}  # 5: it was done all the same


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return faulty.library(tmp_path_factory.mktemp("faulty"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every scenario with `--long`, one of each verb without."""
    if "scenario" in metafunc.fixturenames:
        long = metafunc.config.getoption("--long")
        chosen = [scenario for scenario in SCENARIOS if long or scenario.name in VERBS]
        metafunc.parametrize("scenario", chosen, ids=[scenario.name for scenario in chosen])


def test_a_verb_on_a_failing_disk_does_nothing_by_halves(scenario: Scenario, library: Path, long: bool, tally: Tell) -> None:
    with homes.folder() as folder:
        before = scenarios.ready(scenario, "unsafe", folder / "before", brief=not long and scenario.name != "answer")
        counted = faulty.calls(library, homes.copy(before.home, folder / "whole"), before.words, folder / "log")
        assert counted["write"] > 5 and counted["sync"] > 0
        tally("places", sum(counted.values()))
        chosen = list(_faults(counted))
        if not long:
            chosen = random.Random(f"faults of {scenario.name}").sample(chosen, FEW)
        for number, fault in enumerate(chosen):
            home = homes.copy(before.home, folder / f"at-{number}")
            _suffer(library, before, scenario, home, fault, number, tally)
            homes.shutil.rmtree(home)


def _faults(counted: dict[str, int]) -> Iterator[Fault]:
    """At each place: failing once and failing from then on, with no space and with a broken disk; EINTR and half a write are no faults."""
    for kind in KINDS:
        for at in range(1, counted[kind] + 1):
            yield Fault(kind, at, errno.EIO, 1)
            yield Fault(kind, at, errno.ENOSPC, 0)
            if at % 3 == 1:
                yield Fault(kind, at, errno.ENOSPC, 1)
                yield Fault(kind, at, errno.EIO, 0)
                yield Fault(kind, at, errno.EINTR, 1)
            if kind == "write" and at % 3 == 2:
                yield Fault(kind, at, HALF, 1)
                yield Fault(kind, at, errno.EINTR, 3)


def _suffer(library: Path, before: Ready, scenario: Scenario, home: Path, fault: Fault, number: int, tally: Tell) -> None:
    done = faulty.run(library, home, before.words, fault)
    try:
        told(done, home)
        _again(before, home, number)
        aftermath.check(before, scenario, home, number, tally)
    except AssertionError as error:
        raise AssertionError(f"{scenario.name}, {fault}: {error}\nit had ended so: {done}") from error
    tally("faults", 1)
    tally(f"ended with {done.code}", 1)


def told(done: Done, home: Path) -> None:
    """No trace; an answer is one of what is on record, a refusal is of a documented kind."""
    assert "Traceback" not in done.err + done.out and "internal fault" not in done.err, "a trace"
    if done.code in REFUSED:
        assert done.error["kind"] in REFUSED[done.code] and done.out == "", "a refusal says so and nothing else"
        return
    assert done.code in (0, 1, 9), "an undocumented end"
    answers = done.items if "items" in done.answer else [done.answer]
    seq, _, hash = next(answer["head"] for answer in [done.answer, *answers] if answer.get("head")).partition(":")
    with closing(sqlite3.connect(home / ".toolgate" / "toolgate.db", timeout=30)) as db:
        found = db.execute("SELECT hash FROM events WHERE seq = ?", (int(seq),)).fetchall()
    assert int(seq) == 0 or found == [(hash,)], "the answer tells of what is not there"


def _again(before: Ready, home: Path, number: int) -> None:
    """The same words, on a disk that works: they do it, or say that it was done."""
    if number % 2:
        return
    again = workers.run(home, *before.words)
    assert again.code in (0, 1, 5, 9), f"said again: {again}"
    told(again, home)


@pytest.mark.parametrize("name", STARTING)
@pytest.mark.parametrize("kind", ["write", "sync"])
def test_no_tool_is_started_where_nothing_can_be_recorded(name: str, kind: str, library: Path, tally: Tell) -> None:
    with homes.folder() as folder:
        scenario = BY_NAME[name]._replace(policy="allow" if name == "start from nothing" else BY_NAME[name].policy)
        before = scenarios.ready(scenario, "unsafe", folder / "before", brief=True)
        was = homes.tries(before.home)
        done = faulty.run(library, before.home, before.words, Fault(kind, 1, errno.EIO, 0))
        assert done.code == 10 and done.error["kind"] == "storage" and "Traceback" not in done.err, done
        assert homes.tries(before.home) == was, "a tool was started, and no disk knows"
        tally("starts that did not happen", 1)
        aftermath.check(before, scenario, before.home, 0, tally)


@pytest.mark.parametrize("name", ["start", "approve", "reject", "retry"])
def test_a_disk_that_is_full_for_files_of_a_size_is_no_different(name: str, long: bool, tally: Tell) -> None:
    """A limit of the kernel's own on the size of files: no call is made to fail, it does."""
    with homes.folder() as folder:
        before = scenarios.ready(BY_NAME[name], "unsafe", folder / "before", brief=True)
        size = (before.home / ".toolgate" / "toolgate.db").stat().st_size
        for number, limit in enumerate(range(2048, size + 8192, 4096) if long else (2048, 20_480, 90_112, size - 4096)):
            home = homes.copy(before.home, folder / str(limit))
            done = _limited(home, before.words, limit)
            told(done, home)
            _again(before, home, number)
            aftermath.check(before, BY_NAME[name], home, number, tally)
            tally(f"ended with {done.code}", 1)


def _limited(home: Path, words: tuple[str, ...], limit: int) -> Done:
    return workers.finish(
        subprocess.Popen(
            [*workers.COMMAND, *words, "-C", str(home), "--json"],
            cwd=home, env=workers.environment(home), text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
    )  # fmt: skip


@pytest.mark.parametrize("name", ["start", "approve", "reject", "continue-tool"])
@pytest.mark.parametrize("where", ["full", "nobody", "both full"])
def test_an_answer_that_nobody_can_read_changes_nothing(name: str, where: str, tally: Tell) -> None:
    """The decision was made before it was told: the code says whether the answer got out, and the store what was done."""
    with homes.folder() as folder:
        before = scenarios.ready(BY_NAME[name], "unsafe", folder / "before", brief=True)
        home = homes.copy(before.home, folder / "home")
        full = os.open("/dev/full", os.O_WRONLY)
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [*workers.COMMAND, *before.words, "-C", str(home), "--json"],
            cwd=home, env=workers.environment(home), stdin=subprocess.DEVNULL,
            stdout=writing if where == "nobody" else full, stderr=full if where == "both full" else subprocess.PIPE, check=False,
        )  # fmt: skip
        os.close(full)
        os.close(writing)
        err = (done.stderr or b"").decode()
        assert done.returncode == (0 if where == "nobody" else 1) and "Traceback" not in err and "Exception" not in err, (done, err)
        assert ("what was done stays done" in err) == (where == "full")
        was, now = facts.read(before.home), facts.read(home)
        assert now.count(BY_NAME[name].decision) == was.count(BY_NAME[name].decision) + 1
        aftermath.check(before, BY_NAME[name], home, 0, tally)
