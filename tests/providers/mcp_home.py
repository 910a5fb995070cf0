"""A home with one MCP server, and the command line in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from providers import mcp_server

RULES = """
[[policy.rules]]
name = "reads-are-free"
safety = "read_only"
decision = "allow"
"""
READS = 'safety = "read_only"\neffect = "read_only"\n'


class Home:
    """`more`: further text of toolgate.toml, behind the table of the server."""

    def __init__(self, folder: Path, name: str, command: tuple[str, ...], more: str = "") -> None:
        self.folder, self.name = folder, name
        (folder / "workflows").mkdir(parents=True)
        (folder / "toolgate.toml").write_text(f"schema = 1\n[mcp.{name}]\ncommand = {json.dumps(command)}\n{more}{RULES}")

    def words(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "toolgate_cli", *words]

    def __call__(self, *words: str, **variables: str) -> tuple[int, Any, str]:
        """Exit code, the answer, and what else was said."""
        done = subprocess.run(
            self.words(*words, "--json"), cwd=self.folder, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=120,
        )  # fmt: skip
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    def pin(self) -> None:
        code, _, said = self("tools", "pin", self.name, "--yes")
        assert code == 0, said

    def workflow(self, tool: str, **arguments: Any) -> None:
        step = f'schema = 1\nid = "call"\n[[steps]]\nid = "it"\ntype = "tool"\ntool = "{self.name}.{tool}"\n'
        filled = "".join(f"{name} = {json.dumps(value)}\n" for name, value in arguments.items())
        (self.folder / "workflows" / "call.toml").write_text(f"{step}[steps.arguments]\n{filled}")

    def start(self, tool: str, **arguments: Any) -> tuple[int, Any, str]:
        self.workflow(tool, **arguments)
        return self("start", "call")

    def events(self, type: str) -> list[dict[str, Any]]:
        return [event["payload"] for event in self("events")[1]["items"] if event["type"] == f"TOOL_INVOCATION_{type}"]


def odd(folder: Path, *tools: str, more: str = "", options: tuple[str, ...] = ()) -> Home:
    """A home whose server has these tools of `mcp_server`."""
    return Home(folder, "odd", (sys.executable, "-S", str(Path(mcp_server.__file__)), *options, *tools), more)


def free(tool: str) -> str:
    """The operator's word that a tool of `odd` only reads."""
    return f'[tools."odd.{tool}"]\n{READS}'
