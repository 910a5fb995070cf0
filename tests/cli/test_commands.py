"""What the words of a command line ask the desk for."""

from __future__ import annotations

import json

import pytest

from toolgate_cli.cli import catalogue, options, route
from toolgate_cli.cli.frame import wants_json
from toolgate_cli.cli.invoke import build
from toolgate_cli.core.errors import ToolgateError

from .given import CALL, COMMANDS, REF, RUN, FakeDesk, waiting

NAMES = catalogue.names()


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["start", "pay", "-i", "to=a=b", "--input", "n=1"], ("start", "pay", {}, {"to": "a=b", "n": "1"})),
        (["continue", RUN], ("continue_run", RUN)),
        (["answer", "a=1", RUN, "b=2"], ("select_step", RUN, None, "answer")),
        (["cancel", RUN, "-m", "late"], ("cancel", RUN, "late")),
        (["retry", "--step", "s", RUN], ("retry_step", RUN, "s", None, {"may_run_twice": False})),
        (["recover", RUN, "--owner-dead", "o"], ("recover", RUN, "o")),
        (["pending", "list", RUN, "--limit", "7"], ("pending", RUN, 8)),
        (["pending", "show", CALL, RUN], ("show_pending", [CALL, RUN])),
        (["runs", "list", "--status", "FAILED"], ("runs", "FAILED", 51)),
        (["events", RUN, "--type", "RUN_FAILED", "--since", "3:ab", "--limit", "2"], ("events", RUN, "RUN_FAILED", 3, 2)),
        (["wait", RUN, "--for", "decided", "--timeout", "2s"], ("wait", RUN, "decided", 2.0)),
    ],
    ids=str,
)
def test_words_reach_the_desk(desk, say, words, asked):
    said = say(*words)
    assert desk.asked[0] == asked, said.err


@pytest.mark.parametrize(
    ("words", "chosen", "done"),
    [
        (["approve"], ("select", [], "approve"), ("approve", {"reason": None, "may_run_twice": False})),
        (
            ["approve", RUN, CALL, "-m", "ok"],
            ("select", [RUN, CALL], "approve"),
            ("approve", {"reason": "ok", "may_run_twice": False}),
        ),
        (
            ["approve", "--may-run-twice", CALL, RUN],
            ("select", [CALL, RUN], "approve"),
            ("approve", {"reason": None, "may_run_twice": True}),
        ),
        (["approve", RUN, "--step", "s"], ("select_step", RUN, "s", "approve"), ("approve_step", {"reason": None})),
        (["reject", REF, "--reason", "no"], ("select", [REF], "reject"), ("reject", {"reason": "no"})),
        (["reject", "--step=s", RUN], ("select_step", RUN, "s", "reject"), ("reject_step", {"reason": None})),
        (["retry", RUN], ("select", [RUN], "retry"), ("retry", {"reason": None, "may_run_twice": False})),
        (["continue-tool", CALL, "--note", "x"], ("select", [CALL], "continue-tool"), ("continue_tool", {"reason": "x", "outcome": None})),
        (["review", RUN, "s", "-m", "fine"], ("select_step", RUN, "s", "review"), ("review", {"note": "fine"})),
        (["review", RUN], ("select_step", RUN, None, "review"), ("review", {"note": ""})),
    ],
    ids=str,
)
def test_a_decision_acts_on_exactly_what_was_chosen(desk, say, words, chosen, done):
    said = say(*words)
    assert said.code == 0, said.err
    target = waiting("STEP_APPROVAL" if chosen[0] == "select_step" else "APPROVAL_REQUIRED")
    assert desk.asked == [chosen, (done[0], target, done[1])]


def test_what_was_not_named_is_named_on_stderr(say):
    assert f"chosen: {REF} of {RUN}" in say("approve").err and f"chosen: {REF}" in say("approve", RUN).err
    assert "chosen" not in say("approve", CALL).err
    assert "next: toolgate approve pay" in say("approve", CALL).err and say("approve", CALL, "-q").err == ""


SHARED = [
    ["-C", "/h"],
    ["--home=/h"],
    ["--db", "f"],
    ["--actor", "a"],
    ["-o", "json"],
    ["-ojson"],
    ["--json"],
    ["--color", "never"],
    ["-q"],
    ["-v"],
]


@pytest.mark.parametrize("shared", SHARED, ids=str)
def test_shared_options_stand_before_between_or_after(shared):
    for words in (["approve", RUN], ["pending", "list", RUN]):
        name = tuple(words[:-1])
        after = route.find([*words, *shared])
        before = route.find([*shared, *words])
        assert before.name == after.name == name and sorted(before.arguments) == sorted(after.arguments)
    assert route.find(["pending", *shared, "list", RUN]).arguments == [*shared, RUN]


def test_shared_options_of_the_router_are_those_of_every_command():
    command = build(("approve",), NAMES[("approve",)])
    own = {option for parameter in command.params for option in parameter.opts}
    assert {*route.WITH_VALUE, *(flag for flag in route.FLAGS if flag not in ("-qv", "-vq"))} <= own
    for parameter in build(("cancel",), NAMES[("cancel",)]).params:
        spelled = set(parameter.opts) & {*route.WITH_VALUE, *route.FLAGS}
        assert not spelled or spelled == set(parameter.opts)


def test_every_command_has_help_a_purpose_and_a_first_line():
    for name, module in NAMES.items():
        loaded = catalogue.load(module)
        command = build(name, module)
        assert loaded.PURPOSE in catalogue.GROUPS and loaded.__doc__ and loaded.run.__doc__
        context = command.make_context("toolgate", [], resilient_parsing=True)
        assert "--home" in command.get_help(context)
        assert all(parameter.help for parameter in command.params if parameter.name != "help"), name
    assert {tuple(words[:2]) if tuple(words[:1]) not in NAMES else tuple(words[:1]) for words in COMMANDS} | {
        ("help",),
        ("completion",),
        ("pending", "review"),
    } == set(NAMES)
    assert options.frame() == options.Frame()


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["aprove"], "toolgate approve"),
        (["list"], "toolgate pending list"),
        (["pending", "lsit"], "toolgate pending list"),
        (["app"], "help"),
        (["approve", "--may-run-twise"], "--may-run-twice"),
        (["approve", "--may"], "did you mean"),
        (["approve", "a", "b", "c"], "[RUN] [CALL]"),
        (["approve", "--step", "s"], "RUN --step STEP"),
        (["start"], "--help"),
        (["-x", "approve"], "--help"),
        (["-C"], "help"),
        (["wait", RUN, "--timeout", "soon"], ""),
        (["events", "--since", "yesterday"], ""),
        (["events", "-f", "--limit", "3"], "jsonl"),
        (["start", "w", "-i", "novalue"], ""),
        (["start", "w", "-i", "a=1", "-i", "a=2"], ""),
        (["start", "w", "a=1"], "hint: -i a=1"),
        (["log"], "hint: toolgate events"),
        (["status", "-o", "table"], "hint: toolgate pending list"),
        (["answer", "r1", "r2"], "answer RUN"),
        (["pending"], "help pending"),
        (["approve", "-o", "xml"], "--help"),
    ],
    ids=str,
)
def test_wrong_words_are_usage_errors_that_help(desk, say, words, hint):
    code, out, err = say(*words)
    lines = err.splitlines()
    assert (code, out) == (2, "") and lines[0].startswith("error: ") and hint in err and desk.asked == []
    assert len(lines) <= 2 and all(text.startswith(("error: ", "hint: ")) for text in lines)
    if not wants_json(words):
        [text] = say(*words, "--json").err.splitlines()
        assert json.loads(text)["error"]["kind"] == "usage" and json.loads(text)["error"]["exit_code"] == 2


def test_a_refusal_is_two_lines_or_one_object_and_stdout_stays_empty(desk, say):
    desk.refuse = ToolgateError("claim_lost", "bob was\nfaster", "look \x1b again", retryable=True)
    assert say("approve", CALL) == (5, "", "error: bob was\\nfaster\nhint: look \\x1b again\n")
    code, out, err = say("approve", CALL, "-o", "jsonl")
    wanted = {"kind": "claim_lost", "message": "bob was\nfaster", "hint": "look \x1b again", "exit_code": 5, "retryable": True}
    assert (code, out) == (5, "") and json.loads(err) == {"error": wanted} and err.isascii()


def test_files_are_strict_json(desk, say, tmp_path):
    path = tmp_path / "in.json"
    for content in (b'{"a": 1, "a": 2}', b"[1]", b'{"a": NaN}', b"{", b"\xff", b'{"a": 1} x'):
        path.write_bytes(content)
        code, out, err = say("start", "w", "--inputs", str(path))
        assert (code, out) == (7, "") and "in.json" in err
    assert say("start", "w", "--inputs", str(tmp_path / "none")).code == 7
    path.write_bytes(b'{"a": [1.0]}')
    assert say("continue-tool", CALL, "--outcome-file", str(path)).code == 0
    assert desk.asked[-1][-1]["outcome"] == {"a": [1.0]}
    assert say("start", "w", "--inputs", str(path), "-i", "a=1").code == 2


def test_other_arguments_are_read_before_anything_is_chosen(desk, say, tmp_path):
    path = tmp_path / "new.json"
    path.write_bytes(b"[1]")
    assert say("approve", CALL, "--arguments", str(path)).code == 7 and desk.asked == []
    for content, new in ((b"{}", {}), (b'{"a": [1.0]}', {"a": [1.0]})):
        path.write_bytes(content)
        assert say("approve", CALL, "--arguments", str(path)).code == 0
        assert desk.asked[-1][-1] == {"reason": None, "may_run_twice": False, "arguments": new}
    desk.asked.clear()
    code, out, err = say("approve", RUN, "--step", "s", "--arguments", str(path))
    assert (code, out) == (2, "") and "--arguments is about a call" in err and desk.asked == []


@pytest.mark.parametrize(
    ("pointer", "line"), [("/a/1", 3), ("/b", 1), ("(root)", 1), ("''", 1)], ids=["an item", "what is missing", "all", "all of it"]
)
def test_what_is_wrong_with_other_arguments_is_said_with_its_line(desk, say, monkeypatch, tmp_path, pointer, line):
    path = tmp_path / "new.json"
    path.write_text('{\n"a": [1,\n2]}')

    def refuse(self, *words, **more):
        raise ToolgateError("invalid", f"the new arguments cannot be taken: arguments do not validate: WRONG_TYPE at {pointer}", "look")

    monkeypatch.setattr(FakeDesk, "approve", refuse, raising=False)
    code, out, err = say("approve", CALL, "--arguments", str(path))
    assert (code, out) == (7, "") and f"new.json:{line}: the new arguments cannot be taken" in err


def test_a_wrong_format_in_the_environment_is_found_out_before_anything_happens(desk, say, monkeypatch):
    monkeypatch.setenv("TOOLGATE_OUTPUT", "xml")
    assert say("approve", CALL).code == 2 and desk.asked == []
    monkeypatch.setenv("TOOLGATE_OUTPUT", "json")
    assert json.loads(say("approve", CALL).out)["schema"] == "toolgate.run/1"


def test_help_knows_commands_groups_and_topics(say):
    for words in ([], ["approve"], ["pending"], ["pending", "list"], ["exit-codes"], ["output"], ["choosing"], ["questions"]):
        code, out, _ = say("help", *words)
        assert code == 0 and out
    assert say("help", "me").code == 3 and say("--help").out == say("-h").out and say().code == 2
    assert say("pending", "-h").out == say("help", "pending").out
    assert "toolgate approve" in say("approve", "-h").out


def test_wait_says_when_the_time_is_up(desk, say, monkeypatch):
    from .given import HEAD, FakeDesk, view

    for status, reached, code in (("RUNNING", False, 8), ("COMPLETED", True, 0), ("FAILED", True, 1), ("AWAITING_INPUT", False, 8)):
        answer = (view(status), (), HEAD, reached)
        monkeypatch.setattr(FakeDesk, "wait", lambda self, *words, answer=answer: answer, raising=False)
        assert say("wait", RUN).code == code


def test_an_internal_fault_names_a_report_without_values(desk, say, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    def broken(self):
        raise RuntimeError("secret value") from KeyError("another secret")

    monkeypatch.setattr("toolgate_cli.cli.frame.Frame.session", broken)
    code, out, err = say("approve", CALL)
    [report] = (tmp_path / "toolgate" / "reports").iterdir()
    assert (code, out) == (70, "") and str(report) in err and "Traceback" not in err
    text = report.read_text()
    assert (
        "RuntimeError" in text
        and "KeyError" in text
        and "line" in text
        and "secret value" not in text.replace('RuntimeError("secret value")', "")
    )
    assert report.stat().st_mode & 0o777 == 0o600
    assert say("approve", CALL, "--json").err.count("\n") == 1


def test_a_report_that_cannot_be_written_is_said(desk, say, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "x"))
    (tmp_path / "file").write_text("")
    monkeypatch.setattr("toolgate_cli.cli.frame.Frame.session", lambda self: 1 / 0)
    assert "no report" in say("approve", CALL).err
