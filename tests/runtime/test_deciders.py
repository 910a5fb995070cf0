"""Who may decide: scopes, quorum, separation, and that no decision is made from inside a tool."""

from __future__ import annotations

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult

from . import texts
from .fakes import COMPLETE, FAILED, OK, Started
from .kit import Home, payload
from .watch import changed


def refused(home: Home, kind: str, verb: str, run: str, actor: str, **more: object) -> None:
    """The verb is refused, with an event and nothing else."""
    before, starts = home.dump(), len(home.tools.starts)
    with pytest.raises(ToolgateError) as caught:
        home.decide(verb, run, actor=actor, **more)
    assert caught.value.kind == kind and len(home.tools.starts) == starts
    assert changed(before, home.dump()) == ["events"]
    assert home.types(run)[-1] == "DECISION_REFUSED" and home.events(run)[-1].actor == actor
    assert payload(home.events(run)[-1])["kind"] == kind


@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_a_scope_is_needed_for_every_decision(home: Home, verb: str) -> None:
    run = home.start("two")
    refused(home, "scope", verb, run, "mallory")


@pytest.mark.parametrize("verb", ["retry", "reject", "continue_tool"])
def test_a_failed_call_is_still_in_its_scope(home: Home, verb: str) -> None:
    home.write(texts.operator(rules={"ask": texts.rule("ask.*", "require_approval", 'approver_scope = "desk"')}))
    home.tools.plan["ask.send"] = [FAILED]
    run = home.start("ask")
    home.decide("approve", run, actor="alice")
    refused(home, "scope", verb, run, "mallory")
    home.decide(verb, run, actor="bob")
    assert home.run(run).status == "COMPLETED"


def test_a_quorum_is_of_distinct_people(home: Home) -> None:
    run = home.start("two")
    assert home.decide("approve", run, actor="alice").effect == "voted"
    assert home.tools.starts == [] and home.types(run)[-1] == "TOOL_INVOCATION_VOTED"
    assert home.desk().pending(run, 10)[0][0].approvals == ("alice",)
    refused(home, "wrong_state", "approve", run, "alice")
    assert home.decide("approve", run, actor="bob").effect == "approved"
    assert len(home.tools.starts) == 1 and home.run(run).status == "COMPLETED"


def test_one_reject_ends_a_quorum(home: Home) -> None:
    run = home.start("two")
    home.decide("approve", run, actor="alice")
    home.decide("reject", run, actor="carol")
    assert home.tools.starts == [] and home.run(run).status == "COMPLETED"


def test_a_vote_counts_only_while_its_voter_holds_the_scope(home: Home) -> None:
    run = home.start("two")
    home.decide("approve", run, actor="alice")
    home.write(texts.operator().replace(texts.APPROVERS, '[approvers]\ndesk = ["bob", "carol"]\n'))
    assert home.decide("approve", run, actor="bob").effect == "voted" and home.tools.starts == []
    home.decide("approve", run, actor="carol")
    assert len(home.tools.starts) == 1


def test_superseding_voids_the_votes(home: Home) -> None:
    run = home.start("two")
    home.decide("approve", run, actor="alice")
    home.write(texts.operator({"two.send": texts.tool("two.send", about="new")}))
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run, actor="bob")
    assert caught.value.kind == "superseded" and home.desk().pending(run, 10)[0][0].approvals == ()
    assert home.row(run).approvals_needed == 2 and home.row(run).approver_scope == "desk"
    assert home.decide("approve", run, actor="alice").effect == "voted" and home.tools.starts == []
    home.decide("approve", run, actor="carol")
    assert len(home.tools.starts) == 1


@pytest.mark.parametrize("verb", ["approve"])
def test_who_asked_does_not_approve_where_the_rule_separates(home: Home, verb: str) -> None:
    run = home.start("two", actor="alice")
    refused(home, "self_approval", verb, run, "alice")
    home.decide("approve", run, actor="bob")
    home.decide("approve", run, actor="carol")
    assert len(home.tools.starts) == 1


def test_who_asked_may_take_the_request_back(home: Home) -> None:
    run = home.start("two", actor="alice")
    home.decide("reject", run, actor="alice")
    assert home.run(run).status == "COMPLETED" and home.tools.starts == []


def test_who_asked_does_not_retry_a_failed_call_either(home: Home) -> None:
    home.tools.plan["two.send"] = [FAILED]
    run = home.start("two", actor="alice")
    home.decide("approve", run, actor="bob")
    home.decide("approve", run, actor="carol")
    refused(home, "self_approval", "retry", run, "alice")
    home.decide("retry", run, actor="bob")
    assert len(home.tools.starts) == 2


@pytest.mark.parametrize("how", ["environment", "ancestor"])
def test_nothing_is_decided_from_inside_a_tool(home: Home, how: str) -> None:
    waiting = home.start("ask")
    kinds = []

    def inside(started):  # type: ignore[no-untyped-def]
        for verb in ("approve", "reject"):
            process = home.process("agent")
            desk, target = process.desk, process.desk.select([waiting], "approve")
            if how == "environment":
                home.host.inside = started.call
            else:
                process.surroundings.above = (int(started.process.owner.name[1:]),)
            with pytest.raises(ToolgateError) as caught:
                getattr(desk, verb)(target)
            kinds.append(caught.value.kind)
        with pytest.raises(ToolgateError) as caught:
            process.desk.cancel(waiting, None)
        kinds.append(caught.value.kind)
        home.host.inside = None
        return OK

    home.tools.plan["free.send"] = [inside]
    home.start("free")
    assert kinds == ["self_approval"] * 3 and home.row(waiting).origin == "APPROVAL_REQUIRED" and home.tools.names() == ["free.send"]
    assert [event.actor for event in home.events(waiting, "DECISION_REFUSED")] == ["agent", "agent"]


@pytest.mark.parametrize("how", ["environment", "ancestor"])
def test_a_run_that_has_paused_goes_on_at_no_word_of_a_tool(home: Home, how: str) -> None:
    paused = home.start("pauses")
    caught: list[ToolgateError] = []

    def inside(started: Started) -> ToolResult:
        process = home.process("agent")
        if how == "environment":
            home.host.inside = started.call
        else:
            process.surroundings.above = (int(started.process.owner.name[1:]),)
        with pytest.raises(ToolgateError) as refused:
            process.desk.continue_run(paused)
        caught.append(refused.value)
        home.host.inside = None
        return OK

    home.tools.plan["free.send"] = [inside]
    home.start("free")
    [call] = [started.call for started in home.tools.starts if started.capability == "free.send"]
    assert [(error.kind, error.message) for error in caught] == [("self_approval", f"continue was called from inside a tool ({call})")]
    [event] = home.events(paused, "DECISION_REFUSED")
    assert (event.actor, payload(event)["inside"]) == ("agent", call) and home.run(paused).status == "PAUSED"
    assert home.desk().continue_run(paused).run.run.status == "COMPLETED"


def test_a_run_that_its_owner_left_is_driven_on_also_by_a_tool(home: Home) -> None:
    """Nobody has to decide that: whatever drives takes it over."""
    home.write(talk=texts.FLOWS["talk"])
    home.models.turns["s"] = [lambda _: home.processes[-1].die(), [COMPLETE]]
    home.killed(lambda: home.desk().start("talk", {}, {}))
    dead = home.events(type="RUN_STARTED")[0].run_id or ""
    assert home.run(dead).status == "RUNNING"
    home.models.turns["s"] = [[COMPLETE]]
    home.host.inside = "c0"
    assert home.desk().continue_run(dead).run.run.status == "COMPLETED"


def test_in_the_mode_of_the_system_a_claimed_name_decides_nothing(home: Home) -> None:
    run = home.start("ask")
    home.write(texts.operator(more='[identity]\nmode = "os"'))
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run, actor="alice")
    assert caught.value.kind == "not_authorised" and changed(before, home.dump()) == [] and home.tools.starts == []
