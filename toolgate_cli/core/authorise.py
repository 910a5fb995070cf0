"""Who may call what, decided once for what a model is shown and for what may run: nothing is granted that nobody wrote down (I5).

Identity is the operator's word alone: nothing here is read from a workflow, a model or a call, but for the argument that an operator's
`tenant_of` points to, and that is compared, never believed.
"""

from __future__ import annotations

from . import patterns, pointer
from .config import Config, Context, Tenant, Tool
from .types import Json


def outside_scope(config: Config, agent: str | None, capability: str) -> str | None:
    """None: the agent may ask for it, and so may each above it. Else the reason, which names the first that may not. `agent` None: a step
    asks for the call itself."""
    name = agent
    for _ in range(len(config.agents) + 1):
        if name is None:
            return None
        found = config.agents.get(name)
        if found is None or not any(patterns.matches(pattern, capability) for pattern in found.tools):
            below = f", and {agent} is under it" if name != agent else ""
            return f"the agent {name} may not call {capability}{below}"
        name = found.under
    return f"the agent {agent} is under itself"


def may_call(tool: Tool, principal: str, context: Context | None) -> str | None:
    """None: whoever this is may, as far as its arguments do not matter. Else the reason, which begins with the code `auth_denied`."""
    if tool.permission is None:
        return None
    if context is None:
        return f"auth_denied: {tool.capability} needs the permission {tool.permission}, and [context] grants none"
    if tool.permission in context.permissions.get("*", ()) or tool.permission in context.permissions.get(principal, ()):
        return None
    return f"auth_denied: {principal} does not have the permission {tool.permission}"


def other_tenant(tool: Tool, arguments: Json, context: Context | None) -> str | None:
    """None: nothing says that the resource that the arguments name is not the caller's own; one that only a command can tell is
    compared later. Else the reason: of another tenant, or of one that cannot be told; no value is in it."""
    if not tool.of_a_tenant:
        return None
    if context is None or context.tenant is None:
        return f"auth_denied: {tool.capability} is for the resources of a tenant, and [context] names none"
    if tool.tenant_of is None:
        return None
    try:
        found = pointer.resolve(arguments, tool.tenant_of)
    except (KeyError, ValueError):
        found = None
    return not_the_callers(found, f"the argument {tool.tenant_of}", context)


def not_the_callers(named: Json, who: str, context: Context | None) -> str | None:
    """The same for a tenant that was named, by `who`; None, and whatever names nobody, is unknown."""
    if context is None or context.tenant is None:
        return "auth_denied: [context] names no tenant"
    found = _tenant(named, context.tenant.issuer)
    if found is None:
        return f"auth_denied: tenant_unknown: {who} does not say whose it is"
    return None if found == context.tenant else f"auth_denied: tenant_mismatch: {who} names another tenant"


def _tenant(value: Json, issuer: str) -> Tenant | None:
    """A text is an id of the caller's own issuer; {"issuer", "id"} says whose id it is."""
    if isinstance(value, str):
        return Tenant(issuer, value)
    if isinstance(value, dict) and set(value) == {"issuer", "id"}:
        named, id = value["issuer"], value["id"]
        return Tenant(named, id) if isinstance(named, str) and isinstance(id, str) else None
    return None
