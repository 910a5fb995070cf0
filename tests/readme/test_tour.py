"""The tour, typed as it stands there: every command of the console blocks prints what is promised."""

from __future__ import annotations

from pathlib import Path

from . import blocks
from .conftest import ROOT, AtTerminal, copied


def test_every_command_of_the_tour_prints_what_is_promised(tmp_path: Path, at_terminal: AtTerminal) -> None:
    copied(tmp_path / "workflows.example")
    here, known = tmp_path, dict[str, str]()
    commands = blocks.commands()
    assert len(commands) > 25
    for command in commands:
        typed = blocks.with_real_ids(command.text, known)
        _, shown = at_terminal(typed, here)
        assert blocks.fits(command.output, shown.splitlines(), known), f"README.md:{command.line}: {typed}\n{shown}"
        if "cd home" in typed:
            here = tmp_path / "home"


def test_it_begins_with_two_commands_that_do_everything() -> None:
    lines = [line.split("#")[0].strip() for line in blocks.of("sh")[0].splitlines()]
    assert lines == ["workflows.example/demo", ".ci/test"]
    assert blocks.text().splitlines().index("```sh") < 16  # on the first screen
    for line in lines:
        assert (ROOT / line).stat().st_mode & 0o100
