"""One home is made for all tests of this folder; who changes a store takes a copy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from . import homes
from .homes import Home


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Home:
    return homes.make(tmp_path_factory.mktemp("given") / "home")


@pytest.fixture
def home(made: Home, tmp_path: Path) -> Home:
    """A copy that this test may do anything to."""
    return homes.copy(made, tmp_path / "home")


@pytest.fixture(scope="module")
def shared(made: Home, tmp_path_factory: pytest.TempPathFactory) -> Home:
    return homes.copy(made, tmp_path_factory.mktemp("shared") / "home")


@pytest.fixture
def spoilt(shared: Home) -> Iterator[Home]:
    """A copy for all tests of a module, whose files are as they were again after each; its store must never change."""
    yield shared
    shared.mend()
