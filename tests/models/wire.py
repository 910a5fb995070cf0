"""A server of bytes: each connection gets the next of the answers that a test gave, exactly as they are, stalls and resets included."""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

Step = bytes | float | str  # bytes: sent; float: seconds of silence; "reset": the connection is torn down


class Wire:
    def __init__(self) -> None:
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self.answers: list[Iterable[Step]] = []
        self.requests: list[bytes] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Wire:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with socket.socket() as last:
            last.connect(self._server.getsockname())
        self._thread.join(10)
        self._server.close()

    def bodies(self) -> list[Any]:
        return [json.loads(request.partition(b"\r\n\r\n")[2]) for request in self.requests]

    def wait_for(self, number: int) -> None:
        """Until so many requests have come in."""
        end = time.monotonic() + 30
        while len(self.requests) < number:
            assert time.monotonic() < end, "nobody asks"
            time.sleep(0.01)

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            if self._over.is_set():
                connection.close()
                return
            with connection:
                connection.settimeout(10)
                with suppress(OSError):  # the client has had enough
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        self.requests.append(_request(connection))
        for step in self.answers.pop(0) if self.answers else ():
            if isinstance(step, bytes):
                connection.sendall(step)
            elif step == "reset":
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            elif self._over.wait(float(step)):
                return


def _request(connection: socket.socket) -> bytes:
    held = b""
    while b"\r\n\r\n" not in held:
        held += connection.recv(65536)
    head, _, body = held.partition(b"\r\n\r\n")
    length = next(int(line.partition(b":")[2]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def reply(body: object, status: str = "200 OK", kind: str = "application/json", **headers: str) -> list[Step]:
    """One whole answer."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    more = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    type_line = f"Content-Type: {kind}\r\n" if kind else ""
    return [f"HTTP/1.1 {status}\r\n{type_line}{more}Content-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data]


class Time:
    """A clock that tests a bound without waiting for it: what is slept passes at once."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return time.monotonic() + sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
