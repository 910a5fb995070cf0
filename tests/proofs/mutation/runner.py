"""Asks the tests about every change, or about some: `python -m proofs.mutation.runner --help`, from the folder of the tests.

It is a process of its own, with everything imported but the package: each change gets a fork of it. The report is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from . import asked, inplace
from .changes import DECIDING, Change, changed
from .known import KNOWN
from .listing import MODULES, PACKAGE, POOL, ROOT, listed

FIRST = 1.0  # seconds of tests that are asked first: the quickest that run the changed line
OWN = 25.0  # seconds of the module's own tests that are asked next
REST = 5.0  # seconds of tests that are asked then, spread over all that run the changed line
CONTROLS = 4  # modules
LATER = 77  # how a fork ends that cannot make its change
SLOW = 20.0  # seconds that a change may take in any case, and the number of times that its tests may take longer than they did


class Job(NamedTuple):
    module: str
    change: Change
    rounds: list[list[str]]  # tests: those of the next round are asked only if those before noticed nothing
    limit: float
    imported: bool = False  # the line runs when the module is imported

    @property
    def name(self) -> str:
        return f"{self.module}: {self.change.name}"


NOTHING = Change(-1, 0, True, "control", "nothing is changed")


class Map(NamedTuple):
    """Which tests run which line."""

    tests: list[str]
    seconds: list[float]
    ran: asked.Ran

    def rounds(self, module: str, change: Change, most: float) -> list[list[str]]:
        """Those that run it; what a module does when it is imported concerns every test that needs it."""
        lines = self.ran.get(module, {})
        every = {at for of in lines.values() for at in of}
        places = (set(lines.get(change.line, ())) if change.inside else every) or every  # none: it ran when it was imported
        prefixes = tuple(f"tests/{test}" for test in MODULES[module])
        order = sorted(
            (at for at in places if self.seconds[at] <= asked.LONGEST),
            key=lambda at: (not self.tests[at].startswith(prefixes), self.seconds[at]),
        )
        own = [at for at in order if self.tests[at].startswith(prefixes)]
        first = self._within(FIRST, sorted(order, key=lambda at: self.seconds[at]))
        then = self._within(OWN, [at for at in own if at not in first])
        left = [at for at in order if at not in first and at not in then]
        step = max(1, math.ceil(sum(self.seconds[at] for at in left) / most))
        return [[self.tests[at] for at in part] for part in (first, then, left[::step]) if part]

    def _within(self, seconds: float, tests: list[int]) -> list[int]:
        """As many of them, from the first on, as take so long."""
        found: list[int] = []
        for at in tests:
            seconds -= self.seconds[at]
            if seconds < 0:
                break
            found.append(at)
        return found

    def cost(self, rounds: list[list[str]]) -> float:
        place = {test: at for at, test in enumerate(self.tests)}
        return sum(self.seconds[place[test]] for part in rounds for test in part)


def lines_of_tests(keep: Path) -> Map:
    """Runs all tests once, traced. What they are able to notice is only meant if they pass as it is."""

    def act() -> int:
        traced = asked.Traced(MODULES)
        code = asked.test([f"tests/{test}" for test in POOL], [traced])
        keep.write_text(json.dumps({"tests": traced.tests, "seconds": traced.seconds, "ran": traced.ran}))
        return code

    _, status = os.waitpid(asked.forked(act, quiet=False), 0)
    if status:
        raise SystemExit(f"the tests do not pass without any change: {os.waitstatus_to_exitcode(status)}")
    return read_map(keep)


def read_map(keep: Path) -> Map:
    found = json.loads(keep.read_text())
    return Map(found["tests"], found["seconds"], {m: {int(line): at for line, at in of.items()} for m, of in found["ran"].items()})


def ask(jobs: list[Job], workers: int, act: Callable[[Job], int]) -> Iterator[tuple[Job, int]]:
    """Each job and how its fork ended, as they end: 0 if the change was not noticed."""
    waiting = list(reversed(jobs))
    running: dict[int, tuple[Job, float]] = {}
    while waiting or running:
        while waiting and len(running) < workers:
            job = waiting.pop()
            running[asked.forked(lambda job=job: act(job))] = job, time.monotonic() + job.limit
        for pid, (job, until) in list(running.items()):
            if time.monotonic() > until:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                del running[pid]
                yield job, status and max(1, os.waitstatus_to_exitcode(status))
        time.sleep(0.002)


def in_place(jobs: list[Job], workers: int, tell: Callable[[Job, bool], None]) -> list[Job]:
    """Tells how each ended; what is left cannot be changed in a running program."""
    reading, writing = os.pipe()

    def serve(serving: inplace.Serving) -> None:
        def act(job: Job) -> int:
            if job.imported or (job.change != NOTHING and not inplace.swap(PACKAGE / job.module, job.change.at)):
                return LATER
            return serving.run(test for part in job.rounds for test in part)

        number = {job.name: at for at, job in enumerate(jobs)}
        for _, code in ask(controls(jobs), workers, act):
            if code:
                os.write(writing, b"-1 -1\n")
                return
        for job, code in ask(jobs, workers, act):
            os.write(writing, b"%d %d\n" % (number[job.name], code))

    pid = asked.forked(lambda: asked.test([f"tests/{test}" for test in POOL], [inplace.Serving(serve)]))
    os.close(writing)
    left = []
    with open(reading) as lines:
        for line in lines:
            at, code = map(int, line.split())
            if at < 0:
                raise SystemExit("tests fail without any change")
            if code == LATER:
                left.append(jobs[at])
            else:
                tell(jobs[at], code != 0)
    _, status = os.waitpid(pid, 0)
    if status:
        raise SystemExit("the tests could not be collected")
    return left


def controls(jobs: list[Job]) -> list[Job]:
    """Jobs that change nothing: what the tests notice then they would notice of anything."""
    last = {job.module: job for job in jobs}
    return [job._replace(change=NOTHING, rounds=job.rounds[:1], imported=False) for job in list(last.values())[:CONTROLS]]


def afresh(job: Job) -> int:
    """Each round in a fork of its own: a package is imported once by a process."""
    body = changed(PACKAGE / job.module, job.change.at)
    for tests in job.rounds:
        pid = os.fork()
        if not pid:
            code = 99
            try:
                code = asked.noticed(job.module, body, tests)
            finally:
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        if status:
            return 1
    return 0


def jobs(options: argparse.Namespace) -> list[Job]:
    chosen = [(module, change) for module, change in listed() if options.only in f"{module}: {change.name}"]
    if options.names:
        wanted = set(Path(options.names).read_text().splitlines())
        chosen = [(module, change) for module, change in chosen if f"{module}: {change.name}" in wanted]
    if options.sample:
        chosen = [(module, change) for module, change in chosen if (change.inside, change.kind) == (True, DECIDING)]
        chosen = [(module, change) for module, change in chosen if f"{module}: {change.name}" not in KNOWN]
        picked = random.Random(options.seed).sample(chosen, options.sample)
        rounds = {module: [[f"tests/{test}" for test in own], [f"tests/{test}" for test in POOL]] for module, own in MODULES.items()}
        return [Job(module, change, rounds[module], 240.0) for module, change in picked]
    keep = Path(options.map)
    map = read_map(keep) if keep.exists() else lines_of_tests(keep)
    made = []
    for module, change in chosen:
        rounds = map.rounds(module, change, options.rest)
        imported = not change.inside or change.line not in map.ran.get(module, {})
        made.append(Job(module, change, rounds, SLOW + SLOW * map.cost(rounds), imported))
    return sorted(made, key=lambda job: job.change.kind != DECIDING)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=0, help="so many changes to comparisons, chosen by --seed (else all)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="changes with this in their name")
    parser.add_argument("--names", default="", help="a file with the names of the changes, one a line")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rest", type=float, default=REST, help="seconds of tests that are asked where the first noticed nothing")
    parser.add_argument("--map", default=str(ROOT / ".mutation-map.json"), help="where it is kept which test runs which line")
    options = parser.parse_args()
    asked.preload()
    began = time.monotonic()
    made = jobs(options)
    survivors: list[tuple[str, str]] = []
    done = 0

    def tell(job: Job, noticed: bool) -> None:
        nonlocal done
        done += 1
        if not noticed:
            survivors.append((job.name, job.change.kind))
        if not noticed or done % 50 == 0:
            told = "" if noticed else f": {job.name} [{job.change.kind}] survived"
            sys.stderr.write(f"{done} of {len(made)} after {time.monotonic() - began:.0f} s{told}\n")

    left = in_place(made, options.workers, tell)
    for job, code in ask(left, options.workers, afresh):
        tell(job, code != 0)
    report = {"asked": len(made), "survivors": sorted(survivors), "seconds": round(time.monotonic() - began, 1)}
    sys.stdout.write(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
