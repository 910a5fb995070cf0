"""`doctor` finds what is wrong, says what to do about it, changes nothing, and looks at everything whatever else is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolgate_cli.core.records import Event
from toolgate_cli.runtime.answers import Remark

from . import texts
from .fakes import LOST
from .kit import Home, dies


def found(home: Home, *levels: str) -> list[Remark]:
    before = home.dump()
    remarks = list(home.desk().examine())
    assert home.dump() == before and {"log", "calls", "files"} <= {remark.about for remark in remarks}
    assert all(remark.hint for remark in remarks if remark.level != "ok"), remarks
    wanted = levels or ("error", "warning")
    return [remark for remark in remarks if remark.level in wanted and not remark.message.startswith("SQLite")]


def test_a_home_in_order_has_no_finding(home: Home) -> None:
    home.start("ask")
    assert found(home) == []
    assert [remark.about for remark in found(home, "ok") if remark.about != "store"] == ["log", "calls", "files"]


def test_a_home_without_a_store_has_none_either_and_gets_none(home: Home) -> None:
    assert found(home) == [] and not (home.folder / ".toolgate" / "toolgate.db").exists()
    [log] = [remark.message for remark in found(home, "ok") if remark.about == "log"]
    assert log == "nothing is recorded yet"


def test_what_dead_processes_left_is_found_and_left(home: Home) -> None:
    home.tools.plan["free.send"] = [dies]
    home.write(free=texts.FLOWS["free"])
    home.killed(lambda: home.desk().start("free", {}, {}))
    [remark] = found(home)
    assert (remark.about, remark.level, remark.hint) == ("calls", "warning", "toolgate recover") and "its process died" in remark.message
    home.desk().recover(None, None)
    [remark] = found(home)
    assert remark.hint.startswith("toolgate pending show c") and "not known how" in remark.message


def test_what_a_cancelled_run_left_in_doubt_is_found_until_it_is_settled(home: Home) -> None:
    home.tools.plan["free.send"] = [LOST]
    run = home.start("free")
    call, before = home.row(run).id, found(home)
    home.desk().cancel(run, None)
    assert found(home) == before and before[0].message == f"it is not known how {call} ended"
    home.decide("continue_tool", run, call, outcome={"applied": False})
    assert found(home) == []


def test_a_run_that_nobody_drives_is_found(home: Home) -> None:
    home.write(talk=texts.FLOWS["talk"])
    process = home.process()
    home.models.turns["s"] = [lambda request: process.die()]
    home.killed(lambda: process.desk.start("talk", {}, {}))
    [remark] = found(home)
    assert remark.hint == f"toolgate continue {home.events()[0].run_id}"


def test_an_expired_approval_is_found_with_the_verb_that_works(home: Home) -> None:
    run = home.start("late")
    assert found(home) == []
    home.clock.pass_time(7200)
    [remark] = found(home)
    assert remark.hint == f"toolgate retry {home.row(run).id}" and "expired" in remark.message


def test_many_findings_of_one_kind_are_counted(home: Home) -> None:
    for _ in range(25):
        home.tools.plan["free.send"] = [LOST]
        home.start("free")
    remarks = found(home)
    assert len(remarks) == 21 and remarks[-1].message == "and 5 more"


def test_a_clock_that_is_behind_the_log_is_found(home: Home) -> None:
    home.start("ask")
    home.clock.behind = 3600
    [remark] = found(home)
    assert (remark.about, remark.level) == ("log", "warning") and "before the last event" in remark.message


def test_a_store_that_was_taken_back_and_a_changed_end_are_errors(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    home.start("ask")
    with home.store.read() as tx:
        identity, last = tx.identity(), tx.head()
    home.desk()._ports.heads.accept(identity, last.seq + 3, "ab" * 32)
    [remark] = found(home, "error")
    assert remark.about == "log" and "--accept-rollback" in remark.hint
    home.desk()._ports.heads.accept(identity, last.seq, last.hash)
    assert found(home) == []
    changed: Event = last._replace(actor="mallory")
    monkeypatch.setattr("toolgate_cli.core.chain.intact", lambda event: event != changed and event.actor == "nobody")
    remark, of_its_run = found(home, "error")
    assert "was changed by other hands" in of_its_run.message
    assert "not as it was written" in remark.message and remark.hint == "toolgate audit verify"


def test_heads_that_cannot_be_kept_are_told(home: Home, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "state"))
    [remark] = found(home)
    assert (remark.about, remark.level) == ("log", "warning") and "XDG_STATE_HOME" in remark.hint
    assert home.desk()._ports.heads.fault() == f"{tmp_path / 'file'} is not a folder"


def test_broken_files_are_findings_and_hide_nothing_else(home: Home) -> None:
    home.clock.pass_time(10)
    home.start("ask")
    home.clock.behind = 3600
    (home.folder / "toolgate.toml").write_text("this is no TOML")
    remarks = found(home)
    assert [(remark.about, remark.level) for remark in remarks] == [("log", "warning"), ("files", "error")]
    assert "toolgate.toml:1" in remarks[1].message


def test_a_tool_that_is_not_there_and_a_broken_workflow_are_found(home: Home) -> None:
    gone = texts.tool("free.send").replace('["true"]', '["no-such-program"]')
    home.write(texts.operator({"free.send": gone}), odd="schema = 1\nid = 7\n[[steps]]\n")
    remarks = found(home)
    assert {remark.level for remark in remarks if "no-such-program" in remark.message} == {"warning"}
    assert any(remark.level == "error" and "odd.toml" in remark.message for remark in remarks)
