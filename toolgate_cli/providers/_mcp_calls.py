"""Calls of MCP servers, each in the one session that this process has with the server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core import commandline
from ..core.errors import ToolgateError
from ..core.offered import Offer
from ..core.results import ToolResult
from ..core.values import NamedTuple
from ..host import kernel
from . import _filling, command
from ._mcp_bound import Bound, sessions
from ._mcp_result import cut, result
from ._mcp_session import Broken, Session, Wait

if TYPE_CHECKING:
    from ..core.secrets import Secrets
    from ..runtime.plugs import InvokeLimits, Started


def call(claim: Started, limits: InvokeLimits) -> ToolResult:
    """An answer is an answer; a session that broke after the call may have been sent says nothing about its effect, and is ended with its
    whole tree, so that nothing late is taken for an answer."""
    bound, wait = claim.bound, _wait(limits)
    assert isinstance(bound, Bound)
    try:
        try:
            session = _session(bound, _For(claim.run_id, claim.call_id, claim.fence), limits.secrets, wait)
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
        return _session(bound, _For("", f"pin-{os.urandom(8).hex()}"), limits.secrets, wait).offers(wait)
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
    held = sessions.pop(server, None)
    left = held[1].end(0.15) if held is not None else ((), None)
    return left[0], left[1]


class _For(NamedTuple):
    """Whom a session is opened for, and the lock that it has to have; None: any."""

    run: str
    call: str
    lock: str | None = None


def _session(bound: Bound, whom: _For, secrets: Secrets, wait: Wait) -> Session:
    """The open one, if it still is what would be opened now: a call that is made in a session which its lock does not tell of would not be
    found after our death. Raises Broken, or ToolgateError("invalid") where it cannot be filled."""
    opened = _filled(bound.started, secrets) if bound.started else (bound.url or "", _filling.headers(bound.headers, secrets.value))
    if (held := sessions.get(bound.server)) is not None:
        before, session = held
        if before == opened and (whom.lock is None or session.lock in (None, whom.lock)) and session.alive():
            return session
        if any(session.end(0.15)):
            raise Broken("broken", "something of its last session is still there")
    made = _over_stdio(opened, whom, secrets, wait) if isinstance(opened, command.Bound) else _over_http(*opened, wait)
    sessions[bound.server] = opened, made
    return made


def _filled(started: command.Bound, secrets: Secrets) -> command.Bound:
    if not started.sealed:
        return started
    sealed = commandline.environment(started.sealed, _filling.everything({}, secrets.value))
    return started._replace(env={**started.env, **sealed})


def _over_http(url: str, headers: Mapping[str, str], wait: Wait) -> Session:
    from ._mcp_http import HttpSession

    return HttpSession(url, headers, wait)


def _over_stdio(started: command.Bound, whom: _For, secrets: Secrets, wait: Wait) -> Session:
    from ..host.child import Command
    from ..host.peer import Peer
    from ._mcp_stdio import LINE_BYTES, StdioSession

    # it has a mark: whatever runs in it decides nothing. Not that of the call that opened it, which may start elsewhere while this lasts
    mark = whom.lock or whom.call
    env = _filling.surroundings(started.path, started.env, whom.run, mark)
    process = Command(mark, started.argv, started.cwd, env, None, whom.lock)
    return StdioSession(lambda: Peer(process, LINE_BYTES, secrets), wait)
