"""Runs in a process of its own: sends one HTTP request, once, to one address that was checked; its answer's body is standard output.

What it says on standard error, as lines of JSON: {"unsent": why} where nothing was sent; else {"sent": true} *before* the first byte is,
and at the end {"status", "reason", "whole"} or {"fault": why}. So where nothing at all was said, nothing was sent.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping
from typing import Any

from ..core import addresses

Send = Mapping[str, Any]  # scheme, host, port, url_host, method, target, headers, body, allow, ca, patience


class Refused(Exception):
    """Why nothing is sent."""


def main() -> None:
    send: Send = json.loads(sys.stdin.buffer.read())
    told = _Told()
    try:
        _exchange(send, permitted(send["host"], send["port"], addresses.allowed(send["allow"])), told)
    except Exception as error:  # noqa: BLE001  # whatever it was: whether anything was sent is what counts
        why = str(error) or type(error).__name__
        told.say(fault=why) if told.sent else told.say(unsent=why)


class _Told:
    """What was said. `sent`: from here on nobody can say that nothing was; `whole`: all of the request was."""

    def __init__(self) -> None:
        self.sent = False
        self.whole = False

    def say(self, **record: object) -> None:
        os.write(2, (json.dumps(record) + "\n").encode())

    def trace(self, event: str, _info: object) -> None:
        if event.endswith(".send_request_headers.started") and not self.sent:
            self.say(sent=True)
            self.sent = True
        elif event.endswith(".send_request_body.complete"):
            self.whole = True


def permitted(host: str, port: int, allowed: addresses.Allowed, resolve: Callable[..., list[Any]] = socket.getaddrinfo) -> tuple[str, ...]:
    """The addresses of a host that may be asked, in order. It is looked up here, once, and connected to by what was found."""
    try:
        found = dict.fromkeys(str(entry[4][0]) for entry in resolve(host, port, type=socket.SOCK_STREAM))
    except (OSError, UnicodeError) as error:
        raise Refused(f"{host} could not be resolved: {getattr(error, 'strerror', None) or error}") from None
    refused = {address: allowed.refusal(address) for address in found}
    kept = tuple(address for address, why in refused.items() if why is None)
    if not kept:
        raise Refused(f"{host} may not be called: {', '.join(why for why in refused.values() if why) or 'it has no address'}")
    return kept


def _exchange(send: Send, places: tuple[str, ...], told: _Told) -> None:
    import httpx2

    for number, place in enumerate(places, 1):
        last = number == len(places)
        patience = None if last else send["patience"] / len(places)  # who has another address to try does not wait for ever
        with httpx2.HTTPTransport(verify=_context(send), trust_env=False, http2=False) as transport:
            try:
                response = transport.handle_request(_request(send, place, patience, told))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if last or told.sent:
                    raise
                continue
            _pass_on(response, told)
            return


def _context(send: Send) -> Any:
    """Of a plain request nothing is verified, and no list of authorities is read for it."""
    if send["scheme"] != "https":
        return False
    import ssl

    if send["ca"] is None:
        return True
    path, digest = send["ca"]
    with open(path, "rb") as file:
        authorities = file.read()
    if hashlib.sha256(authorities).hexdigest() != digest:
        raise Refused(f"{path} changed between the decision and the start")
    return ssl.create_default_context(cadata=authorities.decode("ascii", "ignore"))  # what is not ASCII are comments


def _request(send: Send, place: str, patience: float | None, told: _Told) -> Any:
    import httpx2

    url = f"{send['scheme']}://{f'[{place}]' if ':' in place else place}:{send['port']}/"
    body = send["body"].encode() if send["body"] is not None else None
    headers = [("Host", send["host_header"]), *send["headers"]]
    extensions: dict[str, Any] = {
        "target": send["target"].encode("ascii"),
        "trace": told.trace,
        "timeout": {"connect": patience},  # of all else: whoever started this process ends it
    }
    if not addresses.is_address(send["host"]):
        extensions["sni_hostname"] = send["host"]
    return httpx2.Request(send["method"], url, headers=headers, content=body, extensions=extensions)


def _pass_on(response: Any, told: _Told) -> None:
    status, encoding = response.status_code, response.headers.get("content-encoding", "identity").strip().lower()
    reason = response.extensions.get("reason_phrase", b"").decode("ascii", "replace")
    if status < 200:
        raise Refused(f"the answer is no answer: {status}")
    if encoding not in ("", "identity"):
        raise Refused(f"the answer ({status}) is compressed, which was not asked for")
    for chunk in response.stream:
        _write(chunk)
    told.say(status=status, reason=reason, whole=told.whole)


def _write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]
