"""Every commit, start and recorded outcome is a numbered point; a process that ends at any of them loses and doubles nothing (I6, I8).

The list of points comes from a run that records it: whoever adds a point has it proved.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from proofs import aftermath, homes, scenarios, workers
from proofs.scenarios import SCENARIOS, Ready, Scenario
from proofs.workers import Crash

from toolgate_cli.host import crash

EFFECTS = ("unsafe", "idempotent", "read_only", "reconcilable")
PLAIN = ("start, failing once", "unsafe")  # nothing is repeated: it is what a retry begins with
REPEATED = ("start, failing once", "start, in doubt once")  # where the effect class makes a difference
BRIEF = (*REPEATED, "approve of a question", "reject of a question")
pytestmark = pytest.mark.timeout(14_400)  # of the long version
Tell = Callable[[str, int], None]
EACH = 3  # of so many points one is proved without `--long`, another one each time; what fails names its point, and `--long` has them all


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every scenario with every effect; without `--long`, other effects than `unsafe` only where they make a difference."""
    if "effect" not in metafunc.fixturenames:
        return
    long = metafunc.config.getoption("--long")
    cells = [(scenario, effect) for scenario in SCENARIOS for effect in EFFECTS]
    chosen = [cell for cell in cells if long or _short(cell[0].name, cell[1])]
    metafunc.parametrize(("scenario", "effect"), chosen, ids=[f"{scenario.name}-{effect}" for scenario, effect in chosen])


def _short(name: str, effect: str) -> bool:
    if name == "retry of a doubt" and effect == "reconcilable":
        return True  # it is asked first
    return (effect == "unsafe" or name in REPEATED) and (name, effect) != PLAIN


def test_a_crash_at_every_point_of_a_verb_loses_and_doubles_nothing(scenario: Scenario, effect: str, long: bool, tally: Tell) -> None:
    brief = not long and (scenario.name in BRIEF or effect == "reconcilable")
    with homes.folder() as folder:
        before = scenarios.ready(scenario, effect, folder / "before", brief)
        points = _points(before, folder)
        tally("points", len(points))
        begin, each = (0, 1) if long else (random.randrange(EACH), EACH)
        for at, name in list(enumerate(points, 1))[begin::each]:
            lates = (False, True) if name == "spawn:after" else (False,)
            for late in lates:
                _crash(before, scenario, folder / f"{at}-{late}", at, late, tally)


@pytest.mark.parametrize("provider", [name for name in homes.TABLES if name != "command"])
@pytest.mark.parametrize("name", ["approve", "start, in doubt once"])
def test_a_crash_around_a_call_of_any_provider_loses_and_doubles_nothing(name: str, provider: str, long: bool, tally: Tell) -> None:
    [scenario] = [scenario for scenario in SCENARIOS if scenario.name == name]
    with homes.folder() as folder:
        before = scenarios.ready(scenario, "unsafe" if name == "approve" else "idempotent", folder / "before", True, provider)
        points = _points(before, folder)
        around = [at for at, point in enumerate(points, 1) if long or point.startswith(("spawn", "outcome")) or at == len(points)]
        for at in around:
            for late in (False, True) if points[at - 1] == "spawn:after" else (False,):
                _crash(before, scenario, folder / f"{at}-{late}", at, late, tally)


def test_the_installed_command_ends_at_the_same_points(long: bool, tally: Tell) -> None:
    [scenario] = [scenario for scenario in SCENARIOS if scenario.name == "approve"]
    with homes.folder() as folder:
        before = scenarios.ready(scenario, "unsafe", folder / "before", brief=True)
        points, log = _points(before, folder), folder / "installed"
        whole = homes.copy(before.home, folder / "other")
        assert workers.finish(workers.real(whole, *before.words, TOOLGATE_CRASH_LOG=str(log))).code == 0
        assert [line.split()[1] for line in log.read_text().splitlines()] == points
        for at in range(1, len(points) + 1, 1 if long else 3):
            home = homes.copy(before.home, folder / str(at))
            assert workers.finish(workers.real(home, *before.words, TOOLGATE_CRASH_AT=str(at))).code == crash.EXIT
            tally("crashes", 1)
            aftermath.check(before, scenario, home, at, tally)


def _points(before: Ready, folder: Path) -> list[str]:
    """The names of all points that the command passes."""
    log = folder / "points"
    done = workers.run(homes.copy(before.home, folder / "whole"), *before.words, crash_at=Crash(0, log))
    assert done.code in (0, 1, 9), done
    lines = [line.split() for line in log.read_text().splitlines()]
    assert [int(number) for number, _ in lines] == list(range(1, len(lines) + 1))
    return [name for _, name in lines]


def _crash(before: Ready, scenario: Scenario, home: Path, at: int, late: bool, tally: Tell) -> None:
    homes.copy(before.home, home)
    done = workers.run(home, *before.words, crash_at=Crash(at, late=home / "effects.log" if late else None))
    assert done.code == crash.EXIT, f"the point {at} was not reached: {done}"
    tally("crashes", 1)
    aftermath.check(before, scenario, home, at, tally)
