"""The home for a coding agent's tools, as the README has it: reads are free, a commit waits, a reset is denied."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from peers.servers import ALL, INSTALLED

from . import blocks
from .conftest import Shell, copied


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A copy of the example, with the server that is installed for the tests."""
    ALL["git"].command()
    home = copied(tmp_path / "workflows.example") / "coding"
    (home / ".venv").symlink_to(INSTALLED / "stateless")
    return home


def lines() -> list[str]:
    """The commands of the README, but for what installs the server."""
    [block] = [block for block in blocks.of("sh") if "tools pin git" in block]
    found = [line.split("  #")[0].strip() for line in block.splitlines()]
    assert "mcp-server-git==2026.10.19" in found[1] and "mcp-server-git==2026.10.19" in (INSTALLED.parent / ".ci" / "peers").read_text()
    return [found[0], found[2].replace("git", "git --yes"), *found[3:]]


@pytest.mark.timeout(120)
def test_the_commands_of_the_readme_do_what_they_say(home: Path, shell: Shell) -> None:
    into, pin, change, start, approve, unstage = lines()
    assert shell(into, home.parent.parent).returncode == 0
    repository = home.parent / "repository"

    def log() -> str:
        said = ["git", "-C", str(repository), "log", "--format=%an: %s", "-1"]
        return subprocess.run(said, capture_output=True, text=True, check=True).stdout

    assert shell(pin, home).returncode == 0 and (home / "toolgate.lock.toml").exists()
    assert shell("toolgate workflow check", home).stdout.count("ok\t") == 3
    assert shell(change, home).returncode == 0
    answer = json.loads(shell(f"{start} --json", home).stdout)
    assert [row["title"] for row in answer["pending"]] == ["Commit: Notes on the next release"] and "Notes" not in log()
    assert json.loads(shell(f"{approve} --json", home).stdout)["run"]["status"] == "COMPLETED"
    assert log() == "coder: Notes on the next release\n"
    denied = json.loads(shell(f"{unstage} --json", home).stdout)
    assert denied["pending"][0]["origin"] == "POLICY_DENIED" and shell("toolgate approve", home).returncode == 6


def test_every_tool_that_is_free_only_reads_or_stages_in_this_repository(home: Path, shell: Shell) -> None:
    assert shell("cd .. && ./make-repository && cd coding && toolgate tools pin git --yes", home).returncode == 0
    (home / "workflows" / "other.toml").write_text(
        'schema = 1\nid = "other"\n[[steps]]\nid = "look"\ntype = "tool"\ntool = "git.git_log"\narguments = { repo_path = "/" }\n'
    )
    answer = json.loads(shell("toolgate start other --json", home).stdout)
    assert answer["pending"][0]["origin"] == "APPROVAL_REQUIRED"
