"""What is given away: the wheel is the package and its types, the sdist also what is needed to test and to try it."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from toolgate_cli import __version__

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both, built from this checkout with what is installed."""
    pytest.importorskip("hatchling", reason="the development group is not installed")
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(built / f"toolgate_cli-{__version__}-py3-none-any.whl")


@pytest.fixture(scope="module")
def sdist(built: Path) -> list[str]:
    with tarfile.open(built / f"toolgate_cli-{__version__}.tar.gz") as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def test_the_wheel_is_the_package_whole(wheel: zipfile.ZipFile) -> None:
    names = {name for name in wheel.namelist() if not name.startswith(f"toolgate_cli-{__version__}.dist-info/")}
    package = ROOT / "toolgate_cli"
    wanted = {f"toolgate_cli/{path.relative_to(package).as_posix()}" for path in package.rglob("*") if path.is_file()}
    assert names == {name for name in wanted if "__pycache__" not in name}
    assert {"toolgate_cli/py.typed", "toolgate_cli/cli/topics/exit-codes.txt"} <= names


def test_the_wheel_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    inside = f"toolgate_cli-{__version__}.dist-info"
    metadata = Parser().parsestr(wheel.read(f"{inside}/METADATA").decode())
    assert (metadata["Name"], metadata["Version"], metadata["Requires-Python"]) == ("toolgate-cli", __version__, ">=3.11")
    assert metadata["License-Expression"] == "Apache-2.0" and f"{inside}/licenses/LICENSE" in wheel.namelist()
    assert "toolgate = toolgate_cli.__main__:main" in wheel.read(f"{inside}/entry_points.txt").decode()
    assert str(metadata.get_payload()).startswith("# toolgate")


def test_the_sdist_can_be_tested_and_tried(sdist: list[str]) -> None:
    wanted = {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "tests/conftest.py", "workflows.example/demo"}
    assert wanted | {"tests/peers/package-lock.json"} <= set(sdist)
    assert not [name for name in sdist if "node_modules" in name]


def test_the_sdist_holds_nothing_that_running_left_behind(sdist: list[str]) -> None:
    left = ("workflows.example/.toolgate", "workflows.example/repository", "workflows.example/announcement-")
    assert [name for name in sdist if name.startswith(left) or "__pycache__" in name or name.endswith(".db")] == []
