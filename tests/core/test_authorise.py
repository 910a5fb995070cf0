"""Authorisation: what nobody granted is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core import exposure
from toolgate_cli.core.authorise import may_call, not_the_callers, other_tenant, outside_scope
from toolgate_cli.core.config import Agent, Condition, Config, Context, ExitRules, Limits, Policy, Rule, Tenant, Tool
from toolgate_cli.core.digests import sha256
from toolgate_cli.core.records import Call
from toolgate_cli.core.types import Decision, Json
from toolgate_cli.core.verdict import Park, Question, evaluate
from toolgate_cli.core.world import Ready, World

FREE = Tool("a.b", "", None, "write", "unsafe", 1.0, 1, None, True, True, "", "command", None, ExitRules(), (), None)
GUARDED = FREE._replace(permission="refunds:issue")
ACME = Tenant("iam-1", "acme")


def granted(permissions: dict[str, tuple[str, ...]] | None) -> Context | None:
    return None if permissions is None else Context(permissions)


@pytest.mark.parametrize("permissions", [None, {}, {"*": ("x",)}])
def test_a_tool_without_a_permission_is_open(permissions: dict[str, tuple[str, ...]] | None) -> None:
    assert may_call(FREE, "alice", granted(permissions)) is None


@pytest.mark.parametrize(
    "permissions",
    [
        None,
        {},
        {"*": ()},
        {"bob": ("refunds:issue",)},
        {"alice": ("refunds:issu",)},
        {"alice": ("refunds:issue2",)},
        {"alice": ("refunds:*",)},
        {"*": ("*",)},
        {"al*": ("refunds:issue",)},
        {"Alice": ("refunds:issue",)},
    ],
)
def test_a_permission_that_is_not_granted_word_for_word_is_refused(permissions: dict[str, tuple[str, ...]] | None) -> None:
    reason = may_call(GUARDED, "alice", granted(permissions))
    assert reason is not None
    assert reason.startswith("auth_denied")
    assert "refunds:issue" in reason


def test_a_permission_is_granted_to_everybody_or_to_one() -> None:
    assert may_call(GUARDED, "alice", granted({"*": ("refunds:issue",)})) is None
    assert may_call(GUARDED, "alice", granted({"*": ("x",), "alice": ("y", "refunds:issue")})) is None
    assert may_call(GUARDED, "bob", granted({"*": ("x",), "alice": ("refunds:issue",)})) is not None


# ---- whose a resource is ----
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"tenant": "acme"}, None),
        ({"tenant": {"issuer": "iam-1", "id": "acme"}}, None),
        ({"tenant": {"issuer": "iam-2", "id": "acme"}}, "tenant_mismatch"),
        ({"tenant": "other"}, "tenant_mismatch"),
        ({"tenant": "Acme"}, "tenant_mismatch"),
        ({"tenant": "acme "}, "tenant_mismatch"),
        ({"tenant": {"issuer": "iam-1", "id": "acme", "admin": True}}, "tenant_unknown"),
        ({"tenant": {"id": "acme"}}, "tenant_unknown"),
        ({"tenant": {"issuer": None, "id": "acme"}}, "tenant_unknown"),
        ({"tenant": {"issuer": "iam-1", "id": 7}}, "tenant_unknown"),
        ({"tenant": ["acme"]}, "tenant_unknown"),
        ({"tenant": None}, "tenant_unknown"),
        ({}, "tenant_unknown"),
    ],
)
def test_a_resource_has_to_be_the_callers_own(arguments: Json, code: str | None) -> None:
    reason = other_tenant(FREE._replace(tenant_of="/tenant"), arguments, Context(tenant=ACME))
    assert (reason is None) == (code is None)
    assert reason is None or (code is not None and f"auth_denied: {code}" in reason and "other" not in reason.replace("another", ""))


@pytest.mark.parametrize("context", [None, Context()])
def test_where_no_tenant_is_named_a_tool_of_tenants_is_refused(context: Context | None) -> None:
    assert "names none" in str(other_tenant(FREE._replace(tenant_of="/tenant"), {"tenant": "acme"}, context))
    assert other_tenant(FREE, {"tenant": "acme"}, context) is None
    assert not_the_callers("acme", "the command", context) == "auth_denied: [context] names no tenant"


# ---- who is under whom ----
def config(*agents: Agent, tools: tuple[Tool, ...] = (FREE,), context: Context | None = None, policy: Policy | None = None) -> Config:
    named = {agent.name: agent for agent in agents}
    return Config(
        "", {tool.capability: tool for tool in tools}, policy or Policy("allow"), named, {}, {}, "declared", context, Limits(), ""
    )


def agent(name: str, tools: tuple[str, ...], under: str | None = None) -> Agent:
    return Agent(name, "m", "", tools, 1, (), under)


def test_an_agent_has_at_most_what_each_above_it_has() -> None:
    top, middle, low = agent("top", ("a.*", "c.d")), agent("middle", ("a.b", "x.y"), "top"), agent("low", ("**",), "middle")
    home = config(top, middle, low)
    assert [outside_scope(home, name, "a.b") for name in ("top", "middle", "low", None)] == [None] * 4
    assert outside_scope(home, "low", "x.y") == "the agent top may not call x.y, and low is under it"
    assert outside_scope(home, "low", "c.d") == "the agent middle may not call c.d, and low is under it"
    assert outside_scope(home, "nobody", "a.b") == "the agent nobody may not call a.b"


def test_a_circle_of_agents_and_one_that_is_gone_grant_nothing() -> None:
    assert "under itself" in str(outside_scope(config(agent("a", ("**",), "b"), agent("b", ("**",), "a")), "a", "a.b"))
    assert outside_scope(config(agent("a", ("**",), "gone")), "a", "a.b") == "the agent gone may not call a.b, and a is under it"


# ---- what is shown is what may run ----
NAMES = ("a.b", "a.c", "x.y")
patterns = st.sampled_from(("a.b", "a.*", "**", "x.y", "x.*"))
decisions = st.sampled_from(("deny", "require_approval", "allow"))


@st.composite
def rules(draw: st.DrawFn, number: int) -> Rule:
    return Rule(
        f"rule {number}",
        draw(decisions),
        draw(st.none() | patterns),
        draw(st.sampled_from((None, "flow", "other"))),
        draw(st.sampled_from((None, "low", "top"))),
        principal=draw(st.sampled_from((None, "ann", "bob"))),
        tenant=draw(st.sampled_from((None, "acme", "other"))),
        when=draw(st.sampled_from(((), (Condition("/n", "gt", 5),)))),
    )


@st.composite
def homes(draw: st.DrawFn) -> Config:
    tools = [
        FREE._replace(
            capability=name,
            enabled=draw(st.booleans()),
            permission=draw(st.sampled_from((None, "p"))),
            tenant_of=draw(st.sampled_from((None, "/tenant"))),
        )
        for name in NAMES
    ]
    top = agent("top", tuple(draw(st.lists(patterns, max_size=2))))
    low = agent("low", tuple(draw(st.lists(patterns, max_size=2))), draw(st.sampled_from((None, "top", "low", "gone"))))
    grants = draw(st.sampled_from(({}, {"ann": ("p",)}, {"*": ("p",)})))
    context = draw(st.sampled_from((None, Context(grants), Context(grants, ACME))))
    ruled = tuple(draw(rules(number)) for number in range(draw(st.integers(0, 3))))
    default: Decision = draw(decisions)
    return config(top, low, tools=tuple(tools), context=context, policy=Policy(default, ruled))


@given(homes(), st.sampled_from((None, "low", "top")), st.sampled_from(("ann", "bob")))
def test_a_tool_is_shown_if_and_only_if_some_call_of_it_is_not_refused(home: Config, name: str | None, principal: str) -> None:
    shown = {tool.capability for tool in exposure.shown(home, name, "flow", principal)}
    ready = Ready("{}", "d" * 64, lambda arguments: arguments, None)
    world = World(home, (), dict.fromkeys(NAMES, ready), {})
    passed = set()
    for capability in NAMES:
        for text in ('{"n":1,"tenant":"acme"}', '{"n":9,"tenant":"acme"}'):
            call = Call("c", 1, "r", "s", capability, text, sha256(text), "k", None, None, None, name, principal, "")
            verdict = evaluate(Question(call, "flow", 0), world, lambda _: True)
            if not (isinstance(verdict, Park) and verdict.code in ("disabled", "agent_scope", "auth_denied", "policy_denied")):
                passed.add(capability)
    assert shown == passed
