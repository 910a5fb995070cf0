"""What the table of an MCP server must hold, and what the operator may say of its tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...core import references
from ...core.errors import ToolgateError
from ...core.types import Json
from .. import models, shapes
from ..document import check_values
from ..issues import Issues
from ..kinds import Kinds
from ..names import check_name
from ..positions import KeyPath
from ..reading import Table
from ..servers import SECTION, operators
from .marks import check_marks
from .secrets import check_secrets
from .tools import texts


def check_served(raw: Table, kinds: Kinds) -> Issues:
    """Of a file whose servers are to be asked for their tools: them, and what they are started with."""
    issues = Issues()
    check_values(raw, issues)
    if not issues.errors:
        models.check(models.Fit((shapes.Gate,)), raw.get("gate", {}), ("gate",), issues)
        for section in (SECTION, "tools", "secrets", "models"):
            if not isinstance(raw.get(section, {}), dict) or not all(isinstance(held, dict) for held in _held(raw, section).values()):
                issues.add((section,), "must be a table of tables")
    if not issues.errors:
        check_marks(shapes.Gate, _held(raw, "gate"), ("gate",), issues)
        check_servers(raw, kinds, issues)
        check_secrets(raw, kinds, issues)
    return issues


def _held(raw: Table, section: str) -> dict[str, Json]:
    held = raw.get(section, {})
    return held if isinstance(held, dict) else {}


def check_servers(raw: Table, kinds: Kinds, issues: Issues) -> None:
    """Of toolgate.toml as it is written."""
    servers, tools = raw.get(SECTION), raw.get("tools")
    tools = tools if isinstance(tools, dict) else {}
    served = servers if isinstance(servers, dict) else {}
    for name, server in served.items():
        check_name(name, "a server", (SECTION, name), issues)
        if isinstance(server, dict):
            _check_server(server, (SECTION, name), kinds, issues)
        _check_tools(name, tools, kinds, issues)
    for capability, table in tools.items():
        if isinstance(table, dict) and SECTION in table:
            hint = f"write [{SECTION}.NAME], then: toolgate tools pin NAME"
            issues.add(("tools", capability, SECTION), "a tool of a server comes from the server", hint)


def _check_server(server: Mapping[str, Json], path: KeyPath, kinds: Kinds, issues: Issues) -> None:
    shape = kinds.serving(SECTION).Server
    if not models.check(models.Fit((shape,)), dict(server), path, issues):
        return
    check_marks(shape, server, path, issues)
    if bool(server.get("command")) == (server.get("url") is not None):
        issues.add(path, "needs exactly one of command and url")
    elif "url" in server:
        _check_url(str(server["url"]), (*path, "url"), issues)
    for key, only in (("env", "command"), ("cwd", "command"), ("pin", "command"), ("headers", "url")):
        if key in server and only not in server:
            issues.add((*path, key), f"goes with {only} alone")
    for where, text in texts(dict(server), path):
        for name in _names(text, where, issues):
            if where[len(path)] not in ("env", "headers") or not name.startswith(("env.", "secret.")):
                issues.add(where, f"nothing is called {name} here", "${env.NAME} and ${secret.NAME} may stand in env and headers")


def _check_url(url: str, where: KeyPath, issues: Issues) -> None:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        plain = parts.scheme in ("http", "https") and parts.hostname and not parts.username and (parts.port or 1)
    except ValueError:
        plain = False
    if not plain or "${" in url:
        issues.add(where, "not the URL of a server", 'write it as "https://host/path", without a user and references')


def _names(text: str, where: KeyPath, issues: Issues) -> Iterator[str]:
    try:
        yield from references.names(text)
    except ToolgateError as error:
        issues.add(where, error.message, error.hint)


def _check_tools(name: str, tools: Mapping[str, Json], kinds: Kinds, issues: Issues) -> None:
    spoken = {capability for capability, _, _ in operators(name, tools, kinds.providers())}
    for capability, table in tools.items():
        if capability.split(".")[0] != name or not isinstance(table, dict):
            continue
        if capability not in spoken or capability == name:
            issues.add(("tools", capability), f"{name} is a server: its tools have no table of a provider", f"[{SECTION}.{name}] is theirs")
        elif not isinstance(table.get("remote", ""), str):
            issues.add(("tools", capability, "remote"), "must be a text", "the name that the server has for it")
