"""Steps that look at files: outside of every transaction, while they own the run, once; and again only where a process died."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolgate_cli.core import cursor
from toolgate_cli.workflow import observing

from . import texts
from .kit import Home
from .texts import step, uses

LOAD = step("load", "resource", file="data/terms.md", save_as="terms")


def prepared(home: Home, *steps: dict[str, object], **files: str) -> None:
    (home.folder / "data").mkdir(exist_ok=True)
    (home.folder / "data" / "terms.md").write_text("the terms")
    home.write(looks=texts.flow("looks", *steps))


def while_looking(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> list[int]:
    """What happens while files are looked at; how often they were."""
    real, count = observing.observe, []

    def looked(*given: Any) -> Any:
        count.append(1)
        act()
        return real(*given)

    monkeypatch.setattr(observing, "observe", looked)
    return count


def test_a_file_is_in_the_context_afterwards_as_the_systems(home: Home) -> None:
    prepared(
        home,
        LOAD,
        step("rates", "resource", file="rates.json", save_as="rates"),
        step("say", "assign", set={"said": "${terms} ${rates#/eur}"}),
    )
    (home.folder / "rates.json").write_text('{"eur": 1.10}')
    run = home.start("looks")
    assert home.run(run).status == "COMPLETED" and home.value(run, "said") == "the terms 1.1"
    with home.store.read() as tx:
        assert tx.value(run, "terms").provenance == "system"
    assert home.desk().verify().ok


def test_what_is_wrong_with_a_file_fails_the_step_by_its_name(home: Home) -> None:
    prepared(home, LOAD)
    (home.folder / "data" / "terms.md").unlink()
    run = home.start("looks")
    view = home.desk().show_run(run)[0]
    assert view.error is not None and view.error["message"] == "data/terms.md was not loaded: no file data/terms.md"
    assert home.types(run)[-2:] == ["STEP_FAILED", "RUN_FAILED"]
    prepared(home, LOAD)
    home.desk().retry_step(run, "load")
    assert home.run(run).status == "COMPLETED" and home.desk().show_run(run)[0].error is None


def test_a_file_is_not_read_again_when_the_run_goes_on(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    gated = {**LOAD, "gate": "approval"}
    prepared(home, gated, uses("s", "ask.send"), texts.AFTER)
    count = while_looking(monkeypatch, lambda: None)
    run = home.start("looks")
    (home.folder / "data" / "terms.md").write_text("other terms")
    desk = home.desk()
    desk.approve_step(desk.select_step(run, None, "approve"))
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and home.value(run, "terms") == "the terms" and len(count) == 1


def test_a_process_that_dies_while_it_looks_loses_nothing(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(home, uses("s", "free.send"), LOAD)
    process = home.process()
    count = while_looking(monkeypatch, lambda: process.die() if len(count) == 1 else None)
    home.killed(lambda: process.desk.start("looks", {}, {}))
    run = home.events(type="RUN_STARTED")[0].run_id or ""
    assert home.run(run).status == "RUNNING" and cursor.load(home.run(run).cursor)[-1].phase == cursor.OBSERVE
    home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and home.value(run, "terms") == "the terms"
    assert len(count) == 2 and len(home.tools.starts) == 1
    assert home.types(run).count("STEP_STARTED") == 2, "it has begun once"


def test_a_run_that_is_cancelled_meanwhile_takes_nothing_in(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(home, LOAD, texts.AFTER)
    while_looking(monkeypatch, lambda: home.desk("bob").cancel(home.events(type="RUN_STARTED")[0].run_id or "", None))
    run = home.start("looks")
    assert home.run(run).status == "CANCELLED" and home.types(run)[-1] == "RUN_CANCELLED"
    with pytest.raises(KeyError):
        home.value(run, "terms")


def test_a_file_with_the_value_of_a_secret_in_it_is_not_taken_in(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "hunter2hunter2")
    home.write(texts.operator(more='[secrets]\nTOKEN = { file = "token" }\n'))
    (home.folder / "token").write_text("hunter2hunter2")
    prepared(home, LOAD)
    (home.folder / "data" / "terms.md").write_text("say hunter2hunter2 to nobody")
    run = home.start("looks")
    view = home.desk().show_run(run)[0]
    assert (
        view.run.status == "FAILED"
        and view.error is not None
        and "what was found holds the value of the secret TOKEN" in str(view.error["message"])
    )
    assert "hunter2" not in str(home.dump())


@pytest.mark.parametrize("name", ["toolgate.db", "toolgate.db-wal", "toolgate.db-shm", "owners/x"])
def test_the_files_of_the_store_are_not_looked_at(quick: Home, name: str) -> None:
    prepared(quick, {**LOAD, "file": f".toolgate/{name}"})
    view = quick.desk().show_run(quick.start("looks"))[0]
    assert view.error is not None and str(view.error["message"]).endswith(f".toolgate/{name} is the store's own")


CHECK = step(
    "check",
    "validate",
    require={"keys": ["tool.free.send", "gone"], "files": ["data/report.json"]},
    equal=[{"file": "data/report.json", "at": "/tier", "key": "tier"}],
    schema=[{"key": "tier", "by": {"type": "integer", "maximum": 2}}, {"file": "data/report.json", "by": {"required": ["sum"]}}],
)


def test_every_reason_fails_the_step_at_once_and_what_was_mended_passes(home: Home) -> None:
    prepared(home, uses("s", "free.send"), step("set", "assign", set={"tier": 3}), CHECK, texts.AFTER)
    run = home.start("looks")
    view = home.desk().show_run(run)[0]
    assert view.error is not None
    assert view.error["message"] == "gone is absent; no file data/report.json; tier: RANGE_VIOLATION (more than the maximum 2)"
    (home.folder / "data" / "report.json").write_text('{"tier": 3.0, "total": 1}')
    home.desk().retry_step(run, "check")
    view = home.desk().show_run(run)[0]
    assert view.error is not None
    assert (
        view.error["message"]
        == "gone is absent; tier: RANGE_VIOLATION (more than the maximum 2); data/report.json: REQUIRED_MISSING at /sum"
    )
    right = {**CHECK, "require": {"keys": ["tool.free.send"], "files": ["data/report.json"]}, "schema": [{"key": "tier", "by": True}]}
    prepared(home, uses("s", "free.send"), step("set", "assign", set={"tier": 3}), right, texts.AFTER)
    other = home.start("looks")
    assert home.run(other).status == "COMPLETED" and home.value(other, "after") == "yes" and home.desk().verify().ok


def test_what_a_tool_produces_is_looked_at_after_it_has_run_and_not_again(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    check = step("check", "validate", require={"files": ["data/made.txt"]}, gate="review")
    prepared(home, uses("s", "ask.send"), check, uses("t", "ask.send"))
    count = while_looking(monkeypatch, lambda: None)
    run = home.start("looks")
    (home.folder / "data" / "made.txt").write_text("made")
    home.decide("approve", run)
    assert home.run(run).status == "AWAITING_REVIEW"
    (home.folder / "data" / "made.txt").unlink()
    desk = home.desk()
    desk.review(desk.select_step(run, None, "review"), note="seen")
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and len(count) == 1


def test_a_check_without_files_and_schemas_needs_nothing_from_outside(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(home, step("check", "validate", require={"keys": ["inputs.text"]}))
    count = while_looking(monkeypatch, lambda: None)
    assert home.run(home.start("looks")).status == "COMPLETED" and not count
