"""A whole session with a live model, from the command line: it is asked between transactions, decided about, recorded, and replayed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from peers.aimock import KEY, Aimock

from .asking import ADAPTERS, called
from .wire import Wire, reply

LIVE = """[models.live]
adapter = "{adapter}"
base_url = "{url}/v1"
model = "some-model"
api_key = "${{secret.LIVE_KEY}}"
timeout = "20s"
record = "live.toml"
"""
SCRIPTED = '[models.live]\nadapter = "scripted"\nscript = "live.toml"\n'
OPERATOR = """schema = 1
[tools."orders.lookup"]
safety = "read_only"
effect = "read_only"
input_schema = "any-object"
[tools."orders.lookup".command]
argv = ["cat", "order.json"]
stdin = "none"
[tools."refunds.issue"]
title = "Refund ${args.amount}"
effect = "idempotent"
input_schema = { type = "object", required = ["amount"], properties = { amount = { type = "number" } } }
[tools."refunds.issue".command]
argv = ["cat"]
[[policy.rules]]
name = "reads"
safety = "read_only"
decision = "allow"
[agents.clerk]
model = "live"
prompt = "Settle the claim."
tools = ["orders.*", "refunds.*"]
"""
FLOW = """schema = 1
id = "refund"
[inputs.order]
type = "string"
[[steps]]
id = "decide"
type = "agent"
agent = "clerk"
reads = ["inputs.order"]
writes = ["decision"]
"""
ANSWERS: list[dict[str, Any]] = [
    {"content": "First the order.", "toolCalls": [{"name": "orders__lookup", "arguments": '{"order":"A-17"}'}]},
    {"error": {"message": "slow down", "type": "rate_limit_error"}, "status": 429, "retryAfter": 0},
    {
        "content": "It is damaged.",
        "toolCalls": [
            {"name": "refunds__issue", "arguments": '{"amount":12.5}'},
            {"name": "set_context", "arguments": '{"values":{"decision":"refund"}}'},
            {"name": "ask", "arguments": '{"question":"Anything else?"}'},
        ],
    },
    {"toolCalls": [{"name": "complete", "arguments": '{"output":{"paid":12.5,"note":null}}'}]},
]


class Session:
    def __init__(self, folder: Path, model: str) -> None:
        self.home = folder
        self.home.mkdir()
        (self.home / "toolgate.toml").write_text(OPERATOR + model)
        (self.home / "refund.toml").write_text(FLOW)
        (self.home / "order.json").write_text('{"state":"damaged"}')

    def __call__(self, *words: str, key: str | None = KEY) -> tuple[int, Any, str]:
        env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]} | ({} if key is None else {"LIVE_KEY": key})
        done = subprocess.run(
            [sys.executable, "-m", "toolgate_cli", "-C", str(self.home), *words, "--json"],
            env=env, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        assert "Traceback" not in done.stderr and KEY not in done.stdout + done.stderr
        return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr

    def story(self) -> list[Any]:
        """The whole run, decided the same way every time: what is shown on the way, and at its end."""
        code, started, _ = self("start", "refund", "-i", "order=A-17")
        assert code == 0, started
        [waiting] = started["pending"]
        run = started["run"]["id"]
        shown = [waiting[name] for name in ("capability", "title", "arguments", "rationale", "origin", "digest")]
        shown.append(self("approve", waiting["ref"])[1]["run"]["status"])
        shown.append(self("answer", run, "answer=no")[1]["run"]["status"])
        _, ended, _ = self("runs", "show", run)
        events = self("events", run)[1]["items"]
        return [shown, ended["run"]["outputs"], ended["run"]["context"], [(event["type"], event["capability"]) for event in events]]


def fault(said: str) -> Any:
    """What stands beside an answer on stderr."""
    [found] = [json.loads(line)["error"] for line in said.splitlines() if line.startswith('{"error"')]
    return found


@pytest.mark.parametrize("adapter", sorted(ADAPTERS))
def test_a_session_is_carried_through_recorded_and_replayed_as_the_same_run(tmp_path: Path, aimock: Aimock, adapter: str) -> None:
    aimock.answers(*ANSWERS)
    live = Session(tmp_path / "live", LIVE.format(adapter=adapter, url=aimock.url))
    assert live("workflow", "check")[0] == 0
    story = live.story()
    assert story[0][:4] == ["refunds.issue", "Refund 12.5", {"amount": 12.5}, "It is damaged."] and story[0][-1] == "COMPLETED"
    assert story[1] == {"decide": {"paid": 12.5, "note": None}} and story[2]["decision"] == {"value": "refund", "provenance": "model"}
    told = {message["tool_call_id"]: message["content"] for message in aimock.requests()[-1]["messages"] if message["role"] == "tool"}
    outside = [value.split("\n")[1] if value.startswith("<untrusted ") else value for value in told.values()]  # between its marks
    assert outside == ['{"state":"damaged"}', '{"amount":12.5}', "done", '{"answer":"no"}']
    stored = b"".join(path.read_bytes() for path in live.home.rglob("*") if path.is_file())
    assert KEY.encode() not in stored

    replayed = Session(tmp_path / "replayed", SCRIPTED)
    (replayed.home / "live.toml").write_bytes((live.home / "live.toml").read_bytes())
    asked = len(aimock.requests())
    assert replayed.story() == story and len(aimock.requests()) == asked


def test_a_step_whose_model_gives_no_answer_fails_with_what_is_wrong_and_nothing_else(tmp_path: Path, wire: Wire) -> None:
    session = Session(tmp_path / "home", LIVE.format(adapter="openai", url=wire.url))
    wire.answers = [reply({"error": {"message": f"no such key: {KEY}"}}, "401 Unauthorized")]
    code, answer, _ = session("start", "refund", "-i", "order=A-17")
    assert code == 1 and answer["run"]["status"] == "FAILED"
    assert answer["run"]["error"]["message"] == "the model gave no answer: it answered 401: no such key: ***LIVE_KEY***"


def test_a_turn_with_the_key_in_it_is_refused_and_recorded_nowhere(tmp_path: Path, wire: Wire) -> None:
    session = Session(tmp_path / "home", LIVE.format(adapter="openai", url=wire.url))
    wire.answers = [reply({"choices": [{"message": {"content": f"the key is {KEY}"}, "finish_reason": "stop"}]})]
    code, answer, _ = session("start", "refund", "-i", "order=A-17")
    assert code == 1 and answer["run"]["error"]["message"] == "the model's turn holds the value of the secret LIVE_KEY"
    assert not (session.home / "live.toml").exists()


def test_a_missing_key_is_told_by_the_check_the_doctor_and_the_step_and_nothing_is_called(tmp_path: Path, wire: Wire) -> None:
    session = Session(tmp_path / "home", LIVE.format(adapter="openai", url=wire.url))
    why = "the secret LIVE_KEY has no value: the environment variable LIVE_KEY is not set"
    code, checked, _ = session("workflow", "check", key=None)
    [operator] = [file for file in checked["items"] if file["file"] == "toolgate.toml"]
    line = (session.home / "toolgate.toml").read_text().splitlines().index('api_key = "${secret.LIVE_KEY}"') + 1
    assert code == 0 and [text for text in operator["warnings"] if why in text and f"toolgate.toml:{line}" in text]
    code, remarks, _ = session("doctor", key=None)
    assert code == 0 and [each for each in remarks["items"] if why in each["message"]]
    code, answer, said = session("start", "refund", "-i", "order=A-17", key=None)
    assert code == 1 and answer["run"]["status"] == "RUNNING" and fault(said)["message"] == f"api_key: {why}"
    assert wire.requests == []
    assert "LIVE_KEY" not in str(session("workflow", "check")[1])


def test_who_approves_without_the_key_leaves_the_run_to_who_has_it(tmp_path: Path, wire: Wire) -> None:
    session = Session(tmp_path / "home", LIVE.format(adapter="openai", url=wire.url))
    wire.answers = [
        reply(called("openai", *calls)) for calls in ([("refunds__issue", '{"amount":1}')], [("complete", '{"output":"paid"}')])
    ]
    run = session("start", "refund", "-i", "order=A-17")[1]["run"]["id"]
    code, approved, said = session("approve", key=None)
    assert code == 1 and approved["effect"] == "approved" and approved["run"]["status"] == "RUNNING"
    assert fault(said)["hint"].endswith(f"continue {run}") and len(wire.requests) == 1
    code, ended, _ = session("continue", run)
    assert code == 0 and ended["run"]["status"] == "COMPLETED" and ended["run"]["outputs"] == {"decide": "paid"}
    starts = [event for event in session("events", run)[1]["items"] if event["type"] == "TOOL_INVOCATION_STARTED"]
    assert len(starts) == 1 and len(wire.requests) == 2


def test_another_command_goes_on_while_a_model_thinks(tmp_path: Path, wire: Wire) -> None:
    session = Session(tmp_path / "home", LIVE.format(adapter="openai", url=wire.url))
    wire.answers = [[30.0]]
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "LIVE_KEY": KEY}
    words = [sys.executable, "-m", "toolgate_cli", "-C", str(session.home), "start", "refund", "-i", "order=A-17"]
    with subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as thinking:
        try:
            wire.wait_for(1)
            [run] = session("runs", "list")[1]["items"]
            code, answer, _ = session("cancel", run["id"])  # it writes, and waits for nobody
            assert code == 0 and answer["run"]["status"] == "CANCELLED" and thinking.poll() is None
        finally:
            thinking.kill()
