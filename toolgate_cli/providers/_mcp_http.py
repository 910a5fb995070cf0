"""A session with an MCP server over streamable HTTP: the SDK speaks the protocol, and what the server said is read from the wire itself, so
that no answer is lost to a schema, taken loosely, or larger than it may be (I8)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from ..core import canonical
from ..core.errors import ToolgateError
from ..core.offered import Offer, listed
from ..core.types import Json
from ..host import kernel, lasting
from ..host.peer import Left
from ._mcp_message import read
from ._mcp_session import RELIST, Answer, Broken, Wait, about, pages

if TYPE_CHECKING:
    from mcp.client import ClientSession

    from ..runtime.plugs import Started
    from ._mcp_wire import Wire

T = TypeVar("T")
_ASK = 0.1  # seconds between two questions to `stop`


class HttpSession:
    """The loop runs while somebody waits for an answer, and at no other time; from the main thread, like everything of a call."""

    lock: str | None = None  # nothing of it runs here

    def __init__(self, url: str, headers: Mapping[str, str], wait: Wait) -> None:
        try:
            from ._mcp_wire import Wire
        except ImportError:
            hint = "pip install 'toolgate-cli[mcp]'"
            raise ToolgateError("invalid", f"a server at a URL needs the package mcp, which is not installed: {hint}") from None
        self._offers: Mapping[str, Offer] | None = None
        self._listed_at = 0.0
        self._stale = False
        self._left: Left | None = None
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda *_: None)  # what breaks in a session that ends is nobody's to read
        self._stop = asyncio.Event()
        self._wire: Wire = Wire()
        self._open: asyncio.Future[ClientSession] = self._loop.create_future()
        self._task = self._loop.create_task(self._serve(url, headers))
        self._held = lasting.keep(lambda: self.end(0.5))
        try:
            self._session = self._run(_value(self._open), wait)
        except BaseException:
            self.end(0.0)
            raise

    async def _serve(self, url: str, headers: Mapping[str, str]) -> None:
        from ._mcp_wire import connected

        try:
            async with connected(url, headers, self._wire, self._changed) as session:
                self._open.set_result(session)
                await self._stop.wait()
        except Exception as error:  # noqa: BLE001  # whatever the SDK raises: the session is over
            if not self._open.done():
                self._open.set_exception(Broken("gone", self._wire.words(error)))

    def _changed(self) -> None:
        self._offers = None

    def _run(self, job: Coroutine[Any, Any, T], wait: Wait) -> T:
        async def until() -> T:
            task = asyncio.ensure_future(job)
            try:
                while True:
                    await asyncio.wait({task, self._task}, timeout=_ASK, return_when=asyncio.FIRST_COMPLETED)
                    if task.done():
                        return task.result()
                    if self._task.done():
                        raise Broken("gone", "the session ended")
                    if broken := wait.over():
                        raise broken
            finally:
                if not task.done():
                    task.cancel()  # the SDK tells the server
                    await asyncio.wait({task}, timeout=_ASK)

        return self._loop.run_until_complete(until())

    def offers(self, wait: Wait) -> Mapping[str, Offer]:
        if self._offers is None or kernel.now() - self._listed_at > RELIST:
            self._offers = None
            self._listed_at = kernel.now()
            try:
                found = listed(pages(lambda cursor: self._page(cursor, wait)))
            except Broken as broken:
                broken.sent = False  # it was asked what there is, and no call was made
                raise
            self._offers = {offer.name: offer for offer in found}
        return self._offers

    def _page(self, cursor: str | None, wait: Wait) -> Mapping[str, Json]:
        return self._ask("tools/list", {} if cursor is None else {"cursor": cursor}, wait).message

    def call(self, name: str, claim: Started, wait: Wait) -> Answer:
        self._wire.arguments = claim.arguments
        return self._ask("tools/call", {"name": name, "arguments": canonical.parse(claim.arguments), "_meta": {**about(claim)}}, wait)

    def _ask(self, method: str, params: dict[str, Json], wait: Wait) -> Answer:
        from ._mcp_wire import request

        self._wire.expect(method)
        try:
            said = self._run(request(self._session, method, params), wait)
        except Broken as broken:
            broken.sent = self._wire.sent
            raise
        self._stale = self._stale or self._wire.refused
        answer = self._wire.answer(read)
        if answer is None:
            raise Broken("gone", self._wire.words(said), sent=self._wire.sent)
        return answer

    def alive(self) -> bool:
        return not self._task.done() and not self._stale

    def end(self, patience: float) -> Left:
        if self._left is None:
            self._left = Left()
            lasting.let_go(self._held)
            self._stop.set()
            self._loop.run_until_complete(asyncio.wait({self._task}, timeout=patience or _ASK))
            for task in asyncio.all_tasks(self._loop):
                task.cancel()
            self._loop.run_until_complete(asyncio.sleep(0))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
        return self._left


async def _value(future: asyncio.Future[T]) -> T:
    return await asyncio.shield(future)
