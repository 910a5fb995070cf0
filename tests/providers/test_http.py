"""Tools that are requests: what is sent and where to, what each answer means, and what every trick of the other side comes to (CASES K)."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from contracts.kit_providers import Tool
from contracts.kit_providers import secrets as with_token
from contracts.raw_peers import Peer, head, saying, unused

from toolgate_cli.core import references
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import Json
from toolgate_cli.host.endings import Ended
from toolgate_cli.providers import http
from toolgate_cli.providers.http import Fields

LOCAL = ("127.0.0.1",)
WHOLE = b'{"sent": true}\n{"status": 200, "reason": "OK", "whole": true}\n'


def tool(home: Path, peer: Peer | int, path: str = "/", method: str = "GET", **more: Any) -> Tool:
    port = peer if isinstance(peer, int) else peer.port
    return Tool(http, Fields(**{"method": method, "url": f"http://127.0.0.1:{port}{path}", "allow_hosts": LOCAL, **more}), str(home))


def fault(**fields: Any) -> str:
    pinned = http.pin(Fields(**{"method": "GET", "url": "https://orders.example/", **fields}), "/tmp", "/bin")
    return pinned.error or ""


# ---- what is sent ----
def test_a_request_is_sent_as_it_is_bound_and_nothing_besides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "NETRC"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{unused()}")
    peer = Peer(saying(b"{}", "200 OK", "Set-Cookie: a=b"))
    made = tool(tmp_path, peer, "/o/${args.id}/x?q=${args.q}", headers={"X-Who": "n ${args.id}"})
    assert made.call({"id": "a/b c", "q": "ä&b"}).ok and made.call({"id": "1", "q": ""}).ok
    assert [asked.line for asked in peer.asked] == ["GET /o/a%2Fb%20c/x?q=%C3%A4%26b HTTP/1.1", "GET /o/1/x?q= HTTP/1.1"]
    first = sorted(peer.asked[0].headers())
    assert first == [("Host", f"127.0.0.1:{peer.port}"), ("Idempotency-Key", "k-contract"), ("X-Who", "n a/b c")]
    assert peer.asked[0].body == b"" and "Cookie" not in peer.asked[1].head.decode()


def test_the_body_is_the_stored_bytes(tmp_path: Path) -> None:
    peer = Peer(saying(b"{}"))
    assert tool(tmp_path, peer, method="POST").call({"b": 1.0, "a": "é"}).ok
    assert peer.asked[0].body == '{"a":"é","b":1.0}'.encode() and peer.asked[0].header("content-type") == "application/json"


@pytest.mark.parametrize(("method", "body"), [("POST", "none"), ("PUT", "none"), ("DELETE", None)])
def test_a_request_without_a_body_has_none(tmp_path: Path, method: str, body: str | None) -> None:
    peer = Peer(saying(b"{}"))
    assert tool(tmp_path, peer, method=method, body=body).call({"a": 1}).ok
    assert peer.asked[0].body == b"" and peer.asked[0].header("content-type") in (None, "")


def test_a_table_is_filled_to_a_body(tmp_path: Path) -> None:
    peer = Peer(saying(b"{}"))
    body = {"order": "${args.id}", "n": ["${args.n}", 1], "token": "${secret.TOKEN}"}
    made = tool(tmp_path, peer, method="PUT", body=body, headers={"Content-Type": "application/x-json"})
    assert made.call({"id": '","x":"', "n": 2}, secrets=with_token()).ok
    assert json.loads(peer.asked[0].body) == {"n": [2, 1], "order": '","x":"', "token": "s3cret-of-the-contract"}
    assert [value for name, value in peer.asked[0].headers() if name.lower() == "content-type"] == ["application/x-json"]


def test_a_secret_may_stand_in_path_and_query(tmp_path: Path) -> None:
    peer = Peer(lambda asked: asked.answer(asked.line.encode(), "401 Unauthorized"))
    made = tool(tmp_path, peer, "/bot${secret.TOKEN}/x?key=${secret.TOKEN}")
    result = made.call(secrets=with_token("se cret/&value"))
    assert peer.asked[0].line == "GET /botse%20cret%2F%26value/x?key=se%20cret%2F%26value HTTP/1.1"
    assert result.message == "HTTP 401 Unauthorized: GET /bot***TOKEN***/x?key=***TOKEN*** HTTP/1.1"


@pytest.mark.parametrize("value", ["a secret\r\nX-Evil: 1", "ein Schlüssel"])
def test_a_secret_that_no_header_can_carry_is_not_sent(tmp_path: Path, value: str) -> None:
    peer = Peer(saying(b"{}"))
    result = tool(tmp_path, peer, headers={"X-A": "${secret.TOKEN}"}).call(secrets=with_token(value))
    assert (result.ended, result.message) == ("not_dispatched", "headers: X-A holds what no header can carry once it is filled")
    assert not peer.asked


def test_what_a_person_decides_on_is_what_is_sent() -> None:
    fields = Fields("POST", "https://h:444/${args.a}?k=${secret.K}&e=${env.E}", {"X": "${secret.K}${args.a}"}, {"a": "${args.a}"})
    assert http.shows(fields, {"a": "${secret.Z}"}) == {
        "request": "POST https://h:444/%24%7Bsecret.Z%7D?k=${secret.K}&e=${env.E}",
        "headers": {"X": "${secret.K}$${secret.Z}", "Content-Type": "application/json"},
        "body": '{"a":"$${secret.Z}"}',
    }


@pytest.mark.parametrize("given", ["${secret.K}", "$", "{secret.K}", "$${secret.K}", "abba", "ab", "ba", "b" * 9, "${", "plain"])
@pytest.mark.parametrize("after", ["{secret.K}", "${env.E}", "bbba", ""])
def test_what_a_person_decides_on_reads_back_as_what_is_sent(given: str, after: str) -> None:
    """However an argument is spelled, and whatever stands beside it: no more references are read in it than the file has."""
    text = "a${args.x}${args.y}b${secret.K}b${secret.L}a$${secret.K}"
    arguments: dict[str, Json] = {"x": given, "y": after}
    shown = http.shows(Fields("POST", "https://h/", {"X": text}, {"a": text}), arguments)
    secrets = {"secret.K": "kk", "secret.L": "ll"}
    sent = references.fill(text, {**secrets, "args.x": given, "args.y": after}.__getitem__)
    headers, body = shown["headers"], shown["body"]
    assert isinstance(headers, dict) and isinstance(body, str)
    assert references.fill(headers["X"], secrets.__getitem__) == sent
    assert json.loads(str(references.fill(body, secrets.__getitem__))) == {"a": sent}


def test_arguments_that_are_the_body_hold_no_reference() -> None:
    assert http.shows(Fields("POST", "https://h/"), {"a": "${secret.Z}"})["body"] == '{"a":"$${secret.Z}"}'


# ---- what an answer means ----
@pytest.mark.parametrize(
    ("status", "ended"),
    [
        ("200 OK", "answered"), ("201 Created", "answered"), ("204 No Content", "answered"),
        ("301 Moved", "unclear"), ("303 See Other", "unclear"), ("304 Not Modified", "unclear"),
        ("400 Bad Request", "answered"), ("404 Not Found", "answered"), ("409 Conflict", "answered"), ("425 Too Early", "answered"),
        ("429 Too Many Requests", "answered"), ("408 Request Timeout", "unclear"),
        ("500 Internal Server Error", "unclear"), ("502 Bad Gateway", "unclear"), ("503 Service Unavailable", "unclear"),
        ("600 What", "unclear"),
    ],
)  # fmt: skip
def test_a_status_is_a_success_a_failure_or_unclear(tmp_path: Path, status: str, ended: str) -> None:
    peer = Peer(saying(b"", status, "Location: http://127.0.0.1:1/"))
    result = tool(tmp_path, peer, method="POST").call()
    assert (result.ended, result.ok, result.code, result.sign) == (ended, status[0] == "2", int(status[:3]), "STATUS")
    assert result.message == ("" if result.ok else f"HTTP {status}") and peer.connections == 1


def test_a_reason_without_end_is_cut(tmp_path: Path) -> None:
    peer = Peer(saying(b"", f"400 {'R' * 50_000}"))
    assert len(tool(tmp_path, peer).call().message) < 2000


def test_a_redirect_is_not_followed_wherever_it_leads(tmp_path: Path) -> None:
    other = Peer(saying(b"{}"))
    for place in (f"http://127.0.0.1:{other.port}/", "http://169.254.169.254/latest/meta-data/"):
        peer = Peer(saying(b"", "302 Found", f"Location: {place}"))
        assert tool(tmp_path, peer).call().ended == "unclear"
    assert not other.connections


def _early(status: str) -> Peer:
    """Answers when it has seen the headers, and is gone."""
    return Peer(saying(b"{}", status, "Connection: close"), early=True)


def test_an_answer_before_the_request_is_sent_whole_is_no_success(tmp_path: Path) -> None:
    result = tool(tmp_path, _early("200 OK"), method="POST").call({"a": "x" * 30_000_000})
    assert (result.ended, result.ok, result.code) == ("uncertain", False, None)
    refused = tool(tmp_path, _early("413 Content Too Large"), method="POST").call({"a": "x" * 30_000_000})
    assert not refused.ok and refused.code in (413, None)  # what was sent after it can take the answer away


@pytest.mark.parametrize(
    "raw",
    [
        b"", b"\r\n", b"HTTP/1.1", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", b"<html>", b"\0" * 1000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 300_000, b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100_000,
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n{}",
    ],
)  # fmt: skip
def test_a_broken_answer_is_in_doubt_and_the_request_is_not_sent_again(tmp_path: Path, raw: bytes) -> None:
    peer = Peer(lambda asked: asked.send(raw))
    result = tool(tmp_path, peer, method="POST").call()
    assert (result.ended, result.ok, result.code) == ("uncertain", False, None) and "Traceback" not in result.message
    assert peer.connections == 1 and len(result.message) < 2100


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "identity, gzip"])
def test_a_compressed_answer_is_not_unpacked(tmp_path: Path, encoding: str) -> None:
    bomb = gzip.compress(b"0" * 200_000_000, 1)
    result = tool(tmp_path, Peer(saying(bomb, "200 OK", f"Content-Encoding: {encoding}"))).call()
    assert result.ended == "uncertain" and "compressed, which was not asked for" in result.message and result.size == 0


def test_a_body_is_json_text_or_nothing(tmp_path: Path) -> None:
    assert tool(tmp_path, Peer(saying(b'{"a": 1}'))).call().output == '{"a": 1}'
    assert tool(tmp_path, Peer(lambda asked: asked.send(b"HTTP/1.0 200 OK\r\n\r\nplain"))).call().output == "plain"
    assert tool(tmp_path, Peer(lambda asked: asked.send(head(b"xy")[:-2])), method="HEAD").call().output == ""


def test_of_the_body_of_a_failure_a_kilobyte_is_told(tmp_path: Path) -> None:
    result = tool(tmp_path, Peer(saying("é".encode() * 5000, "400 Bad Request"))).call()
    assert result.message == "HTTP 400 Bad Request: " + "é" * 512


# ---- where nothing was sent ----
def test_a_port_that_nobody_listens_at_proves_that_nothing_was_sent(tmp_path: Path) -> None:
    result = tool(tmp_path, unused()).call()
    assert result.ended == "not_dispatched" and "refused" in result.message


def test_who_never_takes_the_connection_was_sent_nothing(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        kept = [socket.socket() for _ in range(4)]
        for waiting in kept:
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        result = tool(tmp_path, listener.getsockname()[1]).call(timeout=2)
        for waiting in kept:
            waiting.close()
    assert (result.ended, result.message) == ("not_dispatched", "timed out after 2s: nothing was sent")


@pytest.mark.parametrize(
    ("ended", "means"),
    [
        (Ended("exited", stderr=WHOLE), "answered"),
        (Ended("timed_out"), "not_dispatched"),
        (Ended("cancelled"), "not_dispatched"),
        (Ended("signalled", 9), "not_dispatched"),
        (Ended("not_started"), "not_dispatched"),
        (Ended("exited", stderr=b'{"unsent": "no"}\n'), "not_dispatched"),
        (Ended("timed_out", survivors=("pid 1",)), "uncertain"),
        (Ended("timed_out", left_behind="f1"), "uncertain"),
        (Ended("exited", stderr=b'{"unsent": "no"}\n', survivors=("pid 1",)), "uncertain"),
        (Ended("exited", stderr=b'{"sent": true}\n{"unsent": "no"}\n'), "uncertain"),
        (Ended("exited", stderr=b'***TOKEN***\n{"unsent": "no"}\n'), "uncertain"),
        (Ended("timed_out", stderr=b"***TOKEN***"), "uncertain"),
        (Ended("timed_out", stderr=WHOLE), "uncertain"),
        (Ended("signalled", 9, stderr=WHOLE), "uncertain"),
        (Ended("exited", 1, stderr=WHOLE), "uncertain"),
        (Ended("exited", stderr=WHOLE[:20]), "uncertain"),
        (Ended("exited", stderr=WHOLE.replace(b"true}\n{", b"true}\n[{").replace(b"}\n", b"}]\n")), "uncertain"),
        (Ended("exited", stderr=WHOLE.replace(b'"whole": true', b'"whole": false')), "uncertain"),
        (Ended("exited", stderr=WHOLE.replace(b"200", b'"200"')), "uncertain"),
        (Ended("lost", stderr=WHOLE), "uncertain"),
        (Ended("exited", 1, stderr=b"Traceback (most recent call last):\n"), "uncertain"),
    ],
)
def test_only_what_said_nothing_at_all_or_that_it_sent_nothing_sent_nothing(ended: Ended, means: str) -> None:
    result = http._result(ended, 1)
    assert result.ended == means and result.ok == (means == "answered")
    assert (
        ended.how == "exited" or not ended.stderr or result.message in ("timed out after 1s", "ended by signal 9", "its end was not seen")
    )


# ---- the table ----
@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"url": "https://${args.h}/"}, "literal"),
        ({"url": "http://user@h/"}, "credentials"),
        ({"url": "http://-h/"}, "-h is no host"),
        ({"url": "http://1.2.3.4.5.6:7/x#y"}, "'/x#y' holds what no URL can carry"),
        ({"url": "http://127.0.0.1/"}, "127.0.0.1 is loopback"),
        ({"url": "http://[::ffff:10.0.0.1]/"}, "IPv4-mapped"),
        ({"url": "http://169.254.169.254/"}, "link-local"),
        ({"allow_hosts": ("other.example",)}, "orders.example is not in allow_hosts"),
        ({"allow_hosts": ("*",)}, "neither a host nor an address"),
        ({"headers": {"Host": "x"}}, "may not set Host"),
        ({"headers": {"A B": "x"}}, "no name of a header"),
        ({"body": "json"}, "GET has none"),
        ({"body": {"a": 1}}, "GET has none"),
        ({"method": "POST", "body": "text"}, "is not"),
        ({"url": "https://orders.example/${args.a"}, "not closed"),
        ({"url": "https://orders.example/../x"}, "step"),
        ({"ca_file": "missing.pem"}, "missing.pem"),
        ({"ca_file": "../etc/passwd"}, "out of the home"),
    ],
)
def test_a_table_that_could_lead_elsewhere_is_refused(fields: dict[str, Any], says: str) -> None:
    assert says in fault(**fields)


def test_a_plain_table_is_accepted() -> None:
    assert fault() == "" and fault(url="https://8.8.8.8/", allow_hosts=("8.8.8.0/24",)) == ""
    assert fault(method="DELETE", body="json") == "" and fault(method="POST", body=[1, "${args.x}"]) == ""


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "find_spec", lambda _name: None)
    assert "pip install 'toolgate-cli[http]'" in fault()


def test_the_library_is_imported_by_nobody_but_who_sends() -> None:
    code = (
        "import sys; from toolgate_cli.providers import http; f = http.Fields('GET', 'https://h/${args.a}'); "
        "http.bind(f, http.pin(f, '/tmp', '/bin').facts, '/tmp', {'a': 'b'}); sys.exit('httpx2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_an_argument_that_leads_elsewhere_is_refused_before_the_claim(tmp_path: Path) -> None:
    made = tool(tmp_path, 80, "/o/${args.a}", headers={"X": "${args.b}"})
    for given in ({"a": "..", "b": ""}, {"a": "", "b": ""}, {"a": "a", "b": "x\r\ny: z"}, {"a": "a"}):
        with pytest.raises(ToolgateError):
            made.bind(given)  # type: ignore[arg-type]


def test_the_list_of_addresses_is_of_the_definition_and_its_file_too(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("one")
    fields = Fields("GET", "https://h/", ca_file="ca.pem")
    before = http.pin(fields, str(tmp_path), "/bin")
    (tmp_path / "ca.pem").write_text("two")
    assert before.paths == (str(tmp_path / "ca.pem"),) and before.facts != http.pin(fields, str(tmp_path), "/bin").facts
