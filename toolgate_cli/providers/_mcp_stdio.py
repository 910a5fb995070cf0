"""A session with an MCP server over its standard input and output: both eras of the protocol, nothing that it asks of us is done (I8).

Sources: Model Context Protocol 2025-11-25 (lifecycle, stdio, cancellation) and 2026-07-28 (server/discover; no handshake).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from ..core import canonical
from ..core.errors import ToolgateError
from ..core.offered import Offer, listed
from ..core.types import Json
from ..host import kernel
from ..host.crash import point
from ..host.lines import Line
from ..host.peer import STARTING, Left, Peer
from ._mcp_message import read
from ._mcp_session import HANDSHAKES, RELIST, UNSUPPORTED, Answer, Broken, Wait, about, client, envelope, pages, refusal, supported

if TYPE_CHECKING:
    from ..runtime.plugs import Started

LINE_BYTES: Final = 8 << 20
PROBE = 5.0  # seconds for an answer to server/discover, before a server that may know nothing of it is greeted in the old way
_ASK = 0.1  # seconds between two questions to `stop`
_BACKLOG = 1 << 20  # bytes of our answers that a server may leave unread, before it gets no more of them
_CANCELLING = 0.15  # seconds for a server to hear that a call was cancelled
_LISTENING = 0.1  # seconds for what has come while nobody waited


class StdioSession:
    """`start` gives the process, and may be asked for another: a server that dies of the first question is greeted in the old way."""

    def __init__(self, start: Callable[[], Peer], wait: Wait) -> None:
        self._start = start
        self._stateless = False
        self._meta = "}"  # how that of a call ends
        self._next = _fresh()  # id of the next call
        self._offers: Mapping[str, Offer] | None = None
        self._listed_at = 0.0
        self._peer = self._started()
        try:
            self._greet(wait)
        except BaseException:
            self._peer.end()
            raise

    def _started(self) -> Peer:
        try:
            return self._start()
        except STARTING as error:
            why = error.strerror.lower() if isinstance(error, OSError) and error.strerror else str(error)
            raise Broken("unstarted", f"could not be started: {why}") from None

    # ---- the greeting ----
    def _greet(self, wait: Wait) -> None:
        probe = self._send("server/discover", {"_meta": envelope()})
        answer: Answer | None = None
        try:
            answer = self._answer((probe,), wait._replace(until=min(wait.until, kernel.now() + PROBE)))
        except Broken as broken:
            if broken.why == "gone":
                self._peer.end()
                self._peer = self._started()
            elif broken.why != "timed_out" or kernel.now() >= wait.until:
                raise
        if answer is None or not self._is_stateless(answer):
            self._shake_hands(probe, wait)
        if self._stateless:
            self._meta = f",{canonical.encode(envelope())[1:]}"

    def _is_stateless(self, answer: Answer) -> bool:
        error = answer.message.get("error")
        told = error.get("data") if isinstance(error, dict) and error.get("code") == UNSUPPORTED else answer.message.get("result")
        self._stateless = supported(told)
        return self._stateless

    def _shake_hands(self, probe: str, wait: Wait) -> None:
        asked = self._send("initialize", {"protocolVersion": HANDSHAKES[0], "capabilities": {}, "clientInfo": client()})
        answer = self._answer((asked, probe), wait)
        if self._is_stateless(answer):
            return  # it took its time to say so
        if answer.message.get("id") != asked:
            answer = self._answer((asked,), wait)
        result = answer.message.get("result")
        if not isinstance(result, dict):
            raise Broken("refused", f"initialize was answered with {refusal(answer.message.get('error'))}")
        if result.get("protocolVersion") not in HANDSHAKES:
            raise Broken("refused", "it speaks no version of the protocol that is known here")
        self._notify("notifications/initialized", {})

    # ---- what it is asked ----
    def offers(self, wait: Wait) -> Mapping[str, Offer]:
        if self._offers is None or kernel.now() - self._listed_at > RELIST:
            self._offers = None
            self._listed_at = kernel.now()
            found = listed(pages(lambda cursor: self._page(cursor, wait)))  # a change that is told from here on is one of what we have then
            self._offers = {offer.name: offer for offer in found}
        return self._offers

    def _page(self, cursor: str | None, wait: Wait) -> Mapping[str, Json]:
        params: dict[str, Json] = {} if cursor is None else {"cursor": cursor}
        if self._stateless:
            params["_meta"] = envelope()
        return self._answer((self._send("tools/list", params),), wait).message

    def call(self, name: str, claim: Started, wait: Wait) -> Answer:
        meta = canonical.flat(about(claim))[:-1] + self._meta
        id = self._next
        text = f'"params":{{"name":{canonical.encode(name)},"arguments":{claim.arguments},"_meta":{meta}}}'
        point("spawn:before")
        place = self._peer.send(f'{{"jsonrpc":"2.0","id":"{id}","method":"tools/call",{text}}}\n'.encode())
        point("spawn:after")
        self._next = _fresh()
        try:
            answer = self._answer((id,), wait)
            point("outcome:seen")
            return answer
        except Broken as broken:
            broken.sent = self._peer.taken > place
            if broken.why in ("timed_out", "cancelled"):
                self._notify("notifications/cancelled", {"requestId": id, "reason": broken.message})
            self.end()  # while the call's lock still tells of it
            raise

    @property
    def lock(self) -> str | None:
        return self._peer.lock

    def alive(self) -> bool:
        if self._peer.stirred():
            self._listen()
        return not self._peer.over

    def end(self, patience: float = _CANCELLING) -> Left:
        return self._peer.end(patience)

    # ---- lines ----
    def _send(self, method: str, params: dict[str, Json]) -> str:
        id = _fresh()
        self._write({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return id

    def _notify(self, method: str, params: dict[str, Json]) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def _write(self, message: dict[str, Json]) -> None:
        self._peer.send(canonical.encode(message).encode() + b"\n")

    def _answer(self, ids: tuple[str, ...], wait: Wait) -> Answer:
        """The response to one of these requests; whatever else comes is heard, and nothing more."""
        ask = 0.0
        while True:
            if kernel.now() >= min(ask, wait.until):
                if broken := wait.over():
                    raise broken
                ask = kernel.now() + _ASK
            line = self._peer.line(min(ask, wait.until))
            if line is None:
                if self._peer.over:
                    raise Broken("gone", ": ".join(filter(None, ("it ended", self._peer.words()))))
            elif (answer := self._hear(line)) and answer.message.get("id") in ids:
                return answer

    def _listen(self) -> None:
        """What has come while nobody waited is no answer to anything; more than can be heard in a moment is heard with the next answer."""
        until = kernel.now() + _LISTENING
        while kernel.now() < until:
            line = self._peer.line(0.0)
            if line is None:
                return
            with suppress(Broken):
                self._hear(line)

    def _hear(self, line: Line) -> Answer | None:
        """A response; None for what is none. What the server asks of us is answered, and not done."""
        answer = _read(line)
        if answer is None or "method" not in answer.message:
            return answer
        method, id = answer.message["method"], answer.message.get("id")
        if method == "notifications/tools/list_changed":
            self._offers = None
        if id is not None and self._peer.backlog < _BACKLOG and isinstance(id, (str, int)):
            error: Json = {"code": -32601, "message": "this client does nothing that a server asks for"}
            with suppress(ToolgateError):  # an id that no JSON can carry cannot be answered
                self._write({"jsonrpc": "2.0", "id": id, **({"result": {}} if method == "ping" else {"error": error})})
        return None


def _fresh() -> str:
    """An id that cannot be answered before it is sent."""
    return os.urandom(12).hex()


def _read(line: Line) -> Answer | None:
    if line.cut:
        raise Broken("broken", f"it wrote a line of more than {LINE_BYTES >> 20} MiB")
    return read(line.data)
