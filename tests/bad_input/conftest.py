"""One home is made for all tests of this folder; who spoils something takes a copy."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import homes
from .homes import Home


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return homes.make(tmp_path_factory.mktemp("given") / "home")


@pytest.fixture
def home(made: Home, tmp_path: Path) -> Home:
    """A copy that this test may spoil."""
    return homes.copy(made, tmp_path / "home")
