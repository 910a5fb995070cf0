"""How every file of the package is made: one idea each, said in its first sentence, and nothing written past the streams."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import toolgate_cli

PACKAGE = Path(toolgate_cli.__file__).parent
FILES = sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))
LONGEST = 300  # lines


@pytest.fixture(params=FILES)
def file(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def parsed(file: str) -> ast.Module:
    return ast.parse((PACKAGE / file).read_text(encoding="utf-8"))


def test_it_says_in_one_sentence_what_it_is_for(file: str) -> None:
    said = ast.get_docstring(parsed(file))
    assert said, "no docstring"
    first = " ".join(said.split("\n\n")[0].split())
    assert first.endswith(".") and " " in first, first


def test_it_holds_one_idea(file: str) -> None:
    assert len((PACKAGE / file).read_text(encoding="utf-8").splitlines()) <= LONGEST


def test_it_prints_nothing(file: str) -> None:
    calls = [node for node in ast.walk(parsed(file)) if isinstance(node, ast.Call)]
    assert [call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"] == []


def test_it_knows_typer_and_rich_only_in_cli(file: str) -> None:
    if file.startswith("cli/"):
        return
    imported: set[str] = set()
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            imported.add((node.module or "").split(".")[0])
    assert not imported & {"typer", "rich", "click"}
