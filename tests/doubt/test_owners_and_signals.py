"""Who may be taken for dead, and what a signal to the gate leaves: a tool that is ended, and a doubt that is listed (I8)."""

from __future__ import annotations

import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from doubt.given import alive, at_work, child, doubtful, parked, refused, rows, until
from proofs import facts, homes, workers


def _owner(home: Path) -> str:
    with closing(sqlite3.connect(home / ".toolgate" / "toolgate.db")) as db:
        return db.execute("SELECT owner FROM attempts").fetchall()[0][0]


def _elsewhere(home: Path) -> None:
    """The attempts and runs of this home belong to another host from now on."""
    with closing(sqlite3.connect(home / ".toolgate" / "toolgate.db")) as db:
        db.execute("UPDATE attempts SET host = 'elsewhere', boot = 'another'")
        db.execute("UPDATE runs SET owner = substr(owner, 1, 14) || ':elsewhere:another' WHERE owner IS NOT NULL")
        db.commit()


def test_a_living_owner_of_this_host_cannot_be_declared_dead(home: Path) -> None:
    worker, row = at_work(home, "sleep 1")
    assert workers.run(home, "recover", "--owner-dead", _owner(home)).items == []
    assert rows(home) == [] and facts.read(home).attempts == {row["id"]: 1}
    assert worker.wait().answer["effect"] == "approved"


def test_an_owner_of_another_host_is_dead_when_a_person_says_so(home: Path) -> None:
    worker, row = at_work(home, "sleep 30")
    worker.kill()
    worker.wait()
    owner = _owner(home)
    _elsewhere(home)
    assert rows(home) == [] and refused(workers.run(home, "continue", row["run_id"])) == "run_owned"
    assert workers.run(home, "recover", "--owner-dead", "o" + "x" * 13).items == [] and rows(home) == []
    assert workers.run(home, "recover", "--owner-dead", owner).code == 9
    assert doubtful(home)["id"] == row["id"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_gate_ends_the_tool_and_leaves_a_doubt(home: Path, number: signal.Signals) -> None:
    row = parked(home)
    homes.set_mode(home, "child 60")
    decider = workers.real(home, "approve", row["ref"])
    survivor = child(home)
    decider.send_signal(number)
    assert workers.finish(decider).code == 128 + number
    assert not alive(survivor)
    assert doubtful(home)["id"] == row["id"] and not doubtful(home)["still_running"]
    assert workers.run(home, "recover").code in (0, 9) and homes.tries(home)[row["id"]] == 1  # nobody repeats it on their own


def test_a_terminal_that_goes_away_leaves_a_doubt_that_recovery_cleans_up(home: Path) -> None:
    row = parked(home)
    homes.set_mode(home, "child 60")
    decider = workers.real(home, "approve", row["ref"])
    survivor = child(home)
    decider.send_signal(signal.SIGHUP)
    assert workers.finish(decider).code in (143, -signal.SIGHUP)
    assert doubtful(home)["id"] == row["id"]
    assert workers.run(home, "recover").code in (0, 9)
    until(lambda: not alive(survivor), 1)
    assert homes.tries(home)[row["id"]] == 1
