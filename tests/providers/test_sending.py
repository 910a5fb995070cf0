"""Where a request goes: the name is looked up once, what it led to is checked, and nothing else is connected to (CASES K1)."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from contracts.kit_providers import Tool
from contracts.raw_peers import Peer, saying

from toolgate_cli.core.addresses import allowed
from toolgate_cli.core.results import ToolResult
from toolgate_cli.host import pins
from toolgate_cli.providers import _sending, http
from toolgate_cli.providers.http import Fields


def resolver(*answers: list[str]) -> Any:
    """One answer for each time that it is asked."""
    given = iter(answers)

    def resolve(host: str, port: int, **_: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in next(given)]

    return resolve


def permitted(*answers: list[str], allow: tuple[str, ...] = ()) -> tuple[str, ...]:
    return _sending.permitted("orders.example", 443, allowed(allow), resolver(*answers))


def test_a_name_is_looked_up_once() -> None:
    assert permitted(["8.8.8.8"]) == ("8.8.8.8",)


def test_of_several_addresses_those_that_may_be_asked_are_kept_in_order() -> None:
    assert permitted(["10.0.0.1", "8.8.8.8", "::1", "2606:4700::1", "8.8.8.8"]) == ("8.8.8.8", "2606:4700::1")


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe", "0.0.0.0"])
def test_a_name_that_leads_inside_is_refused_though_it_is_named_itself(address: str) -> None:
    with pytest.raises(_sending.Refused, match=f"orders.example may not be called: {address} is "):
        permitted([address], allow=("orders.example",))


def test_a_name_that_leads_nowhere_is_refused() -> None:
    def fails(*_: object, **__: object) -> list[Any]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(_sending.Refused, match=r"could not be resolved: Name or service not known"):
        _sending.permitted("x.example", 80, allowed(()), fails)
    with pytest.raises(_sending.Refused, match="it has no address"):
        permitted([])


REBINDING = """
import json, socket, sys
answers = iter(json.loads(sys.argv.pop()))
real = socket.getaddrinfo
def lookup(host, port, *more, **named):
    if host == "orders.example":
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in next(answers)]
    assert host.replace(".", "").isdigit(), host  # after that only addresses are connected to
    return real(host, port, *more, **named)
socket.getaddrinfo = lookup
from toolgate_cli.providers import _sending
_sending.main()
"""


def send(port: int, answers: list[list[str]], allow: list[str], **more: object) -> tuple[str, list[dict[str, Any]]]:
    spoken = {
        "method": "GET", "scheme": "http", "host": "orders.example", "port": port, "host_header": f"orders.example:{port}", "target": "/x",
        "headers": [], "body": None, "allow": allow, "ca": None, "patience": 2, **more,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", REBINDING, json.dumps(answers)], input=json.dumps(spoken), capture_output=True, text=True, timeout=60
    )
    return done.stdout, [json.loads(line) for line in done.stderr.splitlines()]


def test_the_connection_is_to_the_address_that_was_checked_whatever_the_name_says_later() -> None:
    inner, peer = Peer(saying(b"inner")), Peer(saying(b"outer"))
    body, said = send(peer.port, [["127.0.0.1"], ["127.0.0.2"]], ["orders.example", "127.0.0.1"])
    assert body == "outer" and said[-1]["status"] == 200 and not inner.asked
    assert peer.asked[0].header("host") == f"orders.example:{peer.port}"


def test_a_name_that_turns_inside_is_sent_nothing() -> None:
    peer = Peer(saying(b"{}"))
    body, said = send(peer.port, [["127.0.0.1"]], ["orders.example"])
    assert body == "" and said == [{"unsent": "orders.example may not be called: 127.0.0.1 is loopback, and is not named in allow_hosts"}]
    assert not peer.connections


def test_an_address_that_does_not_answer_is_followed_by_the_next() -> None:
    peer = Peer(saying(b"{}"))
    body, said = send(peer.port, [["127.0.0.9", "127.0.0.1"]], ["127.0.0.0/8"])
    assert body == "{}" and [list(record) for record in said] == [["sent"], ["status", "reason", "whole"]]


def test_what_was_sent_once_is_not_sent_to_the_next_address() -> None:
    peer = Peer(lambda asked: None)
    _, said = send(peer.port, [["127.0.0.1", "127.0.0.1", "127.0.0.2"]], ["127.0.0.0/8"])
    assert said[0] == {"sent": True} and "fault" in said[1] and peer.connections == 1


# ---- by name, by IPv6 and by TLS, through the whole provider ----
def call(home: Path, url: str, *allow: str, **more: Any) -> ToolResult:
    return Tool(http, Fields("GET", url, allow_hosts=allow, **more), str(home)).call(timeout=15)


def test_a_local_name_is_asked_where_its_address_is_named(tmp_path: Path) -> None:
    peer = Peer(saying(b"{}"))
    assert call(tmp_path, f"http://localhost:{peer.port}/", "localhost", "127.0.0.1").ok
    refused = call(tmp_path, f"http://localhost:{peer.port}/", "localhost")
    assert refused.ended == "not_dispatched" and "loopback" in refused.message and peer.connections == 1


@pytest.mark.parametrize("host", ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "0.0.0.0", "127.0.0.1."])
def test_an_address_in_disguise_is_seen_through(tmp_path: Path, host: str) -> None:
    peer = Peer(saying(b"{}"))
    fields = Fields("GET", f"http://{host}:{peer.port}/")
    if http.pin(fields, str(tmp_path), "/bin").error is None:
        assert Tool(http, fields, str(tmp_path)).call().ended == "not_dispatched"
    assert not peer.connections


def test_an_ipv6_address_is_asked(tmp_path: Path) -> None:
    try:
        peer = Peer(saying(b"{}"), host="::1")
    except OSError:
        pytest.skip("no IPv6 here")
    assert call(tmp_path, f"http://[::1]:{peer.port}/", "::1").ok
    assert peer.asked[0].header("host") == f"[::1]:{peer.port}"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of localhost and nobody else."""
    folder = tmp_path_factory.mktemp("tls")
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    words = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    words += ["-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "ca.pem"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def tls(certificate: Path, tmp_path: Path) -> tuple[Peer, list[str]]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "ca.pem", certificate / "key.pem")
    names: list[str] = []
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    shutil.copy(certificate / "ca.pem", tmp_path)
    return Peer(saying(b"{}"), tls=context), names


def test_over_tls_the_name_is_asked_for_and_verified_at_the_address(tls: tuple[Peer, list[str]], tmp_path: Path) -> None:
    peer, names = tls
    assert call(tmp_path, f"https://localhost:{peer.port}/x", "localhost", "127.0.0.1", ca_file="ca.pem").ok
    assert names == ["localhost"] and peer.asked[0].header("host") == f"localhost:{peer.port}"


def test_who_cannot_prove_its_name_is_sent_nothing(tls: tuple[Peer, list[str]], tmp_path: Path) -> None:
    peer, _ = tls
    for url, more in ((f"https://localhost:{peer.port}/", {}), (f"https://127.0.0.1:{peer.port}/", {"ca_file": "ca.pem"})):
        result = call(tmp_path, url, "localhost", "127.0.0.1", **more)
        assert result.ended == "not_dispatched" and "CERTIFICATE_VERIFY_FAILED" in result.message
    assert not peer.asked


def test_authorities_that_change_after_they_were_judged_are_not_trusted(
    tls: tuple[Peer, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer, _ = tls
    monkeypatch.setattr(pins, "sha256_of", lambda _path: "0" * 64)
    result = call(tmp_path, f"https://localhost:{peer.port}/", "localhost", "127.0.0.1", ca_file="ca.pem")
    assert result.ended == "not_dispatched" and "ca.pem changed between the decision and the start" in result.message
    assert not peer.connections


def test_who_speaks_no_tls_was_sent_nothing(tmp_path: Path) -> None:
    peer = Peer(saying(b"{}"))
    plain = Tool(http, Fields("GET", f"https://127.0.0.1:{peer.port}/", allow_hosts=("127.0.0.1",)), str(tmp_path))
    assert plain.call(timeout=2).ended == "not_dispatched"
    silent = socket.create_server(("127.0.0.1", 0))
    made = Tool(http, Fields("GET", f"https://127.0.0.1:{silent.getsockname()[1]}/", allow_hosts=("127.0.0.1",)), str(tmp_path))
    assert made.call(timeout=2).ended == "not_dispatched"
    silent.close()
