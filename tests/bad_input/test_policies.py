"""A policy that is broken or missing never allows: what it asked about stays unasked, what it denied stays denied (CASES B4 to B6, H6)."""

from __future__ import annotations

import pytest

from . import breaking
from .breaking import Broken, edited
from .given import OPERATOR
from .homes import Home

FILE = "toolgate.toml"
DENY = 'capability = "ledger.drop"\ndecision = "deny"'
BROKEN = [
    edited('default = "require_approval"', 'default = "require_aproval"', "policy.default"),
    edited('default = "require_approval"', 'default = "Allow "', "policy.default"),
    edited('default = "require_approval"', 'default = "ALLOW"', "policy.default"),
    edited('default = "require_approval"', "default = true", "policy.default"),
    edited('default = "require_approval"', "default = []", "policy.default"),
    edited('default = "require_approval"', 'default = ""', "policy.default"),
    edited("[policy]", "[polcy]", "polcy: unknown key"),
    edited("[[policy.rules]]", "[[policy.rule]]", "policy.rule"),
    edited("[[policy.rules]]", "[policy.rules]", "", '[[policy.rules]]\nname = "never"'),
    edited(DENY, 'capability = "ledger.drop"\ndecision = "denied"', "decision", 'decision = "denied"'),
    edited(DENY, 'capability = "ledger.drop"', "decision: required key is missing", '[[policy.rules]]\nname = "never"'),
    edited(DENY, 'capability = "ledger.dorp"\ndecision = "deny"', "there is no tool ledger.dorp"),
    edited(DENY, 'capability = "ledger.["\ndecision = "deny"', "not a pattern"),
    edited(DENY, 'capability = "ledger.drop(rm -rf /)*"\ndecision = "deny"', "not a pattern"),
    edited(DENY, 'capability = ""\ndecision = "deny"', "capability"),
    edited(DENY, 'capability = " "\ndecision = "deny"', "capability"),
    edited('name = "never"\n', 'name = "big"\n', "a rule is called big already", 'name = "big"\ncapability = "ledger.drop"'),
    edited('name = "never"\n', "", "name: required key is missing", '[[policy.rules]]\ncapability = "ledger.drop"'),
    edited('arg = "/amount", gt = 500', 'arg = "/amount", gt = "500"', "compare with a number"),
    edited('arg = "/amount", gt = 500', 'arg = "/amount", gtt = 500', "gtt"),
    edited('arg = "/amount", gt = 500', 'arg = "/amount"', "needs exactly one operator"),
    edited('arg = "/amount", gt = 500', 'arg = "amount", gt = 500', "pointer"),
    edited('arg = "/amount", gt = 500', 'arg = "/to", matches = "(a"', "RE2"),
    edited("gt = 500", "gt = inf", "NaN and infinities"),
    edited('approver_scope = "desk"', 'approver_scope = "desc"', "[approvers] has no desc"),
    edited("approvals = 2", "approvals = 4", "asks for 4 people"),
    edited("approvals = 2", "approvals = 0", "approvals"),
    edited("separate_requester = true", 'separate_requester = "true"', "separate_requester"),
    edited('expires_in = "4h"', 'expires_in = "-4h"', "expires_in"),
    edited('on_expiry = "reject"', 'on_expiry = "allow"', "on_expiry"),
]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_a_broken_policy_starts_nothing_that_waits_and_nothing_new(spoilt: Home, broken: Broken) -> None:
    spoilt.write(FILE, broken.content)
    commands = [["start", "pay"], ["start", "drop"], ["approve", spoilt.calls["asked"]], ["retry", spoilt.calls["denied"]]]
    breaking.check_refused(spoilt, broken, FILE, commands)


def test_without_a_policy_a_person_is_asked(home: Home) -> None:
    home.write(FILE, OPERATOR[: OPERATOR.index("[policy]")] + OPERATOR[OPERATOR.index("[approvers]") :])
    before = home.stand()[1]
    for words in (["start", "pay"], ["start", "drop"]):
        said = home.say(*words, "--json")
        assert said.code == 0 and '"origin": "APPROVAL_REQUIRED"' in said.out, said
    assert home.stand()[1] == before


def test_a_default_that_is_cut_off_is_no_allow(spoilt: Home) -> None:
    """The file at every length: what is refused is refused in words, and what loads asks or denies (CASES B5)."""
    start, end = OPERATOR.index("[policy]"), OPERATOR.index("[approvers]")
    before = spoilt.stand()[1]
    for length in range(start, end, 17):
        spoilt.write(FILE, OPERATOR[:length])
        said = spoilt.say("approve", spoilt.calls["denied"])
        assert said.code in (5, 6, 7) and said.out == "", (length, said)
        assert spoilt.stand()[1] == before
