"""I10: cancel wins, whatever comes later."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.turns import Completion
from toolgate_cli.core.types import Verb
from toolgate_cli.core.verbs import TABLE, State

from . import texts
from .fakes import COMPLETE, DECLINED, FAILED, LOST, OK, PERMANENT, UNSENT, Started, call
from .kit import Home, dies
from .states import BRING_ABOUT, DOUBTS, ways
from .watch import changed

OPEN: list[State] = [state for state in get_args(State) if "cancel" in TABLE[state] and not state.startswith(("CANCELLED", "UNKNOWN"))]
OVER = ["COMPLETED", "FAILED"]


@pytest.mark.parametrize("state", OPEN)
def test_whatever_a_run_waits_for_it_can_be_cancelled(home: Home, state: State) -> None:
    stand = BRING_ABOUT[state](home)
    starts = len(home.tools.starts)
    home.desk("bob").cancel(stand.run, "enough")
    assert home.run(stand.run).status == "CANCELLED" and home.run(stand.run).owner is None
    assert [row.origin for row in home.rows(stand.run)] == (["OUTCOME_UNKNOWN"] if state in DOUBTS else [])
    [event] = home.events(stand.run, "RUN_CANCELLED")
    assert event.actor == "bob"
    before = home.dump()
    home.desk().cancel(stand.run, None)  # again: nothing more
    assert changed(before, home.dump()) == []
    for verb in get_args(Verb):
        for way in ways(verb, stand):
            if verb == "cancel" or (state in DOUBTS and way.__name__ == "_outcome"):
                continue
            with pytest.raises(ToolgateError) as caught:
                way(home.desk(), stand)
            assert caught.value.kind in ("wrong_state", "claim_lost"), (verb, caught.value)
    assert changed(before, home.dump()) == [] and len(home.tools.starts) == starts
    home.desk().recover(None, None)
    assert home.run(stand.run).status == "CANCELLED" and len(home.tools.starts) == starts


@pytest.mark.parametrize("state", OVER)
def test_what_is_over_is_not_cancelled(home: Home, state: State) -> None:
    stand = BRING_ABOUT[state](home)
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.desk().cancel(stand.run, None)
    assert caught.value.kind == "wrong_state" and state in caught.value.message and changed(before, home.dump()) == []


ENDS = {"success": OK, "business": DECLINED, "permanent": PERMANENT, "not_dispatched": UNSENT, "answered": FAILED, "uncertain": LOST}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("flow", ["free", "idem", "read"])
def test_a_call_that_runs_sees_the_cancel_and_its_end_is_only_an_event(home: Home, flow: str, end: str) -> None:
    stops = []

    def cancelled(started: Started) -> ToolResult:
        stops.append(started.limits.stop())
        run = home.events()[-1].run_id or ""
        home.desk("bob").cancel(run, None)
        stops.append(started.limits.stop())
        return ENDS[end]

    for tool in ("free.send", "idem.put", "read.it"):
        home.tools.plan[tool] = [cancelled, OK, OK]
    run = home.start(flow)
    assert stops == [False, True] and len(home.tools.starts) == 1
    assert home.run(run).status == "CANCELLED" and home.types(run).count("RUN_CANCELLED") == 1
    assert not {"TOOL_INVOCATION_COMPLETED", "RUN_COMPLETED", "RUN_FAILED"} & set(home.types(run))
    assert "TOOL_INVOCATION_LATE_RESULT" in home.types(run)
    doubtful = end == "uncertain" and flow != "read"
    assert [row.origin for row in home.rows(run)] == (["OUTCOME_UNKNOWN"] if doubtful else [])
    with home.store.read() as tx:
        assert tx.attempts(None) == () and "tool.free.send" not in tx.keys(run)


@pytest.mark.parametrize("gate", ["none", "approval", "review"])
@pytest.mark.parametrize("end", ["success", "answered"])
@pytest.mark.parametrize("verb", ["approve", "retry"])
def test_a_cancelled_call_of_a_decider_ends_with_the_run_cancelled(home: Home, verb: str, end: str, gate: str) -> None:
    home.write(gated=texts.flow("gated", texts.uses("s", "ask.send", gate=gate), texts.AFTER))
    run = home.start("gated")

    def cancelled(started: Started) -> ToolResult:
        home.desk("bob").cancel(run, None)
        return ENDS[end]

    home.tools.plan["ask.send"] = [cancelled]
    if verb == "retry":
        home.tools.plan["ask.send"].insert(0, FAILED)
        home.decide("approve", run)
    assert home.decide(verb, run).run.run.status == "CANCELLED"
    assert home.run(run).status == "CANCELLED" and home.types(run).count("TOOL_INVOCATION_LATE_RESULT") == 1 and home.rows(run) == []
    assert home.types(run).count("RUN_CANCELLED") == 1 and not {"RUN_COMPLETED", "RUN_FAILED", "RUN_PAUSED"} & set(home.types(run))
    assert not [kind for kind in home.types(run) if kind.startswith("STEP_AWAITING")]


def test_a_call_that_waits_for_its_next_attempt_is_not_started_after_a_cancel(home: Home) -> None:
    home.tools.plan["idem.put"] = [FAILED, OK]
    home.clock.while_asleep = lambda: home.desk("bob").cancel(home.events()[-1].run_id or "", None)
    run = home.start("idem")
    assert len(home.tools.starts) == 1 and home.run(run).status == "CANCELLED" and home.rows(run) == []
    assert home.types(run).count("TOOL_INVOCATION_CANCELLED") == 1


@pytest.mark.parametrize("killed", [False, True])
def test_a_doubt_that_waits_for_its_next_attempt_is_listed_after_a_cancel(home: Home, killed: bool) -> None:
    home.tools.plan["idem.put"] = [LOST, OK]
    home.write(idem=texts.FLOWS["idem"])
    process = home.process()

    def cancel() -> None:
        home.desk("bob").cancel(home.events()[-1].run_id or "", None)
        if killed:
            process.die()

    home.clock.while_asleep = cancel
    start = lambda: process.desk.start("idem", {}, {})  # noqa: E731  # what is killed, or not
    home.killed(start) if killed else start()
    home.clock.while_asleep = None
    [waiting] = home.desk().pending(None, 10)[0]
    assert (waiting.row.origin, waiting.row.doubt) == ("OUTCOME_UNKNOWN", "idempotent") and len(home.tools.starts) == 1


def test_a_failure_without_doubt_leaves_nothing_of_a_cancelled_run_whose_owner_died(home: Home) -> None:
    home.tools.plan["idem.put"] = [FAILED]
    home.write(idem=texts.FLOWS["idem"])
    process = home.process()

    def cancel() -> None:
        home.desk("bob").cancel(home.events()[-1].run_id or "", None)
        process.die()

    home.clock.while_asleep = cancel
    home.killed(lambda: process.desk.start("idem", {}, {}))
    assert home.desk().pending(None, 10)[0] == ()


def test_a_sticky_doubt_survives_a_cancel_during_a_later_attempt(home: Home) -> None:
    home.tools.plan["free.send"] = [LOST]
    run = home.start("free")

    def cancelled(started: Started) -> ToolResult:
        home.desk("bob").cancel(run, None)
        return FAILED

    home.tools.plan["free.send"] = [cancelled]
    home.decide("retry", run, may_run_twice=True)
    assert (home.row(run).origin, home.row(run).doubt) == ("OUTCOME_UNKNOWN", "unsafe")


def test_the_doubt_of_a_cancelled_run_is_settled_by_what_a_person_found_out_and_moves_nothing(home: Home) -> None:
    stand = BRING_ABOUT["CANCELLED_IN_DOUBT"](home)
    desk = home.desk()
    assert [waiting.row.id for waiting in desk.pending(None, 10)[0]] == [stand.call]
    for words in ([], [stand.run]):
        with pytest.raises(ToolgateError):
            desk.select(words, "continue-tool")  # never an implicit choice
    other = home.start("ask")
    assert home.desk().select([], "approve").row.run_id == other
    home.decide("continue_tool", stand.run, stand.call, outcome={"applied": True, "result": 1})
    assert home.run(stand.run).status == "CANCELLED" and home.rows(stand.run) == [] and home.outcome(stand.call or "").status == "recorded"
    assert home.types(stand.run)[-1] == "TOOL_INVOCATION_CONTINUED" and not any("after" in value for value in home.dump()["context"])


def test_a_doubtful_approval_of_a_cancelled_run_does_not_expire(home: Home) -> None:
    home.write(texts.operator(rules={"free": texts.rule("free.*", "require_approval", 'expires_in = "1h"\non_expiry = "reject"')}))
    home.tools.plan["free.send"] = [LOST]
    run = home.start("free")
    home.decide("approve", run)
    changed_tool = {"free.send": texts.tool("free.send", about="new")}
    rules = {"free": texts.rule("free.*", "require_approval", 'expires_in = "1h"\non_expiry = "reject"')}
    home.write(texts.operator(changed_tool, rules))
    with pytest.raises(ToolgateError):
        home.decide("retry", run, may_run_twice=True)
    row = home.row(run)
    assert row.origin == "APPROVAL_REQUIRED" and row.doubt == "unsafe" and row.on_expiry == "stay"
    home.desk().cancel(run, None)
    row = home.row(run)
    assert row.doubt == "unsafe"
    home.clock.pass_time(7200)
    home.desk().recover(None, None)
    assert home.row(run) == row
    home.decide("continue_tool", run, row.id, outcome={"applied": False})
    assert home.rows(run) == []


SAID: dict[str, Any] = {
    "calls": [call("free.send"), COMPLETE],
    "a call to be approved": [call("ask.send")],
    "a question": [{"type": "ask", "question": "which?"}],
    "an escalation": [{"type": "escalate", "reason": "sure?"}],
    "the end": [COMPLETE],
    "no turn": Completion(text="Sure!"),
    "an error": ToolgateError("failed", "no answer"),
    "a fault": LookupError("a fault of the adapter"),
}


@pytest.mark.parametrize("said", SAID)
def test_what_a_model_says_after_a_cancel_is_not_carried_out(home: Home, said: str) -> None:
    home.write(talk=texts.flow("talk", texts.step("s", "agent", agent="clerk", writes=["*"])))

    def cancelled(request: object) -> Any:
        home.desk("bob").cancel(home.events()[-1].run_id or "", None)
        if isinstance(SAID[said], Exception):
            raise SAID[said]
        return SAID[said]

    home.models.turns["s"] = [cancelled]
    run = home.start("talk")
    assert home.run(run).status == "CANCELLED" and home.tools.starts == [] and home.types(run)[-1] == "RUN_CANCELLED"
    assert home.rows(run) == [] and home.desk().show_run(run)[0].error is None


WORDS: dict[State, tuple[Verb, ...]] = {
    "STEP_APPROVAL": ("approve", "reject"), "ESCALATION": ("approve", "reject"), "REVIEW": ("review",), "INPUT": ("answer",),
}  # fmt: skip


@pytest.mark.parametrize(("state", "verb"), [(state, verb) for state, verbs in WORDS.items() for verb in verbs])
def test_a_word_to_a_step_that_was_seen_before_a_cancel_comes_too_late(home: Home, state: State, verb: Verb) -> None:
    stand = BRING_ABOUT[state](home)
    desk = home.desk()
    seen = desk.select_step(stand.run, None, verb)
    home.desk("bob").cancel(stand.run, None)
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        match verb:
            case "approve":
                desk.approve_step(seen)
            case "reject":
                desk.reject_step(seen)
            case "review":
                desk.review(seen, note="seen")
            case _:
                desk.answer(seen, {"street": "High Street"}, {})
    assert caught.value.kind == "claim_lost" and changed(before, home.dump()) == []


def test_a_model_that_fails_after_a_cancel_is_no_failure_of_the_run(home: Home) -> None:
    home.write(talk=texts.FLOWS["talk"])

    def cancelled(request: object) -> list[dict[str, object]]:
        home.desk("bob").cancel(home.events()[-1].run_id or "", None)
        raise ToolgateError("failed", "the line is dead")

    home.models.turns["s"] = [cancelled]
    run = home.start("talk")
    assert home.run(run).status == "CANCELLED" and home.run(run).error is None and home.types(run)[-1] == "RUN_CANCELLED"


def test_a_run_can_be_cancelled_while_the_files_are_broken(home: Home) -> None:
    run = home.start("ask")
    (home.folder / "toolgate.toml").write_text("not toml [")
    home.desk("bob").cancel(run, None)
    assert home.run(run).status == "CANCELLED" and home.events(run, "RUN_CANCELLED")[0].actor == "os-bob"


def test_a_cancel_takes_back_what_a_dead_process_ran(home: Home) -> None:
    home.tools.plan["free.send"] = [dies]
    home.write(free=texts.FLOWS["free"])
    home.killed(lambda: home.desk().start("free", {}, {}))
    [run] = [event.run_id or "" for event in home.events(type="RUN_STARTED")]
    home.desk().cancel(run, None)
    assert home.run(run).status == "CANCELLED" and home.row(run).origin == "OUTCOME_UNKNOWN" and home.host.killed == [home.row(run).id]
