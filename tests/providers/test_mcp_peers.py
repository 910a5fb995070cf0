"""Real servers behind the gate, from the command line: pinned, read, asked for, timed out, and refused when they are not what they were."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
from peers.servers import ALL, Peer
from providers.mcp_home import READS, Home

from toolgate_cli.workflow import locking


def home_of(folder: Path, peer: Peer, more: str = "") -> Home:
    home = Home(folder, peer.name, peer.command(), f'[tools."{peer.name}.{peer.read.tool}"]\n{READS}{more}')
    if peer.name == "git":
        said = ["git", "-c", "user.name=x", "-c", "user.email=x@y", "-C", str(folder / "repository")]
        subprocess.run(["git", "init", "-q", str(folder / "repository")], check=True)
        subprocess.run([*said, "commit", "-q", "--allow-empty", "-m", "the first"], check=True)
    return home


@pytest.mark.parametrize("name", ALL)
def test_a_server_that_nobody_here_wrote_is_pinned_read_and_asked_for(tmp_path: Path, name: str) -> None:
    peer = ALL[name]
    home = home_of(tmp_path / "home", peer)
    code, found, said = home("tools", "pin", name)
    assert code == 2 and found is None and "--yes" in json.loads(said.splitlines()[-1])["error"]["hint"]
    assert not (home.folder / locking.LOCK).exists()
    code, found, _ = home("tools", "pin", name, "--yes")
    assert code == 0 and {peer.read.tool, peer.write.tool} <= {tool["tool"] for tool in found["items"] if tool["change"] == "added"}
    assert [tool["reason"] for tool in found["items"] if tool["reason"]] == []
    pinned = (home.folder / locking.LOCK).read_bytes()

    code, answer, said = home.start(peer.read.tool, **peer.read.arguments)
    assert (code, answer["run"]["status"]) == (0, "COMPLETED"), said
    assert peer.read.says in json.dumps(answer["run"]["outputs"]["it"], separators=(",", ":"))

    _, answer, _ = home.start(peer.write.tool, **peer.write.arguments)
    assert answer["run"]["status"] == "AWAITING_TOOL_APPROVAL" and not (peer.write.done and (home.folder / peer.write.done).exists())
    code, answer, said = home("approve")
    assert (code, answer["run"]["status"]) == (0, "COMPLETED"), said
    assert peer.write.says in json.dumps(answer["run"]["outputs"]["it"], separators=(",", ":"))
    assert not peer.write.done or (home.folder / peer.write.done).exists()
    completed = [event["code"] for event in home.events("COMPLETED")]
    assert completed == [None, None]  # what has an output schema keeps it

    code, found, _ = home("tools", "pin", name)  # nothing differs: nothing is asked
    assert code == 0 and {tool["change"] for tool in found["items"]} == {"same"}
    assert (home.folder / locking.LOCK).read_bytes() == pinned


def test_a_drifted_definition_is_refused_until_it_is_pinned_again_and_what_waited_is_asked_for_anew(tmp_path: Path) -> None:
    peer = ALL["files"]
    home = home_of(tmp_path / "home", peer)
    home("tools", "pin", "files", "--yes")
    held = locking.read_lock((home.folder / locking.LOCK).read_text())["files"]
    tools = {**held.tools, "write_file": {**held.tools["write_file"], "description": "writes nothing at all"}}
    (home.folder / locking.LOCK).write_text(locking.write_lock({"files": held._replace(tools=tools)}))

    _, answer, _ = home.start(peer.write.tool, **peer.write.arguments)
    code, answer, _ = home("approve")
    assert code == 1 and answer["pending"][0]["origin"] == "EXECUTION_FAILED"
    assert "is not what was pinned: toolgate tools pin files" in answer["pending"][0]["reason"]
    assert answer["pending"][0]["doubt"] is None and not (home.folder / "made.txt").exists()

    code, found, said = home("tools", "pin", "files", "--yes")
    assert {tool["tool"] for tool in found["items"] if tool["change"] == "changed"} == {"write_file"}
    assert 'write_file description was: "writes nothing at all"' in said
    code, _, said = home("retry")
    assert code == 5 and "superseded" in said
    assert home("approve")[0] == 0 and (home.folder / "made.txt").read_text() == "made"


def test_a_call_that_takes_too_long_is_an_unknown_outcome(tmp_path: Path) -> None:
    peer = ALL["everything"]
    slow = '[tools."everything.trigger-long-running-operation"]\nsafety = "write"\ntimeout = "3s"\n'
    home = home_of(tmp_path / "home", peer, slow)
    home("tools", "pin", "everything", "--yes")
    home.start("trigger-long-running-operation", duration=30, steps=30)
    began = time.monotonic()
    code, answer, _ = home("approve")
    assert code == 9 and time.monotonic() - began < 12
    [row] = answer["pending"]
    assert (row["origin"], row["doubt"], row["reason"]) == ("OUTCOME_UNKNOWN", "unsafe", "timed out after 3s")
    assert home("approve")[0] == 5 and home("retry")[0] == 5


def test_a_changed_command_is_refused_before_anything_is_started(tmp_path: Path) -> None:
    peer = ALL["time"]
    home = home_of(tmp_path / "home", peer)
    home("tools", "pin", "time", "--yes")
    file = home.folder / "toolgate.toml"
    file.write_text(file.read_text().replace('mcp-server-time"', 'mcp-server-time", "--local-timezone", "Asia/Tokyo"'))
    code, answer, _ = home.start(peer.read.tool, **peer.read.arguments)
    assert code == 1 and answer["pending"][0]["attempts"] == 0
    assert "the server time is not what it was when its tools were pinned" in answer["pending"][0]["reason"]
    assert [event["phase"] for event in home.events("FAILED")] == ["RESOLVE"]
