"""What `runs show` says about the file that a run was started with."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from toolgate_cli.cli.main import run

FLOW = 'schema = 1\nid = "{id}"\n[[steps]]\nid = "s"\n{step}\n'
PINNED = "this run goes on with the definition it started with"


@pytest.mark.parametrize("inner", ["type = 'fail'\nreason = 'y'", "type = 'no-such'", None], ids=["changed", "broken", "gone"])
def test_a_change_of_a_workflow_inside_is_told_too(tmp_path: Path, capfd: pytest.CaptureFixture[str], inner: str | None) -> None:
    home = ["-C", str(tmp_path)]
    (tmp_path / "toolgate.toml").write_text("schema = 1\n")
    (tmp_path / "outer.toml").write_text(FLOW.format(id="outer", step='type = "workflow"\nworkflow = "inner"'))
    (tmp_path / "inner.toml").write_text(FLOW.format(id="inner", step='type = "fail"\nreason = "x"'))
    run([*home, "start", "outer"])
    name = next(word for word in capfd.readouterr().out.split() if word.startswith("r") and len(word) == 14)
    run([*home, "runs", "show", name])
    assert PINNED not in capfd.readouterr().err
    (tmp_path / "inner.toml").unlink()
    if inner is not None:
        (tmp_path / "inner.toml").write_text(FLOW.format(id="inner", step=inner))
    assert run([*home, "runs", "show", name]) == 0
    said = capfd.readouterr().err
    assert PINNED in said and ("has changed since" if inner and "fail" in inner else "cannot be loaded now") in said


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
