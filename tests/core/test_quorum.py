"""Who may decide, and how many more must."""

from __future__ import annotations

import sys

import pytest

from toolgate_cli.core.config import Rule
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.quorum import is_out_of_reach, may_decide, votes_left, warm
from toolgate_cli.core.records import Row, Vote
from toolgate_cli.core.types import Origin, Verb

ANY = Rule("r", "require_approval")
ROW = Row("c1", 1, "r1", "s", "APPROVAL_REQUIRED", approver_scope="finance", approvals_needed=3)
APPROVERS = {"finance": ("alice", "bob", "carol", "dan"), "board": ("eve",)}
VERBS: list[Verb] = ["approve", "reject", "retry", "continue-tool"]


def vote(actor: str) -> Vote:
    return Vote("c1", "c1@000000000000", actor, "2026-01-31T12:00:00.000Z")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_needs_the_scope_of_the_row(verb: Verb) -> None:
    may_decide(ROW, "alice", "zoe", APPROVERS, verb)
    may_decide(ROW._replace(approver_scope=None), "mallory", "zoe", {}, verb)
    for name, approvers in (
        ("eve", APPROVERS),
        ("Alice", APPROVERS),
        ("alice", {}),
        ("alice", {"finance": ()}),
        ("alice", {"board": ("alice",)}),
    ):
        with pytest.raises(ToolgateError, match="scope finance") as caught:
            may_decide(ROW, name, "zoe", approvers, verb)
        assert caught.value.kind == "scope"


@pytest.mark.parametrize(
    ("verb", "origin", "refused"),
    [
        ("approve", "APPROVAL_REQUIRED", True),
        ("reject", "APPROVAL_REQUIRED", False),
        ("retry", "APPROVAL_REQUIRED", False),  # asks for an approval again
        ("retry", "EXECUTION_FAILED", True),
        ("retry", "OUTCOME_UNKNOWN", True),
        ("reject", "EXECUTION_FAILED", False),
        ("continue-tool", "EXECUTION_FAILED", False),
    ],
)
def test_the_requester_may_not_let_the_call_run_where_somebody_else_has_to(verb: Verb, origin: Origin, refused: bool) -> None:
    row = ROW._replace(origin=origin, separate_requester=True)
    may_decide(row, "alice", "bob", APPROVERS, verb)
    may_decide(row._replace(separate_requester=False), "alice", "alice", APPROVERS, verb)
    if not refused:
        may_decide(row, "alice", "alice", APPROVERS, verb)
        return
    with pytest.raises(ToolgateError) as caught:
        may_decide(row, "alice", "alice", APPROVERS, verb)
    assert caught.value.kind == "self_approval"


def test_a_refusal_for_scope_names_who_holds_it() -> None:
    for approvers, holders in ((APPROVERS, "alice, bob, carol, dan"), ({}, "nobody"), ({"finance": ()}, "nobody")):
        with pytest.raises(ToolgateError) as caught:
            may_decide(ROW, "mallory", "zoe", approvers, "approve")
        assert caught.value.hint == f"the scope finance is held by {holders}"


def test_a_requester_without_the_scope_is_refused_for_the_scope() -> None:
    with pytest.raises(ToolgateError) as caught:
        may_decide(ROW._replace(separate_requester=True), "mallory", "mallory", APPROVERS, "approve")
    assert caught.value.kind == "scope"


def test_distinct_approvers_are_counted_up_to_the_quorum() -> None:
    assert votes_left(ROW, [], APPROVERS, "alice") == 2
    assert votes_left(ROW, [vote("bob")], APPROVERS, "alice") == 1
    assert votes_left(ROW, [vote("bob"), vote("carol")], APPROVERS, "alice") == 0
    assert votes_left(ROW, [vote("bob"), vote("carol"), vote("dan")], APPROVERS, "alice") == 0
    assert votes_left(ROW, [vote("bob"), vote("bob")], APPROVERS, "alice") == 1
    assert votes_left(ROW._replace(approvals_needed=1), [], APPROVERS, "alice") == 0
    assert votes_left(ROW._replace(approver_scope=None, approvals_needed=2), [vote("x")], {}, "y") == 0


def test_a_voter_who_lost_the_scope_counts_no_more() -> None:
    assert votes_left(ROW, [vote("bob"), vote("eve")], APPROVERS, "alice") == 1
    assert votes_left(ROW, [vote("bob"), vote("carol")], {"finance": ("alice", "bob")}, "alice") == 1
    assert votes_left(ROW, [vote("bob"), vote("carol")], {}, "alice") == 3
    assert votes_left(ROW, [vote("bob"), vote("carol")], APPROVERS, "eve") == 1


def test_a_second_vote_of_one_person_is_refused() -> None:
    with pytest.raises(ToolgateError, match="alice has approved c1 already") as caught:
        votes_left(ROW, [vote("bob"), vote("alice")], APPROVERS, "alice")
    assert caught.value.kind == "wrong_state"


ONE_PERSON = [
    ("ada", "Ada"),
    ("ADA", "ada"),
    ("\xe9ve", "\xc9VE"),
    ("ada", "\uff41da"),
    ("stra\xdfe", "STRASSE"),
    ("\ufb01n", "FIN"),
    ("\u03a3", "\u03c2"),
]
TWO_PERSONS = [("ada", "adam"), ("eve", "\xe9ve"), ("ada", "\u0430da")]


@pytest.mark.parametrize(("one", "other"), ONE_PERSON)
def test_two_spellings_of_a_name_are_no_two_approvers(one: str, other: str) -> None:
    row = ROW._replace(approver_scope=None, approvals_needed=2, separate_requester=True)
    for first, second in ((one, other), (other, one)):
        with pytest.raises(ToolgateError, match=f"{second} has approved c1 already") as caught:
            votes_left(row, [vote(first)], {}, second)
        assert caught.value.kind == "wrong_state"
        with pytest.raises(ToolgateError, match=f"{second} asked for this call") as caught:
            may_decide(row, second, first, {}, "approve")
        assert caught.value.kind == "self_approval"
    assert votes_left(ROW, [vote(one), vote(other)], {"finance": (one, other, "zoe")}, "zoe") == 1


@pytest.mark.parametrize(("one", "other"), TWO_PERSONS)
def test_two_names_are_two_approvers(one: str, other: str) -> None:
    row = ROW._replace(approver_scope=None, approvals_needed=2, separate_requester=True)
    assert votes_left(row, [vote(one)], {}, other) == 0
    may_decide(row, one, other, {}, "approve")


@pytest.mark.parametrize(("rules", "wanted"), [
    ([], False), ([ANY], False), ([ANY._replace(approvals=2)], True), ([ANY._replace(separate_requester=True)], True),
    ([ANY, ANY._replace(approvals=3, separate_requester=True)], True),
])  # fmt: skip
def test_what_telling_persons_apart_needs_is_imported_beforehand(rules: list[Rule], wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "unicodedata", raising=False)
    warm(rules)
    assert ("unicodedata" in sys.modules) is wanted


@pytest.mark.parametrize(("needed", "voted", "separate", "out"), [
    (4, (), False, False), (5, (), False, True), (4, (), True, True), (3, (), True, False),
    (4, ("alice", "bob", "carol"), False, False), (4, ("bob", "carol", "dan"), True, True), (3, ("bob", "Bob"), True, False),
    (4, ("eve", "bob"), False, False), (3, ("mallory",), True, False), (5, ("eve",), False, True),
])  # fmt: skip
def test_it_is_known_when_nobody_is_left_over(needed: int, voted: tuple[str, ...], separate: bool, out: bool) -> None:
    row = ROW._replace(approvals_needed=needed, separate_requester=separate)
    assert is_out_of_reach(row, voted, "ALICE", APPROVERS) is out
    assert not is_out_of_reach(row._replace(approver_scope=None), voted, "alice", APPROVERS)
