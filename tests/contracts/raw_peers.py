"""The other side of a request, with a socket of its own: it can answer in every way that there is, and in some that there are not."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


class Asked:
    """One request that was read whole, and what can be done about it."""

    def __init__(self, connection: socket.socket, head: bytes, body: bytes) -> None:
        self.connection, self.head, self.body = connection, head, body

    @property
    def line(self) -> str:
        return self.head.split(b"\r\n")[0].decode("latin-1")

    def headers(self) -> list[tuple[str, str]]:
        lines = [line.decode("latin-1").partition(":") for line in self.head.split(b"\r\n")[1:] if line]
        return [(name, value.strip()) for name, _, value in lines]

    def header(self, name: str) -> str:
        return next((value for found, value in self.headers() if found.lower() == name.lower()), "")

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def answer(self, body: bytes, status: str = "200 OK", *headers: str) -> None:
        self.send(head(body, status, *headers))

    def stall(self, seconds: float = 60) -> None:
        """Until the other side is gone, which it is soon enough."""
        self.connection.settimeout(seconds)
        while self.connection.recv(65536):
            pass

    def drip(self, data: bytes, at_once: int = 0) -> None:
        """Byte by byte; the first so many in one piece."""
        self.send(data[:at_once])
        for byte in data[at_once:]:
            self.send(bytes([byte]))
            time.sleep(0.1)

    def flood(self, data: bytes, before: bytes = b"") -> None:
        self.send(before)
        while True:
            self.send((data or b"x" * 100) * 1000)


Act = Callable[[Asked], None]


def head(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    """A whole answer."""
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]).encode() + body


def saying(body: bytes, status: str = "200 OK", *headers: str) -> Act:
    return lambda asked: asked.answer(body, status, *headers)


class Peer:
    """Listens until the process ends. `asked`: the requests so far; `early`: act before the body of a request is read."""

    def __init__(self, act: Act, *, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None, early: bool = False) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        self._act, self._tls, self._early = act, tls, early
        self._listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError):
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                asked = _read(connection, self._early)
                if asked is not None:
                    self.asked.append(asked)
                    self._act(asked)


def _read(connection: socket.socket, early: bool) -> Asked | None:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return None
        data += more
    first, _, body = data.partition(b"\r\n\r\n")
    asked = Asked(connection, first, body)
    length = int(asked.header("content-length") or 0)
    while not early and len(asked.body) < length:
        more = connection.recv(65536)
        if not more:
            return None
        asked.body += more
    return asked


def unused() -> int:
    """A port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def askers(call_id: str) -> list[int]:
    """The processes of a call, found by the mark in their environment."""
    mark = b"TOOLGATE_CALL=" + call_id.encode()
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(int(pid))
    return found
