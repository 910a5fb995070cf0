"""What a policy says of a call, read a second time by a few simple lines: the least that the gate has to hold against it."""

from __future__ import annotations

import json
import re
import warnings
from functools import lru_cache
from typing import Any

import jsonschema

from .danger import Asked


def least(raw: dict[str, Any], schemas: dict[str, Any], asked: Asked) -> int:
    """0, 1 or 2 as in `Stand`. `raw`: the tables of toolgate.toml; `schemas`: what its schema files hold."""
    tool = raw.get("tools", {}).get(asked.capability)
    if tool is None or tool.get("enabled", True) is not True:
        return 2
    if asked.agent is not None and not any(
        _glob(p, asked.capability, "[^.]*") for p in raw.get("agents", {}).get(asked.agent, {}).get("tools", [])
    ):
        return 2
    if "permission" in tool:
        granted = raw.get("context", {}).get("permissions", {})
        if tool["permission"] not in granted.get(asked.principal, []) + granted.get("*", []):
            return 2
    schema = schemas[tool["input_schema_file"]] if "input_schema_file" in tool else tool["input_schema"]
    arguments = dict(asked.arguments)
    if schema != "any-object":
        if not _valid(json.dumps(schema), json.dumps(arguments)):
            return 2
        for name, held in (schema.get("properties", {}) if isinstance(schema, dict) else {}).items():
            if isinstance(held, dict) and "default" in held:
                arguments.setdefault(name, held["default"])
    rules = [rule for rule in raw.get("policy", {}).get("rules", []) if _concerns(rule, tool, asked)]
    for decision, level in (("deny", 2), ("require_approval", 1)):
        for rule in rules:
            if rule["decision"] == decision and all(_holds(entry, arguments, True, False) for entry in rule.get("when", [])):
                return level
    for rule in rules:
        if rule["decision"] == "allow" and all(_holds(entry, arguments, False, True) for entry in rule.get("when", [])):
            return 0
    return {"deny": 2, "require_approval": 1, "allow": 0}[raw.get("policy", {}).get("default", "require_approval")]


@lru_cache(maxsize=5000)
def _valid(schema: str, arguments: str) -> bool:
    return bool(jsonschema.Draft202012Validator(json.loads(schema)).is_valid(json.loads(arguments)))


def _concerns(rule: dict[str, Any], tool: dict[str, Any], asked: Asked) -> bool:
    return (
        _glob(rule.get("capability", "**"), asked.capability, "[^.]*")
        and _glob(rule.get("workflow", "**"), asked.workflow, ".*")
        and _glob(rule.get("principal", "**"), asked.principal, ".*")
        and ("agent" not in rule or (asked.agent is not None and _glob(rule["agent"], asked.agent, ".*")))
        and rule.get("safety") in (None, tool.get("safety", "destructive"))
        and rule.get("effect") in (None, tool.get("effect", "unsafe"))
    )


@lru_cache(maxsize=5000)
def _glob(pattern: str, text: str, star: str) -> bool:
    parts = re.split(r"(\*\*|\*)", pattern)
    return re.fullmatch("".join({"**": ".*", "*": star}.get(part, re.escape(part)) for part in parts), text, re.DOTALL) is not None


def _holds(entry: dict[str, Any], arguments: dict[str, Any], unjudged: bool, unsaid: bool) -> bool:
    """`unjudged`: the answer for a value of another type than the operator judges; `unsaid`: for an operator that is not read here."""
    [operator] = set(entry) - {"arg"}
    wanted = entry[operator]
    found: Any = arguments
    for part in entry["arg"].split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or part not in found:
            return operator == "exists" and not wanted
        found = found[part]
    number = isinstance(found, (int, float)) and not isinstance(found, bool)
    if operator == "exists":
        return bool(wanted)
    if operator in ("eq", "ne"):
        return (_same(found, wanted)) == (operator == "eq")
    if operator == "in":
        return any(_same(found, item) for item in wanted)
    if operator in ("lt", "le", "gt", "ge"):
        tests = {"lt": lambda: found < wanted, "le": lambda: found <= wanted, "gt": lambda: found > wanted, "ge": lambda: found >= wanted}
        return bool(tests[operator]()) if number else unjudged
    if operator == "glob":
        if "?" in wanted:
            return unsaid
        return _glob(wanted, found, "[^/]*") if isinstance(found, str) else unjudged
    if operator == "matches" and re.fullmatch(r"\^?[\w /\[\]-]*", wanted):
        with warnings.catch_warnings(action="ignore"):  # "[[" may mean something else one day
            return re.search(wanted, found) is not None if isinstance(found, str) else unjudged
    return unsaid


def _same(found: Any, wanted: Any) -> bool:
    return bool(found == wanted) and isinstance(found, bool) == isinstance(wanted, bool)
