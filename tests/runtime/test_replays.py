"""Steps that are run again by a step: once for each time it is reached, within a budget that outlives everything, and never twice."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core.errors import ToolgateError

from . import texts
from .fakes import COMPLETE, FAILED, LOST, call
from .kit import Home, dies, payload
from .texts import step, uses
from .watch import changed

FREE: dict[str, Any] = {"allow": True, "allow_from_previous": True}


def again(target: str = "a", mode: str = "single", **more: object) -> dict[str, object]:
    return step("again", "retry_previous", step=target, mode=mode, **more)


def write(home: Home, *steps: dict[str, object], more: str = "", **blocks: Any) -> None:
    home.write(twice=texts.flow("twice", *steps, blocks=blocks, more=more))


def retried(home: Home, run: str) -> list[tuple[str | None, Any]]:
    return [(event.step_id, {**payload(event)}) for event in home.events(run, "STEP_RETRIED")]


def completed(home: Home, run: str) -> list[str | None]:
    return [event.step_id for event in home.events(run, "STEP_COMPLETED")]


NOTE = [step("n", "assign", set={"seen": "y"})]
STOP = step("stop", "fail", reason="x")


# ---- what runs again ----
@pytest.mark.parametrize(
    ("mode", "order"), [("single", ["a", "b", "a", "again", "after"]), ("from", ["a", "b", "a", "b", "again", "after"])]
)
def test_the_step_alone_or_all_from_it_is_run_once_more(home: Home, mode: str, order: list[str]) -> None:
    write(home, uses("a", "free.send"), uses("b", "idem.put"), again(mode=mode), texts.AFTER)
    run = home.start("twice")
    assert home.run(run).status == "COMPLETED" and completed(home, run) == order
    assert retried(home, run) == [("a", {"attempt": 1, "cap": 1, "mode": mode, "target": "a", "by": "again"})]
    assert len({started.call for started in home.tools.starts}) == len(home.tools.starts)  # each a call of its own, with its own key


def test_what_a_replayed_step_writes_counts_and_its_output_is_the_new_one(home: Home) -> None:
    write(home, step("n", "assign", set={"x": "1"}), step("a", "agent", agent="clerk", writes=["*"], retry=FREE),
          step("over", "assign", set={"x": "over"}), again(), step("see", "assign", set={"seen": "${x} ${steps.a}"}))  # fmt: skip
    home.models.turns["a"] = [[{"type": "set_context", "values": {"x": n}}, {"type": "complete", "output": n}] for n in ("one", "two")]
    run = home.start("twice")
    assert home.value(run, "seen") == "two two" and [r.ordinal for r in home.models.asked] == [0, 1]
    assert [len(r.history) for r in home.models.asked] == [0, 0]


def test_a_pause_in_a_replay_goes_on_in_the_same_one(home: Home) -> None:
    write(home, uses("a", "ask.send"), step("b", "input", form="ship"), again(mode="from"), texts.AFTER, more=texts.FORM)
    run = home.start("twice")
    for n, street in enumerate(("first", "second")):
        home.decide("approve", run)
        assert home.run(run).status == "AWAITING_INPUT" and len(retried(home, run)) == n
        home.answer(run, {"street": street}, {})
    assert home.run(run).status == "COMPLETED" and home.value(run, "ship.street") == "second" and len(home.tools.starts) == 2
    assert len(retried(home, run)) == 1


def test_a_wait_in_the_one_step_that_is_run_again_is_of_the_same_replay(home: Home) -> None:
    write(home, step("a", "input", form="ship"), uses("b", "free.send"), again(), texts.AFTER, more=texts.FORM)
    run = home.start("twice")
    for street in ("first", "second"):
        home.answer(run, {"street": street}, {})
    assert home.run(run).status == "COMPLETED" and home.value(run, "ship.street") == "second" and home.tools.names() == ["free.send"]
    assert len(home.events(run, "AWAITING_INPUT")) == 2 and len(retried(home, run)) == 1


@pytest.mark.parametrize("later", ["input", "tool", "pause"])
def test_a_replay_that_is_over_does_not_begin_again_when_the_run_waits_later(home: Home, later: str) -> None:
    waits = {"input": step("w", "input", form="ship"), "tool": uses("w", "ask.send"), "pause": step("w", "fail", reason="pause")}[later]
    write(home, uses("a", "free.send"), again(max_retries=5), waits, texts.AFTER, more=texts.FORM)
    run = home.start("twice")
    match later:
        case "input":
            home.answer(run, {"street": "Main"}, {})
        case "tool":
            home.decide("approve", run)
        case _:
            home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and home.tools.names().count("free.send") == 2
    assert [told["attempt"] for _, told in retried(home, run)] == [1]


def test_the_way_through_a_branch_is_run_again_from_inside_it(home: Home) -> None:
    way = step("way", "branch", on="none", arms={"": "arm"})
    write(home, way, texts.AFTER, arm=[uses("a", "free.send"), uses("b", "idem.put"), again(mode="from")])
    run = home.start("twice")
    assert home.run(run).status == "COMPLETED" and home.tools.names() == ["free.send", "idem.put"] * 2
    assert retried(home, run)[0][0] == "way/a"


@pytest.mark.parametrize(("text", "runs"), [("no", 1), ("yes", 2)])
def test_a_step_that_was_left_out_is_judged_anew_in_a_replay(home: Home, text: str, runs: int) -> None:
    only = {"if": [{"key": "seen", "exists": True}]}
    note = step("n", "assign", set={"seen": "y"}, **{"if": [{"key": "inputs.text", "eq": "yes"}]})
    write(home, uses("a", "free.send", **only), uses("b", "free.send"), note, again(), texts.AFTER)
    run = home.start("twice", text=text)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == runs and len(retried(home, run)) == 1


def test_what_an_arm_left_that_is_not_taken_again_is_no_output(home: Home) -> None:
    way = step("way", "branch", on="seen", arms={"": "once", "*": "continue"})
    told = step("told", "assign", set={"told": "1"}, **{"if": [{"key": "steps.way/a", "exists": True}]})
    write(home, way, step("n", "assign", set={"seen": "y"}), again("way"), told, once=[uses("a", "free.send")])
    run = home.start("twice")
    with pytest.raises(KeyError):
        home.value(run, "told")
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 1


def test_an_operators_retry_between_finds_what_the_replayed_step_left(home: Home) -> None:
    note = step("see", "assign", set={"seen": "${steps.a}"})
    write(home, step("a", "agent", agent="clerk", retry={**FREE, "max_retries": 5}), note, again(), STOP)
    home.models.turns["a"] = [[{"type": "complete", "output": n}] for n in ("one", "two")]
    run = home.start("twice")
    home.desk().retry_step(run, "see")
    assert home.value(run, "seen") == "two" and len(home.models.asked) == 2


@pytest.mark.parametrize("gate", ["approval", "review"])
def test_a_gate_in_a_replay_asks_again(home: Home, gate: str) -> None:
    write(home, uses("a", "free.send", gate=gate), uses("b", "idem.put"), again(), texts.AFTER)
    run = home.start("twice")
    for n in (1, 2):
        assert home.run(run).status.startswith("AWAITING") and home.tools.names().count("free.send") == n
        desk = home.desk()
        if gate == "review":
            desk.review(desk.select_step(run, "a", "review"), note="seen")
        else:
            desk.approve_step(desk.select_step(run, "a", "approve"))
    assert home.run(run).status == "COMPLETED" and home.tools.names() == ["free.send", "idem.put", "free.send"]


def test_a_replay_stops_where_a_step_of_it_fails(home: Home) -> None:
    way = step("way", "branch", on="seen", arms={"": "note", "*": "fail"})
    write(home, uses("a", "free.send"), way, uses("c", "idem.put"), again(mode="from"), texts.AFTER, note=NOTE)
    run = home.start("twice")
    assert home.run(run).status == "FAILED" and home.tools.names() == ["free.send", "idem.put", "free.send"]
    assert home.types(run).count("RUN_FAILED") == 1


def test_a_step_that_ends_the_sequence_ends_it_in_a_replay_too(home: Home) -> None:
    way = step("way", "branch", on="seen", arms={"": "note", "*": "end"})
    write(home, uses("a", "free.send"), way, again(mode="from"), texts.AFTER, note=NOTE)
    run = home.start("twice")
    assert home.run(run).status == "COMPLETED" and "after" not in completed(home, run)


@pytest.mark.parametrize("dead", [1, 2])
def test_a_crash_in_a_replay_begins_no_other(home: Home, dead: int) -> None:
    write(home, uses("a", "free.send"), uses("b", "idem.put"), again(mode="from"), texts.AFTER)
    from .fakes import OK

    home.tools.plan["idem.put"] = [*[OK] * (dead - 1), dies]
    process = home.process()
    home.killed(lambda: process.desk.start("twice", {}, {}))
    run = home.events(type="RUN_STARTED")[-1].run_id or ""
    home.desk().pending(None, 10)
    home.decide("retry", run)
    assert home.run(run).status == "COMPLETED" and home.tools.names().count("free.send") == 2 and len(retried(home, run)) == 1


# ---- what may have run already ----
@pytest.mark.parametrize("mode", ["single", "from"])
def test_what_may_have_taken_effect_is_not_run_again_without_a_person(home: Home, mode: str) -> None:
    write(home, uses("a", "free.send"), uses("b", "idem.put"), again(mode=mode), texts.AFTER)
    home.tools.plan["free.send"] = [LOST]
    run = home.start("twice")
    home.decide("continue_tool", run)
    error = str(home.run(run).error)
    assert home.run(run).status == "FAILED" and home.tools.names() == ["free.send", "idem.put"] and retried(home, run) == []
    assert "may have taken effect: a new call would be a second one" in error and "retry --step again --may-run-twice" in error
    home.desk().retry_step(run, "again")  # without that word it is refused again
    assert home.run(run).status == "FAILED" and len(home.tools.starts) == 2
    home.desk().retry_step(run, "again", may_run_twice=True)
    assert home.run(run).status == "COMPLETED" and home.tools.names().count("free.send") == 2


@pytest.mark.parametrize(
    ("then", "now", "waits"), [("read_only", "read_only", False), ("read_only", "unsafe", True), ("unsafe", "read_only", True)]
)
def test_what_only_reads_is_run_again_without_a_word(home: Home, then: str, now: str, waits: bool) -> None:
    home.write(texts.operator({"free.send": texts.tool("free.send", then)}))
    write(home, uses("a", "free.send"), again(), STOP)
    home.tools.plan["free.send"] = [LOST]
    run = home.start("twice")
    home.write(texts.operator({"free.send": texts.tool("free.send", now)}))
    home.decide("continue_tool", run)
    assert len(home.tools.starts) == (1 if waits else 2) and len(retried(home, run)) == (0 if waits else 1)
    assert home.run(run).status == "FAILED"
    if waits:
        with pytest.raises(ToolgateError, match="may have taken effect"):
            home.desk().retry_step(run, "a")
    else:
        home.desk().retry_step(run, "a")
    assert len(home.tools.starts) == (1 if waits else 3)


def test_a_doubt_inside_a_branch_and_one_that_came_after_the_word_count_too(home: Home) -> None:
    arms = step("b", "branch", on="inputs.way", arms={"x": "way"})
    write(
        home, arms, again("b", max_retries=2), STOP, more='[inputs.way]\ntype = "string"\ndefault = "x"\n', way=[uses("pay", "free.send")]
    )
    home.tools.plan["free.send"] = [LOST, LOST]
    run = home.start("twice")
    home.decide("continue_tool", run)
    assert "free.send of b/pay" in str(home.run(run).error)
    home.desk().retry_step(run, "b", may_run_twice=True)
    home.decide("continue_tool", run)
    assert "free.send of b/pay" in str(home.run(run).error) and len(home.tools.starts) == 2 and retried(home, run)[1:] == []


def test_a_doubt_elsewhere_or_one_that_was_settled_is_none(home: Home) -> None:
    elsewhere = step("x", "tool", tool="free.send", arguments={"text": "other"})
    write(home, elsewhere, uses("a", "free.send"), again(), texts.AFTER)
    home.tools.plan["free.send"] = [LOST, LOST]
    run = home.start("twice")
    home.decide("continue_tool", run)
    home.decide("continue_tool", run, outcome={"applied": True, "result": 1})
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 3


# ---- how often ----
LOOP = step("loop", "block", block="body", repeat={"until": "count", "max": 3})


def test_what_was_run_again_often_enough_is_followed_by_the_fallback(home: Home) -> None:
    write(home, LOOP, body=[uses("a", "free.send"), again(max_retries=2, fallback="instead")], instead=[uses("f", "ask.send")])
    run = home.start("twice")
    assert home.run(run).status == "AWAITING_TOOL_APPROVAL" and home.tools.names() == ["free.send"] * 5
    assert home.row(run).step == "loop/again/f"
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and home.tools.names() == ["free.send"] * 5 + ["ask.send"]
    assert [told["attempt"] for _, told in retried(home, run)] == [1, 2]


FALLBACKS: dict[str, dict[str, object]] = {
    "input": step("f", "input", form="ship"),
    "block": step("f", "block", block="deep"),
    "agent": step("f", "agent", agent="clerk"),
    "escalation": step("f", "agent", agent="clerk"),
}


@pytest.mark.parametrize("gate", ["none", "approval"])
@pytest.mark.parametrize("kind", FALLBACKS)
def test_a_fallback_that_waits_goes_on_where_it_is_and_takes_its_gate(quick: Home, kind: str, gate: str) -> None:
    home = quick
    body = [uses("a", "free.send"), again(max_retries=1, fallback="instead"), uses("b", "idem.put")]
    twice = step("loop", "block", block="body", repeat={"until": "count", "max": 2})
    deep = [uses("x", "free.send"), uses("y", "ask.send")]
    write(home, twice, more=texts.FORM, body=body, instead=[{**FALLBACKS[kind], "gate": gate}], deep=deep)
    home.models.turns["f"] = [[call("ask.send"), COMPLETE] if kind == "agent" else [{"type": "escalate", "reason": "?"}, COMPLETE]]
    run = home.start("twice")
    desk = home.desk()
    match kind:
        case "input":
            home.answer(run, {"street": "Main"}, {})
        case "escalation":
            desk.approve_step(desk.select_step(run, "loop/again/f", "approve"))
        case _:
            home.decide("approve", run)
    if gate == "approval":
        assert (home.run(run).status, home.row(run).step) == ("AWAITING_STEP_APPROVAL", "loop/again/f")
        assert home.tools.names().count("idem.put") == 1
        desk.approve_step(desk.select_step(run, "loop/again/f", "approve"))
    assert home.run(run).status == "COMPLETED" and home.tools.names().count("idem.put") == 2 and len(home.models.asked) <= 1
    assert home.tools.names().count("free.send") == 3 + (kind == "block") and home.tools.names().count("ask.send") <= 1
    assert len(retried(home, run)) == 1 and home.types(run).count("AWAITING_INPUT") == (kind == "input")


def test_without_a_fallback_it_fails(home: Home) -> None:
    write(home, LOOP, body=[uses("a", "free.send"), again(max_retries=1)])
    run = home.start("twice")
    assert home.run(run).status == "FAILED" and "max_retries" in str(home.run(run).error) and home.tools.names() == ["free.send"] * 3


def test_the_budget_of_an_agent_is_shared_with_the_operator(home: Home) -> None:
    write(home, step("a", "agent", agent="clerk", retry={**FREE, "max_retries": 2}), again(max_retries=5), STOP)
    home.models.turns["a"] = [[COMPLETE]] * 9
    run = home.start("twice")
    assert len(home.models.asked) == 2
    home.desk().retry_step(run, "a")  # the second unit; the replay after it has none left
    assert len(home.models.asked) == 3 and home.run(run).status == "FAILED" and "used up its 2 retries" in str(home.run(run).error)
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.desk().retry_step(run, "a")
    assert caught.value.kind == "wrong_state" and changed(before, home.dump()) == []


def test_an_operators_retry_of_the_target_lets_the_replay_fire_again(home: Home) -> None:
    write(home, uses("a", "free.send"), again(max_retries=2), STOP)
    run = home.start("twice")
    home.desk().retry_step(run, "a")
    assert home.tools.names() == ["free.send"] * 4 and [t.get("attempt") for _, t in retried(home, run)] == [1, None, 2]


def test_the_fallback_runs_even_where_the_agents_own_budget_is_gone(home: Home) -> None:
    body = [step("a", "agent", agent="clerk", retry={**FREE, "max_retries": 1}), again(max_retries=1, fallback="instead")]
    write(home, LOOP, body=body, instead=[uses("f", "free.send")])
    home.models.turns["a"] = [[COMPLETE]] * 9
    run = home.start("twice")
    assert home.run(run).status == "COMPLETED" and home.tools.names() == ["free.send"] * 2 and len(home.models.asked) == 4


def test_counters_are_nobodys_business(home: Home) -> None:
    write(home, step("a", "agent", agent="clerk", reads=["*"], retry=FREE), again(), texts.AFTER)
    home.models.turns["a"] = [[call("free.send", text="hi")], [COMPLETE], [COMPLETE]]
    run = home.start("twice")
    assert home.run(run).status == "COMPLETED" and all(not k.startswith("__") for asked in home.models.asked for k in asked.context)
    view = home.desk().show_run(run)[0]
    assert view.context is not None and not [key for key in view.context if key.startswith("__")]


def test_a_failed_call_in_a_replay_is_decided_and_the_replay_goes_on(home: Home) -> None:
    from .fakes import OK

    write(home, uses("a", "free.send"), again(), texts.AFTER)
    home.tools.plan["free.send"] = [OK, FAILED]
    run = home.start("twice")
    assert home.run(run).status == "AWAITING_TOOL_DECISION"
    home.decide("continue_tool", run)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 2


# ---- what is refused when the file is loaded ----
AGENT = step("a", "agent", agent="clerk")
INNER = step("in", "block", block="body")
BODY = {"body": [step("x", "assign", set={"x": "1"})]}


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([again("b"), uses("b", "free.send")], "twice.toml:10: steps[0].step: there is no step b before this one"),
        ([uses("aa", "free.send"), again("a")], "there is no step a before this one"),
        ([again("again")], "there is no step again before this one"),
        ([AGENT, again()], "the step a does not allow it"),
        ([{**AGENT, "retry": {"allow": True}}, again()], "the step a does not allow it"),
        ([uses("a", "free.send"), INNER, again()], "it would run the block in again"),
        ([INNER, again("in")], "it would run the block in again"),
        ([uses("a", "free.send"), again(fallback="nowhere")], "there is no block nowhere"),
        ([uses("a", "free.send"), again(mode="all")], '"all" is not one of single, from'),
    ],
)
def test_a_replay_that_cannot_be_is_refused_with_its_line(quick: Home, steps: list[dict[str, object]], said: str) -> None:
    write(quick, *steps, **BODY)
    with pytest.raises(ToolgateError) as caught:
        quick.start("twice")
    assert caught.value.kind == "invalid" and said in caught.value.message


def test_a_composite_after_it_is_fine_and_so_is_a_target_in_a_block(quick: Home) -> None:
    write(quick, uses("a", "free.send"), again(), INNER, body=[uses("a", "free.send"), again()])
    run = quick.start("twice")
    assert quick.run(run).status == "COMPLETED" and len(quick.tools.starts) == 4


def test_a_step_of_the_fallback_is_named_by_the_step_that_holds_it(quick: Home) -> None:
    write(quick, uses("a", "free.send"), again(fallback="body"), STOP, **BODY)
    run = quick.start("twice")
    with pytest.raises(ToolgateError) as caught:
        quick.desk().retry_step(run, "x")
    assert caught.value.hint == "use --step again"
