"""MCP servers at a URL: the same promises, whatever the wire carries (CASES J5, J6, K1)."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest
from contracts.kit_providers import Claim
from peers import servers

from toolgate_cli.core import canonical, offered
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.secrets import NONE, Secrets
from toolgate_cli.core.types import Json
from toolgate_cli.host import lasting
from toolgate_cli.providers import _mcp_bound, _mcp_wire, mcp
from toolgate_cli.runtime.plugs import InvokeLimits

TOOLS = (
    "answers", "streams", "drips", "drops", "fails", "gone", "busy", "twice", "strange", "redirects", "moves", "big", "late", "inexact",
    "zipped",
)  # fmt: skip
LISTED: list[dict[str, Json]] = [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]
LISTED.append({"name": "bad", "inputSchema": "none"})


class Handler(BaseHTTPRequestHandler):
    """A server of the stateless protocol that does what the name of the tool says."""

    protocol_version = "HTTP/1.1"
    heard: list[tuple[dict[str, Any], dict[str, str]]] = []
    endless = False  # whether its listing comes to an end

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self.reply(b"", status=405)

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(text)
        self.heard.append((message, dict(self.headers)))
        method, self.id = message.get("method"), message.get("id")
        if method == "server/discover":
            self.result({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}})
        elif method == "tools/list" and self.endless:
            self.endlessly()
        elif method == "tools/list":
            self.result({"resultType": "complete", "tools": LISTED, "ttlMs": 0, "cacheScope": "private"})
        elif method == "tools/call":
            getattr(self, message["params"]["name"])(message)
        else:
            self.reply(b"", status=202)

    def reply(self, body: bytes, *, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def message(self, result: Json) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": self.id, "result": result}).encode()

    def result(self, result: Json) -> None:
        self.reply(self.message(result))

    def answers(self, message: dict[str, Any]) -> None:
        self.result({"resultType": "complete", "content": [], "structuredContent": message["params"]["arguments"]})

    def streams(self, _: Any) -> None:
        progress = json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}})
        done = self.message({"resultType": "complete", "content": [{"type": "text", "text": "done"}]}).decode()
        self.reply(f": hello\r\n\r\ndata: {progress}\r\n\r\nevent: message\r\ndata: {done}\r\n\r\n".encode(), kind="text/event-stream")

    def endlessly(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        try:
            for _number in range(10_000):
                self.wfile.write(b" " * 1_000_000)
        except OSError:
            return

    def drips(self, _: Any) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for _number in range(100):
            try:
                self.wfile.write(b": still at it\n\n")
            except OSError:
                return
            time.sleep(0.1)

    def drops(self, _: Any) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def fails(self, _: Any) -> None:
        self.reply(b"out of order", status=500, kind="text/plain")

    def gone(self, _: Any) -> None:
        self.reply(b"", status=404)

    def busy(self, _: Any) -> None:
        self.reply(b"", status=408)

    def zipped(self, _: Any) -> None:
        body = gzip.compress(self.message({"resultType": "complete", "content": [{"type": "text", "text": "x" * 3_000_000}]}))
        self.reply(body, **{"Content-Encoding": "gzip"})

    def twice(self, _: Any) -> None:
        self.reply(b'{"jsonrpc":"2.0","id":%s,"result":{"content":[],"isError":true,"isError":false}}' % json.dumps(self.id).encode())

    def strange(self, _: Any) -> None:
        self.result({"resultType": "complete", "content": [{"type": "hologram"}], "more": 1})

    def redirects(self, _: Any) -> None:
        self.reply(b"", status=307, Location=f"http://localhost:{self.server.server_address[1]}/mcp")

    def moves(self, _: Any) -> None:
        self.reply(b"", status=307, Location="/mcp/")

    def big(self, _: Any) -> None:
        self.result({"resultType": "complete", "content": [{"type": "text", "text": "x" * 3_000_000}]})

    def late(self, _: Any) -> None:
        time.sleep(5)
        self.result({"resultType": "complete", "content": []})

    def inexact(self, _: Any) -> None:
        self.reply(
            b'{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[],"structuredContent":{"n":0.12345678901234567890123}}}'
            % json.dumps(self.id).encode()
        )


class Quiet(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """Whoever is not waited for any more cannot write; that is what is tested."""


@pytest.fixture
def url() -> Iterator[str]:
    Handler.heard = []
    server = Quiet(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/mcp"
    lasting.end_all()
    server.shutdown()
    server.server_close()
    thread.join()


def call(
    url: str, tool: str, arguments: dict[str, Json] | None = None, *, timeout: float = 20.0, headers: dict[str, str] | None = None,
    digest: str | None = None, secrets: Secrets = NONE, stop: Callable[[], bool] = lambda: False, output_bytes: int = 1 << 20,
) -> ToolResult:  # fmt: skip
    digest = digest or offered.digest({"name": tool, "inputSchema": {"type": "object"}})
    bound = mcp.Bound("far", tool, digest, None, url, headers or {})
    claim = Claim("c-far", "r-far", "k-far", canonical.encode(arguments or {}), bound)
    return mcp.invoke(claim, InvokeLimits(timeout, output_bytes, stop, secrets))


def test_what_is_sent_is_what_was_shown_and_what_comes_is_the_result(url: str) -> None:
    arguments: dict[str, Json] = {"b": 1.0, "a": "é\u2028", "n": -0.0, "big": 10**40, "nested": {"y": [], "x": None}}
    said = call(
        url, "answers", arguments, headers={"Authorization": "Bearer ${secret.TOKEN}"}, secrets=Secrets({"TOKEN": "hunter2-hunter2"})
    )
    assert said.ok and said.output == canonical.encode(arguments)
    [(message, headers)] = [heard for heard in Handler.heard if heard[0]["method"] == "tools/call"]
    assert headers["Authorization"] == "Bearer hunter2-hunter2"
    assert message["params"]["_meta"]["toolgate/idempotencyKey"] == "k-far"


def fields(url: str, **headers: str) -> mcp.Fields:
    made = mcp.Fields(
        "far", "answers", url=url, headers=headers, definition=offered.digest({"name": "answers", "inputSchema": {"type": "object"}})
    )
    return made._replace(trusted=mcp.fingerprint(made, mcp._outside(made, "/", "/bin")))


@pytest.mark.parametrize(
    ("headers", "says"),
    [
        ({"": "x"}, "'' is no name of a header"),
        ({"X A": "x"}, "'X A' is no name of a header"),
        ({"X-A\r\nX-B": "x"}, "is no name of a header"),
        ({"X-A": "1", "x-a": "${secret.TOKEN}"}, "x-a is there twice"),
        ({"Host": "elsewhere"}, "may not set Host"),
        ({"Content-Length": "0"}, "may not set Content-Length"),
        ({"content-type": "text/plain"}, "may not set content-type: the protocol does"),
        ({"Mcp-Session-Id": "1"}, "may not set Mcp-Session-Id: the protocol does"),
    ],
)
def test_a_header_that_is_none_or_is_not_the_operators_makes_the_server_unusable(url: str, headers: dict[str, str], says: str) -> None:
    assert says in (mcp.pin(fields(url, **headers), "/", "/bin").error or "")
    with pytest.raises(ToolgateError, match="header") as refused:
        mcp.offers(fields(url, **headers), "/", "/bin", InvokeLimits(20, 1, lambda: False))
    assert refused.value.kind == "invalid" and not Handler.heard


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0", "ein Schl\xfcssel", " a"])
def test_a_value_that_no_header_can_carry_is_refused_before_the_claim_and_one_of_a_secret_is_not_sent(url: str, value: str) -> None:
    plain = fields(url, **{"X-A": value})
    pinned = mcp.pin(plain, "/", "/bin")
    assert pinned.error is None
    with pytest.raises(ToolgateError, match="X-A holds what no header can carry"):
        mcp.bind(plain, pinned.facts, "/", {})
    said = call(url, "answers", headers={"X-A": "${secret.TOKEN}"}, secrets=Secrets({"TOKEN": f"{value}-hunter2"}))
    assert (said.ended, said.message) == ("not_dispatched", "headers: X-A holds what no header can carry once it is filled")
    assert not Handler.heard


def test_what_cannot_be_sent_as_it_was_shown_is_not_sent(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def other(request: Any) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(request.content)
        return (
            {**message, "params": {**message["params"], "arguments": {"to": "mallory"}}} if message["method"] == "tools/call" else message
        )

    monkeypatch.setattr(_mcp_wire, "_message", other)
    said = call(url, "answers", {"to": "bob"})
    assert said.ended == "not_dispatched" and "cannot be sent as they were shown" in said.message
    assert not [heard for heard in Handler.heard if heard[0]["method"] == "tools/call"]


@pytest.mark.parametrize(
    ("tool", "ended", "ok", "says"),
    [
        ("streams", "answered", True, "done"),
        ("strange", "answered", True, '{"content":[{"type":"hologram"}]}'),
        ("gone", "answered", False, "HTTP 404"),
        ("drops", "uncertain", False, "the server far: "),
        ("busy", "uncertain", False, "HTTP 408"),
        ("zipped", "uncertain", False, "compressed"),
        ("fails", "uncertain", False, "HTTP 500"),
        ("twice", "uncertain", False, "DUPLICATE_KEY"),
        ("redirects", "uncertain", False, "not followed"),
        ("moves", "uncertain", False, "not followed"),
    ],
)
def test_each_answer_is_what_it_is_and_the_next_call_is_answered(url: str, tool: str, ended: str, ok: bool, says: str) -> None:
    said = call(url, tool)
    assert (said.ended, said.ok) == (ended, ok) and says in said.output + said.message, said
    assert call(url, "answers", {"x": 1}).output == '{"x":1}'
    assert len([1 for message, _ in Handler.heard if message.get("params", {}).get("name") == tool]) == 1  # and nowhere else, and not again
    assert not [1 for _, headers in Handler.heard if "authorization" in map(str.lower, headers)]  # none was declared


class Lost(httpx2.AsyncBaseTransport):
    """Whoever asks for the stream of events is kept waiting, and then there is nobody; the call is taken, and its connection lost."""

    def __init__(self) -> None:
        self.taken = asyncio.Event()
        self.refused = asyncio.Event()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":
            await self.taken.wait()
            self.refused.set()
            raise httpx2.ConnectError("nobody is there")
        self.taken.set()
        await self.refused.wait()
        await asyncio.sleep(0)
        raise httpx2.ReadError("it was lost")


def test_a_call_that_was_sent_is_not_unsent_by_another_request_that_finds_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    async def both() -> tuple[bool, str]:
        wire = _mcp_wire.Wire()
        monkeypatch.setattr(wire, "_inner", Lost())
        stream = asyncio.ensure_future(wire.handle_async_request(httpx2.Request("GET", "http://far/mcp")))
        await asyncio.sleep(0)
        wire.expect("tools/call")
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay", "arguments": {}}}
        call = wire.handle_async_request(httpx2.Request("POST", "http://far/mcp", json=message))
        await asyncio.gather(stream, call, return_exceptions=True)
        return wire.sent, wire.words(None)

    assert asyncio.run(both()) == (True, "it was lost")


def test_a_session_that_the_server_does_not_know_any_more_is_opened_anew(url: str) -> None:
    call(url, "answers")
    before = _mcp_bound.sessions["far"][1]
    call(url, "gone")
    assert call(url, "answers", {"x": 1}).output == '{"x":1}' and _mcp_bound.sessions["far"][1] is not before


def test_a_number_that_no_double_holds_loses_no_result(url: str) -> None:
    said = call(url, "inexact")
    assert said.ok and said.mark == "INEXACT_RESULT" and "0.12345678901234567890123" in said.output


@pytest.mark.parametrize("tool", ["drips", "late"])
def test_no_drip_moves_the_deadline(url: str, tool: str) -> None:
    call(url, "answers")
    began = time.monotonic()
    said = call(url, tool, timeout=1)
    assert (said.ended, said.message) == ("uncertain", "timed out after 1s") and time.monotonic() - began < 3
    assert call(url, "answers", {"x": 1}).output == '{"x":1}'


def test_a_cancelled_call_ends_within_a_second(url: str) -> None:
    began = time.monotonic()
    said = call(url, "late", stop=lambda: any(heard[0]["method"] == "tools/call" for heard in Handler.heard))
    assert (said.ended, said.message) == ("uncertain", "cancelled") and time.monotonic() - began < 3


def test_a_result_is_cut_at_its_cap_and_a_response_beyond_the_limit_is_uncertain(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = call(url, "big", output_bytes=100)
    assert said.ok and said.truncated and said.size == 3_000_000 and len(said.output) == 100
    monkeypatch.setattr(_mcp_wire, "MOST_BYTES", 1_000_000)
    assert call(url, "big").ended == "uncertain"


def test_no_response_is_longer_than_the_limit_and_a_listing_that_fails_started_nothing(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Handler, "endless", True)
    said = call(url, "answers")
    assert said.ended == "not_dispatched" and "more than 8 MiB" in said.message


def test_the_response_to_a_greeting_is_bounded_too(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_mcp_wire, "MOST_BYTES", 10)
    said = call(url, "answers")
    assert said.ended == "not_dispatched" and len(said.message) < 3000


def test_nothing_that_a_server_says_reaches_a_log() -> None:
    """The SDK logs under several names, and `logging` writes to stderr what nobody handles."""
    told = "for name in ('client', 'mcp', 'httpx2'): logging.getLogger(name).error('hunter2')"
    program = f"import logging, toolgate_cli.providers._mcp_wire\n{told}"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ended.stdout == ended.stderr == b""


def test_one_bad_tool_hides_none_of_the_others_and_a_definition_that_is_another_is_not_called(url: str) -> None:
    found = mcp.offers(mcp.Fields("far", "", url=url), "/", "/bin", InvokeLimits(20, 1, lambda: False)).tools
    assert [offer.name for offer in found if offer.fault is None] == list(TOOLS) and len(found) == len(TOOLS) + 1
    said = call(url, "answers", digest="0" * 64)
    assert said.ended == "not_dispatched" and "is not what was pinned" in said.message


def test_a_server_that_is_not_there_was_sent_nothing() -> None:
    said = call("http://127.0.0.1:1/mcp", "answers")
    assert said.ended == "not_dispatched" and "no connection" in said.message
    with pytest.raises(ToolgateError, match="no connection") as refused:
        mcp.offers(mcp.Fields("far", "", url="http://127.0.0.1:1/mcp"), "/", "/bin", InvokeLimits(20, 1, lambda: False))
    assert refused.value.kind == "failed"


def test_without_the_package_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "toolgate_cli.providers._mcp_wire", None)
    said = call("http://127.0.0.1:1/mcp", "answers")
    assert said.ended == "not_dispatched" and "pip install 'toolgate-cli[mcp]'" in said.message


def test_a_real_server_at_a_url_is_called(tmp_path: Any) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    node, script = servers.ALL["everything"].command()
    with subprocess.Popen(
        [node, script, "streamableHttp"], env={**os.environ, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            url, until = f"http://127.0.0.1:{port}/mcp", time.monotonic() + 30
            while call(url, "echo").ended == "not_dispatched" and time.monotonic() < until:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            found = mcp.offers(mcp.Fields("far", "", url=url), "/", "/bin", InvokeLimits(20, 1, lambda: False)).tools
            digests = {offer.name: offer.digest for offer in found}
            assert call(url, "echo", {"message": "hello"}, digest=digests["echo"]).output == "Echo: hello"
            slow = "trigger-long-running-operation"
            said = call(url, slow, {"duration": 30, "steps": 3}, digest=digests[slow], timeout=1)
            assert (said.ended, said.message) == ("uncertain", "timed out after 1s")
        finally:
            lasting.end_all()
            process.kill()
