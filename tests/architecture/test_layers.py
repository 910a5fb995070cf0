"""Imports point one way: the contracts of pyproject.toml hold, and they cover every package that there is."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_contract_is_kept() -> None:
    code = "import sys; from importlinter.cli import lint_imports_command as run; sys.argv = ['lint-imports', '--no-cache']; run()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "0 broken" in done.stdout, done.stdout + done.stderr


def test_no_contract_is_loosened() -> None:
    with open(ROOT / "pyproject.toml", "rb") as file:
        linter = tomllib.load(file)["tool"]["importlinter"]
    [layers] = [contract for contract in linter["contracts"] if contract["type"] == "layers"]
    assert layers["exhaustive"] is True and layers["exhaustive_ignores"] == ["__main__"]
    assert not any("ignore_imports" in contract for contract in linter["contracts"])
