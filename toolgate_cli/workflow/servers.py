"""The tools of MCP servers as tools of the home: what is pinned of a server becomes tables beside those that the operator wrote (I3).

Everything behind this sees one kind of tool: a table with its schema, its classes, and the table of its provider.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, cast, get_args

from ..core.types import Effect, Json, Safety
from .reading import Table

if TYPE_CHECKING:
    from .locking import Locked

SECTION = "mcp"  # in toolgate.toml, and the name of the provider
_OPEN = "any-object"


def expand(raw: Table, locked: Mapping[str, Locked], providers: tuple[str, ...]) -> Table:
    """The tables of toolgate.toml with one for every tool of a server. They may still be anything."""
    servers, tools = raw.get(SECTION), raw.get("tools", {})
    if not isinstance(servers, dict) or not isinstance(tools, dict):
        return raw
    made = dict(tools)
    for name, server in servers.items():
        if isinstance(server, dict):
            made |= _of_server(name, server, locked.get(name), tools, providers)
    return {**raw, "tools": made}


def operators(name: str, tools: Mapping[str, Json], providers: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Json], str]]:
    """The operator's words on tools of a server: capability, table, and the name that the server has for it."""
    for capability, table in tools.items():
        if capability.startswith(f"{name}.") and isinstance(table, dict) and not any(known in table for known in providers):
            yield capability, table, str(table.get("remote", capability[len(name) + 1 :]))


def _of_server(
    name: str, server: Mapping[str, Json], held: Locked | None, tools: Mapping[str, Json], providers: tuple[str, ...]
) -> dict[str, Json]:
    from .names import is_capability  # a home without a server never needs it

    said = {capability: (table, remote) for capability, table, remote in operators(name, tools, providers)}
    pinned = held.tools if held is not None else {}
    named = {remote for _, remote in said.values()}
    free: dict[str, tuple[dict[str, Json], str]] = {
        f"{name}.{remote}": ({}, remote)
        for remote in pinned
        if remote not in named and f"{name}.{remote}" not in tools and is_capability(f"{name}.{remote}")
    }
    trusted = held.server if held is not None else None
    return {
        capability: tool_of(table, {**server, "server": name, "remote": remote, "trusted": trusted}, pinned.get(remote))
        for capability, (table, remote) in (said | free).items()
    }


def meant_tool(name: str, tools: Iterable[str], servers: Container[str]) -> str:
    """What to do about the name of a tool that there is not."""
    from .issues import meant

    server = name.split(".")[0]
    return f"if the server has it: toolgate tools pin {server}" if server in servers else meant(name, tools)


def tool_of(table: Mapping[str, Json], server: Mapping[str, Json], definition: Mapping[str, Json] | None) -> dict[str, Json]:
    """The table of one tool: the operator's words first, where they are silent the server's; of the risk the higher. None: it is not
    pinned, so there is nothing that could be called."""
    from ..core import offered

    own = {key: value for key, value in table.items() if key != "remote"}
    provided: dict[str, Json] = {key: value for key, value in server.items() if value is not None}
    if definition is None:
        return ({} if "input_schema_file" in own else {"input_schema": _OPEN}) | own | {SECTION: provided}
    made: dict[str, Json] = {"description": definition.get("description", "")}
    if "input_schema_file" not in own:
        made["input_schema"] = definition["inputSchema"]
    if "outputSchema" in definition:
        made["output_schema"] = definition["outputSchema"]
    made |= own | {SECTION: {**provided, "definition": offered.digest(definition)}}
    safety, effect = own.get("safety", "destructive"), own.get("effect", "unsafe")
    if safety in get_args(Safety) and effect in get_args(Effect):  # else that is said where it stands
        made["safety"], made["effect"] = offered.raised(cast(Safety, safety), cast(Effect, effect), definition.get("annotations"))
    return made
