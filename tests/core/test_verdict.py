"""The verdict: stages in their fixed order, and what clears a call is written only where it was asked and answered."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from toolgate_cli.core import canonical, digests
from toolgate_cli.core.config import Agent, Condition, Config, Context, ExitRules, Limits, Policy, Rule, Tool
from toolgate_cli.core.defaults import filler
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Call, Row
from toolgate_cli.core.types import Cleared, Decision, Json
from toolgate_cli.core.verdict import Park, Question, Start, evaluate, past_deadline, probe_of
from toolgate_cli.core.world import Needs, Problem, Ready, World

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
    ready = Ready("{}", how.get("digest", "d" * 64), how.get("bind", lambda arguments: arguments), filler(SCHEMA), how.get("error"))
    return World(config, (), {"a.b": ready}, {"s" * 64: lambda value: how.get("problems", ())})


def question(
    verb: Literal["ask", "approve", "retry", "edit", "answer"] = "ask", was: Row | None = None, started: int = 0, **how: Any
) -> Question:
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
    ("edit", ROW, "allow", "policy"), ("edit", ROW, "require_approval", "approval"),
    ("edit", ROW._replace(rule="another"), "require_approval", None), ("edit", ROW._replace(rule="another"), "allow", "policy"),
    ("edit", ROW._replace(approvals_needed=2), "require_approval", None),
    ("edit", ROW._replace(separate_requester=True), "require_approval", None),
    ("edit", ROW._replace(call_digest="0" * 64), "allow", None),
    ("edit", ROW._replace(call_digest="0" * 64), "require_approval", None),
    ("answer", ROW, "require_approval", "policy"), ("answer", ROW._replace(cleared="approval"), "allow", "approval"),
    ("answer", ROW._replace(call_digest="0" * 64), "allow", None),
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


# ---- what each refusal says ----
def test_a_call_that_was_found_valid_before_is_not_checked_again() -> None:
    at = world("allow")._replace(checks={})
    assert isinstance(evaluate(question(), at, lambda digest: True), Start)
    assert isinstance(judged(question(), world("allow", tool=TOOL._replace(schema=True))._replace(checks={})), Start)
    refuses = world("allow", problems=(Problem("INVALID_TYPE", "/to"),))
    assert isinstance(evaluate(question(), refuses, lambda digest: True), Start)


@pytest.mark.parametrize(("ready", "checks", "tools", "schemas"), [
    (True, False, (), ("a.b",)), (False, True, ("a.b",), ()), (False, False, ("a.b",), ("a.b",)),
])  # fmt: skip
def test_what_is_missing_is_asked_for_and_nothing_else(ready: bool, checks: bool, tools: tuple[str, ...], schemas: tuple[str, ...]) -> None:
    whole = world("allow")
    at = whole._replace(ready=whole.ready if ready else {}, checks=whole.checks if checks else {})
    assert judged(question(), at) == Needs(tools, schemas)


@pytest.mark.parametrize(("verb", "started", "asked"), [
    ("ask", 0, True), ("ask", 4, True), ("ask", 5, False), ("approve", 0, True), ("answer", 0, False), ("answer", 5, False),
])  # fmt: skip
def test_a_precheck_is_asked_about_a_beginning_that_the_limits_allow(verb: Any, started: int, asked: bool) -> None:
    at = world("allow", tool=TOOL._replace(probes={"precheck": object()}))
    verdict = judged(question(verb, None if verb == "ask" else ROW, started), at)
    assert (verdict == Needs(probes=(probe_of(CALL, "precheck", at.ready["a.b"], ""),))) is asked
    assert isinstance(verdict, Needs) is asked
    if not asked:
        assert isinstance(verdict, Park) is (started == 5) and (started < 5 or verdict.code == "limit_exceeded")


@pytest.mark.parametrize(("deadline", "now", "behind", "said"), [
    (10.0, "2026-01-31T12:00:09.999Z", False, None),
    (10.0, "2026-01-31T12:00:10.000Z", False, "the deadline of the run is over"),
    (10.0, "2026-01-31T12:00:10.001Z", False, "the deadline of the run is over"),
    (10.0, "2026-01-31T12:00:11.000Z", True, "the deadline of the run is over"),
    (10.0, "2026-01-31T12:00:01.000Z", True, "the clock is behind the log"),
    (None, "2026-01-31T12:00:11.000Z", False, None),
    (None, "2026-01-31T12:00:11.000Z", True, None),
])  # fmt: skip
def test_a_deadline_is_over_at_its_end_and_cannot_be_told_while_the_clock_is_behind(
    deadline: float | None, now: str, behind: bool, said: str | None
) -> None:
    for context in (Context(deadline=deadline), *([None] if deadline is None else [])):
        late = past_deadline(world().config._replace(context=context), "2026-01-31T12:00:00.000Z", now, behind)
        assert late is None if said is None else late is not None and late.startswith(said)


@pytest.mark.parametrize(("servers", "said"), [
    ((), "no tool a.b in toolgate.toml"), (("b",), "no tool a.b in toolgate.toml"),
    (("b", "a"), "no tool a.b of the server a is pinned: toolgate tools pin a"),
])  # fmt: skip
def test_a_tool_that_is_not_there_is_told_where_it_would_be(servers: tuple[str, ...], said: str) -> None:
    at = world("allow", tool=None)
    verdict = judged(question(), at._replace(config=at.config._replace(servers=servers)))
    assert isinstance(verdict, Park) and verdict.reason == said


def _fails(error: Exception) -> Any:
    def act(_: Any) -> Any:
        raise error

    return act


def test_arguments_that_cannot_be_checked_or_bound_are_refused_where_that_is_found_out() -> None:
    broken = world("allow")._replace(checks={"s" * 64: _fails(ValueError("secret"))})
    unbound = world("allow", bind=_fails(ToolgateError("invalid", "no such reference")))
    listed = question(arguments="[1]")
    for asked, at, code, reason in (
        (question(), broken, "unchecked", "the arguments could not be checked: ValueError"),
        (question(), unbound, "unbindable", "no such reference"),
        (listed, world("allow", tool=TOOL._replace(schema=True)), "INVALID_TYPE", "INVALID_TYPE at ''"),
    ):
        verdict = judged(asked, at)
        assert isinstance(verdict, Park) and (verdict.origin, verdict.event) == ("EXECUTION_FAILED", "TOOL_INVOCATION_FAILED")
        assert (verdict.phase, verdict.code, verdict.reason) == ("VALIDATE", code, reason)


def test_a_refusal_is_bound_to_the_call_as_far_as_it_was_received() -> None:
    verdict = judged(question(arguments=None), world("allow"))
    assert isinstance(verdict, Park) and (verdict.code, verdict.call_digest) == ("not_received", digests.call_digest("a.b", "e" * 64, ""))
    said = judged(question(arguments=None)._replace(refusal="TOO_DEEP: at /a"), world("allow"))
    assert isinstance(said, Park) and said.code == "TOO_DEEP"
    refused = judged(question(), world("allow", error="it is gone"))
    assert isinstance(refused, Park) and refused.call_digest == DIGEST


def test_an_agent_calls_what_it_was_given_and_nothing_else() -> None:
    at = world("allow")
    given = Agent("clerk", "m", "", ("x.*", "a.*"), 1, ())
    for agents, name, allowed in (({"clerk": given}, "clerk", True), ({"clerk": given}, "other", False),
                                  ({"clerk": given._replace(tools=("a",))}, "clerk", False), ({}, "clerk", False)):  # fmt: skip
        verdict = judged(question(agent=name), at._replace(config=at.config._replace(agents=agents)))
        assert isinstance(verdict, Start) is allowed
        assert allowed or (isinstance(verdict, Park) and (verdict.phase, verdict.code) == ("RESOLVE", "agent_scope"))


# ---- asked again ----
@pytest.mark.parametrize(("verb", "was", "superseded"), [
    ("ask", None, False), ("ask", ROW, False), ("ask", ROW._replace(call_digest="0" * 64), False),
    ("retry", ROW._replace(cleared="none"), False), ("retry", ROW._replace(call_digest="0" * 64), True),
    ("approve", ROW._replace(call_digest="0" * 64), True),
])  # fmt: skip
def test_a_decision_is_superseded_only_if_it_was_made_for_something_else(verb: Any, was: Row | None, superseded: bool) -> None:
    verdict = judged(question(verb, was), world())
    assert isinstance(verdict, Park) and verdict.superseded is superseded and verdict.seen is not None


def test_after_a_refusal_the_policy_alone_clears_nothing() -> None:
    verdict = judged(question()._replace(wary=True), world("allow"))
    assert isinstance(verdict, Park) and verdict.reason == "an earlier call of this turn was refused" and verdict.rule is None
    asks = judged(question()._replace(wary=True), world(rules=(ASKS,)))
    assert isinstance(asks, Park) and asks.rule == ASKS and asks.reason == "policy rule asks"


@pytest.mark.parametrize("verb", ["approve", "retry"])
def test_without_a_row_no_decision_clears_anything(verb: Any) -> None:
    verdict = judged(question(verb), world())
    assert isinstance(verdict, Park) and not verdict.superseded
    assert Question(CALL, "flow", 0).verb == "ask" and not Question(CALL, "flow", 0).wary
