"""What `doctor` finds out about a database file; nothing of it is changed by looking."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from store_records import filled

from toolgate_cli.host.mint import RandomMint
from toolgate_cli.runtime.answers import Remark
from toolgate_cli.stores import _inspect, _place
from toolgate_cli.stores._inspect import inspect
from toolgate_cli.stores.sqlite import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / ".toolgate" / "store.db"
    store = SqliteStore(str(made), RandomMint())
    filled(store, 50)
    store.close()
    yield made


def kept(path: Path) -> dict[str, tuple[bytes, int]]:
    """Every file but the companions, which SQLite makes where somebody looks."""
    files = [file for file in path.parent.glob("*") if file.is_file() and "-" not in file.name]
    return {file.name: (file.read_bytes(), file.stat().st_mode) for file in files}


def wrong(path: Path) -> list[Remark]:
    before = kept(path)
    found = [remark for remark in inspect(str(path)) if remark.level != "ok"]
    assert before == kept(path)
    assert all(remark.about == "store" and remark.hint for remark in found)
    return found


def test_a_store_in_order_and_one_that_is_not_there_have_no_finding(path: Path, tmp_path: Path) -> None:
    assert wrong(path) == []
    assert any("is whole" in remark.message for remark in inspect(str(path)))
    assert wrong(tmp_path / "none" / "store.db") == [] and not (tmp_path / "none").exists()


@pytest.mark.parametrize(("version", "faulty"), [((3, 51, 2), True), ((3, 40, 1), True), ((3, 51, 3), False), ((4, 0, 0), False)])
def test_a_library_with_the_fault_of_the_log_is_told_and_what_is_done_about_it(
    path: Path, monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...], faulty: bool
) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", version)
    *_, remark = inspect(str(path))  # behind what is about the store itself
    assert remark.message.startswith("SQLite ") and "serves" in remark.message and "fault" not in remark.message
    assert remark.level == "ok" and ("turn" in remark.message) == faulty and bool(remark.hint) == faulty


@pytest.mark.parametrize(("place", "mode"), [("store.db", 0o644), ("store.db-turn", 0o660), (".", 0o755), ("owners", 0o701)])
def test_what_others_can_reach_is_an_error_with_the_command_that_mends_it(path: Path, place: str, mode: int) -> None:
    (path.parent / "owners").mkdir(mode=0o700)
    at = path.parent / place if place != "." else path.parent
    at.chmod(mode)
    [remark] = wrong(path)
    assert remark.level == "error" and f"{mode:o}" in remark.message and at.stat().st_mode & 0o777 == mode
    assert os.system(remark.hint) == 0
    for companion in wrong(path):  # SQLite made them with the rights of the file
        assert os.system(companion.hint) == 0
    assert wrong(path) == []


def test_a_folder_of_the_users_own_choice_may_be_open(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    store = SqliteStore(str(tmp_path / "store.db"), RandomMint())
    filled(store, 1)
    store.close()
    assert wrong(tmp_path / "store.db") == []


def damage(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'run_id, seq', 'type, seq') WHERE name = 'events_by_run'")
        connection.commit()


def orphan(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM runs")
        connection.commit()


def delete_log(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")


def other_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


FAULTS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "an index that does not fit": (damage, "error", "damaged"),
    "rows of a run that is not there": (orphan, "error", "names a row of runs"),
    "no write-ahead log": (delete_log, "warning", "journal mode delete"),
    "a newer version": (other_version, "error", "schema version 99"),
    "noise": (lambda path: path.write_bytes(bytes(range(256)) * 20), "error", "not a toolgate database"),
    "half a file": (lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]), "error", "damaged"),
    "a second name": (lambda path: os.link(path, path.parent / "other"), "error", "second name"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_of_the_file_is_found(path: Path, name: str) -> None:
    spoil, level, said = FAULTS[name]
    spoil(path)
    found = wrong(path)
    assert found and found[0].level == level and said in found[0].message, found
    assert len(found) <= 6


def test_little_space_and_a_network_are_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_inspect, "_LITTLE", 1 << 62)
    assert [remark.level for remark in wrong(path)] == ["warning"]
    monkeypatch.undo()
    monkeypatch.setattr(_place, "network", lambda path, mounts: "nfs4")
    [remark] = wrong(path)
    assert remark.level == "error" and "nfs4" in remark.message and "--db" in remark.hint
