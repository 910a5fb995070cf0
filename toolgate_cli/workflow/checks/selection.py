"""What the selection of an agent's tools must hold: its model exists, what is always shown may be, and failing open is said twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...core import patterns
from ...core.types import Json
from ..issues import Issues, meant
from ..names import is_pattern
from ..positions import KeyPath


def check_selection(name: str, agents: Mapping[str, Json], tools: frozenset[str], models: frozenset[str], issues: Issues) -> None:
    """The table has the right shape already. `agents`: all that are declared, as they are written."""
    agent = agents[name]
    held = agent.get("selection") if isinstance(agent, dict) else None
    if not isinstance(held, dict):
        return
    path: KeyPath = ("agents", name, "selection")
    if held["selector"] not in models:
        issues.add((*path, "selector"), f"there is no model {held['selector']}", meant(held["selector"], models))
    if held.get("on_failure") == "all" and held.get("accept_fail_open") is not True:
        text = "all of its tools are shown when the selector fails"
        issues.add((*path, "on_failure"), text, 'write accept_fail_open = true beside it, or on_failure = "always_include"')
    usable = {tool for tool in tools if all(any(patterns.matches(one, tool) for one in may) for may in _lists(name, agents))}
    always = held.get("always_include")
    for number, pattern in enumerate(always if isinstance(always, list) else ()):
        where = (*path, "always_include", number)
        if not isinstance(pattern, str) or not is_pattern(pattern) or any(patterns.matches(pattern, tool) for tool in usable):
            continue
        if any(patterns.matches(pattern, tool) for tool in tools):
            issues.add(where, f"the agent {name} may not call {pattern}", f"agents.{name}.tools says what it may")
        else:
            text = "no tool matches this pattern" if "*" in pattern else f"there is no tool {pattern}"
            issues.add(where, text, meant(pattern, usable))


def _lists(name: str, agents: Mapping[str, Json]) -> Iterator[list[str]]:
    """What an agent may call, by its own list and by those of the agents above it."""
    here: Json = name
    for _ in agents:
        agent = agents.get(here) if isinstance(here, str) else None
        if not isinstance(agent, dict):
            return
        may = agent.get("tools", [])
        yield [one for one in may if isinstance(one, str)] if isinstance(may, list) else []
        here = agent.get("under")
