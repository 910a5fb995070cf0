"""Whole workflows that nobody wrote: what holds of them all, whatever stands in them, and wherever a process ends.

WORKFLOW=NUMBER repeats one of them, with every crash there is (the number is in the message of a failure); SEED_OF_PROOFS chooses which
workflows are grown.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from proofs import homes
from proofs.growing import grow
from proofs.living import Life, Living
from proofs.passing import ASKS, GATES, unlawful
from proofs.wilds import Wild

from tests.runtime.kit import STORES
from toolgate_cli.runtime import advance

pytestmark = pytest.mark.timeout(14_400)  # of the long version
Tell = Callable[[str, int], None]
SHORT = {"memory": 48, "sqlite": 12}  # workflows
BIG = 120  # points: without `--long` nobody dies in larger ones
LONG = {"memory": 3_000, "sqlite": 600}
PARTS = 2  # so that several processors share them
CRASHES = 3  # of each workflow, without `--long`, one crash each; and once more with many in one run


def chosen(store: str, part: int, long: bool) -> list[int]:
    if "WORKFLOW" in os.environ:
        return [int(os.environ["WORKFLOW"])] if part == 0 else []
    base = int(os.environ.get("SEED_OF_PROOFS", "0")) or random.SystemRandom().randrange(1, 10**6)
    return [base * 10_000 + number for number in range(part, (LONG if long else SHORT)[store], PARTS)]


def live(folder: Path, store: str, number: int, dies: Callable[[int], bool], stretch: int = 1000) -> tuple[Life, int]:
    """One life, and how many processes it cost. `stretch`: steps that one transaction may plan; with few a process can end between any."""
    home = Path(tempfile.mkdtemp(dir=folder))  # one of its own: the heads of the one before are kept
    living = Living(home, store, number, dies)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(advance, "STRETCH", stretch)
            return living.play(), living.crashes
    finally:
        living.home.close()
        shutil.rmtree(home)


def told(number: int, store: str, what: str) -> str:
    return f"WORKFLOW={number} on {store}, {what}"


def crashes(number: int, points: int, every: bool) -> list[tuple[str, Callable[[int], bool], int]]:
    """What happens, at which points a process ends, and the stretch."""
    dice = random.Random(number)
    single = list(range(1, points + 1)) if every else sorted(dice.sample(range(1, points + 1), min(CRASHES, points)))
    many = {at for at in range(1, 9 * points) if dice.random() < 0.15}
    one: list[tuple[str, Callable[[int], bool], int]] = [(f"a crash at {at}", lambda point, at=at: point == at, 1000) for at in single]  # type: ignore[misc]  # of this turn
    return [*one, ("many crashes", many.__contains__, dice.choice((1, 2, 3)))]


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("store", STORES)
def test_a_workflow_with_crashes_is_lived_through_as_without(
    store: str, part: int, long: bool, tally: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with homes.folder() as folder:
        monkeypatch.setenv("XDG_STATE_HOME", str(folder))  # of the kept heads: on no disk either
        for number in chosen(store, part, long):
            plain, _ = live(folder, store, number, lambda _: False)
            tally("workflows", 1)
            tally(plain.status, 1)
            assert list(unlawful(plain.events, grow(number))) == [], told(number, store, "without a crash")
            if plain.points > BIG and not long and "WORKFLOW" not in os.environ:
                continue
            for what, dies, stretch in crashes(number, plain.points, long or "WORKFLOW" in os.environ):
                life, died = live(folder, store, number, dies, stretch)
                tally("crashes", died)
                for name in ("status", "done", "context", "outputs", "trace"):
                    assert getattr(life, name) == getattr(plain, name), told(number, store, f"{what}: another {name}")
                assert list(unlawful(life.events, grow(number))) == [], told(number, store, what)


def test_a_log_that_lacks_one_of_its_decisions_is_noticed(tally: Tell, monkeypatch: pytest.MonkeyPatch) -> None:
    """That the test before would see it."""
    words = {*GATES.values(), *ASKS.values()}
    with homes.folder() as folder:
        monkeypatch.setenv("XDG_STATE_HOME", str(folder))
        for number in range(20):
            life, _ = live(folder, "memory", number, lambda _: False)
            for at, event in enumerate(life.events):
                if event.type in words:
                    tally("decisions", 1)
                    assert [*unlawful([*life.events[:at], *life.events[at + 1 :]], grow(number))] != [], told(number, "memory", event.type)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("store", STORES)
def test_what_is_named_as_next_moves_a_run_whatever_went_wrong(
    store: str, part: int, long: bool, tally: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    with homes.folder() as folder:
        monkeypatch.setenv("XDG_STATE_HOME", str(folder))
        for number in chosen(store, part, long):
            home = Path(tempfile.mkdtemp(dir=folder))
            wild = Wild(home, store, number)
            try:
                tally(wild.play(), 1)
                assert list(unlawful(wild.home.events(wild.run), wild.grown)) == [], wild.why("it went past a gate")
            finally:
                wild.home.close()
                shutil.rmtree(home)
            for state in wild.seen:
                tally(state, 1)
