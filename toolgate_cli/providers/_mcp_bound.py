"""What a call of an MCP server is, and the sessions of this process in which it could be made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core.values import NamedTuple

if TYPE_CHECKING:
    from . import command
    from ._mcp_session import Session


class Bound(NamedTuple):
    """A call that is ready to be sent. `started`: the server's command (None: it is at `url`); `headers`: as written, not filled."""

    server: str
    remote: str
    definition: str
    started: command.Bound | None
    url: str | None
    headers: Mapping[str, str]


sessions: dict[str, tuple[object, Session]] = {}  # the open ones, by server: what it was opened with, and the session
