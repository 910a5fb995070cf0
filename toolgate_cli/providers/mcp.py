"""Tools of MCP servers: each pinned by its definition, compared with the live one before a call is sent (I3), in one session per server
and process."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, cast

from ..core import commandline, offered
from ..core.errors import ToolgateError
from ..core.fields import Path, Secret
from ..core.results import ToolResult
from ..core.types import Json
from ..core.values import NamedTuple
from ..runtime.plugs import InvokeLimits, Offered, Pinned
from . import _filling, command

if TYPE_CHECKING:
    from ..core.secrets import Secrets
    from ..runtime.plugs import Started
    from ._mcp_session import Broken, Session, Wait


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


class Bound(NamedTuple):
    """A call that is ready to be sent. `started`: the server's command (None: it is at `url`); `sealed`: what of headers holds secrets."""

    server: str
    remote: str
    definition: str
    started: command.Bound | None
    url: str | None
    headers: Mapping[str, str]


_SPOKEN = ("accept", "content-type", "last-event-id")  # headers of the protocol, beside those that begin with mcp-
_sessions: dict[str, tuple[object, Session]] = {}  # by server: what it was opened with, and the session


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
    _filled_headers(fields.headers, _filling.unopened)
    return Bound(fields.server, fields.remote, fields.definition or "", started, fields.url, fields.headers)


def invoke(claim: Started, limits: InvokeLimits) -> ToolResult:
    """An answer is an answer; a session that broke after the call may have been sent says nothing about its effect, and is ended with its
    whole tree, so that nothing late is taken for an answer."""
    from ..host import kernel
    from ._mcp_result import result
    from ._mcp_session import Broken, Wait

    bound = claim.bound
    assert isinstance(bound, Bound)
    wait = Wait(kernel.now() + limits.timeout, limits.timeout, limits.stop)
    about: dict[str, Json] = {"toolgate/call": claim.call_id, "toolgate/idempotencyKey": claim.key}
    try:
        session = _session(bound, claim.run_id, claim.call_id, limits.secrets, wait)
        offer = session.offers(wait).get(bound.remote)
        if offer is None or offer.fault is not None or offer.digest != bound.definition:
            return ToolResult("not_dispatched", message=_differs(bound, "" if offer is None else offer.fault or "changed"))
        return result(session.call(bound.remote, claim.arguments, about, claim.fence, wait), limits)
    except Broken as broken:
        return _broken(bound, broken, limits)
    except ToolgateError as error:
        return ToolResult("not_dispatched", message=error.message)
    except BaseException:
        _end(bound.server)
        raise


def _differs(bound: Bound, how: str) -> str:
    what = "is not there any more" if not how else "is not what was pinned" if how == "changed" else f"cannot be used: {how}"
    return f"the tool {bound.remote} of the server {bound.server} {what}: toolgate tools pin {bound.server}"


def _broken(bound: Bound, broken: Broken, limits: InvokeLimits) -> ToolResult:
    from ._mcp_result import cut

    survivors, left_behind = _end(bound.server)
    message = cut(broken.message, limits)
    message = message if broken.why in ("timed_out", "cancelled", "unstarted") else f"the server {bound.server}: {message}"
    if broken.sent:
        return ToolResult("uncertain", message=message, survivors=survivors, left_behind=left_behind)
    return ToolResult("not_dispatched", message=f"{message}: nothing was sent", survivors=survivors, left_behind=left_behind)


def _end(server: str) -> tuple[tuple[str, ...], str | None]:
    held = _sessions.pop(server, None)
    left = held[1].end(0.15) if held is not None else ((), None)
    return left[0], left[1]


def _session(bound: Bound, run: str, call: str, secrets: Secrets, wait: Wait) -> Session:
    """The open one, if it still is what would be opened now. Raises Broken, or ToolgateError("invalid") where it cannot be filled."""
    opened = bound.started._replace(env=_filled(bound.started, secrets)) if bound.started else (bound.url, _headers(bound, secrets))
    held = _sessions.get(bound.server)
    if held is not None and held[0] == opened and held[1].alive():
        return held[1]
    _end(bound.server)
    if bound.started is not None:
        made = _over_stdio(cast(command.Bound, opened), run, call, secrets, wait)
    else:
        from ._mcp_http import HttpSession

        made = HttpSession(bound.url or "", _headers(bound, secrets), wait)
    _sessions[bound.server] = opened, made
    return made


def _filled(started: command.Bound, secrets: Secrets) -> dict[str, str]:
    return {**started.env, **commandline.environment(started.sealed, _filling.everything({}, secrets.value))}


def _headers(bound: Bound, secrets: Secrets) -> dict[str, str]:
    return _filled_headers(bound.headers, secrets.value)


def _filled_headers(headers: Mapping[str, str], secret: Callable[[str], str]) -> dict[str, str]:
    """ToolgateError("invalid") for a value that no header can carry, without it."""
    if not headers:
        return {}
    from ..core import requests

    return dict(requests.headers(headers, _filling.everything({}, secret)))


def _over_stdio(started: command.Bound, run: str, call: str, secrets: Secrets, wait: Wait) -> Session:
    from ..host.child import Command
    from ..host.peer import Peer
    from ._mcp_stdio import LINE_BYTES, StdioSession

    # it has the mark of the call that opened it: whatever runs in it decides nothing
    env = _filling.surroundings(started.path, started.env, run, call)
    process = Command(call, started.argv, started.cwd, env, None)
    return StdioSession(lambda: Peer(process, LINE_BYTES, secrets), wait)


def offers(fields: object, home: str, path: str, limits: InvokeLimits) -> Offered:
    """What a server has now: `tools pin` asks for it, outside of any call. `failed` where it does not say."""
    from ..host import kernel
    from ._mcp_result import cut
    from ._mcp_session import Broken, Wait

    assert isinstance(fields, Fields)
    pinned = _outside(fields, home, path)
    if pinned.error is not None:
        raise ToolgateError("invalid", f"mcp.{fields.server}: {pinned.error}")
    bound = bind(fields, pinned.facts, home, {})
    wait = Wait(kernel.now() + limits.timeout, limits.timeout, limits.stop)
    try:
        found = _session(bound, "", f"pin-{os.urandom(8).hex()}", limits.secrets, wait).offers(wait)
        return Offered(fingerprint(fields, pinned), tuple(found.values()))
    except Broken as broken:
        raise ToolgateError(
            "failed", f"the server {fields.server}: {cut(broken.message, limits)}", "start it by hand, to see what it says"
        ) from None
    finally:
        _end(fields.server)
