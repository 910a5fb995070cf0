"""Which tools an agent is shown: those that a call with the right arguments would not be refused for; never authorisation by itself."""

from __future__ import annotations

from . import authorise, policy
from .config import Config, Tool


def shown(config: Config, agent: str | None, workflow: str, principal: str) -> tuple[Tool, ...]:
    """In the order of the file. `agent` None: what a step of the workflow may call."""
    return tuple(tool for tool in config.tools.values() if _is_shown(config, tool, agent, workflow, principal))


def _is_shown(config: Config, tool: Tool, agent: str | None, workflow: str, principal: str) -> bool:
    """By the same functions that the gate asks, so that what is shown and what may run cannot come apart."""
    if not tool.enabled or authorise.outside_scope(config, agent, tool.capability) is not None:
        return False
    if authorise.may_call(tool, principal, config.context) is not None:
        return False
    if tool.of_a_tenant and (config.context is None or config.context.tenant is None):
        return False
    return not policy.denied_always(config.policy, policy.facts(config, tool, {}, workflow, agent, principal))
