"""What the policy must hold: a rule that means nothing is an error, never a rule that matches everything (I5)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from ...core import patterns, pointer
from ...core.config import Rule
from ...core.types import Json
from .. import models, shapes
from ..conditions import check_condition
from ..issues import Issues, meant, shorten
from ..names import check_name, is_pattern
from ..positions import KeyPath
from ..servers import meant_tool
from .arguments import Missed, missed
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
    """Checks the rules. `tools`, `agents` and `servers`: all that are declared; `schemas`: of the tools that have a sound one; `scopes`:
    how many people hold each."""

    def __init__(
        self, tools: Mapping[str, Json], schemas: Mapping[str, Json], agents: frozenset[str], scopes: Mapping[str, int], issues: Issues,
        servers: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self._servers = servers
        self._tools = tools
        self._schemas = schemas
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
                self._check_named(rule, ("policy", "rules", number), number)

    def _check_named(self, rule: dict[str, Json], path: KeyPath, number: int) -> None:
        """What is said of a rule says which: a person knows it by its name."""
        all_, self._issues = self._issues, Issues()
        try:
            self._check_rule(rule, path, number)
        finally:
            found, self._issues = self._issues, all_
        name = rule.get("name")
        all_.take(found, f" (rule {shorten(name)})" if isinstance(name, str) and name.strip() else "")

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
        self._check_arguments(rule, path)

    def _check_capability(self, rule: Mapping[str, Json], path: KeyPath) -> None:
        pattern = rule.get("capability")
        if isinstance(pattern, str) and is_pattern(pattern) and not any(patterns.matches(pattern, tool) for tool in self._tools):
            text = "no tool matches this pattern" if "*" in pattern else f"there is no tool {pattern}"
            self._issues.add((*path, "capability"), text, meant_tool(pattern, self._tools, self._servers))

    def _check_arguments(self, rule: Mapping[str, Json], path: KeyPath) -> None:
        """A condition on an argument that none of the rule's tools can be given never holds, and nobody would notice."""
        about = [name for name, tool in self._tools.items() if isinstance(tool, dict) and _is_about(rule, name, tool)]
        if not about or not all(name in self._schemas for name in about):
            return
        conditions = rule.get("when")
        for number, raw in enumerate(conditions if isinstance(conditions, list) else ()):
            self._check_places(raw, "arg", (), about, (*path, "when", number))

    def _check_places(self, raw: Json, key: str, base: tuple[str, ...], about: list[str], path: KeyPath) -> None:
        """`base`: the array that the conditions of `all` and `any` are about one item of."""
        if not isinstance(raw, dict):
            return
        at = (*base, *_tokens(raw.get(key)))
        found = [missed(self._schemas[name], at) for name in about]
        lost = [each for each in found if each is not None]
        if len(lost) == len(found):
            self._warn(lost, "".join(f"/{pointer.escape(part)}" for part in at), about, (*path, key), raw.get("exists") is False)
            return
        for op in ("all", "any"):
            nested = raw.get(op)
            for number, item in enumerate(nested if isinstance(nested, list) else ()):
                self._check_places(item, "at", (*at, "0"), about, (*path, op, number))

    def _warn(self, lost: list[Missed], at: str, about: list[str], path: KeyPath, always: bool) -> None:
        who = about[0] if len(about) == 1 else f"none of {', '.join(about[:3])}{', ...' if len(about) > 3 else ''}"
        takes = f"{who} takes no argument" if len(about) == 1 else f"{who} takes an argument"
        hints = [hint for each in lost if (hint := each.instead())]
        hint = next((hint for hint in hints if hint.startswith("did you mean")), hints[0] if hints else "")
        self._issues.warn(path, f"{takes} {shorten(at)}: this {'always' if always else 'never'} holds", hint)

    def _check_names(self, rule: Mapping[str, Json], path: KeyPath) -> None:
        for key in ("workflow", "agent", "principal", "tenant"):
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


def warn_of_workflows(rules: Iterable[Rule], known: Collection[str], issues: Issues) -> None:
    """A rule about a workflow that there is not never matches. `known`: the ids of all; the file may be right before they are."""
    for number, rule in enumerate(rules):
        if rule.workflow is not None and not any(patterns.matches_name(rule.workflow, id) for id in known):
            text = "no workflow matches this pattern" if "*" in rule.workflow else f"there is no workflow {rule.workflow}"
            said = f"{text}: the rule never holds" + (f" (rule {shorten(rule.name)})" if rule.name else "")
            issues.warn(("policy", "rules", number, "workflow"), said, meant(rule.workflow, known))


def _is_about(rule: Mapping[str, Json], name: str, tool: Mapping[str, Json]) -> bool:
    """Whether a call of that tool can match the rule, as far as the tool alone tells."""
    preset = {"safety": "destructive", "effect": "unsafe"}
    pattern = rule.get("capability")
    return (not isinstance(pattern, str) or patterns.matches(pattern, name)) and all(
        rule.get(key, tool.get(key, value)) == tool.get(key, value) for key, value in preset.items()
    )


def _tokens(at: Json) -> tuple[str, ...]:
    try:
        return pointer.tokens(at) if isinstance(at, str) else ()
    except ValueError:
        return ()  # said already
