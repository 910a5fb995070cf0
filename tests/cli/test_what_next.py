"""What a command advises next, and where it says why something waits: to whoever has nothing but its output."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolgate_cli.cli.main import run
from toolgate_cli.core.digests import ref
from toolgate_cli.core.errors import ToolgateError

from ..runtime import texts
from ..runtime.fakes import LOST
from ..runtime.kit import Home
from ..runtime.states import BRING_ABOUT
from .conftest import Said

Say = Callable[..., Said]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("toolgate_cli.cli.ask.answerable", lambda: False)
    (tmp_path / "home").mkdir()
    made = Home(tmp_path / "home", "sqlite")
    made.write(**texts.FLOWS)
    yield made
    made.close()


@pytest.fixture
def say(home: Home, capfd: pytest.CaptureFixture[str]) -> Say:
    def said(*words: str) -> Said:
        code = run(["-C", str(home.folder), *words])
        return Said(code, *capfd.readouterr())

    return said


SECRET = texts.tool("free.send").replace('argv = ["true"]', 'argv = ["true"]\nenv = { KEY = "${secret.NO_SUCH_TOKEN}" }')
NO_PROGRAM = texts.tool("free.send").replace('argv = ["true"]', 'argv = ["pyton3"]')
STRICT = texts.tool("free.send", schema='{ type = "object", properties = { text = { const = "ho" } } }')
FORBIDDEN = texts.tool("free.send", more='permission = "send:it"')
MEND = "mend the cause, then"
STAY = "its arguments stay as they are: reject it or start anew, or go on without it"


@pytest.mark.parametrize(("tool", "head", "verb", "first"), [
    (SECRET, texts.HEAD, "retry", MEND),
    (NO_PROGRAM, texts.HEAD, "retry", MEND),
    (FORBIDDEN, texts.HEAD, "retry", MEND),
    (texts.tool("free.send", more="enabled = false"), texts.HEAD, "retry", MEND),
    (STRICT, texts.HEAD, "continue-tool", STAY),
    (texts.tool("free.send"), texts.HEAD.replace("arguments_bytes = 1000", "arguments_bytes = 5"), "continue-tool", "not stored"),
], ids=["secret", "program", "permission", "disabled", "arguments", "received"])  # fmt: skip
def test_what_was_never_started_is_mended_and_tried_again_unless_its_arguments_were_refused(
    home: Home, say: Say, tool: str, head: str, verb: str, first: str
) -> None:
    home.write(texts.operator({"free.send": tool}, head=head))
    told = say("start", "free", "-o", "tsv")
    [row] = [waiting.row for waiting in home.desk().pending(None, 9)[0]]
    assert (row.origin, row.starts) == ("EXECUTION_FAILED", 0)
    last = told.err.splitlines()[-1]
    assert last.startswith("next: ") and first in last and last.endswith(f": toolgate -C {home.folder} {verb} {ref(row)}")
    if verb == "retry":
        home.write(texts.operator())
        mended = say("retry", ref(row), "--json")
        assert (mended.code, json.loads(mended.out)["run"]["status"]) == (0, "COMPLETED")


def test_the_advice_is_the_same_in_json_and_in_a_refusal(home: Home, say: Say) -> None:
    home.write(texts.operator({"free.send": SECRET}))
    answer = json.loads(say("start", "free", "--json").out)
    [row] = [waiting.row for waiting in home.desk().pending(None, 9)[0]]
    assert answer["next"] == [f"toolgate retry {ref(row)}"] and "NO_SUCH_TOKEN" in answer["pending"][0]["reason"]
    assert say("approve", row.id).err.splitlines()[-1] == f"hint: toolgate -C {home.folder} retry {ref(row)}"


def test_in_a_pipe_the_reason_is_a_column_and_a_line_for_the_person(home: Home, say: Say) -> None:
    told = say("start", "deny", "-o", "tsv")
    header, cells = (line.split("\t") for line in told.out.splitlines())
    assert dict(zip(header, cells, strict=True))["reason"] == "by hand only"
    assert f"note: {dict(zip(header, cells, strict=True))['pending']} waits as POLICY_DENIED: by hand only" in told.err
    header, cells = (line.split("\t") for line in say("pending", "list", "-o", "tsv").out.splitlines())
    assert dict(zip(header, cells, strict=True))["reason"] == "by hand only"
    assert say("start", "deny", "-o", "tsv", "-q").err == ""


def test_a_long_reason_is_cut_where_a_person_reads_it(home: Home, say: Say) -> None:
    home.write(texts.operator(rules={"deny": texts.rule("deny.*", "deny", f'reason = "{"long " * 200}"')}))
    note, _ = say("start", "deny", "-o", "tsv").err.splitlines()
    assert len(note) < 400 and note.endswith("...")


def test_calls_of_a_tool_without_a_title_are_told_apart_by_their_arguments(home: Home, say: Say) -> None:
    for text in ("one", "two"):
        home.start("ask", text=text)
    told = [line.partition(" # ")[2] for line in say("approve").err.splitlines() if line.startswith("hint: ")]
    assert sorted(told) == [f'\'ask.send {{"text":"{text}"}}\'' for text in ("one", "two")]
    home.start("ask", text="x" * 500)
    assert all(len(line) < 250 for line in say("approve").err.splitlines())


def test_the_doubt_of_a_cancelled_run_is_named_in_the_words_of_the_list(home: Home, say: Say) -> None:
    home.tools.plan["free.send"] = [LOST]
    id = home.start("free")
    home.desk().cancel(id, None)
    told = say("reject", home.row(id).id)
    assert told.code == 5 and "reject does not apply to OUTCOME_UNKNOWN of a cancelled run: use continue-tool --outcome-file" in told.err


def test_the_only_thing_that_waits_is_shown_whatever_it_is(home: Home, say: Say) -> None:
    for flow in ("form", "gate", "review"):
        id = home.start(flow)
        told = say("pending", "show", "--json")
        assert (told.code, [item["run_id"] for item in json.loads(told.out)["items"]]) == (0, [id])
        home.desk().cancel(id, None)
    runs = [home.start(flow) for flow in ("form", "gate", "gate")]
    told = say("pending", "show")
    look = [f"hint: toolgate -C {home.folder} pending show {id}" for id in reversed(runs)]
    assert told.code == 3 and [line.partition(" # ")[0] for line in told.err.splitlines()[1:]] == look


def test_the_only_run_that_waits_for_an_answer_or_a_review_is_named_and_not_chosen(home: Home, say: Say) -> None:
    assert say("answer").err.splitlines()[-1] == f"hint: toolgate -C {home.folder} answer RUN KEY=VALUE"
    assert say("review").code == 2
    form, review = home.start("form"), home.start("review")
    told = say("answer", "street=High Street")
    assert (told.code, told.err.splitlines()[1:]) == (2, [f"hint: toolgate -C {home.folder} answer {form} 'street=High Street'"])
    assert say("review").err.splitlines()[1:] == [f"hint: toolgate -C {home.folder} review {review}"]
    assert {home.run(form).status, home.run(review).status} == {"AWAITING_INPUT", "AWAITING_REVIEW"}


def test_what_is_not_to_choose_from_is_told_with_what_moves_it(home: Home, say: Say) -> None:
    denied, asked = home.start("deny"), home.start("ask")
    told = say("approve").err.splitlines()
    assert f"approve {asked} {ref(home.row(asked))}" in told[1]
    assert told[2] == f"hint: approve does not move the others: {home.row(denied).id} is POLICY_DENIED (use continue-tool or reject)"


def test_what_was_superseded_is_approved_by_its_new_ref(home: Home, say: Say) -> None:
    id = home.start("ask")
    home.write(texts.operator({"ask.send": texts.tool("ask.send", about="new")}))
    told = say("approve", id, "-q")
    new = ref(home.row(id))
    assert told.code == 5
    assert told.err.splitlines()[1:] == [f"hint: toolgate -C {home.folder} {words} {new}" for words in ("pending show", "approve")]


def test_a_folder_below_a_home_is_told_of_it_and_is_not_taken_for_it(
    home: Home, say: Say, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    below = home.folder / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    monkeypatch.delenv("TOOLGATE_HOME", raising=False)
    assert run(["pending", "list"]) == 7
    assert "hint: there is a home above: toolgate -C ../.., or toolgate init" in capfd.readouterr().err
    assert not (below / ".toolgate").exists()


def test_the_version_is_told_beside_other_options(say: Say, capfd: pytest.CaptureFixture[str]) -> None:
    for words in (["--version", "--json"], ["--json", "--version"], ["-q", "--version", "-o", "json"]):
        assert run(words) == 0
        told = json.loads(capfd.readouterr().out)
        assert told["schema"] == "toolgate.version/1" and told["version"]
    assert run(["-q", "--version"]) == 0 and capfd.readouterr().out.startswith("toolgate ")
    assert run(["--version", "approve"]) == 2


@pytest.mark.parametrize(("words", "hint"), [
    (["--jsn", "pending", "list"], "did you mean --json"),
    (["--outptu=json", "pending", "list"], "did you mean --output"),
    (["--xyz", "pending", "list"], "options of a command stand after it: toolgate COMMAND --help"),
])  # fmt: skip
def test_an_unknown_option_before_the_command_is_met_with_the_one_that_was_meant(
    words: list[str], hint: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2 and capfd.readouterr().err.splitlines()[-1] == f"hint: {hint}"


def test_the_words_of_a_choice_are_listed_as_they_are_written(say: Say) -> None:
    told = say("runs", "list", "--status", "DONE").err
    assert "'RUNNING'" in told and "'completed'" not in told


def test_a_run_that_is_driven_is_waited_for(home: Home, say: Say) -> None:
    stand = BRING_ABOUT["DRIVEN"](home)
    with pytest.raises(ToolgateError) as driven:
        home.desk().select([stand.run], "approve")
    said = (driven.value.message, driven.value.hint)
    assert said == ("approve does not apply to RUNNING: use wait", f"toolgate wait {stand.run}")
    left = BRING_ABOUT["RUNNING"](home)
    with pytest.raises(ToolgateError) as alone:
        home.desk().select([left.run], "approve")
    assert alone.value.hint == f"toolgate continue {left.run}"


def test_a_text_that_stands_in_another_call_names_the_command_for_that(desk: object, capfd: pytest.CaptureFixture[str]) -> None:
    run(["audit", "redact", "c0123456789abc", "-m", "asked for", "-o", "tsv"])
    out, err = capfd.readouterr()
    assert "next: toolgate audit redact c2345672345672 -m REASON" in err and "stands in" not in err
    assert "still in.2\tcall c2345672345672" in out
