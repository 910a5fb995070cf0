"""What the policy says of a call: deny beats require_approval beats allow, and a rule that cannot be evaluated never allows (I4, I5)."""

from __future__ import annotations

from .conditions import holds
from .config import Config, Policy, Rule, Tool
from .patterns import matches, matches_name
from .types import Decision, Effect, Json, Safety
from .values import NamedTuple


class Facts(NamedTuple):
    """What rules may ask about a call. `arguments`: after the schema's defaults; `agent`: None where a step asks for the call itself."""

    capability: str
    arguments: dict[str, Json]
    workflow: str
    agent: str | None
    safety: Safety
    effect: Effect
    principal: str
    tenant: str | None = None


def facts(config: Config, tool: Tool, arguments: dict[str, Json], workflow: str, agent: str | None, principal: str) -> Facts:
    """What rules may ask about a call of that tool."""
    tenant = config.context.tenant if config.context is not None else None
    return Facts(tool.capability, arguments, workflow, agent, tool.safety, tool.effect, principal, tenant.id if tenant else None)


class Ruling(NamedTuple):
    """The decision; `rule` gives scope, quorum and expiry (None: the default of the policy), `reason` is for a person."""

    decision: Decision
    rule: Rule | None
    reason: str


_STRICTEST_FIRST: tuple[Decision, ...] = ("deny", "require_approval", "allow")
_KINDS = 1024  # of calls whose rules are remembered


def judge(policy: Policy, facts: Facts) -> Ruling:
    """The strictest decision among the rules that match; within it the first rule in file order. No rule: `policy.default`."""
    for rule in _about(policy, facts):
        if _conditions_hold(rule, facts):
            return Ruling(rule.decision, rule, reason(rule))
    return Ruling(policy.default, None, f"no policy rule matches, and policy.default is {policy.default}")


def denied_always(policy: Policy, facts: Facts) -> bool:
    """Whether such a call is denied whatever its arguments are."""
    about = _about(policy, facts)
    if any(rule.decision == "deny" and not rule.when for rule in about):
        return True
    return policy.default == "deny" and all(rule.decision == "deny" for rule in about)


def reason(rule: Rule) -> str:
    """Why the rule decides as it does, for a person."""
    return rule.reason or f"policy rule {rule.name}"


class _Index:
    """The rules of one policy by all that they may ask about a call but its arguments: found once for each kind of call."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.about: dict[tuple[object, ...], tuple[Rule, ...]] = {}


_last = _Index(Policy())


def _about(policy: Policy, facts: Facts) -> tuple[Rule, ...]:
    """The rules that can match, conditions apart, the strictest first and in file order."""
    global _last
    index = _last if _last.policy is policy else _Index(policy)
    kind = (facts.capability, *facts[2:])
    found = index.about.get(kind)
    if found is None:
        about = [rule for rule in policy.rules if _is_about(rule, facts)]
        found = tuple(rule for decision in _STRICTEST_FIRST for rule in about if rule.decision == decision)
        if len(index.about) >= _KINDS:
            index.about.clear()
        index.about[kind] = found
    _last = index
    return found


def _is_about(rule: Rule, facts: Facts) -> bool:
    """Whether it can match, its conditions apart."""
    return (
        (rule.capability is None or matches(rule.capability, facts.capability))
        and (rule.workflow is None or matches_name(rule.workflow, facts.workflow))
        and (rule.agent is None or (facts.agent is not None and matches_name(rule.agent, facts.agent)))
        and (rule.safety is None or rule.safety == facts.safety)
        and (rule.effect is None or rule.effect == facts.effect)
        and (rule.principal is None or matches_name(rule.principal, facts.principal))
        and (rule.tenant is None or (facts.tenant is not None and matches_name(rule.tenant, facts.tenant)))
    )


def _conditions_hold(rule: Rule, facts: Facts) -> bool:
    """All of them; one that is plainly false settles it, whatever happens to the others."""
    against = rule.decision != "allow"
    for condition in rule.when:
        try:
            held = holds(condition, facts.arguments, against)
        except Exception:  # noqa: BLE001 - whatever went wrong: the rule cannot be evaluated, so it does not allow and it does restrict
            held = against
        if not held:
            return False
    return True
