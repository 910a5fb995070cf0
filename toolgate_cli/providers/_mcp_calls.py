"""The sessions of this process, one with each server, and the calls that are made in them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core import commandline
from ..core.errors import ToolgateError
from ..core.offered import Offer
from ..core.results import ToolResult
from ..host import kernel
from . import _filling, command
from ._mcp_bound import Bound
from ._mcp_result import cut, result
from ._mcp_session import Broken, Session, Wait

if TYPE_CHECKING:
    from ..core.secrets import Secrets
    from ..runtime.plugs import InvokeLimits, Started

_sessions: dict[str, tuple[object, Session]] = {}  # by server: what it was opened with, and the session


def call(claim: Started, limits: InvokeLimits) -> ToolResult:
    """An answer is an answer; a session that broke after the call may have been sent says nothing about its effect, and is ended with its
    whole tree, so that nothing late is taken for an answer."""
    bound, wait = claim.bound, _wait(limits)
    assert isinstance(bound, Bound)
    try:
        try:
            session = _session(bound, claim.run_id, claim.call_id, limits.secrets, wait)
            offer = session.offers(wait).get(bound.remote)
        except ToolgateError as error:  # before the call: whatever fails in it is no proof that it was not sent
            return ToolResult("not_dispatched", message=error.message)
        if offer is None or offer.fault is not None or offer.digest != bound.definition:
            return ToolResult("not_dispatched", message=_differs(bound, "" if offer is None else offer.fault or "changed"))
        return result(session.call(bound.remote, claim, wait), limits)
    except Broken as broken:
        return _broken(bound, broken, limits)
    except BaseException:
        _end(bound.server)
        raise


def offers(bound: Bound, limits: InvokeLimits) -> Mapping[str, Offer]:
    """What a server has now, asked in a session of its own. Raises Broken, and ToolgateError("invalid") as `_session`."""
    wait = _wait(limits)
    try:
        return _session(bound, "", f"pin-{os.urandom(8).hex()}", limits.secrets, wait).offers(wait)
    finally:
        _end(bound.server)


def _wait(limits: InvokeLimits) -> Wait:
    return Wait(kernel.now() + limits.timeout, limits.timeout, limits.stop)


def _differs(bound: Bound, how: str) -> str:
    what = "is not there any more" if not how else "is not what was pinned" if how == "changed" else f"cannot be used: {how}"
    return f"the tool {bound.remote} of the server {bound.server} {what}: toolgate tools pin {bound.server}"


def _broken(bound: Bound, broken: Broken, limits: InvokeLimits) -> ToolResult:
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
    opened = _filled(bound.started, secrets) if bound.started else (bound.url or "", _filling.headers(bound.headers, secrets.value))
    held = _sessions.get(bound.server)
    if held is not None and held[0] == opened and held[1].alive():
        return held[1]
    _end(bound.server)
    made = _over_stdio(opened, run, call, secrets, wait) if isinstance(opened, command.Bound) else _over_http(*opened, wait)
    _sessions[bound.server] = opened, made
    return made


def _filled(started: command.Bound, secrets: Secrets) -> command.Bound:
    if not started.sealed:
        return started
    sealed = commandline.environment(started.sealed, _filling.everything({}, secrets.value))
    return started._replace(env={**started.env, **sealed})


def _over_http(url: str, headers: Mapping[str, str], wait: Wait) -> Session:
    from ._mcp_http import HttpSession

    return HttpSession(url, headers, wait)


def _over_stdio(started: command.Bound, run: str, call: str, secrets: Secrets, wait: Wait) -> Session:
    from ..host.child import Command
    from ..host.peer import Peer
    from ._mcp_stdio import LINE_BYTES, StdioSession

    # it has the mark of the call that opened it: whatever runs in it decides nothing
    env = _filling.surroundings(started.path, started.env, run, call)
    process = Command(call, started.argv, started.cwd, env, None)
    return StdioSession(lambda: Peer(process, LINE_BYTES, secrets), wait)
