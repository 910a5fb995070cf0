"""A copy of a store that was put back, wherever it stands: what was decided since is not decided a second time (I2, I8)."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from bad_input.saying import Said, say
from doubt.given import alive, at_work, child
from proofs import homes, workers

from toolgate_cli import bootstrap
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.host import heads, tree
from toolgate_cli.settings import settings


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
    assert said.message.endswith(": a restored copy, or has a copy of this home gone on elsewhere?"), said
    for words, code in (
        (("pending", "list"), 0),
        (("doctor",), 1),
    ):  # who reads it may be in the original, where nothing else is to be seen
        looked = told(home, state, *words)
        assert looked.code == code and "gone on elsewhere?" in looked.out + looked.err, looked
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


# ---- copies that decide at the same time ----
def test_of_two_copies_in_which_the_same_call_is_approved_at_once_one_runs_it(home: Path, state: Path) -> None:
    parked(home, state)
    base = json.loads(told(home, state, "pending", "list", "--json").out)["items"][0]["ref"]
    kept = (state / "toolgate" / "heads").iterdir()
    [file] = kept
    was = file.read_bytes()
    for number in range(8):
        copies = [homes.copy(home, home.parent / f"{name}{number}") for name in "ab"]
        file.write_bytes(was)
        deciders = [workers.real(copy, "approve", base, XDG_STATE_HOME=str(state)) for copy in copies]
        ended = [workers.finish(decider) for decider in deciders]
        assert sum(len(homes.tries(copy)) for copy in copies) == 1, ended
        assert sorted(done.code for done in ended) == [0, 10]


def test_a_copy_that_went_on_while_a_question_was_open_is_noticed_in_the_transaction(
    home: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = parked(home, state)
    copy = homes.copy(home, home.parent / "copy")
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    monkeypatch.setattr(tree, "ancestors", tuple)  # who decides in the other one is no child of this process
    with bootstrap.open_session(settings({"home": str(copy)}, os.environ)) as desk:
        target = desk.select([row["id"]], "approve")
        with pytest.raises(ToolgateError, match="kept head") as caught:
            desk.approve(target, ask=lambda _: assert_runs(told(home, state, "approve", row["ref"], "-y")))
    assert caught.value.kind == "storage" and not homes.tries(copy) and len(homes.effects(home)) == 1
    assert [item["ref"] for item in json.loads(told(copy, state, "pending", "list", "--json").out)["items"]] == [row["ref"]]


def assert_runs(said: Said) -> None:
    assert said.code == 0, said


def test_while_somebody_locks_the_kept_head_nothing_is_started(home: Path, state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = parked(home, state)
    [file] = (state / "toolgate" / "heads").iterdir()
    monkeypatch.setattr(heads, "_PATIENCE", 0.2)
    with subprocess.Popen(["flock", "--shared", file, "sleep", "60"], start_new_session=True) as other:
        while subprocess.run(["flock", "--nonblock", file, "true"], check=False).returncode == 0:
            assert other.poll() is None
        said = told(home, state, "approve", row["ref"], "-y")
        os.killpg(other.pid, 9)
    assert said.code == 10 and "locked" in said.message and not homes.tries(home), said
    assert told(home, state, "approve", row["ref"], "-y").code == 0


def test_a_head_that_could_not_be_kept_after_the_commit_keeps_the_tool_from_being_started(
    home: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = parked(home, state)

    def broken(*_: object) -> int:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(heads, "_write", broken)
    said = told(home, state, "approve", row["ref"], "-y", "--json")
    assert said.code == 1 and not homes.tries(home), said
    [left] = json.loads(said.out)["pending"]
    assert left["origin"] == "EXECUTION_FAILED" and "could not be kept" in left["reason"]


# ---- another name for the same history ----
def change(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / ".toolgate" / "toolgate.db")) as database, database:
        database.execute(statement)


def test_a_restored_copy_that_calls_itself_another_database_is_the_same_history(home: Path, state: Path) -> None:
    row = parked(home, state)
    copy = homes.copy(home, home.parent / "copy")
    assert told(home, state, "approve", row["ref"], "-y").code == 0
    change(copy, "UPDATE identity SET id = 'dother'")
    refused(copy, state, row)
    doctor = told(copy, state, "doctor")
    assert doctor.code == 1 and "dother" in doctor.out
    change(home, "UPDATE identity SET id = 'dother'")
    verified = told(home, state, "audit", "verify", "--json")
    assert verified.code == 1 and "prev is not the id of the database" in verified.out


# ---- what a person accepts, and what nobody can keep ----
def test_what_was_accepted_is_told(home: Path, state: Path) -> None:
    row = parked(home, state)
    copy = homes.copy(home, home.parent / "copy")
    assert "nothing to accept" in told(home, state, "recover", "--accept-rollback").err
    began = int(json.loads(told(home, state, "runs", "list", "--json").out)["head"].split(":")[0])
    assert told(home, state, "approve", row["ref"], "-y").code == 0
    ended = int(json.loads(told(home, state, "runs", "list", "--json").out)["head"].split(":")[0])
    said = told(copy, state, "recover", "--accept-rollback")
    assert said.code == 0 and said.err == (
        f"accepted: the log goes on from event {began}; {ended - began} events that were seen are not in it\n"
    )
    said = told(home, state, "recover", "--accept-rollback")  # and back again: that one is longer, and another one
    assert said.code == 0 and f"from event {ended}; event {began + 1} that was seen is not the one in it" in said.err
    [file] = (state / "toolgate" / "heads").iterdir()
    file.write_text("noise")
    assert "what was seen of it cannot be read" in told(home, state, "recover", "--accept-rollback").err


def test_where_no_head_can_be_kept_a_decision_says_so_once_and_doctor_too(home: Path) -> None:
    homes.make(home, policy="require_approval", brief=True)
    nowhere = {"XDG_STATE_HOME": "/proc/nope"}
    said = say(home, "start", "pay", env=nowhere)
    assert said.code == 0 and said.err.count("note: the head of the log is not kept") == 1, said
    said = say(home, "approve", "-y", env=nowhere)
    assert said.code == 0 and said.err.count("note: the head of the log is not kept") == 1 and len(homes.effects(home)) == 1
    assert "note:" not in say(home, "pending", "list", env=nowhere).err
    doctor = say(home, "doctor", env=nowhere)
    assert doctor.code == 0 and "no head of the log is kept" in doctor.out


# ---- a copy that was made while a tool ran ----
def whole(home: Path, to: Path) -> None:
    shutil.copytree(home, to)


def without_its_locks(home: Path, to: Path) -> None:
    """The store alone, into a home that has had owners of its own."""
    shutil.copytree(home, to, ignore=shutil.ignore_patterns("owners"))
    (to / ".toolgate" / "owners").mkdir(0o700)


@pytest.mark.parametrize("copied", [whole, without_its_locks])
def test_a_copy_that_was_made_during_a_call_kills_nothing_and_takes_nobody_for_dead(
    home: Path, copied: Callable[[Path, Path], None]
) -> None:
    worker, row = at_work(home, "child 2")
    tool, copy = child(home), home.parent / "copy"
    copied(home, copy)
    done = workers.run(copy, "recover")
    assert done.code == 0 and done.items == [] and alive(tool)
    assert workers.run(copy, "pending", "list").items == []
    assert worker.wait().answer["effect"] == "approved" and homes.effects(home)[row["id"]] == 1
