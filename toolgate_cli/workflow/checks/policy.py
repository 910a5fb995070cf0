"""What the policy must hold: a rule that means nothing is an error, never a rule that matches everything (I5)."""

from __future__ import annotations

from collections.abc import Mapping

from ...core import patterns
from ...core.types import Json
from .. import models, shapes
from ..conditions import check_condition
from ..issues import Issues, meant
from ..names import check_name, is_pattern
from ..positions import KeyPath
from .marks import check_marks


def check_approvers(raw: Mapping[str, Json], issues: Issues) -> dict[str, int]:
    """How many people hold each scope."""
    sizes: dict[str, int] = {}
    for scope, people in raw.items():
        path: KeyPath = ("approvers", scope)
        check_name(scope, "a scope", path, issues)
        names = people if isinstance(people, list) else []
        sizes[scope] = len(set(map(str, names)))
        if not names:
            issues.add(path, "nobody holds this scope", "name who does")
        elif sizes[scope] < len(names):
            issues.add(path, "a name is there twice")
        for number, name in enumerate(names):
            if isinstance(name, str) and name != name.strip():
                issues.add((*path, number), "a name with blanks around it")
    return sizes


class Policy:
    """Checks the rules. `tools` and `agents`: all that are declared; `scopes`: how many people hold each."""

    def __init__(self, tools: frozenset[str], agents: frozenset[str], scopes: Mapping[str, int], issues: Issues) -> None:
        self._tools = tools
        self._agents = agents
        self._scopes = scopes
        self._issues = issues
        self._names: dict[str, int] = {}

    def check(self, raw: Json) -> None:
        if not models.check(models.Fit((shapes.Policy,)), raw, ("policy",), self._issues) and not isinstance(raw, dict):
            return
        rules = raw.get("rules") if isinstance(raw, dict) else None
        for number, rule in enumerate(rules if isinstance(rules, list) else ()):
            if isinstance(rule, dict):
                self._check_rule(rule, ("policy", "rules", number), number)

    def _check_rule(self, rule: dict[str, Json], path: KeyPath, number: int) -> None:
        name = rule.get("name")
        if isinstance(name, str):
            if name != name.strip() or not name.isprintable():
                self._issues.add((*path, "name"), "not a name for a rule", "printable, without blanks around it")
            if self._names.setdefault(name, number) != number:
                self._issues.add((*path, "name"), f"a rule is called {name} already")
        conditions = rule.get("when")
        for index, condition in enumerate(conditions if isinstance(conditions, list) else ()):
            check_condition(condition, "arg", (), (*path, "when", index), self._issues)
        if not models.check(models.Fit((shapes.Rule,)), rule, path, self._issues):
            return
        check_marks(shapes.Rule, rule, path, self._issues)
        self._check_capability(rule, path)
        self._check_names(rule, path)
        self._check_people(rule, path)

    def _check_capability(self, rule: Mapping[str, Json], path: KeyPath) -> None:
        pattern = rule.get("capability")
        if isinstance(pattern, str) and is_pattern(pattern) and not any(patterns.matches(pattern, tool) for tool in self._tools):
            text = "no tool matches this pattern" if "*" in pattern else f"there is no tool {pattern}"
            self._issues.add((*path, "capability"), text, meant(pattern, self._tools))

    def _check_names(self, rule: Mapping[str, Json], path: KeyPath) -> None:
        for key in ("workflow", "agent", "principal"):
            text = rule.get(key)
            if isinstance(text, str) and (text != text.strip() or not text.isprintable() or "***" in text):
                self._issues.add((*path, key), "not a name or a pattern", "printable, without blanks around it")
        agent = rule.get("agent")
        if isinstance(agent, str) and not any(patterns.matches_name(agent, known) for known in self._agents):
            self._issues.add((*path, "agent"), f"there is no agent {agent}", meant(agent, self._agents))

    def _check_people(self, rule: Mapping[str, Json], path: KeyPath) -> None:
        scope, approvals = rule.get("approver_scope"), rule.get("approvals", 1)
        if "on_expiry" in rule and "expires_in" not in rule:
            self._issues.add((*path, "on_expiry"), "says nothing without expires_in")
        if rule.get("decision") != "require_approval":
            for key in ("approvals", "separate_requester", "expires_in"):
                if key in rule:
                    self._issues.warn((*path, key), "only a rule with require_approval asks people")
        if not isinstance(scope, str):
            return
        if scope not in self._scopes:
            self._issues.add((*path, "approver_scope"), f"[approvers] has no {scope}", meant(scope, self._scopes))
        elif isinstance(approvals, int) and approvals > self._scopes[scope]:
            text = f"asks for {approvals} people, {self._scopes[scope]} hold the scope {scope}"
            self._issues.add((*path, "approvals") if "approvals" in rule else path, text)
        elif approvals == self._scopes[scope] and rule.get("separate_requester") is True:
            self._issues.warn(path, f"a request of somebody in {scope} can never be approved: nobody is left over")
