"""A command line in this process, over a desk that is not real."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import pytest

from toolgate_cli.cli.frame import Frame
from toolgate_cli.cli.main import run

from .given import FakeDesk


class Said(NamedTuple):
    code: int
    out: str
    err: str


Say = Callable[..., Said]


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> FakeDesk:
    """What the commands of this test reach; stdin is no terminal and no option comes from the environment."""
    fake = FakeDesk()
    for name in ("session", "window"):
        monkeypatch.setattr(Frame, name, lambda self, **how: fake.session())
    monkeypatch.setattr("toolgate_cli.cli.ask.answerable", lambda: False)
    for name in [name for name in os.environ if name.startswith("TOOLGATE_")] + ["NO_COLOR", "FORCE_COLOR", "COLUMNS"]:
        monkeypatch.delenv(name, raising=False)
    return fake


@pytest.fixture
def say(desk: FakeDesk, capfd: pytest.CaptureFixture[str]) -> Say:
    def said(*words: str) -> Said:
        code = run(list(words))
        return Said(code, *capfd.readouterr())

    return said
