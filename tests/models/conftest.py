"""The two servers that adapters are tried on: one of others that speaks both APIs, and one of our own that misbehaves on the wire."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from peers.aimock import Aimock

from .wire import Wire


@pytest.fixture(scope="session")
def _aimock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Aimock]:
    with Aimock(tmp_path_factory.mktemp("aimock")) as server:
        yield server


@pytest.fixture
def aimock(_aimock: Aimock) -> Aimock:
    _aimock.reset()
    return _aimock


@pytest.fixture
def wire() -> Iterator[Wire]:
    with Wire() as server:
        yield server
