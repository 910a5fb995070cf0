"""The verdict: stages in their fixed order, and what clears a call is written only where it was asked and answered."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from toolgate_cli.core import canonical, digests
from toolgate_cli.core.config import Condition, Config, ExitRules, Limits, Policy, Rule, Tool
from toolgate_cli.core.records import Call, Row
from toolgate_cli.core.types import Cleared, Decision, Json
from toolgate_cli.core.verdict import Park, Question, Start, evaluate
from toolgate_cli.core.world import Problem, Ready, World

SCHEMA: Json = {"properties": {"amount": {"type": "integer", "default": 1000}}}
TOOL = Tool("a.b", "", None, "write", "unsafe", 1.0, 1, None, True, SCHEMA, "s" * 64, "command", None, ExitRules(), (), None)
ARGUMENTS = '{"to":"bob"}'
DIGEST = digests.call_digest("a.b", ARGUMENTS, "d" * 64)
CALL = Call("c1", 1, "r1", "s", "a.b", ARGUMENTS, "e" * 64, "k1", None, None, None, None, "ann", "2026-01-31T12:00:00.000Z")
ROW = Row("c1", 1, "r1", "s", "APPROVAL_REQUIRED", 1, DIGEST, "d" * 64, "policy")
ASKS = Rule("asks", "require_approval", "a.*", approvals=2, approver_scope="desk")


def world(
    decision: Decision = "require_approval", *, tool: Tool | None = TOOL, calls: int = 5, rules: tuple[Rule, ...] = (), **how: Any
) -> World:
    """`problems`: what the validator finds; `error`: why the tool cannot be used; `bound`: what its binding makes of the arguments."""
    config = Config(
        "0" * 64,
        {} if tool is None else {"a.b": tool},
        Policy(decision, rules),
        {},
        {},
        {},
        "declared",
        None,
        Limits(calls_per_run=calls),
        "",
    )
    ready = Ready("{}", how.get("digest", "d" * 64), how.get("bind", lambda arguments: arguments), how.get("error"))
    return World(config, (), {"a.b": ready}, {"s" * 64: lambda value: how.get("problems", ())})


def question(verb: Literal["ask", "approve", "retry"] = "ask", was: Row | None = None, started: int = 0, **how: Any) -> Question:
    return Question(CALL._replace(**how), "flow", started, was, verb)


def judged(asked: Question, at: World) -> Any:
    return evaluate(asked, at, lambda digest: False)


# ---- what is cleared ----
@pytest.mark.parametrize(("verb", "was", "decision", "cleared"), [
    ("ask", None, "allow", "policy"), ("ask", None, "require_approval", None),
    ("approve", ROW, "require_approval", "approval"), ("approve", ROW, "allow", "approval"),
    ("retry", ROW, "require_approval", "policy"), ("retry", ROW._replace(cleared="approval"), "require_approval", "approval"),
    ("retry", ROW._replace(cleared="none"), "require_approval", None), ("retry", ROW._replace(cleared=None), "require_approval", None),
    ("retry", ROW._replace(cleared="none"), "allow", "policy"),
    ("approve", ROW._replace(call_digest="0" * 64), "allow", None),
    ("approve", ROW._replace(call_digest="0" * 64), "require_approval", None),
    ("retry", ROW._replace(call_digest="0" * 64, cleared="approval"), "require_approval", None),
    ("retry", ROW._replace(call_digest="0" * 64, cleared="approval"), "allow", "policy"),
    ("ask", ROW._replace(cleared="approval"), "require_approval", None),
])  # fmt: skip
@pytest.mark.parametrize("started", [4, 5])
def test_what_clears_a_call(verb: Any, was: Row | None, decision: Decision, cleared: Cleared | None, started: int) -> None:
    verdict = judged(question(verb, was, started), world(decision))
    if cleared is None:
        assert isinstance(verdict, Park) and (verdict.origin, verdict.cleared) == ("APPROVAL_REQUIRED", "policy")
    elif started < 5:
        assert isinstance(verdict, Start) and verdict.cleared == cleared
    else:  # the limit is the last that is asked: who is kept by it alone has passed everything else
        assert isinstance(verdict, Park) and (verdict.code, verdict.cleared) == ("limit_exceeded", cleared)


REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "no tool": ({"tool": None}, "unknown_tool"),
    "disabled": ({"tool": TOOL._replace(enabled=False)}, "disabled"),
    "cannot be used": ({"error": "it is gone"}, "unavailable"),
    "permission": ({"tool": TOOL._replace(permission="x")}, "auth_denied"),
    "invalid": ({"problems": (Problem("INVALID_TYPE", "/to"),)}, "INVALID_TYPE"),
}


@pytest.mark.parametrize("verb", ["ask", "approve", "retry"])
@pytest.mark.parametrize("why", REFUSALS)
def test_what_is_refused_before_the_policy_is_cleared_by_nothing(why: str, verb: Any) -> None:
    how, code = REFUSALS[why]
    for started in (0, 5):  # and the limit is not what it is told
        verdict = judged(question(verb, None if verb == "ask" else ROW._replace(cleared="approval"), started), world("allow", **how))
        assert isinstance(verdict, Park) and (verdict.origin, verdict.code, verdict.cleared) == ("EXECUTION_FAILED", code, "none")


def test_a_denial_comes_before_the_limit_and_clears_nothing() -> None:
    verdict = judged(question("approve", ROW, 5), world("deny"))
    assert isinstance(verdict, Park) and (verdict.origin, verdict.cleared) == ("POLICY_DENIED", "none")


def test_arguments_that_were_not_received_are_refused_before_anything_else() -> None:
    verdict = judged(question(arguments=None), world("allow", tool=None))
    assert isinstance(verdict, Park) and (verdict.phase, verdict.cleared) == ("RECEIVE", "none")


# ---- defaults ----
@pytest.mark.parametrize(("arguments", "denied"), [("{}", True), ('{"amount":500}', False), ('{"amount":501}', True)])
def test_a_rule_judges_the_arguments_with_their_defaults_and_the_tool_is_bound_without(arguments: str, denied: bool) -> None:
    given: list[Json] = []
    over = Rule("over", "deny", when=(Condition("/amount", "gt", 500),))
    at = world("allow", rules=(over,), bind=lambda values: given.append(values) or values)
    verdict = judged(question(arguments=arguments), at)
    assert isinstance(verdict, Park) is denied and given == [canonical.parse(arguments)]
    assert verdict.call_digest == digests.call_digest("a.b", arguments, "d" * 64)


def test_a_rule_that_asks_goes_along_and_a_change_alone_brings_none() -> None:
    asks = judged(question("approve", ROW._replace(call_digest="0" * 64)), world("allow", rules=(ASKS,)))
    assert isinstance(asks, Park) and asks.superseded and asks.rule == ASKS
    alone = judged(question("approve", ROW._replace(call_digest="0" * 64)), world("allow"))
    assert isinstance(alone, Park) and alone.superseded and alone.rule is None and alone.reason == "the tool changed after it was parked"
