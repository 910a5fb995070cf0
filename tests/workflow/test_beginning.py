"""A first home is whole, and what its comments say of other tools is true."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from toolgate_cli.workflow.beginning import MORE, begin


def toolgate(home: Path, *words: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "toolgate_cli", "-C", str(home), *words, "--json"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    items: list[dict[str, Any]] = json.loads(done.stdout)["items"]
    return items


def test_the_tools_in_its_comments_are_tools_once_they_are_none(tmp_path: Path) -> None:
    begin(str(tmp_path))
    file = tmp_path / "toolgate.toml"
    bare = "\n".join(line[2:] for line in MORE.splitlines() if not line.startswith("# A tool need"))
    file.write_text(file.read_text().replace(MORE, bare))
    (tmp_path / "money.py").write_text("def vat(cents=0): return cents * 20 // 120\n")
    assert [found for found in toolgate(tmp_path, "workflow", "check") if found["errors"] or found["warnings"]] == []
    tools = toolgate(tmp_path, "tools", "list")
    assert {tool["effect"] for tool in tools if tool["safety"] == "read_only"} == {"read_only"}
    providers = {tool["capability"]: tool["provider"] for tool in tools}
    assert providers == {"clock.now": "command", "notes.add": "command", "money.vat": "python", "orders.lookup": "http"}
