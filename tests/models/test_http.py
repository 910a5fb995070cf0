"""What comes over the wire: bounded in time and bytes, asked again only while nothing was answered, told in one line without a secret."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from typing import Any

import pytest
from peers.aimock import KEY

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.turns import Completion

from .asking import ADAPTERS, MEANS, REQUEST, called, fields
from .wire import Step, Time, Wire, reply

pytestmark = pytest.mark.parametrize("adapter", sorted(ADAPTERS))


def answer(adapter: str, wire: Wire, *answers: list[Step], clock: Time | None = None, **more: Any) -> Completion:
    wire.answers = list(answers)
    means = MEANS if clock is None else MEANS._replace(monotonic=clock.monotonic, sleep=clock.sleep)
    found: Completion = ADAPTERS[adapter].complete(fields(adapter, wire.url, **more), "/", REQUEST, means)
    return found


def refused(adapter: str, wire: Wire, *answers: list[Step], **more: Any) -> str:
    with pytest.raises(ToolgateError) as caught:
        answer(adapter, wire, *answers, **more)
    assert caught.value.kind in ("failed", "invalid") and (caught.value.kind == "invalid" or not caught.value.retryable)
    message = caught.value.message
    assert KEY not in message and "\n" not in message and len(message) < 450 and "Traceback" not in message
    return message


def fine(adapter: str) -> list[Step]:
    return reply(called(adapter, text="fine"))


SAID = Completion([{"type": "say", "message": "fine"}])


# ---- asked again ----
@pytest.mark.parametrize("status", ["429 Too Many Requests", "500 Internal Server Error", "503 Service Unavailable", "529 Overloaded"])
def test_a_server_that_is_busy_or_broken_is_asked_again(adapter: str, wire: Wire, status: str) -> None:
    assert answer(adapter, wire, reply({"error": {"message": "not now"}}, status), fine(adapter)) == SAID
    assert len(wire.requests) == 2 and wire.requests[0] == wire.requests[1]


@pytest.mark.parametrize(
    "broken",
    [["reset"], [b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", "reset"], [b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"], []],
)
def test_a_connection_that_is_lost_before_the_answer_is_whole_is_made_again(adapter: str, wire: Wire, broken: list[Step]) -> None:
    assert answer(adapter, wire, broken, fine(adapter)) == SAID and len(wire.requests) == 2


def test_it_is_asked_as_often_as_declared_and_not_once_more(adapter: str, wire: Wire) -> None:
    busy = reply({"error": {"message": "not now"}}, "429 Too Many Requests")
    assert refused(adapter, wire, *[busy] * 9) == "the model gave no answer: it answered 429: not now (3 attempts)"
    assert len(wire.requests) == 3
    refused(adapter, wire, *[busy] * 9, max_attempts=1)
    assert len(wire.requests) == 4


@pytest.mark.parametrize("status", ["400 Bad Request", "401 Unauthorized", "403 Forbidden", "404 Not Found", "413 Too Large"])
def test_a_refusal_is_final(adapter: str, wire: Wire, status: str) -> None:
    said = refused(adapter, wire, reply({"error": {"message": "no"}}, status), fine(adapter))
    assert said == f"the model gave no answer: it answered {status[:3]}: no" and len(wire.requests) == 1


def test_an_answer_is_never_asked_for_again_whatever_it_is(adapter: str, wire: Wire) -> None:
    refused(adapter, wire, reply(b"{oops"), fine(adapter))
    assert answer(
        adapter, wire, reply(called(adapter, text="half", end={"openai": "length", "anthropic": "max_tokens"}[adapter])), fine(adapter)
    ).fault
    assert len(wire.requests) == 2


def test_retry_after_is_kept_to_and_capped(adapter: str, wire: Wire) -> None:
    clock = Time()
    busy = [reply({}, "429 Too Many Requests", Retry_After=after) for after in ("7", "Wed, 21 Oct 2015 07:28:00 GMT", "nonsense", "99999")]
    assert answer(adapter, wire, *busy, fine(adapter), clock=clock, max_attempts=5) == SAID
    assert clock.slept == [7.0, 0.0, 4.0, 30.0]


def test_pauses_are_jittered_and_never_outlast_the_time_for_the_answer(adapter: str, wire: Wire) -> None:
    clock = Time()
    busy = reply({}, "503 Service Unavailable", Retry_After="25")
    said = refused(adapter, wire, *[busy] * 5, clock=clock, timeout=40.0, max_attempts=5)
    assert clock.slept == [25.0] and said.endswith("(2 attempts)")
    wire.answers = [reply({}, "500 Oops"), fine(adapter)]
    ADAPTERS[adapter].complete(fields(adapter, wire.url), "/", REQUEST, MEANS._replace(sleep=clock.sleep, jitter=lambda: 0.5))
    assert clock.slept[1:] == [1.5]


# ---- bounds ----
@pytest.mark.parametrize(
    "stall",
    [
        [60.0],
        [b"HTTP/1.1 200 OK\r\n", 60.0],
        [b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{", 60.0],
        [b"HTTP/1.1 200 OK\r\n", *([b"X-Drip: 1\r\n", 0.1] * 100)],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", *([b" ", 0.1] * 100)],
        [b"HTTP/1.1 100 Continue\r\n\r\n", 0.1] * 100,
    ],
    ids=["nothing", "half a head", "half a body", "a dripping head", "a dripping body", "a head that never comes"],
)
def test_a_server_that_stalls_is_given_up_on_when_the_time_is_over(adapter: str, wire: Wire, stall: list[Step]) -> None:
    began = time.monotonic()
    assert "nothing came within 0.5 s" in refused(adapter, wire, stall, fine(adapter), timeout=0.5)
    assert time.monotonic() - began < 3 and len(wire.requests) == 1


def test_a_name_that_is_looked_up_for_ever_is_given_up_in_time_and_nothing_is_sent_later(
    adapter: str, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, found = socket.getaddrinfo, threading.Event()

    def slow(host: Any, port: Any, *args: Any, **named: Any) -> Any:
        time.sleep(1)
        found.set()
        return real("127.0.0.1", port, *args, **named)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    began = time.monotonic()
    with pytest.raises(ToolgateError, match=r"nothing came within 0\.3 s"):
        url = wire.url.replace("127.0.0.1", "slow.example")
        ADAPTERS[adapter].complete(fields(adapter, url, timeout=0.3), "/", REQUEST, MEANS)
    assert time.monotonic() - began < 0.9 and not found.is_set()
    assert found.wait(10)
    time.sleep(0.3)
    assert not any(wire.requests)


def test_however_many_addresses_a_name_has_they_share_the_time(adapter: str, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, contextlib.ExitStack() as waiting:
        port = full.getsockname()[1]
        for _ in range(4):  # nobody else is let in now
            waiting.enter_context(other := socket.socket()).setblocking(False)
            other.connect_ex(("127.0.0.1", port))
        many = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))] * 12
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: many)
        began = time.monotonic()
        with pytest.raises(ToolgateError, match="nothing came within"):
            given = fields(adapter, f"http://many.example:{port}", timeout=0.6, connect_timeout=0.4)
            ADAPTERS[adapter].complete(given, "/", REQUEST, MEANS)
        assert time.monotonic() - began < 2


@pytest.mark.parametrize("head", [b"Content-Length: 99999999\r\n\r\n", b"\r\n", b"Transfer-Encoding: chunked\r\n\r\n4000000\r\n"])
def test_a_flood_is_cut_off(adapter: str, wire: Wire, head: bytes) -> None:
    flood: list[Step] = [b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + head, *[b" " * 65536] * 200]
    assert "has more than 4194304 bytes" in refused(adapter, wire, flood, fine(adapter)) and len(wire.requests) == 1


def test_a_flood_of_headers_and_of_an_error_is_cut_off(adapter: str, wire: Wire) -> None:
    headers: list[Step] = [b"HTTP/1.1 200 OK\r\n", *[b"X: " + b"y" * 65000 + b"\r\n"] * 100]
    refused(adapter, wire, headers, max_attempts=1)
    assert "it answered 400" in refused(adapter, wire, [b"HTTP/1.1 400 No\r\n\r\n", *[b"x" * 65536] * 200])


def test_an_endpoint_that_is_not_there_is_told(adapter: str, wire: Wire) -> None:
    with Wire() as gone:
        url = gone.url
    gone.url = url
    assert "it cannot be reached" in refused(adapter, gone, connect_timeout=1.0)


# ---- what is no answer ----
@pytest.mark.parametrize(
    "body, why",
    [
        (b"", "it is empty"),
        (b"{oops", "it is not JSON: line 1, column 2"),
        (b"[]", "it is not a JSON object"),
        (b'{"a":1,"a":2}', "a name is there twice in one object"),
        (b'{"a":NaN}', "NaN is no number"),
        (b'{"a":1e999}', "it has a number that is not finite"),
        (b'{"a":"\xff"}', "it is not UTF-8"),
        (b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}", "it is nested out of all bounds"),
        (b'{"a":' + b"1" * 5000 + b"}", "it has a number of more than 1,000 digits"),
        (b"{} {}", "it is not JSON: line 1, column 4"),
    ],
)
def test_a_malformed_answer_is_told_as_what_it_is(adapter: str, wire: Wire, body: bytes, why: str) -> None:
    assert refused(adapter, wire, reply(body), fine(adapter)) == f"the model's answer is malformed: {why}"
    assert len(wire.requests) == 1


@pytest.mark.parametrize("kind", ["text/html", "text/event-stream", "application/jsonp", "../../etc"])
def test_what_is_not_said_to_be_json_is_none(adapter: str, wire: Wire, kind: str) -> None:
    assert f"it answered with {kind}, not with JSON" in refused(adapter, wire, reply(called(adapter, text="fine"), kind=kind))


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/problem+json", ""])
def test_other_names_for_json_are_taken(adapter: str, wire: Wire, kind: str) -> None:
    assert answer(adapter, wire, reply(called(adapter, text="fine"), kind=kind)) == SAID


def test_a_compressed_answer_is_not_unpacked(adapter: str, wire: Wire) -> None:
    assert "compressed" in refused(adapter, wire, reply(b"x", Content_Encoding="gzip"))
    assert b"accept-encoding: identity" in wire.requests[0].lower()


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"])
def test_a_redirect_is_not_followed(adapter: str, wire: Wire, status: str) -> None:
    with Wire() as other:
        assert "redirects are not followed" in refused(adapter, wire, reply({}, status, Location=other.url))
        assert other.requests == []


@pytest.mark.parametrize("status", ["204 No Content", "206 Partial Content", "201 Created"])
def test_a_success_of_another_kind_is_no_answer(adapter: str, wire: Wire, status: str) -> None:
    refused(adapter, wire, reply(called(adapter, text="fine"), status))


# ---- secrets and the environment ----
def test_the_key_is_sent_and_what_comes_back_of_it_is_taken_out_before_it_is_cut(adapter: str, wire: Wire) -> None:
    said = refused(adapter, wire, reply({"error": {"message": f"<{KEY}>\n" + "x" * 258 + KEY}}, "401 Unauthorized"))
    assert KEY[:8] not in said and "<***LIVE_KEY***> xxx" in said and said.endswith("x***LIVE_...")
    sent = wire.requests[0].decode()
    assert (f"Authorization: Bearer {KEY}" if adapter == "openai" else f"x-api-key: {KEY}").lower() in sent.lower()


def test_a_key_that_is_no_secret_is_taken_out_of_errors_all_the_same(adapter: str, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLAIN", "sk-plain-value")
    for key in ("sk-plain-value", "${env.PLAIN}"):
        said = refused(adapter, wire, reply({"error": "no sk-plain-value"}, "401 Unauthorized"), api_key=key)
        assert said.endswith("it answered 401: no ***api_key***")


@pytest.mark.parametrize(
    "key, why",
    [
        ("${secret.GONE}", "api_key: the secret GONE has no value: the environment variable GONE is not set"),
        ("${env.NOT_THERE_EITHER}", "api_key: ${env.NOT_THERE_EITHER} has no value"),
        ("${args.x}", "api_key: ${args.x} has no value"),
        ("a\r\nX-More:1", "api_key: it is empty, or holds characters that no header can carry"),
        ("", "api_key: it is empty, or holds characters that no header can carry"),
    ],
)
def test_a_key_that_is_missing_or_no_header_is_told_without_its_value(adapter: str, wire: Wire, key: str, why: str) -> None:
    assert refused(adapter, wire, api_key=key) == why and wire.requests == []


def test_without_a_key_none_is_sent(adapter: str, wire: Wire) -> None:
    answer(adapter, wire, fine(adapter), api_key=None)
    assert b"authorization" not in wire.requests[0].lower() and b"x-api-key" not in wire.requests[0].lower()


def test_the_environment_names_no_proxy_and_no_password_for_it(
    adapter: str, wire: Wire, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    with Wire() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"):
            monkeypatch.setenv(name, proxy.url)
        (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b\n")
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
        assert answer(adapter, wire, fine(adapter), api_key=None) == SAID
        assert proxy.requests == [] and b"authorization" not in wire.requests[0].lower()


def test_a_proxy_that_is_declared_is_used(adapter: str, wire: Wire) -> None:
    wire.answers = [fine(adapter)]
    made = fields(adapter, "http://model.invalid", proxy=wire.url)
    assert ADAPTERS[adapter].complete(made, "/", REQUEST, MEANS) == SAID
    assert wire.requests[0].startswith(b"POST http://model.invalid/v1/")


@pytest.mark.parametrize("proxy", ["socks5://a:1", "a:1", "", "${secret.LIVE_KEY}"])
def test_a_proxy_of_another_kind_is_refused(adapter: str, wire: Wire, proxy: str) -> None:
    assert refused(adapter, wire, proxy=proxy).startswith("proxy: it is") and wire.requests == []


# ---- what is missing ----
def test_without_the_library_its_extra_is_named_and_nothing_is_sent(adapter: str, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    why = "the package httpx2 is not installed: pip install 'toolgate-cli[http]'"
    assert refused(adapter, wire, fine(adapter)) == why and wire.requests == []
    assert [text for _, text in ADAPTERS[adapter].doubts(fields(adapter, "http://127.0.0.1"), "/")] == [why]


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1",
        "ftp://a",
        "http://",
        "http://a:b@c",
        "http://a/?b",
        "http://a/#b",
        "http://[",
        "http://a b",
        "http://${env.X}",
        "http://a:99999",
    ],
)
def test_what_is_no_address_is_told_before_anything_is_asked(adapter: str, wire: Wire, url: str) -> None:
    made = fields(adapter, wire.url, base_url=url)
    with pytest.raises(ToolgateError) as caught:
        ADAPTERS[adapter].complete(made, "/", REQUEST, MEANS)
    assert caught.value.message.startswith("base_url: ")
    assert [path for path, _ in ADAPTERS[adapter].doubts(made, "/")] == [("base_url",)]


def test_options_go_into_the_request_and_none_can_take_the_place_of_what_toolgate_says(adapter: str, wire: Wire) -> None:
    answer(adapter, wire, fine(adapter), options={"temperature": 0, "seed": 7})
    [body] = wire.bodies()
    assert (body["temperature"], body["seed"], body["model"]) == (0, 7, "some-model")
    for name in ("messages", "model", "tools", "stream", "n", "system"):
        assert refused(adapter, wire, options={name: []}).startswith(f"options: {name} is not for you to set")


def test_a_key_in_the_file_and_a_key_in_the_clear_are_doubtful(adapter: str) -> None:
    def doubtful(**more: Any) -> list[Any]:
        return [path for path, _ in ADAPTERS[adapter].doubts(fields(adapter, "https://a.example", **more), "/")]

    assert doubtful() == [] == doubtful(api_key=None)
    assert doubtful(api_key="sk-plain") == [("api_key",)] and doubtful(base_url="http://a.example/v1") == [("base_url",)]
