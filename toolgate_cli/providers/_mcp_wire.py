"""The one place that knows the MCP SDK and its HTTP client: what goes out is held against what was shown, and what comes in is kept as it
came, up to a cap (I3)."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
import mcp_types as types
from mcp.client import Client, ClientSession
from mcp.client.streamable_http import streamable_http_client
from pydantic import TypeAdapter

from .. import __version__
from ..core import canonical, requests
from ..core.errors import ToolgateError
from ..core.types import Json
from ._mcp_session import Answer, Broken

MOST_BYTES: Final = 8 << 20  # of one response
_REFUSED = range(400, 500)
_IDENTITY = ("", "identity")
# else the last resort of `logging` writes to our stderr what a server said: the SDK does not log under one name
logging.getLogger().addHandler(logging.NullHandler())


class TooLong(httpx2.StreamError):
    """A response of more bytes than are taken."""


class Wire(httpx2.AsyncBaseTransport):
    """Keeps the response to the one request that is expected. `sent`: whether its server may have got it; `arguments`: those that were
    shown, as text."""

    def __init__(self) -> None:
        self._inner = httpx2.AsyncHTTPTransport(trust_env=False)
        self._method = ""
        self._id: Json = None
        self._status = 0
        self._sse = False
        self._body = bytearray()
        self._fault = ""
        self.sent = False
        self.arguments = "{}"

    def expect(self, method: str) -> None:
        self._method, self._id, self._status, self._fault, self.sent = method, None, 0, "", False
        self._body = bytearray()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        message = _message(request)
        ours = message.get("method") == self._method != ""
        if ours:
            self._hold(message)
        was, self.sent = self.sent, self.sent or ours  # whoever stops waiting now cannot know better
        try:
            response = await self._inner.handle_async_request(request)
        except BaseException as error:
            unsent = isinstance(error, (httpx2.ConnectError, httpx2.ConnectTimeout))
            if ours or not self._method:  # what else the SDK asks meanwhile tells nothing of the request that is waited for
                self._fault = f"no connection: {error}" if unsent else str(error) or type(error).__name__
                self.sent = was if unsent else self.sent
            raise
        sse = "event-stream" in response.headers.get("content-type", "")
        if ours:
            self._status, self._sse = response.status_code, sse
        if response.headers.get("content-encoding", "").strip().lower() not in _IDENTITY:
            self._fault = "its answer is compressed, which was not asked for"
            await response.aclose()
            raise httpx2.StreamError(self._fault)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        # a stream of events that is nobody's answer may last as long as the session: the SDK bounds each event
        response.stream = _Kept(response.stream, self._body if ours else None, most=MOST_BYTES if ours or not sse else None)
        return response

    def _hold(self, message: dict[str, Any]) -> None:
        """What is about to be sent is what was shown, or nothing is sent."""
        self._id = message.get("id")
        if self._method == "tools/call" and canonical.encode(message["params"].get("arguments")) != self.arguments:
            self._fault = "the arguments cannot be sent as they were shown"
            raise httpx2.ConnectError(self._fault)

    async def aclose(self) -> None:
        await self._inner.aclose()

    def answer(self, read: Callable[[bytes], Answer | None]) -> Answer | None:
        """The response to the request, as it came. Raises Broken for what cannot be trusted."""
        try:
            for data in _events(bytes(self._body)) if self._sse else (bytes(self._body),):
                found = read(data)
                if found is not None and "method" not in found.message and self._is_ours(found.message):
                    return found
        except Broken as broken:
            broken.sent = True
            raise
        if self._status in _REFUSED and self._status not in requests.UNCLEAR:
            return Answer({"error": {"code": self._status, "message": f"HTTP {self._status}"}})
        return None

    def _is_ours(self, message: Mapping[str, Json]) -> bool:
        """Who could not even read the request answers it without its id."""
        return message.get("id") == self._id or (message.get("id") is None and "error" in message)

    @property
    def refused(self) -> bool:
        """Whether the server did not take the request: its session may be over."""
        return self._status in _REFUSED

    def words(self, error: object) -> str:
        if self._fault:
            return self._fault
        if self._status >= 400:
            return f"HTTP {self._status}"
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]  # the group says that something failed, the first of it what
        return f"{type(error).__name__}: {error}" if isinstance(error, Exception) else "its answer did not come"


class _Kept(httpx2.AsyncByteStream):
    """A response that ends at so many bytes; what came is put into `body`, where there is one."""

    def __init__(self, inner: httpx2.AsyncByteStream, body: bytearray | None, *, most: int | None) -> None:
        self._inner, self._body, self._most = inner, body, most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._inner:
            size += len(part)
            if self._most is not None and size > self._most:
                raise TooLong(f"it answered with more than {self._most >> 20} MiB")
            if self._body is not None:
                self._body += part
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


def _message(request: httpx2.Request) -> dict[str, Any]:
    """A JSON-RPC message of ours; {} for a request without one."""
    try:
        value = json.loads(request.content) if request.method == "POST" else {}
    except (ValueError, httpx2.RequestNotRead):
        return {}
    return value if isinstance(value, dict) else {}


def _events(body: bytes) -> list[bytes]:
    """The data of each event of a stream."""
    lines = body.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    events: list[bytes] = [b""]
    for line in lines:
        if not line:
            events.append(b"")
        elif line.startswith(b"data:"):
            events[-1] += line[5:].removeprefix(b" ")
    return events


@asynccontextmanager
async def connected(url: str, headers: Mapping[str, str], wire: Wire, changed: Callable[[], None]) -> AsyncIterator[ClientSession]:
    """No redirect is followed (whoever redirects a call was sent it already), and nothing of the environment says where the server is."""

    async def heard(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed()

    headers = {"Accept-Encoding": "identity", **headers}
    async with httpx2.AsyncClient(transport=wire, headers=headers, trust_env=False, timeout=None, max_redirects=0) as http:
        stream = streamable_http_client(url, http_client=http, max_sse_event_size=MOST_BYTES)
        info = types.Implementation(name="toolgate", version=__version__)
        async with Client(stream, client_info=info, message_handler=heard, cache=None) as client:
            yield client.session


async def request(session: ClientSession, method: str, params: dict[str, Json]) -> object:
    """What the SDK made of it: nothing that counts, but where it is an error it may say why nothing came."""
    made: types.Request[Any, Any]
    if method == "tools/call":
        made = types.CallToolRequest(params=types.CallToolRequestParams.model_validate(params))
    else:
        made = types.ListToolsRequest(params=types.PaginatedRequestParams.model_validate(params))
    try:
        return await session.send_request(made, TypeAdapter(Any))
    except ToolgateError:
        raise
    except Exception as error:  # noqa: BLE001  # the answer is read from the wire
        return error
