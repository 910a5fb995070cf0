"""The screens are as they were last looked at: a change of one is seen."""

from __future__ import annotations

from rich.cells import cell_len

from .screens import FILE, rendered


def test_the_screens_are_as_they_were_last_looked_at(desk):
    assert rendered() == FILE.read_text(encoding="utf-8"), "look at them, then: python -m tests.cli.screens"


def test_they_fit_into_80_columns():
    wide = [row for row in FILE.read_text(encoding="utf-8").splitlines() if cell_len(row) > 80]
    assert wide == []
