"""Faults after a verb took effect, one store by several names, and what a refusal or an answer names to go on with: real command lines."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from proofs import workers
from proofs.workers import size

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.host.owners import FileOwners
from toolgate_cli.settings import settings

from .homes import Home, check_refusal
from .saying import Said, say

TOOL = 'open("calls.log", "a").write("x")\nexec(open("mode").read())\nprint("1")\n'
OPERATOR = "schema = 1\n" + "".join(
    f'[tools."{name}.do"]\ndescription = "x"\nsafety = "write"\neffect = "{effect}"\nmax_attempts = {attempts}\ntimeout = "10s"\n'
    f'input_schema = "any-object"\n[tools."{name}.do".command]\nargv = ["{sys.executable}", "-I", "-S", "tool.py"]\n'
    for name, effect, attempts in (("free", "unsafe", 1), ("ask", "unsafe", 1), ("late", "unsafe", 1), ("idem", "idempotent", 2))
) + (
    '[policy]\ndefault = "require_approval"\n[[policy.rules]]\nname = "free"\ncapability = "free.*"\ndecision = "allow"\n'
    '[[policy.rules]]\nname = "idem"\ncapability = "idem.*"\ndecision = "allow"\n'
    '[[policy.rules]]\nname = "late"\ncapability = "late.*"\ndecision = "require_approval"\nexpires_in = "200ms"\n'
)  # fmt: skip
BREAK = 'open("toolgate.toml", "a").write("[")'
NO_OUTCOMES = (
    "import sqlite3\ndb = sqlite3.connect('.toolgate/toolgate.db')\n"
    "db.execute(\"CREATE TRIGGER full BEFORE INSERT ON outcomes BEGIN SELECT RAISE(ABORT, 'full'); END\")\ndb.commit()\ndb.close()"
)


def flow(first: str) -> str:
    steps = "".join(f'[[steps]]\nid = "{id}"\ntype = "tool"\ntool = "{tool}.do"\n' for id, tool in (("one", first), ("two", "free")))
    return f'schema = 1\nid = "{first}"\n{steps}'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    home = tmp_path / "a home"
    (home / "workflows").mkdir(parents=True)
    files = {"toolgate.toml": OPERATOR, "tool.py": TOOL, "mode": "pass"}
    for name, text in {**files, **{f"workflows/{name}.toml": flow(name) for name in ("free", "ask", "late", "idem")}}.items():
        (home / name).write_text(text)
    return home


def answer(said: Said) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said.out)
    return found


def pasted(said: Said) -> list[list[str]]:
    """The words of every command that is named to go on with."""
    lines = [line.removeprefix("next: ") for line in said.err.splitlines() if line.startswith("next: ")]
    return [shlex.split(line)[1:] for line in lines]


# ---- a fault after a verb took effect ----
@pytest.mark.parametrize("verb", ["start", "approve"])
def test_a_file_that_its_own_tool_broke_is_told_beside_the_answer(folder: Path, verb: str) -> None:
    words = ["start", "free"]
    if verb == "approve":
        words = ["approve", answer(say(folder, "start", "ask", "--json"))["run"]["id"]]
    (folder / "mode").write_text(BREAK)
    said = say(folder, *words, "--json")
    [error] = [json.loads(line)["error"] for line in said.err.splitlines() if line.startswith("{")]
    assert said.code == 1 and error["kind"] == "invalid" and "toolgate.toml" in error["message"] and "Traceback" not in said.err
    found = answer(said)
    run = found["run"]["id"]
    assert found["run"]["outputs"] == {"one": 1} and found["run"]["status"] == "RUNNING"
    assert found["next"] == [f"toolgate continue {run}"] and pasted(said) == [["continue", run]]
    check_refusal(say(folder, "continue", run), 7)  # nothing is mended yet
    (folder / "toolgate.toml").write_text(OPERATOR)
    (folder / "mode").write_text("pass")
    done = say(folder, *pasted(said)[0], "--json")
    assert done.code == 0 and answer(done)["run"]["status"] == "COMPLETED" and size(folder / "calls.log") == 2


def test_the_fault_is_told_to_a_person_in_words(folder: Path) -> None:
    (folder / "mode").write_text(BREAK)
    said = say(folder, "start", "free", "-o", "table")
    lines = said.err.splitlines()
    assert said.code == 1 and "RUNNING" in said.out
    assert lines[0].startswith("error: toolgate.toml:") and any(line.startswith("hint: ") for line in lines)
    assert lines[-1].startswith("next: toolgate continue r")


def test_an_end_that_could_not_be_recorded_is_in_doubt_at_once(folder: Path) -> None:
    (folder / "mode").write_text(NO_OUTCOMES)
    said = say(folder, "start", "free", "--json")
    [row] = answer(said)["pending"]
    assert said.code == 9 and row["origin"] == "OUTCOME_UNKNOWN" and json.loads(said.err.splitlines()[0])["error"]["kind"] == "storage"
    [listed] = answer(say(folder, "pending", "list", "--json"))["items"]
    assert listed["ref"] == row["ref"] and size(folder / "calls.log") == 1


@pytest.mark.parametrize(
    ("end", "code", "origin"), [("sys.exit(1)", 1, "EXECUTION_FAILED"), ("os.kill(os.getpid(), 9)", 9, "OUTCOME_UNKNOWN")]
)
def test_a_fault_before_the_next_attempt_shows_what_waits(folder: Path, end: str, code: int, origin: str) -> None:
    (folder / "mode").write_text(f"import os, sys\n{BREAK}\n{end}")
    said = say(folder, "start", "idem", "--json")
    [row] = answer(said)["pending"]
    assert (said.code, row["origin"]) == (code, origin) and size(folder / "calls.log") == 1
    (folder / "toolgate.toml").write_text(OPERATOR)
    (folder / "mode").write_text("pass")
    done = say(folder, "retry", row["ref"], "--json")
    assert done.code == 0 and answer(done)["run"]["status"] == "COMPLETED" and size(folder / "calls.log") == 3


# ---- one store, one place ----
def test_a_link_to_a_store_is_that_store(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x.db").touch()
    (tmp_path / "link.db").symlink_to(tmp_path / "real" / "x.db")
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    real = str(tmp_path / "real" / "x.db")
    for name in ("link.db", "linked/x.db", "real/x.db"):
        assert settings({"db": str(tmp_path / name)}, {}).db == real
    assert settings({"home": str(tmp_path / "linked")}, {}).db == str(tmp_path / "real" / ".toolgate" / "toolgate.db")
    assert settings({"db": str(tmp_path / "linked" / "new.db")}, {}).db == str(tmp_path / "real" / "new.db")
    (tmp_path / "nowhere.db").symlink_to(tmp_path / "none")
    with pytest.raises(ToolgateError):
        settings({"db": str(tmp_path / "nowhere.db")}, {})


def test_who_comes_by_a_link_sees_who_lives_at_the_real_place(folder: Path, tmp_path: Path) -> None:
    run = answer(say(folder, "start", "ask", "--json"))["run"]["id"]
    link = tmp_path / "elsewhere" / "link.db"
    link.parent.mkdir()
    link.symlink_to(folder / ".toolgate" / "toolgate.db")
    (folder / "mode").write_text("import time\nopen('began', 'w')\ntime.sleep(1)")
    worker = workers.spawn(folder, "approve", run)
    until = time.monotonic() + 10
    while not (folder / "began").exists() and time.monotonic() < until:
        time.sleep(0.005)
    looked = workers.run(folder, "pending", "list", "--db", str(link))
    assert looked.code == 0 and looked.items == []  # its owner lives
    assert workers.run(folder, "continue", run, "--db", str(link)).error["kind"] == "run_owned"
    assert os.listdir(link.parent) == ["link.db"] and (folder / ".toolgate" / "owners").is_dir()
    assert worker.wait().code == 0 and answer(say(folder, "runs", "show", run, "--json"))["run"]["status"] == "COMPLETED"


def test_a_folder_that_is_gone_as_a_whole_says_nothing_of_its_owners(tmp_path: Path) -> None:
    place = tmp_path / "owners"
    owners = FileOwners(str(place))
    name = owners.mine()
    looking, gone = FileOwners(str(place)), "o" + "a" * 13
    assert looking.alive(gone, *looking.place()) is False  # a file that is missing where the others are
    shutil.rmtree(place)
    assert looking.alive(gone, *looking.place()) is None
    assert looking.alive(name, *looking.place()) is True  # our own we know
    place.mkdir()
    assert looking.alive(gone, *looking.place()) is False
    owners.close()


# ---- a cancel between the record of a start and the start ----
def test_a_cancel_just_before_the_spawn_starts_nothing(folder: Path) -> None:
    run = answer(say(folder, "start", "ask", "--json"))["run"]["id"]

    def held(name: str) -> None:
        if name == "spawn:before":
            (folder / "recorded").touch()
            until = time.monotonic() + 10
            while not (folder / "cancelled").exists() and time.monotonic() < until:
                time.sleep(0.002)

    worker = workers.spawn(folder, "approve", run, point=held)
    until = time.monotonic() + 10
    while not (folder / "recorded").exists() and time.monotonic() < until:
        time.sleep(0.002)
    assert workers.run(folder, "cancel", run).code == 0
    (folder / "cancelled").touch()
    done = worker.wait()
    assert done.code == 1 and done.answer["run"]["status"] == "CANCELLED" and done.answer["pending"] == []
    assert not (folder / "calls.log").exists()


# ---- how a retry ends that starts nothing ----
def test_a_retry_that_waits_for_approval_is_a_refusal(folder: Path) -> None:
    (folder / "mode").write_text("raise SystemExit(1)")
    assert say(folder, "start", "free").code == 1
    allowed = 'name = "free"\ncapability = "free.*"\ndecision = "allow"'
    (folder / "toolgate.toml").write_text(OPERATOR.replace(allowed, allowed.replace("allow", "require_approval")).replace('"x"', '"new"'))
    said = say(folder, "retry", "--json")
    assert said.code == 5 and said.out == "" and json.loads(said.err.splitlines()[-1])["error"]["kind"] == "superseded"
    assert size(folder / "calls.log") == 1


def test_a_retry_of_an_approval_that_expired_is_none(folder: Path) -> None:
    assert say(folder, "start", "late").code == 0
    time.sleep(0.25)
    assert say(folder, "approve").code == 5
    said = say(folder, "retry", "--json")
    assert said.code == 0 and answer(said)["effect"] == "retried" and answer(said)["pending"][0]["origin"] == "APPROVAL_REQUIRED"


# ---- the log, answers, gates, and the way on ----
@pytest.mark.parametrize("limit", [1, 3, 7, 1000])
def test_the_log_is_paged_forward_without_a_gap(shared: Home, limit: int) -> None:
    whole = [event["seq"] for event in answer(shared.say("events", "--json"))["items"]]
    pages: list[int] = []
    for _ in range(min(len(whole) // limit + 2, 5)):
        page = answer(shared.say("events", "--since", str(pages[-1] if pages else 1), "--limit", str(limit), "--json"))["items"]
        pages += [event["seq"] for event in page]
    assert pages == whole[1 : 1 + len(pages)] and len(pages) == min(5 * limit, len(whole) - 1)
    newest = answer(shared.say("events", "--limit", str(limit), "--json"))["items"]
    assert [event["seq"] for event in newest] == whole[-limit:]


def test_an_answer_without_words_is_none(shared: Home) -> None:
    before = shared.stand()
    for run, code in (("form", 2), ("asked", 5), ("settled", 5)):
        check_refusal(shared.say("answer", shared.runs[run]), code)
        check_refusal(shared.say("answer", shared.runs[run], "--no-input"), code)
    said = shared.say("answer", shared.runs["form"])
    assert "no answers were given" in said.message and "KEY=VALUE" in said.hint and shared.stand() == before


@pytest.mark.parametrize("name", ["gate", "review"])
def test_a_gate_shows_what_it_gates(folder: Path, name: str) -> None:
    kind = "approval" if name == "gate" else "review"
    (folder / "workflows" / "gated.toml").write_text(
        f'schema = 1\nid = "gated"\n[[steps]]\nid = "one"\ntype = "tool"\ntool = "free.do"\ngate = "{kind}"\n'
    )
    (folder / "mode").write_text("print('{\"paid\": 7}')\nraise SystemExit")
    run = answer(say(folder, "start", "gated", "--json"))["run"]["id"]
    [shown] = answer(say(folder, "pending", "show", run, "--json"))["items"]
    assert shown["output"] == {"paid": 7} and shown["origin"] == ("STEP_APPROVAL" if name == "gate" else "REVIEW")
    assert "paid" in say(folder, "pending", "show", run, "-o", "table").out


@pytest.mark.parametrize("given", [[], ["-C"], ["--db"], ["-C", "--db"]])
def test_the_way_on_names_the_home_and_the_store_that_were_given(folder: Path, tmp_path: Path, given: list[str]) -> None:
    values = {"-C": str(folder), "--db": str(folder / "my store.db")}
    flags = [word for flag in given for word in (flag, values[flag])]
    said = say(tmp_path if "-C" in given else folder, "start", "ask", *flags)
    [words] = pasted(said)
    assert words[: len(flags)] == flags and words[len(flags)] == "approve" and len(words) == len(flags) + 2
    assert say(tmp_path if "-C" in given else folder, *words).code == 0 and size(folder / "calls.log") == 2


def test_a_recovery_of_nothing_carries_the_head_too(shared: Home) -> None:
    said = shared.say("recover", "--json")
    told = json.loads(said.out)
    assert said.code == 0 and told["head"] == json.loads(shared.say("pending", "list", "--json").out)["head"] is not None
