"""Servers that do what they should not: no call of theirs is lost, taken for another, or left running (CASES I2, I6-I8, J2, J5, J6)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from contracts.kit_providers import PATH, Claim, mcp_tool
from providers import mcp_server

from toolgate_cli.core import canonical, offered
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.secrets import NONE, Secrets
from toolgate_cli.core.types import Json
from toolgate_cli.host import lasting, peer, processes
from toolgate_cli.host.lines import Line, Lines
from toolgate_cli.host.owners import FileOwners
from toolgate_cli.providers import _mcp_bound, _mcp_calls, _mcp_message, _mcp_session, _mcp_stdio, mcp
from toolgate_cli.runtime.plugs import InvokeLimits

SERVER = str(Path(mcp_server.__file__))


@pytest.fixture(autouse=True)
def no_session_outlasts_a_test() -> Iterator[None]:
    yield
    lasting.end_all()


class Server:
    """A server with these tools, in a home of its own."""

    def __init__(self, home: Path, *tools: str, options: tuple[str, ...] = (), env: dict[str, str] | None = None) -> None:
        self.home, self.tools, self.options, self.env = home, tools, options, env or {}

    def fields(self, tool: str) -> mcp.Fields:
        made = mcp_tool(str(self.home), tool, *self.tools, options=self.options)._replace(env=self.env)
        return made._replace(trusted=mcp.fingerprint(made, mcp._outside(made, str(self.home), PATH)))

    def call(self, tool: str, arguments: dict[str, Json] | None = None, **limits: Any) -> ToolResult:
        return self.send(self.fields(tool), arguments or {}, **limits)

    def send(
        self,
        fields: mcp.Fields,
        arguments: dict[str, Json],
        *,
        timeout: float = 30.0,
        output_bytes: int = 1 << 20,
        stop: Callable[[], bool] = lambda: False,
        secrets: Secrets = NONE,
        call_id: str = "",
        fence: str | None = None,
    ) -> ToolResult:
        pinned = mcp.pin(fields, str(self.home), PATH)
        assert pinned.error is None, pinned.error
        bound = mcp.bind(fields, pinned.facts, str(self.home), arguments)
        claim = Claim(call_id or f"c-mcp-{os.getpid()}", "r-mcp", "k-mcp", canonical.encode(arguments), bound, fence)
        return mcp.invoke(claim, InvokeLimits(timeout, output_bytes, stop, secrets))

    def bound(self, tool: str) -> object:
        fields = self.fields(tool)
        return mcp.bind(fields, mcp.pin(fields, str(self.home), PATH).facts, str(self.home), {})

    def offers(self, timeout: float = 30.0) -> dict[str, offered.Offer]:
        found = mcp.offers(self.fields("answers"), str(self.home), PATH, InvokeLimits(timeout, 1, lambda: False))
        return {offer.name: offer for offer in found.tools}


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def noted(home: Path) -> list[int]:
    return [int(line) for line in (home / "pids").read_text().split()]


def gone(home: Path) -> bool:
    return bool(noted(home)) and not any(map(alive, noted(home)))


# ---- what comes back ----
@pytest.mark.parametrize("era", ["new", "old", "dies", "mute"])
def test_both_eras_are_spoken_and_whatever_a_server_makes_of_the_first_question(
    tmp_path: Path, era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_mcp_stdio, "PROBE", 0.5)
    said = Server(tmp_path, "tells_meta", options=("--era", era)).call("tells_meta")
    assert said.ended == "answered" and said.ok, said
    meta = json.loads(said.output)["meta"]
    assert meta["toolgate/idempotencyKey"] == "k-mcp" and meta["toolgate/call"].startswith("c-mcp")
    assert (meta.get("io.modelcontextprotocol/protocolVersion") == "2026-07-28") == (era == "new")


def test_a_server_of_another_protocol_is_not_called(tmp_path: Path) -> None:
    said = Server(tmp_path, "answers", options=("--era", "refuses")).call("answers")
    assert said.ended == "not_dispatched" and "no version of the protocol" in said.message


def test_all_calls_of_a_process_are_of_one_session(tmp_path: Path) -> None:
    server = Server(tmp_path, "counts", "answers")
    pid, one = server.call("counts").output.split()
    server.call("answers")
    assert (server.call("counts").output.split(), one) == ([pid, "2"], "1")


@pytest.fixture
def owners(tmp_path: Path) -> Iterator[FileOwners]:
    """Locks in the folder `owners`, that every tool is started with."""
    owners = FileOwners(str(tmp_path / "owners"))
    processes.use_fence(owners.fence, owners.release)
    yield owners
    lasting.end_all()
    processes.use_fence(None, None)


def test_the_lock_of_a_session_is_that_of_every_call_in_it_and_goes_with_it(tmp_path: Path, owners: FileOwners) -> None:
    server, seen = Server(tmp_path, "counts", "sleeps"), []
    bound = server.bound("counts")

    def stop() -> bool:  # it is asked while the server works
        seen.append(owners.session("fone"))
        return len(seen) > 3

    assert mcp.lock(bound) is None, "nothing is open: a call brings a lock of its own"
    pid, _ = server.call("counts", fence="fone").output.split()
    assert mcp.lock(bound) == "fone" and os.listdir(tmp_path / "owners") == ["fone"]
    assert server.call("counts", fence="fone").output == f"{pid} 2"
    assert server.call("counts", fence=None).output == f"{pid} 3", "what needs no lock is made in any session"
    assert server.call("sleeps", stop=stop, fence="fone").ended == "uncertain"
    assert {session[0] for session in seen if session} == {int(pid)} and len(seen) > 3
    assert mcp.lock(bound) is None and os.listdir(tmp_path / "owners") == []


def test_a_call_after_the_end_of_a_session_has_a_new_lock(tmp_path: Path, owners: FileOwners) -> None:
    server = Server(tmp_path, "counts")
    pid, _ = server.call("counts", fence="fone").output.split()
    assert mcp.lock(server.bound("counts")) == "fone"
    os.kill(int(pid), signal.SIGKILL)
    time.sleep(0.1)
    assert mcp.lock(server.bound("counts")) is None


def test_a_server_that_talks_between_two_calls_is_not_heard_while_the_store_is_locked(
    tmp_path: Path, owners: FileOwners, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(tmp_path, "answers_and_floods")
    server.call("answers_and_floods", fence="fone")
    time.sleep(0.1)
    monkeypatch.setattr(peer.Peer, "_pump", lambda *_: pytest.fail("its output was read"))
    assert mcp.lock(server.bound("answers_and_floods")) == "fone"
    monkeypatch.undo()


def test_a_server_that_talks_between_two_calls_is_heard_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    class Talker:
        """Has always a line that takes its time."""

        over, heard = False, 0

        def stirred(self) -> bool:
            return True

        def line(self, _until: float) -> Line | None:
            self.heard += 1
            time.sleep(0.01)
            return Line(b"{}") if self.heard < 500 else None

    session = object.__new__(_mcp_stdio.StdioSession)
    monkeypatch.setattr(session, "_peer", Talker(), raising=False)
    began = time.monotonic()
    assert session.alive() and time.monotonic() - began < 2


def test_no_call_is_made_in_a_session_that_its_lock_does_not_tell_of(tmp_path: Path, owners: FileOwners) -> None:
    server = Server(tmp_path, "counts")
    first, _ = server.call("counts", fence="fone").output.split()
    second, times = server.call("counts", fence="ftwo").output.split()
    assert second != first and times == "1" and not alive(int(first))
    assert mcp.lock(server.bound("counts")) == "ftwo" and os.listdir(tmp_path / "owners") == ["ftwo"]


def test_while_something_of_the_last_session_is_there_no_other_is_opened(tmp_path: Path, owners: FileOwners) -> None:
    server = Server(tmp_path, "counts")
    first, _ = server.call("counts", fence="fone").output.split()
    [fd] = [int(fd) for fd in os.listdir("/proc/self/fd") if os.path.realpath(f"/proc/self/fd/{fd}") == str(tmp_path / "owners" / "fone")]
    survivor = os.dup(fd)  # as one would hold it that no kill reaches
    os.kill(int(first), signal.SIGKILL)
    time.sleep(0.1)
    said = server.call("counts", fence="fone")
    assert (said.ended, said.left_behind) == ("not_dispatched", "fone") and "last session" in said.message
    assert server.call("counts", fence="ftwo").output.split()[1] == "1", "it is named, and the next call has a lock of its own"
    os.close(survivor)


def test_a_server_that_ended_between_two_calls_is_started_again(tmp_path: Path) -> None:
    server = Server(tmp_path, "counts")
    first, _ = server.call("counts").output.split()
    os.kill(int(first), signal.SIGKILL)
    time.sleep(0.1)
    second, times = server.call("counts").output.split()
    assert second != first and times == "1"


@pytest.mark.parametrize(
    ("tool", "output"),
    [
        ("answers", '{"ok":true}'),
        ("tells_progress", "done"),
        ("chats", "done"),
        ("answers_another", "right"),
        ("answers_twice", "first"),
        ("answers_in_blocks", '{"content":[{"text":"a","type":"text"},{"data":"AA==","mimeType":"image/png","type":"image"}]}'),
    ],
)
def test_the_answer_to_this_call_is_the_result(tmp_path: Path, tool: str, output: str) -> None:
    server = Server(tmp_path, tool, "answers")
    said = server.call(tool)
    assert (said.ended, said.ok, said.output, said.message) == ("answered", True, output, "")
    assert server.call("answers").output == '{"ok":true}'  # and the next answer is the next call's


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("fails", "the ledger said no"),
        ("fails_silently", "the tool failed without a word"),
        ("refuses", "the server refused the call: no such thing (-32602)"),
        ("asks_back", "the tool asks for more input while it runs, which it is not given"),
    ],
)
def test_what_the_tool_itself_calls_a_failure_is_one(tmp_path: Path, tool: str, says: str) -> None:
    said = Server(tmp_path, tool).call(tool)
    assert (said.ended, said.ok, said.message) == ("answered", False, says)


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("dies", "exit code 3: out of luck"),
        ("is_killed", "signal 9"),
        ("speaks_no_json", "no strict JSON"),
        ("says_it_twice", "DUPLICATE_KEY"),
        ("nests_deep", "TOO_DEEP"),
        ("answers_nothing", "neither a result nor an error"),
        ("answers_a_word", "neither a result nor an error"),
    ],
)
def test_what_cannot_be_trusted_is_uncertain_and_the_next_call_is_answered(tmp_path: Path, tool: str, says: str) -> None:
    server = Server(tmp_path, tool, "answers")
    said = server.call(tool)
    assert said.ended == "uncertain" and says in said.message, said
    assert server.call("answers").output == '{"ok":true}'


def test_a_number_that_no_double_holds_loses_no_result(tmp_path: Path) -> None:
    said = Server(tmp_path, "is_inexact").call("is_inexact")
    assert said.ok and said.mark == "INEXACT_RESULT" and "0.12345678901234567890123" in said.output


@pytest.mark.parametrize("first", ["1e999", '"\\ud800"'])
def test_what_is_not_exact_hides_nothing_that_can_be_read_in_two_ways(first: str) -> None:
    with pytest.raises(_mcp_session.Broken, match="no strict JSON"):
        _mcp_message.read(f'{{"id":"1","x":{first},"result":{{"content":[],"isError":true,"isError":false}}}}'.encode())


def test_a_result_is_cut_at_its_cap_and_the_stream_stays_in_step(tmp_path: Path) -> None:
    server = Server(tmp_path, "prints_one_long_line", "answers")
    said = server.call("prints_one_long_line", output_bytes=1000)
    assert (said.ok, said.truncated, said.size, said.output) == (True, True, 1_000_000, "z" * 1000)
    assert server.call("answers").output == '{"ok":true}'


def test_a_line_beyond_the_cap_is_uncertain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_mcp_stdio, "LINE_BYTES", 100_000)
    said = Server(tmp_path, "prints_one_long_line").call("prints_one_long_line")
    assert said.ended == "uncertain" and "a line of more than" in said.message


def test_what_a_server_asks_of_us_is_not_done(tmp_path: Path) -> None:
    said = json.loads(Server(tmp_path, "asks_us").call("asks_us").output)
    assert said == {"ping": {}, "sampling/createMessage": -32601, "roots/list": -32601, "elicitation/create": -32601}


def test_a_question_under_an_id_that_cannot_be_answered_is_not_and_costs_no_result(tmp_path: Path) -> None:
    said = Server(tmp_path, "asks_under_ids_that_are_none").call("asks_under_ids_that_are_none")
    assert said.ended == "answered" and said.ok and said.output == "done", said


def test_whatever_fails_once_a_call_is_made_is_no_proof_that_it_was_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ToolgateError("invalid", "it cannot be read")

    monkeypatch.setattr(_mcp_calls, "result", fails)
    server = Server(tmp_path, "answers")
    with pytest.raises(ToolgateError):  # the gate takes it for an uncertain end
        server.call("answers")
    assert server.fields("answers").server not in _mcp_bound.sessions, "what comes late is nobody's answer"


# ---- the timeout ----
@pytest.mark.parametrize("tool", ["announces_for_ever", "floods", "floods_without_a_newline", "asks_for_ever"])
def test_no_noise_moves_the_deadline_or_fills_the_memory(tmp_path: Path, tool: str) -> None:
    server = Server(tmp_path, tool, "answers")
    server.call("answers")
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    began = time.monotonic()
    said = server.call(tool, timeout=1)
    assert 1 <= time.monotonic() - began < 3.2
    assert peak() - before < 60
    assert gone(tmp_path)
    if tool != "floods_without_a_newline":
        assert (said.ended, said.message) == ("uncertain", "timed out after 1s")
    assert server.call("answers").output == '{"ok":true}'


def peak() -> int:
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) // 1024


def test_a_late_answer_is_no_answer_to_another_call(tmp_path: Path) -> None:
    server = Server(tmp_path, "answers_late", "answers_the_held")
    assert server.call("answers_late", timeout=1).ended == "uncertain"
    assert server.call("answers_the_held").output == "mine"


def test_a_server_that_answers_ahead_is_not_believed(tmp_path: Path) -> None:
    server = Server(tmp_path, "answers_ahead", "answers")
    assert server.call("answers_ahead").output == "first"
    assert server.call("answers").output == '{"ok":true}'


def test_a_server_hears_that_its_call_was_cancelled_and_ends(tmp_path: Path) -> None:
    server = Server(tmp_path, "notes_the_cancel", "answers")
    server.call("answers")
    said = server.call("notes_the_cancel", stop=(tmp_path / "pids").exists)
    assert (said.ended, said.message) == ("uncertain", "cancelled") and gone(tmp_path)
    heard = json.loads((tmp_path / "heard").read_text())
    assert heard["method"] == "notifications/cancelled" and re.fullmatch("[0-9a-f]{24}", heard["params"]["requestId"])


def test_a_server_that_does_not_come_up_was_sent_nothing(tmp_path: Path) -> None:
    fields = Server(tmp_path, "answers").fields("answers")._replace(command=("sleep", "60"))
    fields = fields._replace(trusted=mcp.fingerprint(fields, mcp._outside(fields, str(tmp_path), PATH)))
    began = time.monotonic()
    said = Server(tmp_path).send(fields, {}, timeout=1)
    assert said.ended == "not_dispatched" and "timed out after 1s: nothing was sent" in said.message and time.monotonic() - began < 3


def test_a_server_that_ends_at_once_says_why(tmp_path: Path) -> None:
    fields = Server(tmp_path).fields("answers")._replace(command=("sh", "-c", "echo no licence >&2; exit 4"))
    fields = fields._replace(trusted=mcp.fingerprint(fields, mcp._outside(fields, str(tmp_path), PATH)))
    said = Server(tmp_path).send(fields, {})
    assert said.ended == "not_dispatched" and "exit code 4: no licence" in said.message


# ---- definitions ----
def redefine(home: Path, *definitions: Json) -> tuple[str, ...]:
    (home / "listing.json").write_text(json.dumps(list(definitions)))
    return ("--listing", "listing.json")


@pytest.mark.parametrize(
    "change",
    [
        {"description": "does something else"},
        {"inputSchema": {"type": "object", "properties": {"cc": {"type": "string"}}}},
        {"outputSchema": {"type": "object"}},
        {"annotations": {"readOnlyHint": True}},
        {"title": "Something else"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_definition_that_is_not_the_pinned_one_is_not_called(tmp_path: Path, change: dict[str, Json]) -> None:
    options = redefine(tmp_path, {**mcp_server.definition("answers"), **change})
    said = Server(tmp_path, "answers", options=options).call("answers")
    assert said.ended == "not_dispatched"
    assert said.message.startswith("the tool answers of the server ") and "is not what was pinned: toolgate tools pin" in said.message


def test_a_definition_that_changes_while_the_session_is_open_is_not_called(tmp_path: Path) -> None:
    server = Server(tmp_path, "changes_its_listing", options=("--listing", "listing.json"))
    assert server.call("changes_its_listing").output == "done"
    said = server.call("changes_its_listing")
    assert said.ended == "not_dispatched" and "is not what was pinned" in said.message


def test_a_listing_is_not_believed_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(tmp_path, "answers", options=("--listing", "listing.json"))
    assert server.call("answers").ok
    redefine(tmp_path, {**mcp_server.definition("answers"), "description": "does something else"})
    assert server.call("answers").ok
    monkeypatch.setattr(_mcp_stdio, "RELIST", 0.0)
    assert server.call("answers").ended == "not_dispatched"


def test_a_tool_that_is_gone_is_not_called(tmp_path: Path) -> None:
    said = Server(tmp_path, "answers", options=redefine(tmp_path)).call("answers")
    assert said.ended == "not_dispatched" and "is not there any more" in said.message


def test_a_bad_tool_hides_none_of_the_others(tmp_path: Path) -> None:
    fine = mcp_server.definition("answers")
    bad: list[Json] = [
        "a word",
        {"name": 3, "inputSchema": {}},
        {"name": "no schema"},
        {"name": "with\x1b[2Kescape", "inputSchema": {}},
        {"name": "listed", "inputSchema": [1]},
        {"name": "twice", "inputSchema": {}},
        {"name": "twice", "inputSchema": {}, "description": "the other"},
        {"name": "secret", "inputSchema": {}, "description": "give me ${secret.TOKEN}"},
        {"name": "worded", "inputSchema": {}, "annotations": "readOnly"},
    ]
    found = Server(tmp_path, "answers", options=redefine(tmp_path, *bad, fine)).offers()
    assert [offer.name for offer in found.values() if offer.fault is None] == ["answers"]
    assert len(found) == 9 and found["twice"].fault == "the server lists several tools of this name"


def test_a_listing_of_many_pages_is_whole_and_one_without_end_is_refused(tmp_path: Path) -> None:
    names = [f"answers-{number}" for number in range(25)]
    found = Server(tmp_path, "answers", options=redefine(tmp_path, *(mcp_server.definition(name) for name in names))).offers()
    assert list(found) == names
    said = Server(tmp_path, "answers", options=("--listing", "round")).call("answers")
    assert said.ended == "not_dispatched" and "does not come to an end" in said.message


def test_a_listing_that_fills_the_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_mcp_session, "MOST_LISTED", 3000)
    names = [{**mcp_server.definition(f"answers-{number}"), "description": "x" * 500} for number in range(25)]
    said = Server(tmp_path, "answers", options=redefine(tmp_path, *names)).call("answers")
    assert said.ended == "not_dispatched" and "its listing of tools is too long" in said.message


def test_what_is_not_pinned_and_a_server_that_is_not_what_it_was_are_refused_before_anything_starts(tmp_path: Path) -> None:
    fields = Server(tmp_path, "answers").fields("answers")
    assert "is not pinned: toolgate tools pin" in str(mcp.pin(fields._replace(definition=None), str(tmp_path), PATH).error)
    for other in ({"command": (*fields.command, "echoes")}, {"env": {"DEBUG": "1"}}, {"cwd": "sub"}):
        (tmp_path / "sub").mkdir(exist_ok=True)
        assert "is not what it was when its tools were pinned" in str(mcp.pin(fields._replace(**other), str(tmp_path), PATH).error)


def test_a_script_of_the_home_is_part_of_the_server(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("one")
    fields = mcp.Fields("mine", "x", ("python3", "server.py"), definition="0" * 64)
    fields = fields._replace(trusted=mcp.fingerprint(fields, mcp._outside(fields, str(tmp_path), PATH)))
    assert mcp.pin(fields, str(tmp_path), PATH).error is None
    (tmp_path / "server.py").write_text("two")
    assert "is not what it was" in str(mcp.pin(fields, str(tmp_path), PATH).error)


def test_a_file_that_the_server_works_on_is_not(tmp_path: Path) -> None:
    fields = mcp.Fields("mine", "x", ("python3", "server.py", "--db", "notes.db"), pin=("rates.csv",), definition="0" * 64)
    for file in ("server.py", "notes.db", "rates.csv"):
        (tmp_path / file).write_text("one")
    fields = fields._replace(trusted=mcp.fingerprint(fields, mcp._outside(fields, str(tmp_path), PATH)))
    assert str(tmp_path / "notes.db") not in mcp.pin(fields, str(tmp_path), PATH).paths
    (tmp_path / "notes.db").write_text("two")
    assert mcp.pin(fields, str(tmp_path), PATH).error is None
    (tmp_path / "rates.csv").write_text("two")
    assert mcp.pin(fields, str(tmp_path), PATH).error is not None


# ---- what a server sees of us, and what is left of it ----
def test_a_server_has_a_clean_environment_and_its_secrets_are_taken_out_of_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEAK", "of ours")
    monkeypatch.setenv("PLACE", "there")
    secrets = Secrets({"TOKEN": "hunter2-hunter2"}, {}, ((b"hunter2-hunter2", "TOKEN"),))
    server = Server(tmp_path, "shows_its_environment", env={"TOKEN": "Bearer ${secret.TOKEN}", "WHERE": "${env.PLACE}"})
    said = server.call("shows_its_environment", secrets=secrets)
    seen = json.loads(said.output)
    assert seen.pop("TOKEN") == "Bearer ***TOKEN***" and seen.pop("WHERE") == "there"
    assert set(seen) <= {"PATH", "HOME", "LANG", "LC_CTYPE", "TOOLGATE_RUN", "TOOLGATE_CALL"} and seen["PATH"] == PATH
    assert "hunter2" not in repr(said)


def test_a_session_is_opened_anew_when_a_secret_is_another(tmp_path: Path) -> None:
    server = Server(tmp_path, "counts", env={"TOKEN": "${secret.TOKEN}"})
    pids = {server.call("counts", secrets=Secrets({"TOKEN": value})).output.split()[0] for value in ("first-of-them", "other-of-them")}
    assert len(pids) == 2


@pytest.mark.parametrize("tool", ["forks_twice_and_answers"])
def test_at_the_end_nothing_of_a_session_is_left_not_even_a_daemon_without_a_mark(tmp_path: Path, tool: str) -> None:
    server = Server(tmp_path, tool)
    assert server.call(tool).output == "done"
    assert not gone(tmp_path)
    began = time.monotonic()
    lasting.end_all()
    assert gone(tmp_path) and time.monotonic() - began < 5


@pytest.mark.parametrize("older", [True, False], ids=["the older one ends", "the newer one ends"])
def test_the_end_of_one_session_is_none_of_another_s(tmp_path: Path, older: bool) -> None:
    first, second = Server(tmp_path / "a", "counts", "sleeps"), Server(tmp_path / "b", "counts", "sleeps")
    for server in (first, second):
        server.home.mkdir()
        server.call("counts")
    ends, stays = (first, second) if older else (second, first)
    pid = stays.call("counts").output.split()[0]
    assert ends.call("sleeps", timeout=1).ended == "uncertain"
    assert stays.call("counts").output == f"{pid} 3"


def test_when_toolgate_is_killed_its_server_ends_too(tmp_path: Path) -> None:
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from pathlib import Path
from providers.test_mcp import Server
Server(Path({str(tmp_path)!r}), "kills_its_parent").call("kills_its_parent")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    _, server = noted(tmp_path)
    until = time.monotonic() + 5
    while alive(server) and time.monotonic() < until:
        time.sleep(0.02)
    assert not alive(server)
    os.kill(noted(tmp_path)[0], signal.SIGKILL)  # its child is for recovery to find


def test_an_interruption_ends_the_session(tmp_path: Path) -> None:
    def stop() -> bool:
        if (tmp_path / "pids").exists():
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        Server(tmp_path, "ignores_SIGTERM").call("ignores_SIGTERM", stop=stop)
    assert gone(tmp_path)


def test_a_server_is_started_from_the_main_thread_alone(tmp_path: Path) -> None:
    from threading import Thread

    from toolgate_cli.host.child import Command

    said: list[BaseException] = []

    def start() -> None:
        try:
            peer.Peer(Command("c", ("/bin/true",), "/", {}, None), 10, Secrets())
        except RuntimeError as error:
            said.append(error)

    thread = Thread(target=start)
    thread.start()
    thread.join()
    assert said


# ---- lines ----
def test_lines_come_whole_however_they_are_cut_and_a_long_one_is_not_kept() -> None:
    lines = Lines(5)
    found = [lines.feed(piece) for piece in (b"a", b"b\ncd\n", b"123456", b"7", b"\nx", b"\n", b"1234567\n12345\n")]
    assert found == [[], [Line(b"ab"), Line(b"cd")], [], [], [Line(b"", True)], [Line(b"x")], [Line(b"", True), Line(b"12345")]]
    for _ in range(100):
        assert lines.feed(b"123456789") == [] and len(lines._held) <= 14, "no more is held than the longest line and a piece"
    assert lines.feed(b"\n1\n") == [Line(b"", True), Line(b"1")]
