"""I8 and I9: repetition follows the declared effect alone, and a doubt stays until somebody settles it."""

from __future__ import annotations

import itertools

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult

from . import texts
from .fakes import DECLINED, FAILED, LOST, OK, PERMANENT, UNSENT
from .kit import Home, dies, payload

ENDS = {"permanent": PERMANENT, "unsent": UNSENT, "answered": FAILED, "uncertain": LOST}
# effect -> how every attempt ends -> starts in all (of 3 that are allowed), and the row that is left
EXPECTED: dict[tuple[str, str], tuple[int, str]] = {
    ("read_only", "permanent"): (1, "EXECUTION_FAILED"),
    ("read_only", "unsent"): (3, "EXECUTION_FAILED"),
    ("read_only", "answered"): (3, "EXECUTION_FAILED"),
    ("read_only", "uncertain"): (3, "EXECUTION_FAILED"),
    ("idempotent", "permanent"): (1, "EXECUTION_FAILED"),
    ("idempotent", "unsent"): (3, "EXECUTION_FAILED"),
    ("idempotent", "answered"): (3, "EXECUTION_FAILED"),
    ("idempotent", "uncertain"): (3, "OUTCOME_UNKNOWN"),
    ("unsafe", "permanent"): (1, "EXECUTION_FAILED"),
    ("unsafe", "unsent"): (3, "EXECUTION_FAILED"),
    ("unsafe", "answered"): (1, "EXECUTION_FAILED"),
    ("unsafe", "uncertain"): (1, "OUTCOME_UNKNOWN"),
}
FLOW = {"read_only": "read", "idempotent": "idem", "unsafe": "unsafe"}
TOOL = {"read_only": "read.it", "idempotent": "idem.put", "unsafe": "unsafe.put"}


@pytest.mark.parametrize(("effect", "end"), EXPECTED)
def test_how_often_a_call_is_started(home: Home, effect: str, end: str) -> None:
    starts, origin = EXPECTED[effect, end]
    home.tools.plan[TOOL[effect]] = [ENDS[end]] * 5
    run = home.start(FLOW[effect])
    row = home.row(run)
    assert (len(home.tools.starts), row.origin, row.starts) == (starts, origin, starts)
    assert len({started.key for started in home.tools.starts}) == 1 and len({started.call for started in home.tools.starts}) == 1
    assert [event.attempt for event in home.events(run, "TOOL_INVOCATION_STARTED")] == list(range(1, starts + 1))
    assert (row.doubt is not None) == (end == "uncertain")
    assert len(home.clock.slept) == starts - 1 and all(seconds <= 60 for seconds in home.clock.slept)


@pytest.mark.parametrize("effect", FLOW)
@pytest.mark.parametrize("end", [OK, DECLINED])
def test_what_settles_a_call_is_never_repeated(home: Home, effect: str, end: ToolResult) -> None:
    home.tools.plan[TOOL[effect]] = [end] * 3
    run = home.start(FLOW[effect])
    assert len(home.tools.starts) == 1 and home.run(run).status == "COMPLETED" and home.rows(run) == []


@pytest.mark.parametrize("effect", ["read_only", "idempotent"])
@pytest.mark.parametrize("ends", [[LOST, OK], [FAILED, OK], [UNSENT, OK], [FAILED, LOST, OK]], ids=len)
def test_a_success_ends_the_repetition_and_counts_every_start(home: Home, effect: str, ends: list[ToolResult]) -> None:
    home.tools.plan[TOOL[effect]] = list(ends)
    run = home.start(FLOW[effect])
    assert len(home.tools.starts) == len(ends) and home.run(run).status == "COMPLETED" and home.rows(run) == []
    assert home.value(run, f"tool.{TOOL[effect]}") == "done"
    [done] = home.events(run, "TOOL_INVOCATION_COMPLETED")
    assert done.attempt == len(ends) and home.run(run).started == len(ends)


@pytest.mark.parametrize("message", ["connection refused: nothing was sent", "effect=read_only", "not dispatched", "timed out"])
def test_what_a_tool_says_of_itself_never_makes_it_start_again(home: Home, message: str) -> None:
    words = {"effect": "read_only", "idempotent": True, "max_attempts": 9, "not_dispatched": True, "text": message}
    home.write(said=texts.flow("said", texts.step("s", "tool", tool="unsafe.put", arguments=words)))
    home.tools.plan["unsafe.put"] = [FAILED._replace(message=message, output=message), LOST]
    run = home.start("said")
    assert len(home.tools.starts) == 1 and home.row(run).origin == "EXECUTION_FAILED"
    home.decide("retry", run)
    assert len(home.tools.starts) == 2 and (home.row(run).origin, home.row(run).doubt) == ("OUTCOME_UNKNOWN", "unsafe")


def test_a_business_failure_settles_the_call_with_its_code(home: Home) -> None:
    home.tools.plan["free.send"] = [DECLINED]
    run = home.start("free")
    [event] = home.events(run, "TOOL_INVOCATION_COMPLETED")
    assert payload(event)["outcome"] == "business_failed" and payload(event)["code"] == "DECLINED"
    assert home.value(run, "tool.free.send.error") == "no money"


PAIRS = list(itertools.product(["unsent", "answered", "uncertain"], ["answered", "unsent", "permanent"]))


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_doubt_stays_through_later_clear_failures(home: Home, first: str, second: str) -> None:
    home.tools.plan["idem.put"] = [ENDS[first], *[ENDS[second]] * 3]
    row = home.row(home.start("idem"))
    assert (row.doubt is not None) == (first == "uncertain")


@pytest.mark.parametrize("effect", ["read_only", "idempotent"])
@pytest.mark.parametrize(("text", "phase"), [("x" * 1001, "RECEIVE"), ("hi", "VALIDATE")])
def test_nothing_is_repeated_that_was_refused_before_the_start(home: Home, effect: str, text: str, phase: str) -> None:
    numbers = '{ type = "object", properties = { text = { type = "number" } } }'
    home.write(texts.operator({TOOL[effect]: texts.tool(TOOL[effect], effect, 3, schema=numbers)}))
    run = home.start(FLOW[effect], text=text)
    row = home.row(run)
    assert home.tools.starts == [] and home.clock.slept == [] and (row.origin, row.starts, row.doubt) == ("EXECUTION_FAILED", 0, None)
    assert payload(home.events(run, "TOOL_INVOCATION_FAILED")[0])["phase"] == phase


def test_an_attempt_that_waits_is_recovered_when_its_owner_dies(home: Home) -> None:
    home.tools.plan["idem.put"] = [FAILED, FAILED]
    home.write(idem=texts.FLOWS["idem"])
    process = home.process()
    home.clock.while_asleep = process.die
    home.killed(lambda: process.desk.start("idem", {}, {}))
    home.clock.while_asleep = None
    [run] = [event.run_id for event in home.events(type="RUN_STARTED")]
    assert run is not None
    waiting, _ = home.desk().pending(run, 10)
    assert [(one.row.origin, one.row.starts) for one in waiting] == [("EXECUTION_FAILED", 1)]
    home.tools.plan["idem.put"] = []
    home.decide("retry", run)
    assert home.run(run).status == "COMPLETED" and [event.attempt for event in home.events(run, "TOOL_INVOCATION_STARTED")] == [1, 2]


@pytest.mark.parametrize(("effect", "origin"), [("idem", "OUTCOME_UNKNOWN"), ("read", "EXECUTION_FAILED")])
def test_a_doubtful_attempt_that_waits_is_doubtful_when_its_owner_dies(home: Home, effect: str, origin: str) -> None:
    home.tools.plan.update({"idem.put": [LOST], "read.it": [LOST]})
    home.write(**{effect: texts.FLOWS[effect]})
    process = home.process()
    home.clock.while_asleep = process.die
    home.killed(lambda: process.desk.start(effect, {}, {}))
    home.clock.while_asleep = None
    [row] = [one.row for one in home.desk().pending(None, 10)[0]]
    assert row.origin == origin and row.doubt is not None


def test_a_tool_that_becomes_unsafe_while_its_next_attempt_waits_is_not_started_again(home: Home) -> None:
    home.tools.plan["idem.put"] = [LOST]
    home.clock.while_asleep = lambda: home.write(texts.operator({"idem.put": texts.tool("idem.put", "unsafe", 3)}))
    run = home.start("idem")
    row = home.row(run)
    assert (len(home.tools.starts), row.origin, row.starts, row.doubt) == (1, "OUTCOME_UNKNOWN", 1, "idempotent")


def test_a_doubt_that_a_person_let_run_twice_does_not_stop_the_repetition_of_a_start_that_came_to_nothing(home: Home) -> None:
    home.tools.plan["unsafe.put"] = [LOST, UNSENT, OK]
    run = home.start("unsafe")
    home.decide("retry", run, may_run_twice=True)
    assert len(home.tools.starts) == 3 and home.run(run).status == "COMPLETED"


def test_a_repetition_under_a_changed_tool_is_on_record_as_what_ran(home: Home) -> None:
    home.tools.plan["idem.put"] = [FAILED, PERMANENT]
    home.clock.while_asleep = lambda: home.write(texts.operator({"idem.put": texts.tool("idem.put", "idempotent", 3, about="new")}))
    row = home.row(home.start("idem"))
    first, second = home.events(row.run_id, "TOOL_INVOCATION_STARTED")
    assert first.call_digest != second.call_digest == row.call_digest
    with home.store.read() as tx:
        assert "new" in tx.definition(row.definition).body


def test_nothing_is_repeated_while_something_of_it_is_left(home: Home) -> None:
    home.tools.plan["idem.put"] = [FAILED._replace(left_behind="f1")]
    run = home.start("idem")
    assert len(home.tools.starts) == 1 and (home.row(run).origin, home.row(run).left_behind) == ("EXECUTION_FAILED", "f1")
    home.host.held.add("f1")
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run, may_run_twice=True)
    assert caught.value.kind == "unknown_outcome" and len(home.tools.starts) == 1
    home.host.held.clear()
    home.decide("retry", run)
    assert home.run(run).status == "COMPLETED"


# ---- doubt ----
def test_a_call_whose_caller_was_killed_is_listed_at_once_and_not_started_again(home: Home) -> None:
    home.tools.plan["free.send"] = [dies]
    home.write(free=texts.FLOWS["free"])
    home.killed(lambda: home.desk().start("free", {}, {}))
    [waiting] = home.desk().pending(None, 10)[0]
    assert (waiting.row.origin, waiting.row.starts, waiting.row.doubt) == ("OUTCOME_UNKNOWN", 1, "unsafe")
    run = waiting.row.run_id
    for _ in range(2):
        with pytest.raises(ToolgateError) as caught:
            home.decide("retry", run)
        assert caught.value.kind == "unknown_outcome" and home.types(run)[-1] == "DECISION_REFUSED"
    assert len(home.tools.starts) == 1
    home.decide("retry", run, may_run_twice=True)
    assert len(home.tools.starts) == 2 and home.run(run).status == "COMPLETED"


def test_a_doubt_walks_through_a_changed_tool_to_another_person(home: Home) -> None:
    home.tools.plan["ask.send"] = [dies]
    run = home.start("ask")
    home.killed(lambda: home.decide("approve", run))
    home.write(texts.operator({"ask.send": texts.tool("ask.send", "idempotent", about="new")}))
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run, may_run_twice=True)
    assert caught.value.kind == "superseded"
    row = home.row(run)
    assert (row.origin, row.starts, row.doubt) == ("APPROVAL_REQUIRED", 1, "unsafe")
    with pytest.raises(ToolgateError) as caught:  # it was unsafe when it was started, whatever it says to be now
        home.decide("approve", run, actor="bob")
    assert caught.value.kind == "unknown_outcome" and "continue-tool" not in caught.value.hint and len(home.tools.starts) == 1
    home.decide("approve", run, actor="bob", may_run_twice=True)
    assert len(home.tools.starts) == 2 and home.run(run).status == "COMPLETED"


def test_a_doubtful_approval_that_expired_is_not_started_by_asking_again(home: Home) -> None:
    home.tools.plan["late.send"] = [LOST]
    run = home.start("late")
    home.decide("approve", run)
    home.write(texts.operator({"late.send": texts.tool("late.send", about="new")}))
    with pytest.raises(ToolgateError):
        home.decide("retry", run, may_run_twice=True)
    assert home.row(run).origin == "APPROVAL_REQUIRED" and home.row(run).doubt == "unsafe"
    home.clock.pass_time(3601)
    home.write(texts.operator({"late.send": texts.tool("late.send", about="new")}, {"late": texts.rule("late.*", "allow")}))
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run)
    assert caught.value.kind == "unknown_outcome" and len(home.tools.starts) == 1


@pytest.mark.parametrize(("then", "now", "permitted"), [
    ("idempotent", "idempotent", True), ("read_only", "idempotent", True), ("idempotent", "unsafe", False), ("unsafe", "idempotent", False),
])  # fmt: skip
def test_the_stricter_of_then_and_now_says_whether_a_doubtful_call_may_run_again(home: Home, then: str, now: str, permitted: bool) -> None:
    home.write(texts.operator({"free.send": texts.tool("free.send", then)}))
    home.tools.plan["free.send"] = [dies]
    home.write(free=texts.FLOWS["free"])
    home.killed(lambda: home.desk().start("free", {}, {}))
    home.write(texts.operator({"free.send": texts.tool("free.send", now)}))
    [waiting] = home.desk().pending(None, 10)[0]
    try:
        home.decide("retry", waiting.row.run_id)
        assert permitted
    except ToolgateError as refusal:
        assert refusal.kind == "unknown_outcome" and not permitted
    assert len(home.tools.starts) == 1 + permitted


@pytest.mark.parametrize("applied", [True, False])
def test_what_a_person_found_out_settles_a_doubt(home: Home, applied: bool) -> None:
    home.tools.plan["free.send"] = [LOST]
    run = home.start("free")
    call = home.row(run).id
    home.decide("continue_tool", run, outcome={"applied": applied, "result": {"id": 7}})
    outcome = home.outcome(call)
    assert (outcome.status, outcome.effect_applied) == (("recorded", "yes") if applied else ("continued", "no"))
    assert home.value(run, "tool.free.send" if applied else "tool.free.send.error") == {"id": 7}
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 1


@pytest.mark.parametrize(
    "found", [{"result": 1}, {"applied": "unknown"}, {"applied": None}, {"applied": "false"}, {"applied": 0}, {"applied": True, "x": 1}]
)
def test_an_outcome_that_says_nothing_settles_nothing(quick: Home, found: dict[str, object]) -> None:
    quick.tools.plan["free.send"] = [LOST]
    run = quick.start("free")
    before = quick.dump()
    with pytest.raises(ToolgateError) as caught:
        quick.decide("continue_tool", run, outcome=found)
    assert caught.value.kind == "invalid" and quick.dump() == before


def test_the_outcome_of_a_known_failure_is_not_for_a_person_to_say(home: Home) -> None:
    home.tools.plan["free.send"] = [FAILED]
    run = home.start("free")
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.decide("continue_tool", run, outcome={"applied": True})
    assert caught.value.kind == "wrong_state" and home.dump() == before


def test_a_rejected_doubt_stays_on_record(home: Home) -> None:
    home.tools.plan["free.send"] = [LOST]
    run = home.start("free")
    call = home.row(run).id
    home.decide("reject", run, reason="leave it")
    outcome = home.outcome(call)
    assert (outcome.status, outcome.dispatched, outcome.effect_applied) == ("rejected", "unknown", "unknown")
    assert home.value(run, "tool.free.send.error") == "leave it"


def test_recovery_kills_what_is_left_before_it_writes_the_row(home: Home) -> None:
    home.tools.plan["free.send"] = [dies]
    home.write(free=texts.FLOWS["free"])
    home.killed(lambda: home.desk().start("free", {}, {}))
    home.desk().pending(None, 10)
    assert home.host.killed == []  # who only looks kills nothing
    home.tools.plan["free.send"] = [dies]
    home.killed(lambda: home.desk().start("free", {}, {}))
    [answer] = home.desk().recover(None, None)
    assert home.host.killed == [home.tools.starts[1].call]
    assert answer.effect == "recovered" and [one.row.origin for one in answer.pending] == ["OUTCOME_UNKNOWN"]
