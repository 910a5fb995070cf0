"""What a session with an MCP server is, whatever it is carried by: it lists definitions and makes one call at a time (I8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol

from ..core.offered import Offer
from ..core.types import Json
from ..core.values import NamedTuple
from ..host import kernel
from ..host.peer import Left

if TYPE_CHECKING:
    from ..runtime.plugs import Started

VERSION = "2026-07-28"  # the stateless protocol: server/discover, and the envelope in every request
HANDSHAKES = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")  # what `initialize` may agree on, the newest first
UNSUPPORTED = -32022  # "unsupported protocol version", with what is supported
MOST_PAGES = 100
MOST_TOOLS = 2000
MOST_LISTED = 16 << 20  # characters of a listing, about
RELIST = 30.0  # seconds that a listing is believed without being asked again

Why = Literal["timed_out", "cancelled", "gone", "broken", "refused", "unstarted"]


class Broken(Exception):
    """A session that is of no more use. `sent`: whether the server may have got the call that was to be made."""

    def __init__(self, why: Why, message: str, *, sent: bool = False) -> None:
        super().__init__(message)
        self.why = why
        self.message = message
        self.sent = sent


class Wait(NamedTuple):
    """`until`: a moment of `kernel.now`; `stop` is asked often and says that the call was cancelled."""

    until: float
    timeout: float
    stop: Callable[[], bool]

    def over(self) -> Broken | None:
        """What ends it, if anything does by now."""
        if kernel.now() >= self.until:
            return Broken("timed_out", f"timed out after {self.timeout:g}s")
        return Broken("cancelled", "cancelled") if self.stop() else None


class Answer(NamedTuple):
    """A response as it came: the message, and its text where it is not exact (a number that no double holds, half a surrogate pair)."""

    message: Mapping[str, Json]
    inexact: str | None = None


class Session(Protocol):
    """Opened at the first call of a process; ends with the process, or when it is Broken."""

    def offers(self, wait: Wait) -> Mapping[str, Offer]:
        """The server's tools as they are now, by name. Raises Broken."""
        ...

    def call(self, name: str, claim: Started, wait: Wait) -> Answer:
        """One tools/call; its arguments are sent as they are. Raises Broken."""
        ...

    @property
    def lock(self) -> str | None:
        """The name of the lock of its process; None: it has none here, or has ended."""
        ...

    def alive(self) -> bool: ...
    def end(self, patience: float) -> Left:
        """Nothing of it is left after this, or it is named."""
        ...


def about(claim: Started) -> dict[str, str]:
    """What `_meta` says of a call."""
    return {"toolgate/call": claim.call_id, "toolgate/idempotencyKey": claim.key}


def envelope() -> dict[str, Json]:
    """`_meta` of every request of the stateless protocol."""
    return {
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": client(),
        "io.modelcontextprotocol/clientCapabilities": {},
    }


def client() -> dict[str, Json]:
    from .. import __version__

    return {"name": "toolgate", "version": __version__}


def supported(data: Json) -> bool:
    """Whether a server that was asked, or refused a version, speaks the stateless protocol."""
    versions = data.get("supportedVersions", data.get("supported")) if isinstance(data, dict) else None
    return isinstance(versions, list) and VERSION in versions


def refusal(error: Json) -> str:
    """What a JSON-RPC error says, in one line."""
    if not isinstance(error, dict):
        return "an error without words"
    return f"{error.get('message') or 'an error without words'} ({error.get('code')})"


def pages(ask: Callable[[str | None], Mapping[str, Json]]) -> list[Json]:
    """A listing put together from its pages, which may be many and may be a circle. `ask`: the answer for a cursor, None for the first.
    Raises Broken."""
    found: list[Json] = []
    seen: set[str] = set()
    cursor: str | None = None
    size = 0
    while True:
        message = ask(cursor)
        result = message.get("result")
        tools = result.get("tools") if isinstance(result, dict) else None
        if not isinstance(result, dict) or not isinstance(tools, list):
            raise Broken("broken", f"tools/list was answered with {refusal(message.get('error'))}")
        size += len(repr(tools))
        if size > MOST_LISTED:
            raise Broken("broken", "its listing of tools is too long")
        found += tools
        following = result.get("nextCursor")
        if following is None:
            return found
        if not isinstance(following, str) or following in seen or len(seen) >= MOST_PAGES or len(found) > MOST_TOOLS:
            raise Broken("broken", "its listing of tools does not come to an end")
        seen.add(following)
        cursor = following
