"""The other side of the proofs' requests, a process of its own: does what the command tool of these homes does, for the home that asks."""

from __future__ import annotations

import atexit
import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


@cache
def port() -> int:
    """Of the one that this process has, from the first time that it is asked for."""
    process = subprocess.Popen([sys.executable, __file__], stdout=subprocess.PIPE, stdin=subprocess.PIPE, start_new_session=True)
    mine = os.getpid()
    atexit.register(lambda: process.kill() if os.getpid() == mine else None)
    assert process.stdout is not None
    return int(process.stdout.readline())


def _note(file: str, call: str) -> int:
    log = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(log, f"{call}\n".encode())
    os.fsync(log)
    os.close(log)
    with open(file) as lines:
        return lines.read().split().count(call)


def _call(home: str, key: str) -> str:
    """Whose key it is; the call was on disk before it was made."""
    with closing(sqlite3.connect(f"file:{home}/.toolgate/toolgate.db?mode=ro", uri=True, timeout=30)) as db:
        [(call,)] = db.execute("SELECT id FROM calls WHERE idempotency_key = ?", (key,)).fetchall()
    return str(call)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        [home] = parse_qs(urlsplit(self.path).query)["home"]
        call = _call(home, self.headers["Idempotency-Key"])
        with open(f"{home}/mode") as file:
            mode = file.read().split()
        tries = _note(f"{home}/tries.log", call)
        if mode[0] == "fail" or (mode[0] == "fail-once" and tries == 1):
            return self._answer(409)
        if mode[0] == "sleep":
            time.sleep(float(mode[1]))
        _note(f"{home}/effects.log", call)
        if mode[0] == "die" or (mode[0] == "die-once" and tries == 1):
            self.close_connection = True
            return None
        if mode[0] == "linger":
            time.sleep(float(mode[1]))
        return self._answer(200)

    def _answer(self, status: int) -> None:
        with suppress(OSError):  # who asked was killed
            self.send_response(status)
            self.send_header("Content-Length", "1")
            self.end_headers()
            self.wfile.write(b"1")


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = _Server(("127.0.0.1", 0), _Handler)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()  # until nobody is left who could ask
