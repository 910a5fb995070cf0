"""One question to an endpoint over HTTP: bounded in time and bytes, asked again only while nothing was answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ..core import canonical, effects
from ..core.errors import ToolgateError
from ..core.soundness import clean
from ..core.types import Json
from ..core.values import NamedTuple
from . import _body
from ._endpoint import MISSING, Endpoint

if TYPE_CHECKING:
    from ..runtime.plugs import Means

T = TypeVar("T")
ANSWER = 4 * 1024 * 1024  # bytes of an answer; one that has more is none
_ERROR = 65536  # bytes of what is not an answer: it is only told
_SHOWN = 300  # characters of it
_GRACE = 5.0  # seconds
_PATIENCE = 30.0  # seconds that a server may ask to be left alone


class _Trouble(NamedTuple):
    """Why there was no answer. `again`: the same may be asked once more; `wait`: seconds that the server wants to be left alone."""

    why: str
    again: bool = False
    wait: float | None = None


def ask(endpoint: Endpoint, request: Mapping[str, Json], means: Means) -> dict[str, Json]:
    """The answer, a JSON object. ToolgateError("failed") with one line that says why there is none."""
    data = canonical.encode(dict(request)).encode()
    end = means.monotonic() + endpoint.timeout
    attempt = 1
    while True:
        found = _once(endpoint, data, end - means.monotonic())
        if not isinstance(found, _Trouble):
            return _body.answer(found)
        pause = _pause(found, attempt, means.jitter())
        if not found.again or attempt >= endpoint.attempts or means.monotonic() + pause >= end:
            _give_up(found, attempt)
        means.sleep(pause)
        attempt += 1


def _pause(trouble: _Trouble, attempt: int, jitter: float) -> float:
    if trouble.wait is None:
        return effects.backoff(attempt, jitter)
    return min(trouble.wait, _PATIENCE) + jitter / 4


def _give_up(trouble: _Trouble, attempts: int) -> NoReturn:
    often = f" ({attempts} attempts)" if attempts > 1 else ""
    wait = f"; it asks to be left alone for {trouble.wait:.0f} s" if trouble.wait is not None and trouble.wait > _PATIENCE else ""
    raise ToolgateError("failed", f"the model gave no answer: {trouble.why}{wait}{often}")


def _once(endpoint: Endpoint, data: bytes, left: float) -> bytes | _Trouble:
    try:
        import httpx2
    except ImportError:
        raise ToolgateError("invalid", MISSING, retryable=True) from None
    cut = _Cut()
    found = cut.within(left, lambda: _exchange(httpx2, endpoint, data, left, cut))
    return _Trouble(f"nothing came within {endpoint.timeout:g} s") if found is None else found


def _exchange(httpx2: Any, endpoint: Endpoint, data: bytes, left: float, cut: _Cut) -> bytes | _Trouble:
    timeout = httpx2.Timeout(left + _GRACE, connect=max(min(endpoint.connect, left), 0.001))  # the cut comes first
    secure = endpoint.url.startswith("https:") or endpoint.proxy is not None
    try:
        with (
            httpx2.Client(trust_env=False, follow_redirects=False, proxy=endpoint.proxy, timeout=timeout, verify=secure) as client,
            client.stream("POST", endpoint.url, content=data, headers=endpoint.headers, extensions={"trace": cut.trace}) as response,
        ):
            return _read(endpoint, response)
    except httpx2.TransportError as error:
        again = not isinstance(error, (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError))
        return _Trouble(told(endpoint, f"{_WORDS.get(type(error).__name__, 'the connection failed')}: {error}"), again)
    except (httpx2.InvalidURL, httpx2.RequestError) as error:
        return _Trouble(told(endpoint, f"it cannot be asked: {error}"))


_WORDS = {
    "ConnectError": "it cannot be reached",
    "ConnectTimeout": "it cannot be reached in time",
    "ReadTimeout": "it said nothing in time",
    "WriteTimeout": "it takes nothing",
    "ReadError": "the connection was lost",
    "RemoteProtocolError": "the connection was lost, or what came is not HTTP",
    "ProxyError": "the proxy refuses",
}


def _read(endpoint: Endpoint, response: Any) -> bytes | _Trouble:
    status: int = response.status_code
    if status != 200:
        said = _body.complaint(_first(response, _ERROR)[0])
        if 300 <= status < 400:
            return _Trouble(f"it answered {status}: redirects are not followed, so base_url has to be the place itself")
        told_of_it = told(endpoint, f"it answered {status}{': ' + said if said else ''}")
        return _Trouble(told_of_it, status == 429 or status >= 500, _body.seconds(response.headers.get("retry-after")))
    kind = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not kind.endswith("+json"):
        return _Trouble(told(endpoint, f"it answered with {kind}, not with JSON"))
    if response.headers.get("content-encoding", "identity").strip().lower() not in ("identity", ""):
        return _Trouble("its answer is compressed, which was not asked for")
    data, more = _first(response, ANSWER)
    return _Trouble(f"its answer has more than {ANSWER} bytes") if more else data


def _first(response: Any, most: int) -> tuple[bytes, bool]:
    """As many bytes, and whether there were more; the rest is not read."""
    held = bytearray()
    for piece in response.iter_raw():
        held += piece
        if len(held) > most:
            return bytes(held[:most]), True
    return bytes(held), False


def told(endpoint: Endpoint, text: str) -> str:
    """One line, with everything taken out of it that nobody may see before it is cut."""
    line = " ".join(clean(endpoint.scrub(clean(text))).split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "..."


class _Cut:
    """Ends an exchange when its time is over, whatever it is at: each read alone may take as long, and so may looking up a name, and each
    of the addresses that it leads to."""

    def __init__(self) -> None:
        self.passed = False
        self._sockets: list[Any] = []

    def within(self, seconds: float, exchange: Callable[[], T]) -> T | None:
        """What comes of it; None: nothing in time. Then it is left to itself, and nothing is sent any more: nobody can end a look-up."""
        found: list[T] = []
        fault: list[BaseException] = []

        def run() -> None:
            try:
                found.append(exchange())
            except BaseException as error:  # noqa: BLE001  # it is the asker's, who may not be there any more
                fault.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            thread.join(max(seconds, 0.001))
            late = thread.is_alive()  # asked before the cut, which ends it with an error of its own
        finally:
            self._cut()
        if late:
            return None
        if fault:
            raise fault[0]
        return found[0]

    def trace(self, name: str, info: Mapping[str, Any]) -> None:
        """httpx2's `trace` extension: sees every connection as it is made, before anything is sent over it."""
        if name.endswith((".connect_tcp.complete", ".start_tls.complete")):
            self._sockets.append(info["return_value"].get_extra_info("socket"))
            if self.passed:
                self._cut()

    def _cut(self) -> None:
        import socket

        self.passed = True
        for each in self._sockets:
            with suppress(OSError):
                socket.socket.shutdown(each, socket.SHUT_RDWR)  # not an SSLSocket's own, which would pull the rug from under its reader
