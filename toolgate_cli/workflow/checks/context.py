"""What the trusted context must hold, and what of the file needs one that says more (I5)."""

from __future__ import annotations

from collections.abc import Mapping

from ...core import pointer, references
from ...core.errors import ToolgateError
from ...core.types import Json
from ..issues import Issues, meant
from ..positions import KeyPath
from .arguments import missed


def check_context(raw: Mapping[str, Json], issues: Issues) -> None:
    """`raw`: the tables of the whole file."""
    context = raw.get("context")
    if isinstance(context, dict):
        _check_correlation(context.get("correlation"), issues)
    if not isinstance(context, dict) or "tenant" not in context:
        _check_without_tenant(raw, issues)
    _check_order(raw, issues)


def check_tenant_of(table: Mapping[str, Json], schema: Json, path: KeyPath, issues: Issues) -> None:
    """`schema`: the tool's own, None where it has no sound one."""
    named = table.get("tenant_of")
    if not isinstance(named, dict):
        return
    if ("arg" in named) == ("command" in named):
        issues.add((*path, "tenant_of"), "needs one of arg and command", 'write { arg = "/tenant" }, or { command = [...] }')
        return
    at = named.get("arg")
    if not isinstance(at, str):
        return
    try:
        tokens = pointer.tokens(at)
    except ValueError:
        issues.add((*path, "tenant_of", "arg"), "not a JSON pointer", 'write "/tenant"')
        return
    if schema is not None and (lost := missed(schema, tokens)) is not None:
        issues.add((*path, "tenant_of", "arg"), "the input schema has no such argument", lost.instead())


def _check_correlation(text: Json, issues: Issues) -> None:
    where = ("context", "correlation")
    try:
        names = references.names(text)
    except ToolgateError as error:
        issues.add(where, error.message, error.hint)
        return
    for name in names:
        if not name.startswith("env.") or name == "env.":
            issues.add(where, f"nothing is called {name} here", "${env.NAME} is a variable")


def _check_without_tenant(raw: Mapping[str, Json], issues: Issues) -> None:
    """A rule for a tenant would match nothing, and a tool that asks for one would always be refused."""
    policy = raw.get("policy")
    rules = policy.get("rules") if isinstance(policy, dict) else None
    for number, rule in enumerate(rules if isinstance(rules, list) else ()):
        if isinstance(rule, dict) and "tenant" in rule:
            issues.add(("policy", "rules", number, "tenant"), "[context] names no tenant", "say context.tenant")
    for name, tool in _tables(raw, "tools"):
        if "tenant_of" in tool:
            issues.warn(("tools", name, "tenant_of"), "[context] names no tenant: every call of this tool is refused", "say context.tenant")


def _check_order(raw: Mapping[str, Json], issues: Issues) -> None:
    """Who is under whom: everybody is there, and nobody is under themselves."""
    agents = dict(_tables(raw, "agents"))
    above = {name: agent.get("under") for name, agent in agents.items()}
    for name, under in above.items():
        where = ("agents", name, "under")
        if not isinstance(under, str):
            continue
        if under not in agents:
            issues.add(where, f"there is no agent {under}", meant(under, agents))
            continue
        way = [name]
        while isinstance(under, str) and under not in way:
            way.append(under)
            under = above.get(under)
        if under == name:
            issues.add(where, f"an agent cannot be under itself: {' under '.join([*way, name])}")


def _tables(raw: Mapping[str, Json], name: str) -> list[tuple[str, dict[str, Json]]]:
    held = raw.get(name)
    return [(key, table) for key, table in held.items() if isinstance(table, dict)] if isinstance(held, dict) else []
