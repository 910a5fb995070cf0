"""A store that is no store, or cannot be written: exit 10, the file is left byte for byte as it was (CASES N2)."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from .homes import Home, check_refusal
from .saying import Given, say_all


def _pragma(path: Path, original: Path, statement: str) -> None:
    shutil.copy(original, path)
    with closing(sqlite3.connect(path)) as store:
        store.execute(statement)
        store.commit()


def _other(path: Path, _: Path) -> None:
    with closing(sqlite3.connect(path)) as store:
        store.execute("CREATE TABLE notes (text)")
        store.commit()


NO_STORES: dict[str, Callable[[Path, Path], object]] = {
    "noise": lambda path, _: path.write_bytes(bytes(range(256)) * 20),
    "a few bytes": lambda path, _: path.write_text("x"),
    "a header and noise": lambda path, _: path.write_bytes(b"SQLite format 3\0" + b"x" * 1000),
    "a toml file": lambda path, original: shutil.copy(original.parent.parent / "toolgate.toml", path),
    "of another program": _other,
    "of a newer version": lambda path, original: _pragma(path, original, "PRAGMA user_version = 99"),
    "of a version below zero": lambda path, original: _pragma(path, original, "PRAGMA user_version = -1"),
    "of another application": lambda path, original: _pragma(path, original, "PRAGMA application_id = 7"),
    "cut in half": lambda path, original: path.write_bytes(original.read_bytes()[: original.stat().st_size // 2]),
    "damaged": lambda path, original: path.write_bytes(original.read_bytes()[:4096] + os.urandom(65536)),
}


def everything(home: Home) -> list[list[str]]:
    run, call = home.runs["asked"], home.calls["asked"]
    looking = [["pending", "list"], ["pending", "show", call], ["runs", "list"], ["runs", "show", run], ["events"]]
    looking += [["audit", "verify"], ["audit", "export"]]
    deciding = [
        ["approve", call],
        ["reject", call],
        ["start", "pay"],
        ["cancel", run],
        ["answer", home.runs["form"], "street=x"],
        ["recover"],
        ["audit", "redact", call, "-m", "asked for"],
    ]
    return looking + deciding


@pytest.mark.parametrize("kind", NO_STORES)
def test_a_file_that_is_no_store_is_left_as_it_is(spoilt: Home, kind: str) -> None:
    file = spoilt.path / "some.db"
    file.unlink(missing_ok=True)
    NO_STORES[kind](file, spoilt.database)
    content, log = file.read_bytes(), spoilt.stand()[1]
    for said in say_all(spoilt.path, [[*words, "--db", "some.db"] for words in everything(spoilt)]):
        check_refusal(said, 10)
        assert "some.db" in said.message and said.hint, said
    assert file.read_bytes() == content and spoilt.stand()[1] == log
    log_ahead = spoilt.path / "some.db-wal"
    assert not log_ahead.exists() or not log_ahead.stat().st_size


def test_a_place_that_can_hold_no_store_is_refused_at_once(spoilt: Home) -> None:
    places = [".", "workflows", "/dev/null", "/dev/full", "/dev/zero", "/proc/x/store.db", "/proc/self/mem", "x" * 300]
    places += ["toolgate.toml/x.db", "pipe.db", "loop.db", "dangling.db"]
    os.mkfifo(spoilt.path / "pipe.db")
    (spoilt.path / "loop.db").symlink_to("loop.db")
    (spoilt.path / "dangling.db").symlink_to("nowhere.db")
    before = spoilt.stand()
    for place in places:
        for words in (["start", "pay"], ["start", "form"]):
            said = spoilt.say(*words, "--db", place)
            check_refusal(said, 10)
            assert said.hint, said
    check_refusal(spoilt.say("start", "pay", "--db", "x/"), 2)
    assert spoilt.stand() == before and not (spoilt.path / "nowhere.db").exists()


@pytest.mark.parametrize("biggest", [0, 100, 4096, 20_000])
def test_a_full_disk_changes_nothing_and_starts_nothing(spoilt: Home, biggest: int) -> None:
    before = spoilt.stand()
    commands = [*everything(spoilt)[6:11], ["start", "form", "--db", f"new{biggest}.db"]]
    for said in say_all(spoilt.path, commands, Given(biggest=biggest)):
        check_refusal(said, 10)
        assert said.hint, said
    assert spoilt.stand() == before and spoilt.say("audit", "verify").code == 0


def test_a_disk_that_fills_up_under_a_call_leaves_a_doubt_that_is_shown(home: Home) -> None:
    """Its start was recorded, its end could not be: that is in the list, never lost and never repeated."""
    for biggest in range(60_000, 200_000, 20_000):
        rows = {row["id"] for row in home.pending()}
        before = home.stand()
        said = home.say("approve", home.calls["asked"] if home.calls["asked"] in rows else home.calls["other"], biggest=biggest)
        after = home.stand()
        assert said.code in (0, 1, 5, 9, 10) and "internal fault" not in said.err, said
        if said.code in (9, 10) and after[1] != before[1]:
            assert any(row["origin"] == "OUTCOME_UNKNOWN" and row["id"] in said.words for row in home.pending())
        assert home.say("audit", "verify").code == 0
    assert home.stand()[1].count("asked") <= 1 and home.stand()[1].count("other") <= 1


@pytest.mark.parametrize("words", [("runs", "list"), ("pending", "list"), ("events",), ("audit", "verify")], ids=" ".join)
def test_who_looks_at_a_named_store_that_is_not_there_is_told_so(spoilt: Home, words: tuple[str, ...]) -> None:
    there_is_none = "note: there is no store at {} yet: a command that writes makes it\n"
    nowhere = str(spoilt.path / "none" / "x.db")
    for said in (spoilt.say(*words, "--db", nowhere), spoilt.say(*words, env={"TOOLGATE_DB": nowhere})):
        assert said.code == 0 and said.err.startswith(there_is_none.format(nowhere))
    assert "no store" not in spoilt.say(*words, "--db", nowhere, "-q").err and not (spoilt.path / "none").exists()
    assert "no store" not in spoilt.say(*words).err


def test_who_looks_at_a_fresh_home_is_told_nothing(home: Home) -> None:
    home.database.parent.rename(home.path / "elsewhere")
    said = home.say("runs", "list")
    assert said.code == 0 and said.err == ""
