"""A copy of a store that was put back, wherever it stands: what was decided since is not decided a second time (I2, I8)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from bad_input.saying import Said, say
from proofs import homes


@pytest.fixture
def state(home: Path) -> Path:
    """One state folder for every home of a test, as one user has it."""
    return home.parent / "state"


def told(home: Path, state: Path, *words: str) -> Said:
    return say(home, *words, env={"XDG_STATE_HOME": str(state)})


def parked(home: Path, state: Path) -> dict[str, Any]:
    homes.make(home, policy="require_approval", brief=True)
    assert told(home, state, "start", "pay", "-q").code == 0
    [row] = json.loads(told(home, state, "pending", "list", "--json").out)["items"]
    found: dict[str, Any] = row
    return found


def refused(home: Path, state: Path, row: dict[str, Any]) -> None:
    said = told(home, state, "approve", row["ref"], "-y")
    assert (said.code, said.out) == (10, "") and "kept head" in said.message and "--accept-rollback" in said.hint, said
    assert not homes.tries(home)


def test_a_home_that_was_moved_does_not_decide_what_was_decided(home: Path, state: Path) -> None:
    row = parked(home, state)
    shutil.copytree(home / ".toolgate", home.parent / "backup")
    assert told(home, state, "approve", row["ref"], "-y").code == 0
    moved = home.rename(home.parent / "moved")
    shutil.rmtree(moved / ".toolgate")
    (home.parent / "backup").rename(moved / ".toolgate")
    (moved / "tries.log").unlink()
    refused(moved, state, row)


def test_of_two_copies_the_one_that_did_not_go_on_decides_nothing_and_shows_everything(home: Path, state: Path) -> None:
    row = parked(home, state)
    copy = homes.copy(home, home.parent / "copy")
    assert told(home, state, "approve", row["ref"], "-y").code == 0
    refused(copy, state, row)
    assert row["ref"] in told(copy, state, "pending", "list").out
    doctor = told(copy, state, "doctor")
    assert doctor.code != 0 and "kept head" in doctor.out
    assert told(copy, state, "audit", "verify").code == 1
    assert told(home, state, "audit", "verify").code == 0 and told(home, state, "start", "pay", "-q").code == 0


@pytest.mark.parametrize("broken", ["empty", "noise", "a fifo", "a folder"])
def test_a_kept_head_that_cannot_be_read_is_believed_by_nobody_until_a_person_has_looked(home: Path, state: Path, broken: str) -> None:
    row = parked(home, state)
    [file] = (state / "toolgate" / "heads").iterdir()
    if broken in ("empty", "noise"):
        file.write_text("" if broken == "empty" else "noise")
    else:
        file.unlink()
        (os.mkfifo if broken == "a fifo" else os.mkdir)(file)
    refused(home, state, row)
    assert told(home, state, "audit", "verify").code == 10 and told(home, state, "recover").code == 10
    doctor = told(home, state, "doctor")
    assert doctor.code != 0 and str(file) in doctor.out and "--accept-rollback" in doctor.out
    assert told(home, state, "pending", "list").code == 0
    assert told(home, state, "recover", "--accept-rollback").code == 0
    assert told(home, state, "approve", row["ref"], "-y").code == 0 and len(homes.effects(home)) == 1
