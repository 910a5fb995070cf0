"""What a checkout holds: nothing strays to the top, and no file knows the machine that it was written on."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AT_THE_TOP = {"pyproject.toml", "toolgate_cli", "tests", "workflows.example", "README.md", "LICENSE", "CHANGELOG.md"}
ELSEWHERE = re.compile("|".join((r"(?<![\w.-])/" + r"work(?![\w-])", "/tmp/" + "venv")))


@pytest.fixture(scope="module")
def files() -> list[str]:
    """Every file that belongs to the checkout: those in git's index, and new ones that are not ignored."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True, text=True
    )
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def test_the_top_holds_what_it_should_and_dotfiles(files: list[str]) -> None:
    top = {name.split("/")[0] for name in files}
    assert {name for name in top if not name.startswith(".")} == AT_THE_TOP


def test_no_file_names_a_place_of_the_machine_it_was_written_on(files: list[str]) -> None:
    found = [name for name in files if ELSEWHERE.search((ROOT / name).read_text(errors="replace"))]
    assert found == []


def test_what_is_to_be_run_can_be(files: list[str]) -> None:
    scripts = [name for name in files if (ROOT / name).read_bytes().startswith(b"#!")]
    assert {".ci/run", ".ci/test", "workflows.example/demo", "workflows.example/make-repository"} <= set(scripts)
    assert [name for name in scripts if not (ROOT / name).stat().st_mode & 0o100] == []
