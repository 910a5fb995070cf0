"""What is said beside an answer about the store that it comes from: that it was made just now, or is older than what was seen of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from toolgate_cli.cli.main import run


def test_a_store_that_a_command_makes_where_it_was_told_to_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    home = str(tmp_path)
    store = tmp_path / "else" / "x.db"
    run(["init", home])
    capfd.readouterr()
    for words, said in (
        (["-q"], ""),
        (["--db", str(store)], f"note: there was no store at {store}: this command has made it, with a log"),
        ([], ""),
    ):
        assert run(["-C", home, *words, "start", "hello", "--json"]) == 0
        err = capfd.readouterr().err
        assert said in err and ("no store" in err) is bool(said)
    assert store.exists()
    assert run(["-C", home, "--db", str(store), "start", "hello", "--json"]) == 0
    assert "no store" not in capfd.readouterr().err


@pytest.mark.parametrize(("words", "made"), [(["start", "hello"], True), (["recover"], False), (["approve"], False)])
def test_a_store_is_said_to_be_made_only_where_it_was(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], words: list[str], made: bool
) -> None:
    run(["init", str(tmp_path)])
    capfd.readouterr()
    run(["-C", str(tmp_path), "--db", str(tmp_path / "x.db"), *words])
    assert ("has made it" in capfd.readouterr().err, (tmp_path / "x.db").exists()) == (made, made)


def test_what_waits_in_a_restored_copy_is_shown_with_a_word_that_it_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    home = tmp_path / "home"
    run(["init", str(home)])
    here = ["-C", str(home)]
    run([*here, "start", "hello"])
    old, store = tmp_path / "old", home / ".toolgate"
    shutil.copytree(store, old)
    note = f"it decides nothing until toolgate -C {home} recover --accept-rollback"
    for words in (["list"], ["show"]):
        capfd.readouterr()
        assert run([*here, "pending", *words]) == 0 and note not in capfd.readouterr().err
    run([*here, "start", "hello"])
    shutil.rmtree(store)
    shutil.copytree(old, store)
    for words in (["list"], ["show"]):
        capfd.readouterr()
        assert run([*here, "pending", *words, "-o", "json"]) == 0 and note in capfd.readouterr().err
