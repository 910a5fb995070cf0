"""What every test needs: the option `--long` for the slow proofs, and the test kits of this folder as modules."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the slow proofs in full length")


@pytest.fixture
def long(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--long"))


@pytest.fixture(autouse=True)
def no_real_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reaches the home of whoever runs it, and no variable of theirs reaches a test."""
    home = tmp_path_factory.mktemp("home", numbered=True)
    for name in [name for name in os.environ if name.startswith(("TOOLGATE_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))


@pytest.fixture(autouse=True, scope="module")
def no_dead_children() -> Iterator[None]:
    """Whoever starts tools adopts their orphans; where many tests run in one process, thousands of dead ones would use up the table of
    processes."""
    yield
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


@pytest.fixture(autouse=True)
def storms_run_alone(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A tool that forks for ever takes the computer from whatever else runs, so no other worker has a test in the meantime."""
    own = tmp_path_factory.getbasetemp()
    if not own.name.startswith("popen-"):  # there are no other workers
        yield
        return
    with open(own.parent / "storms", "ab") as storms:
        fcntl.flock(storms, fcntl.LOCK_EX if "forks for ever" in request.node.name else fcntl.LOCK_SH)
        yield
