"""A full quorum is what clears a row by approval, and nothing else does: not a limit that is used up, not a tool that cannot be used."""

from __future__ import annotations

from contextlib import suppress

import pytest

from toolgate_cli.core.errors import ToolgateError

from . import texts
from .fakes import FAILED, OK
from .kit import Home, payload
from .watch import changed

USED_UP = texts.HEAD.replace("calls_per_run = 200", "calls_per_run = 1")
FLOW = texts.flow("both", texts.uses("a", "free.send"), texts.uses("b", "two.send"))
DISABLED = {"two.send": texts.tool("two.send", more="enabled = false")}
TIGHT = {"two.send": texts.tool("two.send", schema='{ type = "object", properties = { text = { type = "number" } } }')}
DENIED = {"no": texts.rule("two.*", "deny")}


def used_up(home: Home) -> str:
    """A run whose only allowed call was made, and that waits for two approvals of the next."""
    home.write(texts.operator(head=USED_UP), both=FLOW)
    run = home.start("both")
    assert home.tools.names() == ["free.send"] and home.row(run).origin == "APPROVAL_REQUIRED"
    return run


def names_a_full_quorum(home: Home, run: str) -> None:
    """Every row and every start that is cleared by approval has the votes of two people."""
    cleared = any(row.cleared == "approval" for row in home.rows(run))
    cleared |= any(payload(event)["cleared"] == "approval" for event in home.events(run, "TOOL_INVOCATION_STARTED"))
    votes = [table for table in home.dump().get("votes", []) if "'alice'" in table or "'bob'" in table or "'carol'" in table]
    assert not cleared or len(votes) >= 2


def test_one_vote_under_a_limit_that_is_used_up_is_one_vote(home: Home) -> None:
    run = used_up(home)
    row = home.row(run)
    assert home.decide("approve", run, actor="alice").effect == "voted"
    assert home.row(run) == row and row.cleared == "policy"
    home.write(texts.operator())
    for verb, kind in (("retry", "wrong_state"), ("approve", "wrong_state")):
        with pytest.raises(ToolgateError) as caught:
            home.decide(verb, run, actor="alice")
        assert caught.value.kind == kind and home.tools.names() == ["free.send"], verb
    assert home.decide("approve", run, actor="bob").effect == "approved"
    assert home.tools.names() == ["free.send", "two.send"] and home.run(run).status == "COMPLETED"


def test_a_full_quorum_under_a_limit_that_is_used_up_waits_for_the_limit_alone(home: Home) -> None:
    run = used_up(home)
    home.decide("approve", run, actor="alice")
    home.decide("approve", run, actor="bob", reason="it is time")
    row = home.row(run)
    assert (row.origin, row.cleared, row.approvals_needed, row.approver_scope) == ("EXECUTION_FAILED", "approval", 2, "desk")
    assert payload(home.events(run, "TOOL_INVOCATION_DENIED")[0])["code"] == "limit_exceeded" and home.tools.names() == ["free.send"]
    assert payload(home.events(run, "DECISION_REFUSED")[0])["reason"] == "it is time"
    home.decide("retry", run, actor="bob")  # still used up
    assert home.tools.names() == ["free.send"] and home.row(run).cleared == "approval"
    home.write(texts.operator())
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run, actor="mallory")
    assert caught.value.kind == "scope" and home.tools.names() == ["free.send"]
    home.decide("retry", run, actor="bob")
    assert home.tools.names() == ["free.send", "two.send"] and home.run(run).status == "COMPLETED"


@pytest.mark.parametrize("limit", [1, 2])
def test_the_limit_counts_at_both_of_its_sides(home: Home, limit: int) -> None:
    home.write(texts.operator(head=texts.HEAD.replace("calls_per_run = 200", f"calls_per_run = {limit}")), both=FLOW)
    run = home.start("both")
    home.decide("approve", run, actor="alice")
    home.decide("approve", run, actor="bob")
    assert len(home.tools.starts) == limit and bool(home.rows(run)) == (limit == 1)


@pytest.mark.parametrize("votes", [1, 2])
@pytest.mark.parametrize(
    "how", [{"tools": DISABLED}, {"tools": TIGHT}, {"rules": DENIED}, {"tools": {"two.send": ""}}, {"head": USED_UP}], ids=str
)
def test_whatever_keeps_a_call_from_running_nothing_but_a_quorum_clears_it(home: Home, how: dict[str, object], votes: int) -> None:
    run = home.start("two") if "head" not in how else used_up(home)
    starts = len(home.tools.starts)
    for actor in ("alice", "bob")[: votes - 1]:
        home.decide("approve", run, actor=actor)
    home.write(texts.operator(**how))  # type: ignore[arg-type]  # its arguments
    for actor in ("carol", "alice"):
        with suppress(ToolgateError):
            home.decide("approve", run, actor=actor)
        names_a_full_quorum(home, run)
    assert len(home.tools.starts) == starts
    home.write(texts.operator())
    for row in home.rows(run):
        if row.origin == "EXECUTION_FAILED" and row.cleared == "none":
            with pytest.raises(ToolgateError) as caught:
                home.decide("retry", run, actor="carol")
            assert caught.value.kind == "superseded" and home.row(run).approvals_needed == 2
            names_a_full_quorum(home, run)
    assert len(home.tools.starts) == starts


def test_the_votes_of_the_row_before_do_not_count_for_the_next(home: Home) -> None:
    run = home.start("two")
    home.decide("approve", run, actor="alice")
    home.write(texts.operator(tools=DISABLED))
    home.decide("approve", run, actor="bob")
    assert (home.row(run).origin, home.row(run).cleared) == ("EXECUTION_FAILED", "none")
    home.write(texts.operator())
    with pytest.raises(ToolgateError):
        home.decide("retry", run, actor="bob")
    assert home.desk().pending(run, 10)[0][0].approvals == ()
    assert home.decide("approve", run, actor="alice").effect == "voted" and home.tools.starts == []


def test_a_failed_call_of_a_quorum_is_retried_by_one_of_its_scope(home: Home) -> None:
    home.tools.plan["two.send"] = [FAILED, OK]
    run = home.start("two")
    home.decide("approve", run, actor="alice")
    home.decide("approve", run, actor="bob")
    assert home.row(run).cleared == "approval" and home.row(run).approvals_needed == 2
    home.decide("retry", run, actor="carol")
    assert len(home.tools.starts) == 2 and home.run(run).status == "COMPLETED"


# ---- who decides a row that something else has taken over ----
@pytest.mark.parametrize("verb", ["reject", "continue_tool"])
def test_a_denial_that_takes_a_row_over_keeps_who_may_decide_it(home: Home, verb: str) -> None:
    run = home.start("two")
    before = home.row(run)
    home.write(texts.operator(rules=DENIED))
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run, actor="alice")
    assert caught.value.kind == "policy_denied"
    row = home.row(run)
    assert row.origin == "POLICY_DENIED" and row.approver_scope == before.approver_scope == "desk"
    assert (row.approvals_needed, row.separate_requester) == (before.approvals_needed, before.separate_requester) == (2, True)
    stands = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.decide(verb, run, actor="mallory")
    assert caught.value.kind == "scope" and changed(stands, home.dump()) == ["events"] and home.row(run) == row
    home.decide(verb, run, actor="carol")
    assert home.run(run).status == "COMPLETED" and home.tools.starts == []


def test_a_denial_on_the_first_pass_is_of_no_scope(home: Home) -> None:
    run = home.start("deny")
    assert home.row(run).approver_scope is None
    home.decide("reject", run, actor="mallory")
    assert home.run(run).status == "COMPLETED"


def test_a_rule_that_asks_says_anew_who_decides(home: Home) -> None:
    run = home.start("two")
    asks = {"two": texts.rule("two.*", "require_approval", 'approver_scope = "other"\napprovals = 1')}
    changed_tool = {"two.send": texts.tool("two.send", about="new")}
    scopes = '[approvers]\ndesk = ["alice"]\nother = ["dora"]\n'
    home.write(texts.operator(changed_tool, asks).replace(texts.APPROVERS, scopes))
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run, actor="alice")
    assert caught.value.kind == "superseded"
    assert (home.row(run).approver_scope, home.row(run).approvals_needed) == ("other", 1)
    home.decide("approve", run, actor="dora")
    assert len(home.tools.starts) == 1
