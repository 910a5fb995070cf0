"""Requests through the whole program: each is sent once a claim, and what is not known of it is shown as that (CASES K3)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contracts.raw_peers import Act, Peer, saying
from proofs import facts, homes, workers


@pytest.fixture
def home(tmp_path: Path) -> Callable[..., tuple[Path, Peer]]:
    def make(act: Act, effect: str = "unsafe", exits: str = "", attempts: int = 2) -> tuple[Path, Peer]:
        peer = Peer(act)
        path = homes.make(tmp_path / "home", effect=effect, brief=True, provider="command")
        text = (path / "toolgate.toml").read_text().replace("max_attempts = 2", f"max_attempts = {attempts}")
        table = f'http]\nmethod = "POST"\nurl = "http://127.0.0.1:{peer.port}/${{args.to}}"\nallow_hosts = ["127.0.0.1"]\n'
        text = text.replace(f'command]\nargv = ["{sys.executable}", "-I", "-S", "pay.py"]\n', table + exits)
        (path / "toolgate.toml").write_text(text)
        return path, peer

    return make


def start(path: Path) -> tuple[int, list[dict[str, Any]]]:
    done = workers.run(path, "start", "pay")
    return done.code, done.answer["pending"]


@pytest.mark.parametrize(
    "act",
    [
        saying(b"bad gateway", "502 Bad Gateway"),
        saying(b"", "303 See Other", "Location: /done"),
        lambda asked: None,
        lambda asked: asked.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}"),
    ],
    ids=["502", "303", "dropped", "half"],
)
def test_what_may_have_been_done_is_in_doubt_and_not_sent_again(home: Callable[..., tuple[Path, Peer]], act: Act) -> None:
    path, peer = home(act)
    code, [row] = start(path)
    assert (code, row["origin"], len(peer.asked)) == (9, "OUTCOME_UNKNOWN", 1)
    refused = workers.run(path, "retry", row["ref"])
    assert refused.code == 5 and refused.error["kind"] == "unknown_outcome" and len(peer.asked) == 1
    assert workers.run(path, "retry", row["ref"], "--may-run-twice").code == 9 and len(peer.asked) == 2
    first, second = (asked.header("idempotency-key") for asked in peer.asked)
    assert first == second


def test_an_idempotent_request_is_sent_again_with_its_key(home: Callable[..., tuple[Path, Peer]]) -> None:
    path, peer = home(lambda asked: asked.answer(b"1") if len(peers[0].asked) > 1 else None, "idempotent")
    peers = [peer]
    code, pending = start(path)
    assert (code, pending, len(peer.asked)) == (0, [], 2)
    assert len({asked.header("idempotency-key") for asked in peer.asked}) == 1


@pytest.mark.parametrize(
    ("status", "exits", "sent", "origin", "code"),
    [
        ("404 Not Found", "", 1, "EXECUTION_FAILED", "STATUS_404"),
        ("503 Busy", "not_dispatched = [503]\n", 2, "EXECUTION_FAILED", "NOT_DISPATCHED"),
        ("500 Broken", "permanent = [500]\n", 1, "EXECUTION_FAILED", "STATUS_500"),
        ("500 Broken", "", 1, "OUTCOME_UNKNOWN", "STATUS_500"),
        ("404 Not Found", 'business = { 404 = "UNKNOWN_ORDER" }\n', 1, None, "UNKNOWN_ORDER"),
    ],
)
def test_a_status_means_what_is_declared_of_it(
    home: Callable[..., tuple[Path, Peer]], status: str, exits: str, sent: int, origin: str | None, code: str
) -> None:
    path, peer = home(saying(b"why", status), exits=f'[tools."ledger.pay".exit]\n{exits}' if exits else "")
    _, pending = start(path)
    assert [row["origin"] for row in pending] == ([origin] if origin else []) and len(peer.asked) == sent
    ends = [event for event in facts.read(path).events if event.type in facts.ENDS]
    assert ends[-1].payload["code"] == code


def test_a_redirect_and_a_name_in_disguise_reach_nobody(home: Callable[..., tuple[Path, Peer]]) -> None:
    path, peer = home(saying(b"1"))
    text = (path / "toolgate.toml").read_text()
    (path / "toolgate.toml").write_text(text.replace("//127.0.0.1:", "//0x7f.1:").replace('["127.0.0.1"]', "[]"))
    code, [row] = start(path)
    assert (code, row["origin"], peer.connections) == (1, "EXECUTION_FAILED", 0)
    assert "0x7f.1 may not be called: 127.0.0.1 is loopback" in row["reason"]
