"""Where the npm packages are that `.ci/peers` installs, and the node that runs them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from .missing import missing

HERE = Path(__file__).parent


def program(path: str) -> list[str]:
    """The command that runs a script of a package, such as "@copilotkit/aimock/dist/cli.js"."""
    modules = HERE / "node_modules"
    node, script = shutil.which("node", path=f"{modules}/.node/bin:{os.environ['PATH']}"), modules / path
    if node is None or not script.is_file():
        missing("there is no node" if node is None else f"{path} is not installed")
    return [node, str(script)]
