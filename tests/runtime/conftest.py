"""A home over each store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .kit import STORES, Home


@pytest.fixture(params=STORES)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    made = Home(tmp_path, request.param)
    yield made
    made.close()


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[Home]:
    """Where the store makes no difference."""
    made = Home(tmp_path, "memory")
    yield made
    made.close()
