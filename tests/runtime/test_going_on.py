"""How a run goes on: past gates, through blocks and loops, after a retry of a step; nothing that finished runs again, no run is wedged."""

from __future__ import annotations

import pytest

from toolgate_cli.core.errors import ToolgateError

from . import texts
from .fakes import COMPLETE, DECLINED, FAILED, LOST, OK, call
from .kit import Home, dies, payload
from .texts import step, uses
from .watch import changed


# ---- gates ----
@pytest.mark.parametrize(("gate", "status"), [("approval", "AWAITING_STEP_APPROVAL"), ("review", "AWAITING_REVIEW")])
@pytest.mark.parametrize("settled", ["ran", "rejected", "given up", "found out"])
def test_there_is_no_way_past_a_gate(home: Home, gate: str, status: str, settled: str) -> None:
    tool = "ask.send" if settled == "rejected" else "free.send"
    home.write(gated=texts.flow("gated", uses("s", tool, gate=gate), uses("t", "free.send")))
    home.tools.plan["free.send"] = {"given up": [FAILED], "found out": [LOST]}.get(settled, [])
    run = home.start("gated")
    if settled == "rejected":
        home.decide("reject", run)
    elif settled != "ran":
        home.decide("continue_tool", run, outcome={"applied": True} if settled == "found out" else None)
    starts = len(home.tools.starts)
    assert home.run(run).status == status
    for act in (
        lambda: home.desk().continue_run(run),
        lambda: home.desk().retry_step(run, "s"),
        lambda: home.decide("approve", run),
        lambda: home.answer(run, {}, {}),
    ):
        with pytest.raises(ToolgateError) as caught:
            act()
        assert caught.value.kind == "wrong_state"
    home.desk().recover(None, None)
    assert home.run(run).status == status and len(home.tools.starts) == starts
    desk = home.desk("bob")
    if gate == "review":
        desk.review(desk.select_step(run, None, "review"), note="")
    else:
        desk.approve_step(desk.select_step(run, "s", "approve"))
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == starts + 1
    assert home.types(run).count("STEP_REVIEWED" if gate == "review" else "STEP_APPROVED") == 1


def test_a_rejected_gate_ends_the_run_with_who_and_where(home: Home) -> None:
    run = home.start("gate")
    desk = home.desk("bob")
    desk.reject_step(desk.select_step(run, None, "reject"), reason="not good")
    view = home.desk().show_run(run)[0]
    assert view.run.status == "FAILED" and view.error is not None and view.error["message"] == "not good" and view.error["step"] == "s"
    assert home.events(run, "RUN_FAILED")[0].seq == view.error["support_id"] and home.types(run).count("RUN_FAILED") == 1


def test_a_gate_is_decided_once(home: Home) -> None:
    run = home.start("gate")
    desk = home.desk()
    target = desk.select_step(run, None, "approve")
    home.desk().approve_step(target)
    before = home.dump()
    for again in (desk.approve_step, desk.reject_step):
        with pytest.raises(ToolgateError) as caught:
            again(target)
        assert caught.value.kind == "claim_lost"
    assert changed(before, home.dump()) == []


def test_only_the_step_that_waits_can_be_named(home: Home) -> None:
    run = home.start("gate")
    for name in ("after", "other", "S"):
        with pytest.raises(ToolgateError) as caught:
            home.desk().select_step(run, name, "approve")
        assert caught.value.kind == "wrong_state" and "--step s" in caught.value.hint


def test_a_form_takes_all_its_answers_or_none(home: Home) -> None:
    run = home.start("form")
    before = home.dump()
    for texts_, values in (({}, {}), ({"street": "x", "town": "y"}, {}), ({}, {"street": 7}), ({"__x": "1"}, {})):
        with pytest.raises(ToolgateError) as caught:
            home.answer(run, texts_, values)  # type: ignore[arg-type]  # as they come
        assert caught.value.kind == "invalid"
    assert changed(before, home.dump()) == []
    home.answer(run, {"street": "High Street"}, {})
    assert home.value(run, "ship.street") == "High Street" and home.run(run).status == "COMPLETED"


# ---- blocks and loops ----
LOOP = step("loop", "block", block="body", repeat={"until": "count", "max": 3})


def test_a_loop_is_counted_and_nothing_of_it_runs_twice(home: Home) -> None:
    body = [uses("a", "idem.put"), uses("b", "ask.send")]
    home.write(loop=texts.flow("loop", uses("first", "free.send"), LOOP, texts.AFTER, blocks={"body": body}))
    run = home.start("loop")
    for n in (1, 2, 3):
        assert home.run(run).status == "AWAITING_TOOL_APPROVAL" and home.tools.names().count("idem.put") == n
        home.decide("approve", run)
    assert home.tools.names() == ["free.send", *["idem.put", "ask.send"] * 3] and home.run(run).status == "COMPLETED"
    assert home.types(run).count("LOOP_ITERATION_STARTED") == home.types(run).count("LOOP_ITERATION_COMPLETED") == 3
    assert home.types(run).count("STEP_COMPLETED") == 1 + 3 * 2 + 1 + 1


def test_a_branch_is_decided_once(home: Home) -> None:
    way = step("way", "branch", on="which", arms={"left": "left", "*": "right"})
    flip = step("flip", "assign", set={"which": "other"})
    home.write(fork=texts.flow("fork", step("set", "assign", set={"which": "left"}), way, texts.AFTER, blocks={
        "left": [flip, uses("l", "ask.send")], "right": [uses("r", "free.send")],
    }))  # fmt: skip
    run = home.start("fork")
    home.decide("approve", run)
    assert home.tools.names() == ["ask.send"] and home.run(run).status == "COMPLETED"


@pytest.mark.parametrize(("text", "arm", "sent"), [("left", "left", ["free.send"]), ("other", "*", [])])
def test_the_log_says_which_way_a_branch_went_and_what_is_behind_it_is_come_to(home: Home, text: str, arm: str, sent: list[str]) -> None:
    way = step("way", "branch", on="inputs.text", arms={"left": "left", "*": "continue"})
    inner = step("deep", "block", block="deep")
    home.write(fork=texts.flow("fork", inner, texts.AFTER, blocks={"deep": [way, step("b", "assign", set={"b": "1"})], "left": [
        step("again", "branch", on="none", arms={"x": "fail", "*": "fail", "": "continue"}), uses("l", "free.send")]}))  # fmt: skip
    run = home.start("fork", text=text)
    assert home.run(run).status == "COMPLETED" and (home.value(run, "b"), home.value(run, "after")) == ("1", "yes")
    assert home.tools.names() == sent
    told = {event.step_id: payload(event) for event in home.events(run, "STEP_COMPLETED") if payload(event)}
    assert told == ({"deep/way": {"arm": arm}} | ({"deep/way/again": {"arm": ""}} if sent else {}))


def test_a_branch_that_is_retried_is_decided_anew(home: Home) -> None:
    home.tools.plan["free.send"] = [OK._replace(output=f'"{way}"') for way in ("left", "right")]
    way = step("way", "branch", on="tool.free.send", arms={"left": "left", "right": "right"})
    blocks = {"left": [uses("l", "idem.put")], "right": [uses("r", "read.it")]}
    home.write(fork=texts.flow("fork", uses("a", "free.send"), way, uses("b", "unsafe.put"), step("c", "fail", reason="x"), blocks=blocks))
    run = home.start("fork")
    home.desk().retry_step(run, "way")
    assert home.tools.names() == ["free.send", *["idem.put", "unsafe.put"] * 2]
    home.desk().retry_step(run, "a")
    assert home.tools.names()[5:] == ["free.send", "read.it", "unsafe.put"]


@pytest.mark.parametrize("output", ["", "null", "{}", "[]", "not json {"])
def test_whatever_a_tool_prints_its_run_goes_on(home: Home, output: str) -> None:
    home.tools.plan["free.send"] = [OK._replace(output=output, size=len(output))]
    home.write(empty=texts.flow("empty", uses("s", "free.send"), uses("t", "ask.send"), texts.AFTER))
    run = home.start("empty")
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and home.value(run, "after") == "yes"


def test_a_run_goes_on_where_its_owner_died_and_repeats_nothing(home: Home) -> None:
    home.write(loop=texts.flow("loop", LOOP, texts.AFTER, blocks={"body": [uses("a", "free.send"), uses("b", "idem.put")]}))
    home.tools.plan["idem.put"] = [OK, dies]
    process = home.process()
    home.killed(lambda: process.desk.start("loop", {}, {}))
    [waiting] = home.desk().pending(None, 10)[0]
    home.decide("retry", waiting.row.run_id)
    assert home.tools.names() == ["free.send", "idem.put", "free.send", "idem.put", "idem.put", "free.send", "idem.put"]
    assert home.run(waiting.row.run_id).status == "COMPLETED"


def test_a_run_that_is_over_starts_nothing_more(home: Home) -> None:
    run = home.start("free")
    for _ in range(2):
        with pytest.raises(ToolgateError) as caught:
            home.desk().continue_run(run)
        assert caught.value.kind == "wrong_state"
    home.desk().recover(None, None)
    assert len(home.tools.starts) == 1 and home.types(run).count("RUN_COMPLETED") == 1


def test_a_living_owner_is_not_driven_out(home: Home) -> None:
    def driven(request: object) -> list[object]:
        run = home.events()[-1].run_id or ""
        with pytest.raises(ToolgateError) as caught:
            home.desk().continue_run(run)
        assert caught.value.kind == "run_owned"
        assert home.desk().recover(None, None) == ()
        return [COMPLETE]

    home.models.turns["s"] = [driven]
    assert home.run(home.start("talk")).status == "COMPLETED" and len(home.models.asked) == 1


def test_two_take_over_a_dead_run_and_one_drives_it(home: Home) -> None:
    home.write(talk=texts.FLOWS["talk"])
    process = home.process()
    home.models.turns["s"] = [lambda request: process.die()]
    home.killed(lambda: process.desk.start("talk", {}, {}))
    run = home.events()[-1].run_id or ""

    def second(request: object) -> list[object]:
        with pytest.raises(ToolgateError) as caught:
            home.desk().continue_run(run)
        assert caught.value.kind == "run_owned"
        return [COMPLETE]

    home.models.turns["s"] = [second]
    home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and len(home.models.asked) == 2


def test_recover_takes_over_what_a_dead_owner_drove(home: Home) -> None:
    home.write(talk=texts.FLOWS["talk"])
    process = home.process()
    home.models.turns["s"] = [lambda request: process.die()]
    home.killed(lambda: process.desk.start("talk", {}, {}))
    home.models.turns["s"] = [[call("free.send"), COMPLETE]]
    [answer] = home.desk().recover(None, None)
    assert answer.run.run.status == "COMPLETED" and "RUN_RECOVERED" in home.types(answer.run.run.id) and len(home.tools.starts) == 1


# ---- retry --step ----
THREE = texts.flow("three", uses("a", "free.send"), uses("b", "idem.put"), step("c", "fail", reason="stop"))


def test_a_retried_step_and_what_comes_after_it_run_again(home: Home) -> None:
    home.write(three=THREE)
    run = home.start("three")
    home.desk("bob").retry_step(run, "b")
    assert home.tools.names() == ["free.send", "idem.put", "idem.put"] and home.run(run).status == "FAILED"
    assert len({started.call for started in home.tools.starts}) == 3  # a new call, with a key of its own
    assert home.events(run, "STEP_RETRIED")[0].actor == "bob" and home.types(run).count("RUN_FAILED") == 2


def test_a_retry_takes_back_what_the_step_and_its_successors_wrote(home: Home) -> None:
    home.write(back=texts.flow("back", step("a", "assign", set={"x": "1"}), step("b", "assign", set={"x": "2", "y": "2"}),
                               step("c", "fail", reason="${y}"), step("d", "assign", set={"x": "3"})))  # fmt: skip
    run = home.start("back")
    assert (home.value(run, "x"), home.value(run, "y")) == ("2", "2")
    with home.store.write() as tx:
        tx.rewind(run, 1)
        assert tx.value(run, "x").value == '"1"' and tx.value(run, "y") is None
    home.desk().retry_step(run, "a")
    assert home.value(run, "x") == "2" and [one.path for one in _steps(home, run)] == ["a", "b", "c"]


def test_a_retry_that_goes_well_leaves_no_failure_behind(home: Home) -> None:
    home.write(again=texts.flow("again", step("s", "fail", reason="${nothing}")))
    home.models.turns["s"] = []
    run = home.start("talk")
    assert home.run(run).status == "FAILED" and home.run(run).error is not None
    home.write(talk=texts.flow("talk", step("s", "agent", agent="clerk", retry={"allow": True})))
    run = home.start("talk")
    home.models.turns["s"] = [[], [COMPLETE], [COMPLETE]]
    home.desk().retry_step(run, "s")
    assert home.run(run).status == "COMPLETED" and home.run(run).error is None and home.types(run)[-1] == "RUN_COMPLETED"
    assert home.types(run).count("RUN_FAILED") == 1


def _steps(home: Home, run: str):  # type: ignore[no-untyped-def]  # steps
    with home.store.read() as tx:
        return tx.steps(run)


def test_a_nested_step_is_refused_with_the_step_that_holds_it(home: Home) -> None:
    home.write(nest=texts.flow("nest", step("outer", "block", block="body"), step("stop", "fail", reason="x"), blocks={
        "body": [step("mid", "block", block="deep")], "deep": [step("leaf", "assign", set={"x": "1"})],
    }))  # fmt: skip
    run = home.start("nest")
    before = home.dump()
    for name in ("leaf", "outer/mid/leaf", "mid"):
        with pytest.raises(ToolgateError) as caught:
            home.desk().retry_step(run, name)
        assert caught.value.kind == "wrong_state" and caught.value.hint == "use --step outer"
    with pytest.raises(ToolgateError) as caught:
        home.desk().retry_step(run, "nowhere")
    assert caught.value.kind == "not_found" and changed(before, home.dump()) == []


@pytest.mark.parametrize("retry", [None, {"allow": False, "max_retries": 5}])
def test_an_agent_is_not_repeated_unless_its_workflow_says_so(home: Home, retry: dict[str, object] | None) -> None:
    more = {} if retry is None else {"retry": retry}
    home.write(talk=texts.flow("talk", step("s", "agent", agent="clerk", **more), step("stop", "fail", reason="x")))
    home.models.turns["s"] = [[COMPLETE]]
    run = home.start("talk")
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.desk().retry_step(run, "s")
    assert caught.value.kind == "wrong_state" and "does not let the step s be repeated" in caught.value.message
    assert "retry = { allow = true }" in caught.value.hint and changed(before, home.dump()) == []
    home.desk().retry_step(run, "stop")
    assert len(home.models.asked) == 1


def test_an_agent_is_repeated_as_often_as_its_budget_says(home: Home) -> None:
    twice = step("s", "agent", agent="clerk", retry={"allow": True, "max_retries": 2})
    home.write(talk=texts.flow("talk", twice, step("stop", "fail", reason="x")))
    home.models.turns["s"] = [[COMPLETE]] * 5
    run = home.start("talk")
    for _ in range(2):
        home.desk().retry_step(run, "s")
        home.desk().retry_step(run, "stop")  # does not count
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.desk().retry_step(run, "s")
    assert caught.value.kind == "wrong_state" and "2 retries" in caught.value.message and changed(before, home.dump()) == []
    assert len(home.models.asked) == 3


def test_of_two_agents_the_one_that_is_named_is_asked_again_out_of_its_own_budget(home: Home) -> None:
    agents = [step(id, "agent", agent="clerk", retry={"allow": True, "max_retries": 1}) for id in ("s", "policy_s")]
    home.write(talk=texts.flow("talk", *agents, step("stop", "fail", reason="x")))
    home.models.turns |= {"s": [[COMPLETE]] * 2, "policy_s": [[COMPLETE]] * 3}
    run = home.start("talk")
    home.desk().retry_step(run, "policy_s")
    assert [request.step for request in home.models.asked] == ["s", "policy_s", "policy_s"] and home.run(run).status == "FAILED"
    home.desk().retry_step(run, "s")  # its own is untouched
    assert [request.step for request in home.models.asked[3:]] == ["s", "policy_s"]


@pytest.mark.parametrize("gate", ["approval", "review"])
def test_a_gated_block_behind_a_retried_step_runs_again_and_asks_again(home: Home, gate: str) -> None:
    block = step("b", "block", block="body", gate=gate)
    home.write(
        nest=texts.flow("nest", uses("a", "free.send"), block, step("stop", "fail", reason="x"), blocks={"body": [uses("in", "idem.put")]})
    )
    run = home.start("nest")
    for n in (1, 2):
        assert home.row(run).step == "b" and home.tools.names() == ["free.send", "idem.put"] * n
        assert home.desk().show_run(run)[0].error is None  # of the failure before nothing is left
        desk = home.desk()
        if gate == "review":
            desk.review(desk.select_step(run, "b", "review"), note="seen")
        else:
            desk.approve_step(desk.select_step(run, "b", "approve"))
        assert home.run(run).status == "FAILED"
        if n == 1:
            home.desk().retry_step(run, "a")


def test_a_retried_agent_begins_a_new_conversation(home: Home) -> None:
    home.write(talk=texts.flow("talk", step("s", "agent", agent="clerk", retry={"allow": True}), step("stop", "fail", reason="x")))
    home.models.turns["s"] = [[call("free.send", n=1)], [COMPLETE], [COMPLETE]]
    run = home.start("talk")
    home.desk().retry_step(run, "s")
    assert [len(request.history) for request in home.models.asked] == [0, 1, 0] and [r.ordinal for r in home.models.asked] == [0, 1, 2]


# ---- pauses and broken kinds ----
def test_a_paused_run_goes_on_when_it_is_continued(home: Home) -> None:
    run = home.start("pauses")
    assert home.run(run).status == "PAUSED" and home.run(run).owner is None
    home.desk().recover(None, None)
    assert home.run(run).status == "PAUSED"
    home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED"


def test_a_step_kind_that_breaks_ends_its_run_and_not_the_program(home: Home) -> None:
    run = home.start("breaks")
    assert home.run(run).status == "FAILED" and home.types(run).count("RUN_FAILED") == 1
    [failed] = home.events(run, "RUN_FAILED")
    assert payload(failed)["message"] == "the step failed: LookupError: a fault of the step kind"  # and nothing of where in the program
    home.desk().retry_step(run, "s")
    assert home.run(run).status == "FAILED"


def test_a_model_that_does_not_answer_ends_the_run(home: Home) -> None:
    run = home.start("talk")
    assert home.run(run).status == "FAILED" and home.run(run).owner is None and home.types(run).count("RUN_FAILED") == 1


def test_a_retry_never_goes_forward_past_a_gate_or_a_no(home: Home) -> None:
    home.write(gated=texts.flow("gated", step("draft", "assign", gate="approval", set={"x": "1"}), uses("publish", "free.send")))
    run = home.start("gated")
    desk = home.desk()
    desk.reject_step(desk.select_step(run, "draft", "reject"))
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.desk().retry_step(run, "publish")
    assert (caught.value.kind, caught.value.hint) == ("wrong_state", f"toolgate retry {run} --step draft")
    assert home.tools.starts == [] and changed(before, home.dump()) == []
    home.desk().retry_step(run, "draft")
    assert home.run(run).status == "AWAITING_STEP_APPROVAL" and home.tools.starts == []


def test_a_retried_step_inherits_the_doubt_of_its_call(home: Home) -> None:
    home.write(doubt=texts.flow("doubt", uses("pay", "free.send"), step("stop", "fail", reason="no")))
    home.tools.plan["free.send"] = [LOST]
    run = home.start("doubt")
    home.decide("reject", run)
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.desk().retry_step(run, "pay")
    assert caught.value.kind == "unknown_outcome" and "--may-run-twice" in caught.value.hint
    assert len(home.tools.starts) == 1 and changed(before, home.dump()) == ["events"]
    assert payload(home.events(run, "DECISION_REFUSED")[-1])["kind"] == "unknown_outcome"  # a missing flag is itself on record
    home.desk().retry_step(run, "stop")  # what comes after it asks for nothing again
    assert len(home.tools.starts) == 1
    home.desk().retry_step(run, "pay", may_run_twice=True)
    assert len(home.tools.starts) == 2 and payload(home.events(run, "STEP_RETRIED")[-1])["may_run_twice"] is True


@pytest.mark.parametrize("tool", ["free.send", "idem.put"])
def test_a_start_that_declines_says_nothing_of_the_one_before_it(home: Home, tool: str) -> None:
    home.write(doubt=texts.flow("doubt", uses("pay", tool), step("stop", "fail", reason="no")))
    home.tools.plan[tool] = [LOST, DECLINED]
    run = home.start("doubt")
    if tool == "free.send":
        home.decide("retry", run, may_run_twice=True)
    [event] = home.events(run, "TOOL_INVOCATION_COMPLETED")
    assert (payload(event)["outcome"], payload(event)["effect_applied"]) == ("business_failed", "unknown")
    with pytest.raises(ToolgateError) as caught:
        home.desk().retry_step(run, "pay")
    assert caught.value.kind == "unknown_outcome" and len(home.tools.starts) == 2
    home.desk().retry_step(run, "pay", may_run_twice=True)
    assert len(home.tools.starts) == 3


def test_a_step_that_declined_in_its_first_start_is_retried_without_a_word_more(home: Home) -> None:
    home.write(doubt=texts.flow("doubt", uses("pay", "free.send"), step("stop", "fail", reason="no")))
    home.tools.plan["free.send"] = [DECLINED]
    run = home.start("doubt")
    assert payload(home.events(run, "TOOL_INVOCATION_COMPLETED")[0])["effect_applied"] == "no"
    home.desk().retry_step(run, "pay")
    assert len(home.tools.starts) == 2


def test_a_doubt_that_a_person_settled_is_none(home: Home) -> None:
    home.write(doubt=texts.flow("doubt", uses("pay", "free.send"), step("stop", "fail", reason="no")))
    home.tools.plan["free.send"] = [LOST]
    run = home.start("doubt")
    home.decide("continue_tool", run, outcome={"applied": False})
    if home.run(run).status != "FAILED":
        home.decide("reject", run)
    home.desk().retry_step(run, "pay")
    assert len(home.tools.starts) == 2
