"""A home in memory for each test, and the clean-up of whatever a tool of it has left."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from proofs import homes


@pytest.fixture
def home() -> Iterator[Path]:
    with homes.folder() as folder:
        yield folder / "home"
        for file in (folder / "home").glob("*.pid"):
            with suppress(ProcessLookupError, ValueError):
                os.kill(int(file.read_text()), signal.SIGKILL)
