"""Where the npm packages are that `.ci/peers` installs: a test that needs one is skipped without it, and fails in CI."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_REQUIRED = os.environ.get("TOOLGATE_TESTS_PEERS") == "required"  # read now: no test is left a variable of that kind


def program(path: str) -> list[str]:
    """The command that runs a script of a package, such as "@copilotkit/aimock/dist/cli.js"."""
    modules = HERE / "node_modules"
    node, script = shutil.which("node", path=f"{modules}/.node/bin:{os.environ['PATH']}"), modules / path
    if node is None or not script.is_file():
        why = "there is no node" if node is None else f"{path} is not installed"
        (pytest.fail if _REQUIRED else pytest.skip)(f"{why}: run .ci/peers")
    return [node, str(script)]
