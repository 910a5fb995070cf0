"""The whole of toolgate.toml: everything that is wrong with it is found in one go, and nothing of it counts until nothing is (I5)."""

from __future__ import annotations

from collections.abc import Mapping

from ...core import durations
from ...core.errors import ToolgateError
from ...core.types import Json
from .. import models, shapes
from ..document import check_values
from ..issues import Issues
from ..kinds import Kinds
from ..outside import Outside
from ..reading import Table
from ..servers import SECTION, expand
from .agents import Agents, check_model
from .context import check_context
from .marks import check_marks
from .policy import Policy, check_approvers
from .secrets import check_secrets
from .selection import check_selection
from .servers import check_servers
from .tools import Tools

_SIMPLE: Mapping[str, type] = {"gate": shapes.Gate, "limits": shapes.Limits, "identity": shapes.Identity, "context": shapes.Context}


def check_operator(raw: Table, kinds: Kinds, outside: Outside) -> Issues:
    issues = Issues()
    check_values(raw, issues)
    if issues.errors:
        return issues
    models.check(models.Fit((shapes.Operator,)), raw, (), issues)
    for name, shape in _SIMPLE.items():
        if name in raw and models.check(models.Fit((shape,)), raw[name], (name,), issues):
            check_marks(shape, _tables(raw, name), (name,), issues)
    check_servers(raw, kinds, issues)
    try:
        locked = outside.locked()
        raw = expand(raw, locked, kinds.providers())
        for name in _tables(raw, SECTION):
            if name not in locked:
                issues.warn((SECTION, name), "none of its tools is pinned, so none can be called", f"toolgate tools pin {name}")
    except ToolgateError as error:
        issues.add((SECTION,), error.message, error.hint)
    check_values(raw, issues)
    check_secrets(raw, kinds, issues)
    check_context(raw, issues)
    names = {section: frozenset(_tables(raw, section)) for section in ("tools", "models", "agents")}
    servers = frozenset(_tables(raw, SECTION))
    tools = Tools(kinds, outside, _longest(raw, issues), issues)
    for name, table in _tables(raw, "tools").items():
        if isinstance(table, dict):
            tools.check(name, table)
    for name, table in _tables(raw, "models").items():
        if isinstance(table, dict):
            check_model(name, table, kinds, issues)
    agents = Agents(names["tools"], names["models"], outside, issues, servers)
    for name, table in _tables(raw, "agents").items():
        if isinstance(table, dict) and agents.check(name, table):
            check_selection(name, _tables(raw, "agents"), names["tools"], names["models"], issues)
    scopes = check_approvers(_tables(raw, "approvers"), issues)
    if "policy" in raw:
        Policy(_tables(raw, "tools"), tools.schemas, names["agents"], scopes, issues, servers).check(raw["policy"])
    return issues


def _longest(raw: Table, issues: Issues) -> float:
    """gate.timeout_max in seconds, which no timeout may exceed: not its default either."""
    gate = _tables(raw, "gate")
    found: dict[str, float] = {}
    for name in ("timeout", "timeout_max"):
        try:
            found[name] = durations.parse(str(gate[name])) if name in gate else float(getattr(shapes.Gate(), name))
        except ValueError:
            return float("inf")  # said already
    if found["timeout"] > found["timeout_max"]:
        path = ("gate", "timeout") if "timeout" in gate else ("gate", "timeout_max")
        issues.add(path, "gate.timeout is longer than gate.timeout_max")
    return found["timeout_max"]


def _tables(raw: Table, name: str) -> dict[str, Json]:
    held = raw.get(name)
    return held if isinstance(held, dict) else {}
