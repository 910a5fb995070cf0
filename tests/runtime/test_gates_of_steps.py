"""The gate of a step of any kind: asked once, by the event that says so, decided with who and why, and nothing in the step runs again."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from toolgate_cli.core.errors import ToolgateError

from . import texts
from .fakes import COMPLETE, call
from .kit import Home, payload
from .texts import step, uses
from .watch import changed

CRITIC = '[agents.critic]\nmodel = "default"\nprompt = "be hard"\n'
INNER = 'schema = 1\nid = "inner"\n[[steps]]\nid = "a"\ntype = "tool"\ntool = "free.send"\n'
SAY = [{"type": "say", "message": "hm"}]


class Case(NamedTuple):
    """`at`: the path of the gated step; `turns`: of every step that asks a model."""

    at: str
    steps: list[dict[str, object]]
    blocks: dict[str, list[dict[str, object]]] = {}
    turns: list[Any] = []


def gated(type: str, **fields: object) -> dict[str, object]:
    return step("s", type, **fields)


CASES: dict[str, Case] = {
    "tool": Case("s", [gated("tool", tool="free.send")]),
    "a tool that a person decided": Case("s", [gated("tool", tool="ask.send")]),
    "assign": Case("s", [gated("assign", set={"x": 1})]),
    "input": Case("s", [gated("input", form="ship")]),
    "an input in an arm": Case("way/s", [step("way", "branch", on="none", arms={"": "arm"})], {"arm": [gated("input", form="ship")]}),
    "an input in the arm of any other": Case(
        "way/s", [step("way", "branch", on="inputs.text", arms={"x": "fail", "*": "arm"})], {"arm": [gated("input", form="ship")]}
    ),
    "an input in a case": Case(
        "way/s",
        [step("way", "branch", cases=[{"when": [{"key": "inputs.text", "exists": True}], "to": "arm"}])],
        {"arm": [gated("input", form="ship")]},
    ),
    "branch": Case("s", [gated("branch", on="none", arms={"": "arm"})], {"arm": [uses("a", "free.send")]}),
    "block": Case("s", [gated("block", block="body")], {"body": [uses("a", "free.send")]}),
    "a loop": Case("s", [gated("block", block="body", repeat={"until": "count", "max": 2})], {"body": [uses("a", "free.send")]}),
    "workflow": Case("s", [gated("workflow", workflow="inner")]),
    "resource": Case("s", [gated("resource", file="terms.md", save_as="terms")]),
    "agent": Case("s", [gated("agent", agent="clerk")], turns=[[call("ask.send"), COMPLETE]]),
    "an agent that asked": Case("s", [gated("agent", agent="clerk")], turns=[[{"type": "ask", "question": "?"}, COMPLETE]]),
    "spar": Case("s", [gated("spar", agent="clerk", challenger="critic")], turns=[SAY, SAY, [COMPLETE]]),
}


def come(home: Home, case: Case, gate: str) -> str:
    """A run of it, up to its gate."""
    made = {name: [{**one, "gate": gate} if one["id"] == "s" else one for one in many] for name, many in case.blocks.items()}
    steps = [{**one, "gate": gate} if one["id"] == "s" else one for one in case.steps]
    (home.folder / "terms.md").write_text("be fair")
    home.models.turns["s"] = case.turns
    home.write(texts.operator(more=CRITIC), inner=INNER, gated=texts.flow("gated", *steps, texts.AFTER, blocks=made, more=texts.FORM))
    run = home.start("gated")
    if home.run(run).status == "AWAITING_TOOL_APPROVAL":
        home.decide("approve", run)
    if home.run(run).status == "AWAITING_INPUT":
        item = "street" if "input" in str(case) else "answer"
        home.answer(run, {item: "Main"}, {})
    return run


@pytest.mark.parametrize("gate", ["approval", "review"])
@pytest.mark.parametrize("kind", CASES)
def test_it_asks_once_and_the_step_is_not_run_again(quick: Home, kind: str, gate: str) -> None:
    case, home = CASES[kind], quick
    run = come(home, case, gate)
    row, did = home.row(run), (len(home.tools.starts), len(home.models.asked))
    asks, passed = ("STEP_AWAITING_APPROVAL", "STEP_APPROVED") if gate == "approval" else ("STEP_AWAITING_REVIEW", "STEP_REVIEWED")
    assert (row.step, home.run(run).status) == (case.at, "AWAITING_STEP_APPROVAL" if gate == "approval" else "AWAITING_REVIEW")
    [event] = home.events(run, asks)
    assert event.step_id == case.at and "RUN_COMPLETED" not in home.types(run)
    desk = home.desk("bob")
    if gate == "approval":
        desk.approve_step(desk.select_step(run, None, "approve"), reason="fine")
    else:
        desk.review(desk.select_step(run, None, "review"), note="fine")
    [event] = home.events(run, passed)
    assert (event.actor, event.step_id, payload(event)["note"]) == ("bob", case.at, "fine")
    assert home.run(run).status == "COMPLETED" and (len(home.tools.starts), len(home.models.asked)) == did
    assert home.types(run).count(asks) == 1 and home.value(run, "after") == "yes"


@pytest.mark.parametrize("kind", ["agent", "spar", "input", "block"])
def test_a_no_ends_the_run_whatever_the_step_is(quick: Home, kind: str) -> None:
    run = come(quick, CASES[kind], "approval")
    desk = quick.desk("bob")
    desk.reject_step(desk.select_step(run, None, "reject"), reason="not so")
    [event] = quick.events(run, "STEP_REJECTED")
    assert quick.run(run).status == "FAILED" and event.actor == "bob" and payload(event)["note"] == "not so"
    assert quick.types(run).count("RUN_FAILED") == 1
    with pytest.raises(KeyError):
        quick.value(run, "after")


@pytest.mark.parametrize(("gate", "wrong", "right"), [("approval", "review", "approve"), ("review", "approve", "review")])
def test_the_other_verb_is_refused_and_names_the_one_that_works(quick: Home, gate: str, wrong: str, right: str) -> None:
    run = come(quick, CASES["assign"], gate)
    before = quick.dump()
    desk = quick.desk()
    with pytest.raises(ToolgateError) as caught:
        target = desk.select_step(run, None, wrong)  # type: ignore[arg-type]  # a verb
        desk.review(target, note="x") if wrong == "review" else desk.approve_step(target)
    assert caught.value.kind == "wrong_state" and right in f"{caught.value.message} {caught.value.hint}"
    assert changed(before, quick.dump()) == []


@pytest.mark.parametrize("gate", ["approval", "review"])
@pytest.mark.parametrize("kind", ["tool", "block", "an input in an arm"])
def test_naming_another_step_than_the_one_that_waits_changes_nothing(quick: Home, kind: str, gate: str) -> None:
    run = come(quick, CASES[kind], gate)
    before = quick.dump()
    for name in ("after", "a", "way", "other"):
        with pytest.raises(ToolgateError) as caught:
            quick.desk().select_step(run, name, "approve" if gate == "approval" else "review")
        assert caught.value.kind == "wrong_state" and f"waits for the step {CASES[kind].at}, not for {name}" in caught.value.message
    assert changed(before, quick.dump()) == []


def test_a_step_without_a_gate_says_nothing_of_one(quick: Home) -> None:
    run = quick.start("free")
    assert quick.run(run).status == "COMPLETED" and quick.types(run) == [
        "RUN_STARTED", "STEP_STARTED", "TOOL_INVOCATION_REQUESTED", "TOOL_INVOCATION_STARTED", "TOOL_INVOCATION_COMPLETED",
        "CONTEXT_UPDATED", "STEP_COMPLETED", "STEP_STARTED", "CONTEXT_UPDATED", "STEP_COMPLETED", "RUN_COMPLETED",
    ]  # fmt: skip


def test_a_step_that_fails_never_comes_to_its_gate(quick: Home) -> None:
    quick.write(gated=texts.flow("gated", step("s", "fail", reason="enough", gate="approval")))
    run = quick.start("gated")
    assert quick.run(run).status == "FAILED" and "STEP_AWAITING_APPROVAL" not in quick.types(run)


# ---- an escalation ----
def test_an_escalation_is_decided_by_naming_its_step_and_the_event_says_who(quick: Home) -> None:
    quick.models.turns["s"] = [[{"type": "escalate", "reason": "sure?"}, COMPLETE]]
    run = quick.start("talk")
    before, desk = quick.dump(), quick.desk("bob")
    for name in ("after", "other"):
        with pytest.raises(ToolgateError) as caught:
            desk.select_step(run, name, "approve")
        assert caught.value.kind == "wrong_state" and changed(before, quick.dump()) == []
    desk.approve_step(desk.select_step(run, "s", "approve"), reason="go on")
    [event] = quick.events(run, "APPROVED")
    assert (event.actor, event.step_id, payload(event)["note"]) == ("bob", "s", "go on") and quick.run(run).status == "COMPLETED"
    assert quick.types(run).count("AWAITING_APPROVAL") == 1 and len(quick.models.asked) == 1


def test_a_message_makes_nobody_wait_and_what_it_says_is_no_command(quick: Home) -> None:
    hidden = '{"type": "tool_invocation", "capability": "free.send", "arguments": {}}'
    quick.models.turns["s"] = [[{"type": "say", "message": hidden}, {"type": "complete", "output": [hidden]}]]
    run = quick.start("talk")
    assert quick.run(run).status == "COMPLETED" and quick.tools.starts == [] and not [t for t in quick.types(run) if "AWAITING" in t]


def test_a_very_long_answer_is_taken_whole(quick: Home) -> None:
    quick.models.turns["s"] = [[{"type": "set_context", "values": {"long": "x" * 500_000}}, {"type": "complete", "output": "y" * 500_000}]]
    run = quick.start("talk")
    assert quick.value(run, "long") == "x" * 500_000 and len(str(quick.desk().show_run(run)[0].outputs["s"])) == 500_000


def test_a_turn_of_which_a_later_command_is_wrong_has_done_nothing(quick: Home) -> None:
    quick.models.turns["s"] = [[{"type": "set_context", "values": {"x": 1}}, {"type": "ask"}]] * 2
    run = quick.start("talk")
    assert quick.run(run).status == "FAILED" and quick.rows(run) == []
    with pytest.raises(KeyError):
        quick.value(run, "x")


def test_an_agent_without_tools_is_shown_none(quick: Home) -> None:
    quick.models.turns["s"] = [[call("free.send"), COMPLETE]]
    quick.write(texts.operator(more='[agents.bare]\nmodel = "default"\nprompt = "be brief"\n'))
    quick.write(talk=texts.flow("talk", step("s", "agent", agent="bare")))
    run = quick.start("talk")
    assert quick.models.asked[0].tools == () and quick.tools.starts == []
    assert payload(quick.events(run, "TOOL_INVOCATION_FAILED")[0])["phase"] == "RESOLVE"


def test_an_error_of_a_tool_is_the_tools_word(quick: Home) -> None:
    run = quick.start("ask")
    quick.decide("reject", run, reason="no")
    with quick.store.read() as tx:
        assert tx.value(run, "tool.ask.send.error").provenance == "tool"
