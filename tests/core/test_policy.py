"""The policy: deny over require_approval over allow, in any order, and closed where it cannot be evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core import policy
from toolgate_cli.core.config import Condition, Policy, Rule
from toolgate_cli.core.policy import Facts, denied_always, judge
from toolgate_cli.core.types import Decision

FACTS = Facts("refunds.issue", {"amount": 600, "to": "A-17"}, "refund", "refund-agent", "write", "idempotent", "alice")
STRICTNESS = {"allow": 0, "require_approval": 1, "deny": 2}
decisions: st.SearchStrategy[Decision] = st.sampled_from(["allow", "require_approval", "deny"])
conditions = st.sampled_from(
    [
        Condition("/amount", "gt", 500),
        Condition("/amount", "gt", 600),
        Condition("/to", "gt", 500),
        Condition("/absent", "eq", 1),
        Condition("/absent", "exists", False),
        Condition("/amount", "nonsense", 1),
        Condition("/to", "matches", "("),
        Condition("broken", "eq", 1),
    ]
)
rules = st.builds(
    Rule,
    name=st.sampled_from(["one", "two", "three"]),
    decision=decisions,
    capability=st.sampled_from([None, "refunds.*", "refunds.issue", "refunds.issu", "**", "*"]),
    workflow=st.sampled_from([None, "refund", "other"]),
    agent=st.sampled_from([None, "refund-agent", "other"]),
    safety=st.sampled_from([None, "write", "read_only"]),
    when=st.lists(conditions, max_size=2).map(tuple),
)
policies = st.builds(Policy, decisions, st.lists(rules, max_size=5).map(tuple))


def rule(decision: Decision, name: str = "r", **fields: Any) -> Rule:
    return Rule(name, decision, **fields)


@pytest.mark.parametrize("default", ["allow", "require_approval", "deny"])
def test_no_rule_means_the_default(default: Decision) -> None:
    ruling = judge(Policy(default, (rule("deny", capability="other.*"),)), FACTS)
    assert ruling == (default, None, f"no policy rule matches, and policy.default is {default}")
    assert Policy().default == "require_approval"


@pytest.mark.parametrize("present", [set_ for set_ in product([0, 1], repeat=3) if any(set_)])
def test_the_strictest_of_the_rules_that_match_decides_in_every_order(present: tuple[int, ...]) -> None:
    some = [rule(decision, decision) for decision, there in zip(STRICTNESS, present, strict=True) if there]  # type: ignore[arg-type]  # its keys
    strictest = max((item.decision for item in some), key=STRICTNESS.__getitem__)
    for order in permutations(some):
        ruling = judge(Policy("allow", order), FACTS)
        assert ruling.decision == strictest
        assert ruling.rule is not None and ruling.rule.name == strictest


def test_within_one_decision_the_first_rule_gives_reason_and_scope() -> None:
    first = rule("require_approval", "first", reason="because", approver_scope="finance", approvals=1)
    second = rule("require_approval", "second", reason="otherwise", approver_scope="board", approvals=5)
    assert judge(Policy("deny", (rule("allow"), first, second)), FACTS) == ("require_approval", first, "because")
    assert judge(Policy("deny", (second, first)), FACTS) == ("require_approval", second, "otherwise")


def test_a_rule_without_a_reason_is_named() -> None:
    assert judge(Policy("allow", (rule("deny", "no-drops"),)), FACTS).reason == "policy rule no-drops"
    assert policy.reason(rule("deny", "x", reason="why")) == "why"


@pytest.mark.parametrize(
    ("fields", "answer"),
    [
        ({"capability": "refunds.issue"}, True),
        ({"capability": "refunds.*"}, True),
        ({"capability": "refunds.issued"}, False),
        ({"capability": "*"}, False),
        ({"workflow": "refund"}, True),
        ({"workflow": "refund2"}, False),
        ({"workflow": "ref*"}, True),
        ({"agent": "refund-agent"}, True),
        ({"agent": "other"}, False),
        ({"safety": "write"}, True),
        ({"safety": "destructive"}, False),
        ({"effect": "idempotent"}, True),
        ({"effect": "unsafe"}, False),
        ({"principal": "alice"}, True),
        ({"principal": "bob"}, False),
        ({"capability": "refunds.*", "workflow": "refund", "agent": "refund-agent", "principal": "alice"}, True),
        ({"capability": "refunds.*", "workflow": "refund", "agent": "refund-agent", "principal": "bob"}, False),
        ({"when": (Condition("/amount", "gt", 500),)}, True),
        ({"when": (Condition("/amount", "gt", 600),)}, False),
        ({"when": (Condition("/amount", "gt", 500), Condition("/to", "eq", "A-17"))}, True),
        ({"when": (Condition("/amount", "gt", 500), Condition("/to", "eq", "A-18"))}, False),
    ],
)
def test_all_that_a_rule_asks_must_hold(fields: dict[str, Any], answer: bool) -> None:
    for decision in STRICTNESS:
        ruling = judge(Policy("allow" if decision != "allow" else "deny", (rule(decision, **fields),)), FACTS)  # type: ignore[arg-type]  # its keys
        assert (ruling.decision == decision) is answer
        assert (ruling.rule is not None) is answer


def test_a_rule_for_an_agent_does_not_match_a_call_without_one() -> None:
    without = FACTS._replace(agent=None)
    assert judge(Policy("allow", (rule("deny", agent="*"),)), FACTS).decision == "deny"
    assert judge(Policy("allow", (rule("deny", agent="*"),)), without).decision == "allow"
    assert judge(Policy("allow", (rule("deny"),)), without).decision == "deny"


@pytest.mark.parametrize(("pattern", "tenant", "answer"), [
    ("acme", "acme", True), ("ac*", "acme", True), ("*", "acme", True), ("other", "acme", False), ("o*", "acme", False),
    ("acme", None, False), ("*", None, False),
])  # fmt: skip
def test_a_rule_for_a_tenant_matches_that_tenant_and_no_call_without_one(pattern: str, tenant: str | None, answer: bool) -> None:
    ruling = judge(Policy("allow", (rule("deny", tenant=pattern),)), FACTS._replace(tenant=tenant))
    assert (ruling.decision == "deny") is answer


@pytest.mark.parametrize("amount", ["900", True, None, [600]])
def test_a_value_of_the_wrong_type_restricts_and_never_allows(amount: Any) -> None:
    facts = FACTS._replace(arguments={"amount": amount})
    over = (Condition("/amount", "gt", 500),)
    assert judge(Policy("allow", (rule("deny", when=over),)), facts).decision == "deny"
    assert judge(Policy("allow", (rule("require_approval", when=over),)), facts).decision == "require_approval"
    assert judge(Policy("deny", (rule("allow", when=over),)), facts).decision == "deny"


def test_an_absent_argument_makes_every_rule_false() -> None:
    facts = FACTS._replace(arguments={})
    for decision in STRICTNESS:
        assert judge(Policy("allow", (rule(decision, when=(Condition("/amount", "gt", 500),)),)), facts).rule is None  # type: ignore[arg-type]  # its keys
    assert judge(Policy("allow", (rule("deny", when=(Condition("/amount", "exists", False),)),)), facts).decision == "deny"


@pytest.mark.parametrize(
    "broken",
    [Condition("/amount", "nonsense", 1), Condition("/to", "matches", "("), Condition("amount", "gt", 1), Condition("/to", "glob", 5)],
)
def test_a_rule_that_cannot_be_evaluated_restricts_and_never_allows(broken: Condition) -> None:
    assert judge(Policy("allow", (rule("deny", when=(broken,)),)), FACTS).decision == "deny"
    assert judge(Policy("allow", (rule("require_approval", when=(broken,)),)), FACTS).decision == "require_approval"
    assert judge(Policy("deny", (rule("allow", when=(broken,)),)), FACTS).decision == "deny"


def test_a_condition_that_is_plainly_false_settles_a_rule_whatever_happens_to_the_others() -> None:
    false, broken = Condition("/amount", "gt", 600), Condition("/amount", "nonsense", 1)
    for when in ((false, broken), (broken, false)):
        assert judge(Policy("allow", (rule("deny", when=when),)), FACTS).rule is None


OVER = (Condition("/amount", "gt", 500),)


@pytest.mark.parametrize(("default", "rules", "always"), [
    ("allow", (), False),
    ("require_approval", (), False),
    ("deny", (), True),
    ("allow", (rule("deny"),), True),
    ("allow", (rule("allow"), rule("deny")), True),
    ("allow", (rule("deny", when=OVER),), False),
    ("allow", (rule("deny", when=OVER), rule("deny")), True),
    ("allow", (rule("require_approval"),), False),
    ("deny", (rule("deny", when=OVER),), True),
    ("deny", (rule("allow", when=OVER),), False),
    ("deny", (rule("require_approval"),), False),
    ("deny", (rule("deny", when=OVER), rule("allow")), False),
    ("deny", (rule("allow", capability="other.*"),), True),
    ("allow", (rule("deny", tenant="acme"),), True),
    ("allow", (rule("deny", tenant="other"),), False),
    ("deny", (rule("allow", tenant="other"),), True),
])  # fmt: skip
def test_a_call_is_always_denied_where_no_arguments_get_another_decision(default: Decision, rules: tuple[Rule, ...], always: bool) -> None:
    assert denied_always(Policy(default, rules), FACTS._replace(tenant="acme", arguments={})) is always


@given(policies, rules, st.integers(0, 5))
def test_adding_a_deny_rule_never_loosens(before: Policy, extra: Rule, place: int) -> None:
    after = before._replace(rules=(*before.rules[:place], extra._replace(decision="deny"), *before.rules[place:]))
    assert STRICTNESS[judge(after, FACTS).decision] >= STRICTNESS[judge(before, FACTS).decision] or judge(before, FACTS).rule is None
    if judge(after, FACTS).decision != judge(before, FACTS).decision:
        assert judge(after, FACTS).decision == "deny"


@given(policies, st.randoms())
def test_the_order_of_rules_does_not_change_the_decision(some: Policy, random: Any) -> None:
    shuffled = list(some.rules)
    random.shuffle(shuffled)
    assert judge(some._replace(rules=tuple(shuffled)), FACTS).decision == judge(some, FACTS).decision


@given(policies)
def test_a_call_that_is_always_denied_is_denied(some: Policy) -> None:
    assert not denied_always(some, FACTS) or judge(some, FACTS).decision == "deny"


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("capability", "refunds.list"),
        ("workflow", "other"),
        ("agent", None),
        ("safety", "read_only"),
        ("effect", "unsafe"),
        ("principal", "bob"),
        ("tenant", None),
    ],
)
def test_what_was_found_for_one_kind_of_call_is_not_taken_for_another(field: str, other: str | None) -> None:
    facts = FACTS._replace(tenant="acme")
    some = Policy("allow", (rule("deny", **{field: getattr(facts, field)}),))
    for _ in range(2):
        assert judge(some, facts).decision == "deny"
        assert judge(some, facts._replace(**{field: other})).decision == "allow"  # type: ignore[arg-type]  # a field


def test_nor_for_another_policy_or_for_other_arguments() -> None:
    strict, open_ = Policy("deny", (rule("deny", when=(Condition("/amount", "gt", 500),)),)), Policy("allow")
    assert [judge(each, FACTS).decision for each in (open_, strict, open_, strict)] == ["allow", "deny", "allow", "deny"]
    assert judge(strict._replace(default="allow"), FACTS._replace(arguments={"amount": 1})).decision == "allow"
    assert judge(strict, FACTS).rule is not None and judge(strict, FACTS._replace(arguments={"amount": 1})).rule is None


class Looked(tuple[Rule, ...]):
    """Rules that count how often they are looked through."""

    times = 0

    def __iter__(self) -> Iterator[Rule]:
        self.times += 1
        return super().__iter__()


def test_the_rules_are_looked_through_once_for_a_kind_of_call_and_not_more_kinds_are_kept_than_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(policy, "_KINDS", 3)
    some = Looked((rule("deny", workflow="w9"),))
    of = Policy("allow", some)

    def asked(*flows: str) -> int:
        for flow in flows:
            assert judge(of, FACTS._replace(workflow=flow)).decision == "allow"
        return some.times

    assert asked("w1", "w2", "w3") == asked("w3", "w2", "w1") == 3
    assert asked("w4", "w4") == 4
    assert asked("w1") == 5  # it made room for a fourth
