"""A server whose tools are functions, for proofs that run over every provider, and the lock file that pins them."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from toolgate_cli.core.types import Json
from toolgate_cli.providers import mcp
from toolgate_cli.workflow import locking

Definition = dict[str, Json]
_LOOP = r"""
import json, os, sys

def answer(method, params):
    if method == "server/discover":
        return {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
    if method == "tools/list":
        return {"tools": DEFINITIONS}
    os.environ["TOOLGATE_CALL"] = params["_meta"]["toolgate/call"]
    try:
        said, failed = globals()[params["name"]](**params["arguments"]), False
    except (SystemExit, Exception) as error:
        said, failed = str(error), True
    made = {"content": [{"type": "text", "text": said if isinstance(said, str) else json.dumps(said)}], "isError": failed}
    return {**made, "structuredContent": said} if isinstance(said, dict) else made

out, sys.stdout = sys.stdout, sys.stderr  # what a function prints is no message
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        made = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message["method"], message["params"])}
        print(json.dumps(made), file=out, flush=True)
"""


def program(functions: str, *definitions: Definition) -> str:
    """Source of a server whose tools are these functions, by their names; a definition has a name, a description and a schema."""
    return f"{functions}\nimport json\nDEFINITIONS = json.loads({json.dumps(definitions)!r})\n{_LOOP}"


def lock(home: Path, name: str, command: tuple[str, ...], *definitions: Definition, env: Mapping[str, str] = {}) -> None:
    """Writes what `tools pin` would write."""
    server = mcp.Fields(name, "", command, env=dict(env))
    trusted = mcp.fingerprint(server, mcp._outside(server, str(home), os.defpath))
    locked = locking.Locked(trusted, {str(definition["name"]): definition for definition in definitions})
    (home / locking.LOCK).write_text(locking.write_lock({name: locked}))
