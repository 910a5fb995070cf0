"""The recipes of the README: each block, put where it says and nowhere else mentioned, is a new kind that works."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from . import blocks
from .conftest import ROOT

HOME = """
schema = 1
[models.parrot]
adapter = "parrot"
answer = "hello"
[agents.parrot]
model = "parrot"
prompt = "Speak."
[tools."shelf.books"]
safety = "read_only"
input_schema = "any-object"
[tools."shelf.books".constant]
answer = '["a", "b", "c"]'
[[policy.rules]]
name = "reads"
safety = "read_only"
decision = "allow"
"""
FLOW = """
schema = 1
id = "try"
[[steps]]
id = "speak"
type = "agent"
agent = "parrot"
[[steps]]
id = "books"
type = "tool"
tool = "shelf.books"
save_as = "books"
[[steps]]
id = "count"
type = "count"
of = "books"
into = "number"
"""


@pytest.fixture(scope="module")
def extended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with the new files in it."""
    root = tmp_path_factory.mktemp("extended")
    for name in ("toolgate_cli", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for block in blocks.of("python"):
        [path] = re.findall(r"# (toolgate_cli/\S+)$", block.splitlines()[0])
        assert not (root / path).exists()
        (root / path).write_text(block)
    (root / "home").mkdir()
    (root / "home" / "toolgate.toml").write_text(HOME)
    (root / "home" / "try.toml").write_text(FLOW)
    return root


def toolgate(extended: Path, *words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "toolgate_cli", *words], cwd=extended, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_is_one_for_each_kind_of_file() -> None:
    folders = [re.findall(r"# toolgate_cli/(\S+)/", block)[0] for block in blocks.of("python")]
    assert folders == ["steps", "models", "providers", "cli/commands", "stores"]


def test_a_step_kind_a_model_and_a_provider_work_together(extended: Path) -> None:
    run = json.loads(toolgate(extended, "-C", "home", "start", "try", "--json"))["run"]
    assert run["status"] == "COMPLETED" and run["outputs"] == {"speak": "hello", "books": ["a", "b", "c"], "count": 3}


def test_a_command_is_listed_and_runs(extended: Path) -> None:
    assert "Name the home that a command would use." in toolgate(extended, "help")
    assert toolgate(extended, "where", "-C", "home").strip() == str(extended / "home")


def test_they_pass_the_contracts_that_are_named(extended: Path) -> None:
    suites = [f"tests/contracts/test_{kind}.py" for kind in ("steps", "models", "stores")]
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "count or parrot or traced"]
    done = subprocess.run([sys.executable, "-m", "pytest", *options, *suites], cwd=extended, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and re.search(r"\d{2,} passed", done.stdout), done.stdout


def test_a_store_is_used_by_every_command_once_bootstrap_names_it(extended: Path, tmp_path: Path) -> None:
    shutil.copytree(extended / "toolgate_cli", tmp_path / "toolgate_cli")
    shutil.copytree(extended / "home", tmp_path / "home", ignore=shutil.ignore_patterns(".toolgate"))
    wiring = tmp_path / "toolgate_cli" / "bootstrap.py"
    wiring.write_text(wiring.read_text().replace("from .stores.sqlite import", "from .stores.traced import"))
    for _ in range(2):
        assert json.loads(toolgate(tmp_path, "-C", "home", "start", "try", "--json"))["run"]["status"] == "COMPLETED"
    assert json.loads(toolgate(tmp_path, "-C", "home", "audit", "verify", "--json"))["ok"]
    assert len(json.loads(toolgate(tmp_path, "-C", "home", "runs", "list", "--json"))["items"]) == 2
    lines = (tmp_path / "home" / ".toolgate" / "toolgate.db-trace").read_text().splitlines()
    assert {line.split("\t")[1] for line in lines} == {"read", "write"}


def test_they_are_typed_and_styled(extended: Path) -> None:
    pytest.importorskip("mypy", reason="the development group is not installed")
    shutil.copy(ROOT / "pyproject.toml", extended)
    for tool in (["mypy", "--cache-dir", "/dev/null"], ["ruff", "check", "--no-cache", "toolgate_cli"]):
        done = subprocess.run([sys.executable, "-m", *tool], cwd=extended, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stdout + done.stderr
