"""What `runs show` says about the file that a run was started with."""

from __future__ import annotations

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
