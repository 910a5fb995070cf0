"""A doubt is of the strictest class that its call ever had, and whatever a cancel finds of it is listed until a person settles it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Row
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.types import Effect
from toolgate_cli.host import running
from toolgate_cli.host.child import Command

from . import texts
from .fakes import COMPLETE, DECLINED, FAILED, LOST, OK, PERMANENT, UNSENT, Started, call
from .kit import Home, dies

# class then, class now -> starts after a retry that fails clearly, of 3 attempts that are allowed
THEN_AND_NOW: dict[tuple[Effect, Effect], int] = {
    ("unsafe", "idempotent"): 1,
    ("unsafe", "read_only"): 1,
    ("idempotent", "unsafe"): 1,
    ("read_only", "unsafe"): 1,
    ("unsafe", "unsafe"): 1,
    ("idempotent", "idempotent"): 3,
    ("idempotent", "read_only"): 3,
    ("read_only", "idempotent"): 3,
}


@pytest.mark.parametrize("end", [FAILED, LOST], ids=["failed", "lost"])
@pytest.mark.parametrize(("then", "now"), THEN_AND_NOW)
def test_a_doubtful_call_is_repeated_only_as_the_stricter_class_permits(home: Home, then: Effect, now: Effect, end: ToolResult) -> None:
    home.write(texts.operator({"free.send": texts.tool("free.send", then)}))
    home.tools.plan["free.send"] = [dies, *[end] * 5]
    home.write(free=texts.FLOWS["free"])
    home.killed(lambda: home.desk().start("free", {}, {}))
    [waiting] = home.desk().pending(None, 10)[0]
    home.write(texts.operator({"free.send": texts.tool("free.send", now, 3)}))
    home.decide("retry", waiting.row.run_id, may_run_twice=True)
    row = home.row(waiting.row.run_id)
    assert len(home.tools.starts) - 1 == THEN_AND_NOW[then, now] == row.starts - 1
    stricter = "unsafe" if "unsafe" in (then, now) else "idempotent"
    assert row.doubt == stricter and row.origin == ("EXECUTION_FAILED" if end is FAILED else "OUTCOME_UNKNOWN")
    if stricter == "unsafe":
        with pytest.raises(ToolgateError) as caught:
            home.decide("retry", row.run_id)
        assert caught.value.kind == "unknown_outcome" and len(home.tools.starts) == 2


# ---- cancel, and what is left of a call ----
@pytest.mark.parametrize(("tool", "flow", "end", "listed"), [
    ("idem.put", "idem", LOST, True), ("idem.put", "idem", FAILED, False), ("idem.put", "idem", UNSENT, False),
    ("read.it", "read", LOST, False), ("read.it", "read", FAILED, False),
])  # fmt: skip
def test_a_cancel_during_the_pause_before_a_repetition_lists_or_closes_at_once(
    home: Home, tool: str, flow: str, end: ToolResult, listed: bool
) -> None:
    seen: list[list[tuple[str, str | None]]] = []

    def cancel() -> None:
        run = home.events(type="RUN_STARTED")[-1].run_id or ""
        home.desk("bob").cancel(run, None)
        seen.append([(row.origin, row.doubt) for row in home.rows(run)])
        with home.store.read() as tx:
            assert tx.attempts(run) == ()

    home.tools.plan[tool] = [end, OK]
    home.clock.while_asleep = cancel
    run = home.start(flow)
    assert seen == [[("OUTCOME_UNKNOWN", "idempotent")] if listed else []]
    assert [(row.origin, row.doubt) for row in home.rows(run)] == seen[0] and len(home.tools.starts) == 1
    assert home.types(run).count("TOOL_INVOCATION_CANCELLED") == (not listed) and home.run(run).status == "CANCELLED"
    if listed:
        home.decide("continue_tool", run, home.row(run).id, outcome={"applied": False})
        assert home.rows(run) == [] and home.run(run).status == "CANCELLED"


RULE = 'expires_in = "1h"\non_expiry = "reject"'
NEW = {name: texts.tool(name, effect, about="new") for name, effect in (("free.send", "unsafe"), ("read.it", "read_only"))}


def doubtful(home: Home, tool: str, flow: str, origin: str) -> Row:
    """A row of that origin whose call may have taken effect before."""
    rules = {"free": texts.rule("free.*", "allow"), "read": texts.rule("read.*", "allow")}
    home.tools.plan[tool] = [dies]
    home.write(**{flow: texts.FLOWS[flow]})
    home.killed(lambda: home.desk().start(flow, {}, {}))
    run = home.desk().pending(None, 10)[0][0].row.run_id
    home.tools.plan[tool] = [PERMANENT]
    match origin:
        case "APPROVAL_REQUIRED":
            home.write(texts.operator(NEW, {name: texts.rule(f"{name}.*", "require_approval", RULE) for name in rules}))
        case "POLICY_DENIED":
            home.write(texts.operator(NEW, {name: texts.rule(f"{name}.*", "deny") for name in rules}))
    if origin != "OUTCOME_UNKNOWN":
        try:
            home.decide("retry", run, may_run_twice=True)
        except ToolgateError as refusal:
            assert refusal.kind in ("superseded", "policy_denied")
    row = home.row(run)
    assert row.origin == origin and row.doubt is not None
    return row


@pytest.mark.parametrize("origin", ["OUTCOME_UNKNOWN", "EXECUTION_FAILED", "APPROVAL_REQUIRED", "POLICY_DENIED"])
@pytest.mark.parametrize(("tool", "flow"), [("free.send", "free"), ("read.it", "read")])
def test_a_cancel_lists_a_doubt_of_any_origin_without_an_expiry_and_closes_one_that_does_not_matter(
    home: Home, tool: str, flow: str, origin: str
) -> None:
    row = doubtful(home, tool, flow, origin)
    home.desk("bob").cancel(row.run_id, "enough")
    left = home.rows(row.run_id)
    assert home.run(row.run_id).status == "CANCELLED"
    if flow == "read":
        assert left == [] and home.types(row.run_id).count("TOOL_INVOCATION_CANCELLED") == 1
        return
    [found] = left
    assert (found.origin, found.doubt, found.expires_at, found.on_expiry) == ("OUTCOME_UNKNOWN", "unsafe", None, None)
    assert found.id == row.id and found.starts == row.starts
    home.clock.pass_time(7200)
    home.desk().recover(None, None)
    assert home.rows(row.run_id) == left and not home.desk().pending(None, 10)[0][0].expired
    starts = len(home.tools.starts)
    home.decide("continue_tool", row.run_id, row.id, outcome={"applied": True, "result": 1})
    assert home.rows(row.run_id) == [] and len(home.tools.starts) == starts and home.run(row.run_id).status == "CANCELLED"


@pytest.mark.parametrize("flow", ["ask", "deny", "late", "two"])
def test_a_cancel_leaves_nothing_of_a_call_that_was_never_started(home: Home, flow: str) -> None:
    run = home.start(flow)
    home.desk().cancel(run, None)
    assert home.rows(run) == [] and home.types(run).count("TOOL_INVOCATION_CANCELLED") == 1


@pytest.mark.parametrize(("flow", "stays"), [("free", True), ("read", False)])
def test_a_start_that_declines_too_late_leaves_the_doubt_of_the_one_before_it(home: Home, flow: str, stays: bool) -> None:
    def cancelled(_started: Started) -> ToolResult:
        home.desk("bob").cancel(home.events()[-1].run_id or "", None)
        return DECLINED

    for tool in ("free.send", "read.it"):
        home.tools.plan[tool] = [LOST, cancelled]
    run = home.start(flow)
    if flow == "free":
        home.decide("retry", run, may_run_twice=True)
    assert home.run(run).status == "CANCELLED" and len(home.tools.starts) == 2
    assert [(row.origin, row.doubt, row.starts) for row in home.rows(run)] == ([("OUTCOME_UNKNOWN", "unsafe", 2)] if stays else [])


# ---- cancel between the record of a start and the start ----
def test_a_cancel_after_the_record_of_a_start_is_seen_before_the_tool_is_started(home: Home) -> None:
    """The provider asks before it starts anything; here it is told."""
    run = home.start("ask")
    asked: list[bool] = []

    def provider(started: Started) -> ToolResult:
        home.desk("bob").cancel(run, None)
        asked.append(started.limits.stop())
        return ToolResult("not_dispatched", message="cancelled before it was started")

    home.tools.plan["ask.send"] = [provider]
    assert home.decide("approve", run).run.run.status == "CANCELLED"
    assert asked == [True] and home.rows(run) == []
    assert home.types(run)[-2:] == ["TOOL_INVOCATION_LATE_RESULT", "TOOL_INVOCATION_CANCELLED"]


@pytest.mark.parametrize("stopped", [True, False])
def test_a_stop_that_is_there_before_the_spawn_starts_nothing(tmp_path: Path, stopped: bool) -> None:
    asked = []

    def stop() -> bool:
        asked.append(not (tmp_path / "ran").exists())
        return stopped

    command = Command("c1", (sys.executable, "-S", "-c", "open('ran', 'w')"), str(tmp_path), {}, None)
    ended = running.run(command, 10.0, 1000, stop)
    assert (tmp_path / "ran").exists() is not stopped and asked[0]
    assert ended.how == ("not_started" if stopped else "exited")


# ---- recovery beside a living driver ----
@pytest.mark.parametrize("who", ["a look", "a decision"])
def test_what_a_dead_decider_ran_is_taken_back_and_the_run_stays_with_its_living_driver(home: Home, who: str) -> None:
    owners: list[str | None] = []

    def meanwhile(started: Started) -> ToolResult:
        run = home.events(type="RUN_STARTED")[-1].run_id or ""
        owners.append(home.run(run).owner)
        [asked] = home.rows(run)
        home.killed(lambda: home.decide("approve", run, asked.id, actor="bob"))
        if who == "a look":
            home.desk().pending(None, 10)
        else:
            home.desk().select([], "reject")
        assert home.row(run).origin == "OUTCOME_UNKNOWN"
        owners.append(home.run(run).owner)
        with pytest.raises(ToolgateError) as caught:
            home.desk().continue_run(run)
        assert caught.value.kind in ("run_owned", "wrong_state")
        return OK

    home.tools.plan.update({"ask.send": [dies], "free.send": [meanwhile]})
    home.models.turns["s"] = [[call("ask.send"), call("free.send")], [COMPLETE]]
    run = home.start("talk")
    assert owners[0] is not None and owners[0] == owners[1]
    assert home.tools.names() == ["free.send", "ask.send"] and home.outcome(home.tools.starts[0].call).status == "succeeded"
    assert home.run(run).status == "AWAITING_TOOL_DECISION" and home.run(run).owner is None
    home.decide("continue_tool", run, outcome={"applied": True, "result": 1})
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 2


def test_recovery_does_take_the_run_of_a_driver_that_is_dead_too(home: Home) -> None:
    home.tools.plan["free.send"] = [dies]
    home.write(free=texts.FLOWS["free"])
    home.killed(lambda: home.desk().start("free", {}, {}))
    home.desk().pending(None, 10)
    [run] = [event.run_id or "" for event in home.events(type="RUN_STARTED")]
    assert home.run(run).owner is None and home.run(run).status == "AWAITING_TOOL_DECISION"
