"""Damaged homes by the thousand: refused in words and at once, or loaded for what they say; no slip makes a dangerous call easier (I5)."""

from __future__ import annotations

import json
import os
import random
import signal
import time
import tomllib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from proofs import homes
from proofs.mutated import damage, danger, naive
from proofs.mutated.damage import Damaged

from toolgate_cli import plugins
from toolgate_cli.core import conditions
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.tables import hints
from toolgate_cli.core.turns import TurnRequest
from toolgate_cli.workflow import shapes

pytestmark = pytest.mark.timeout(14_400)  # of the long version
Tell = Callable[[str, float], None]
SHORT, LONG = 3_000, int(os.environ.get("MUTATED_HOMES", "1000000"))
LONGEST = 1.0  # seconds of this process that one damaged home may take
AFRESH = 500  # damaged homes after which everything that a process remembers is forgotten
REQUEST = TurnRequest("r1", "pay", "decide", "clerk", 0, "", {}, (), (), ())
# a slip into one of these is another word that means something
KNOWN = frozenset(
    {*conditions.OPERATORS, *damage.places(danger.OPERATOR).words, "any-object"}
    | {name for shape in vars(shapes).values() if hasattr(shape, "_field_defaults") for name in hints(shape)}
    | {
        "read_only",
        "write",
        "destructive",
        "idempotent",
        "reconcilable",
        "unsafe",
        "allow",
        "deny",
        "require_approval",
        "stay",
        "reject",
        "os",
    }
    | {"object", "array", "string", "number", "integer", "boolean", "null", "alice", "mallory", "eve", "clerk", "stranger"}
)


class TooLong(BaseException):
    """Not even a handler of everything catches it."""


class Damage:
    """One process that damages homes: what it counted, and the first thing that must not be."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.dice = random.Random(seed)
        self.home, self.example = danger.make(folder / "home"), danger.example(folder / "example")
        self.counted: Counter[str] = Counter()
        self.longest = 0.0
        files = danger.files(self.home)
        self.first = danger.stands(files, files.world())
        self.digest = files.prepare(files.world(), danger.Needs(("ledger.pay",))).ready["ledger.pay"].digest
        self.schemas = {"pay.schema.json": json.loads(danger.SCHEMA)}
        assert all(stand.level for stand in self.first)

    def once(self) -> None:
        """One damaged file of one home, and what the loader and the gate make of it. AssertionError: what must not be."""
        kind = self.dice.randrange(10)
        if kind < 3:
            made = damage.slip(danger.FILES["toolgate.toml"], self.dice, KNOWN)
            if made is not None:
                self._judged("toolgate.toml", made)
        elif kind < 6:
            self._judged("toolgate.toml", damage.anything(danger.FILES["toolgate.toml"].encode(), self.dice))
        elif kind < 7:
            self._judged("pay.schema.json", damage.anything(danger.SCHEMA.encode(), self.dice))
        elif kind < 9:
            name = self.dice.choice(("pay.toml", "script.toml", "clerk.md", "pay.py"))
            self._read(name, damage.anything(danger.FILES[name].encode(), self.dice))
        else:
            self._example()

    def _judged(self, name: str, made: Damaged) -> None:
        with self._damaged(self.home / name, made):
            try:
                files = self._files
                world = files.world()
                stands = danger.stands(files, world)
            except ToolgateError as error:
                self._refused(error)
                return
            self.counted["loaded"] += 1
            raw, schemas = tomllib.loads((self.home / "toolgate.toml").read_text()), self.schemas
            if name == "pay.schema.json":
                schemas = {name: json.loads(made.data)}
        for asked, stand, first in zip(danger.CALLS, stands, self.first, strict=True):
            least = naive.least(raw, schemas, asked)
            assert stand.level >= least, f"{asked} is held at {stand}, and the file says at least {least}"
            self.counted["as the file says" if stand.level == least else "more strictly than the file says"] += 1
            assert not (made.slip and stand.looser_than(first)), f"{asked} is held at {stand}, and was at {first}"
        self.counted["slips that loaded"] += made.slip

    def _read(self, name: str, made: Damaged) -> None:
        with self._damaged(self.home / name, made):
            try:
                files = self._files
                world = files.world()
                if name == "pay.py":
                    ready = files.prepare(world, danger.Needs(("ledger.pay",))).ready["ledger.pay"]
                    assert (ready.digest != self.digest) == (made.data != danger.FILES[name].encode()), "another tool under the same digest"
                elif name == "script.toml":
                    files.workflow("pay")
                    plugins.model("scripted").complete(world.config.models["default"].fields, str(self.home), REQUEST)
                else:
                    files.workflow("pay")
            except ToolgateError as error:
                self._refused(error)
                return
            self.counted["loaded"] += 1

    def _example(self) -> None:
        paths = [path for path in sorted(self.example.rglob("*")) if path.suffix in (".toml", ".md")]
        path = self.dice.choice(paths)
        with self._damaged(path, damage.anything(path.read_bytes(), self.dice)):
            try:
                files = danger.files(self.example)
                files.world()
                files.workflow(self.dice.choice(("release", "announce")))
            except ToolgateError as error:
                self._refused(error)
                return
            self.counted["loaded"] += 1

    def _refused(self, error: ToolgateError) -> None:
        assert error.kind in ("invalid", "not_found", "failed"), error
        assert "\n" not in error.message, error.message[:500]
        self.counted["refused"] += 1

    def _damaged(self, path: Path, made: Damaged) -> _Damaged:
        if not self.counted["homes"] % AFRESH:
            self._files = danger.files(self.home)
        self.counted["homes"] += 1
        self.counted["slips"] += made.slip
        return _Damaged(self, path, made)


class _Damaged:
    """The file is damaged within, and the clock runs."""

    def __init__(self, of: Damage, path: Path, made: Damaged) -> None:
        self._of, self._path, self._made = of, path, made

    def __enter__(self) -> None:
        self._whole = self._path.read_bytes()
        self._path.write_bytes(self._made.data)
        self._began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, 3 * LONGEST)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        took = time.process_time() - self._began
        self._of.longest = max(self._of.longest, took)
        self._path.write_bytes(self._whole)
        if error is None or isinstance(error, (AssertionError, TooLong)):
            assert took < LONGEST, f"{self._path.name} took {took:.2f} s"


def _work(folder: Path, seed: int, count: int) -> dict[str, Any]:
    """In a process of its own; {"fault"} tells of the case that failed, with the file that it was given."""

    def over(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, over)
    danger.remember_drafts()
    work = Damage(folder, seed)
    for at in range(count):
        try:
            work.once()
        except BaseException:
            told = "\n".join(line[:300] for line in traceback.format_exc(limit=-8).splitlines()[-40:])
            return {"fault": f"seed {seed}, case {at}:\n{told}", "counted": work.counted, "longest": work.longest}
    return {"counted": work.counted, "longest": work.longest}


def _workers(folder: Path, seed: int, count: int, workers: int) -> Iterator[dict[str, Any]]:
    """The same work in several forks."""
    running = []
    for number in range(workers):
        reading, writing = os.pipe()
        if not os.fork():
            try:
                told = _work(folder / str(number), seed * 1000 + number, count // workers)
                with open(writing, "w") as out:
                    json.dump(told, out)
            finally:
                os._exit(0)
        os.close(writing)
        running.append(reading)
    for reading in running:
        with open(reading) as found:
            yield json.load(found)
    for _ in running:
        os.wait()


def test_a_damaged_home_is_refused_or_means_what_it_says(long: bool, tally: Tell) -> None:
    seed = random.SystemRandom().randrange(10**6) if long else 20
    print(f"seed {seed}")  # noqa: T201  # so that a failure repeats
    began, longest = time.monotonic(), 0.0
    counted: Counter[str] = Counter()
    faults = []
    with homes.folder() as folder:
        for told in _workers(folder, seed, LONG if long else SHORT, 2 if long else 1):
            counted.update(told["counted"])
            longest = max(longest, told["longest"])
            faults += [told["fault"]] if "fault" in told else []
    for what, number in counted.items():
        tally(what, number)
    tally("a second", round(counted["homes"] / (time.monotonic() - began)))
    tally("the longest s", longest)
    assert not faults, "\n".join(faults)
    assert counted["loaded"] > counted["homes"] // 20 and counted["slips"] > counted["homes"] // 10 and counted["slips that loaded"]
