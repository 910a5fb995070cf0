"""Tools of MCP servers: each pinned by its definition, compared with the live one before a call is sent (I3), in one session per server
and process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, cast

from ..core import offered
from ..core.errors import ToolgateError
from ..core.fields import Path, Secret
from ..core.results import ToolResult
from ..core.types import Json
from ..core.values import NamedTuple
from ..runtime.plugs import InvokeLimits, Offered, Pinned
from . import _filling, command
from ._mcp_bound import Bound, sessions

if TYPE_CHECKING:
    from ..runtime.plugs import Started


class Server(NamedTuple):
    """`[mcp.NAME]`. `cwd` and `pin` are relative to the home, files in `command` to `cwd`."""

    command: tuple[str, ...] = ()
    url: str | None = None
    env: Annotated[dict[str, str], Secret()] = {}  # noqa: RUF012  # never changed
    headers: Annotated[dict[str, str], Secret()] = {}  # noqa: RUF012
    cwd: str = "."
    pin: Annotated[tuple[str, ...], Path()] = ()


class Fields(NamedTuple):
    """One tool of a server. `remote`: its name there; `trusted`: the server's fingerprint when it was pinned; `definition`: the digest of
    the definition that was pinned, None: it is not."""

    server: str
    remote: str
    command: tuple[str, ...] = ()
    url: str | None = None
    env: Annotated[dict[str, str], Secret()] = {}  # noqa: RUF012  # never changed
    headers: Annotated[dict[str, str], Secret()] = {}  # noqa: RUF012
    cwd: str = "."
    pin: Annotated[tuple[str, ...], Path()] = ()
    trusted: str | None = None
    definition: str | None = None


_SPOKEN = ("accept", "content-type", "last-event-id")  # headers of the protocol, beside those that begin with mcp-


def pin(fields: object, home: str, path: str) -> Pinned:
    """Nothing is started. Facts as of a command, or {"url"}."""
    assert isinstance(fields, Fields)
    if fields.definition is None:
        return Pinned(None, (), f"{fields.server}.{fields.remote} is not pinned: toolgate tools pin {fields.server}")
    pinned = _outside(fields, home, path)
    if pinned.error is None and fingerprint(fields, pinned) != fields.trusted:
        why = f"the server {fields.server} is not what it was when its tools were pinned: toolgate tools pin {fields.server}"
        return pinned._replace(error=why)
    return pinned


def _outside(fields: Fields, home: str, path: str) -> Pinned:
    if fields.url is not None:
        fault = _fault_of_headers(fields.headers)
        return Pinned({"url": fields.url}, ()) if fault is None else Pinned(None, (), fault)
    pinned = command.pin(_command(fields), home, path)
    facts, home = pinned.facts, os.path.abspath(home)
    if not isinstance(facts, dict) or not isinstance(facts["files"], dict):
        return pinned
    # a file that the command names and that is no program is what the server works on: it may change with every call
    declared = {os.path.normpath(name) for name in fields.pin}
    data = {name for name in facts["files"] if not (name in declared or command.is_script(name) or _is(name, home, facts["executable"]))}
    files: dict[str, Json] = {name: digest for name, digest in facts["files"].items() if name not in data}
    paths = tuple(place for place in pinned.paths if not any(_is(name, home, place) for name in data))
    return Pinned({**facts, "files": files}, paths)


def _fault_of_headers(headers: Mapping[str, str]) -> str | None:
    """None where each is a header of the operator's own: what the protocol says of a message is not theirs."""
    from ..core import requests

    spoken = next((name for name in headers if name.lower() in _SPOKEN or name.lower().startswith("mcp-")), None)
    return requests.fault_of_names(headers) if spoken is None else f"headers may not set {spoken}: the protocol does"


def _is(name: str, home: str, place: Json) -> bool:
    return os.path.realpath(os.path.join(home, name)) == os.path.realpath(str(place))


def _command(fields: Fields) -> command.Fields:
    return command.Fields(fields.command, "none", fields.env, fields.cwd, fields.pin)


def fingerprint(fields: Fields, pinned: Pinned) -> str:
    """Of the server's table, and of its files in the home."""
    facts = pinned.facts if isinstance(pinned.facts, dict) else {}
    table: dict[str, Json] = {
        "command": list(fields.command),
        "url": fields.url,
        "env": cast("dict[str, Json]", fields.env),
        "headers": cast("dict[str, Json]", fields.headers),
        "cwd": fields.cwd,
        "pin": list(fields.pin),
    }
    return offered.fingerprint(table, facts.get("files", {}))


def bind(fields: object, pinned: Json, home: str, arguments: dict[str, Json]) -> Bound:
    """Arguments are sent as they are: nothing of a server is filled with them. ToolgateError("invalid") where what it is opened with could
    not be sent."""
    assert isinstance(fields, Fields)
    del arguments
    started = command.bind(_command(fields), pinned, home, {}) if fields.url is None else None
    _filling.headers(fields.headers, _filling.unopened)
    return Bound(fields.server, fields.remote, fields.definition or "", started, fields.url, fields.headers)


def lock(bound: object) -> str | None:
    """That of the open session with the server."""
    assert isinstance(bound, Bound)
    held = sessions.get(bound.server)
    return held[1].lock if held is not None else None


def invoke(claim: Started, limits: InvokeLimits) -> ToolResult:
    from . import _mcp_calls

    return _mcp_calls.call(claim, limits)


def offers(fields: object, home: str, path: str, limits: InvokeLimits) -> Offered:
    """What a server has now: `tools pin` asks for it, outside of any call. `failed` where it does not say."""
    from . import _mcp_calls
    from ._mcp_result import cut
    from ._mcp_session import Broken

    assert isinstance(fields, Fields)
    pinned = _outside(fields, home, path)
    if pinned.error is not None:
        raise ToolgateError("invalid", f"mcp.{fields.server}: {pinned.error}")
    try:
        found = _mcp_calls.offers(bind(fields, pinned.facts, home, {}), limits)
    except Broken as broken:
        raise ToolgateError(
            "failed", f"the server {fields.server}: {cut(broken.message, limits)}", "start it by hand, to see what it says"
        ) from None
    return Offered(fingerprint(fields, pinned), tuple(found.values()))
