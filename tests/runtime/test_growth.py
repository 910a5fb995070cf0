"""No verb and no look costs more on a store that holds much: counted in the steps of SQLite's own machine, which repeat exactly.

`recover` is left out: it looks at every open call for what may still run of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolgate_cli.core.records import EventQuery

from .kit import Home

RUNS = 150  # calls that wait, and as many that are settled
MOST = 1.15  # of the cost on a store with next to nothing: a tree may be a level deeper


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path, "sqlite")
    yield made
    made.close()


def steps(home: Home, action: Callable[[], object]) -> int:
    counted = [0]

    def count() -> None:
        counted[0] += 1

    connection = home.store._file._connection
    connection.set_progress_handler(count, 1)
    try:
        action()
    finally:
        connection.set_progress_handler(None, 0)
    return counted[0]


def looks(home: Home, run: str) -> None:
    desk = home.desk()
    desk.pending(None, 5)
    desk.show_run(run)
    desk.runs(None, 5)
    with home.store.read() as tx:
        assert list(tx.events(EventQuery(run_id=run, limit=100)))


def costs(home: Home) -> dict[str, int]:
    """Each on a run of its own."""
    found: dict[str, int] = {}
    started: list[str] = []

    def fresh() -> str:
        started.append(home.start("ask"))
        return started[-1]

    found["start"] = steps(home, fresh)
    for verb in ("approve", "reject"):
        run = fresh()
        found[verb] = steps(home, lambda verb=verb, run=run: home.decide(verb, run))
    run = fresh()
    found["cancel"] = steps(home, lambda: home.desk().cancel(run, None))
    found["looks"] = steps(home, lambda: looks(home, fresh()))
    return found


def test_nothing_grows_with_the_log_or_the_queue(home: Home) -> None:
    for _ in range(6):  # pages of lists are full
        home.start("ask")
    costs(home)  # the first of everything: definitions are new
    before = costs(home)
    for _ in range(RUNS):
        home.start("free")
        home.start("ask")
    for _ in range(6):  # what is listed is of the same kind
        home.start("ask")
    after = costs(home)
    assert {name: round(after[name] / before[name], 2) for name in before if after[name] > before[name] * MOST} == {}, (before, after)
