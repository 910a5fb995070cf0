"""Conditions on context values in a workflow: a key that can have a value, one operator, and nothing that would never be filled."""

from __future__ import annotations

from ...core import references
from ...core.errors import ToolgateError
from ...core.types import Json
from ..conditions import check_condition
from ..issues import Issues
from ..positions import KeyPath
from .references import Scope
from .tools import texts


def check_guards(raw: Json, path: KeyPath, scope: Scope, issues: Issues) -> None:
    if not isinstance(raw, list):
        issues.add(path, "must be a list of conditions", '[{ key = "decision", eq = "refund" }]')
        return
    if not raw:
        issues.add(path, "an empty list says nothing", "write a condition, or leave it out")
    for number, table in enumerate(raw):
        _check(table, (*path, number), scope, issues)


def _check(table: Json, path: KeyPath, scope: Scope, issues: Issues) -> None:
    check_condition({"at": "", **table} if isinstance(table, dict) else table, "at", ("key",), path, issues)
    if not isinstance(table, dict):
        return
    key = table.get("key")
    if not isinstance(key, str) or not key:
        issues.add((*path, "key") if "key" in table else path, "key must be the context key that is looked at", 'write key = "decision"')
    elif "#" in key:
        issues.add(
            (*path, "key"), "a place in a value is named by at", f'write key = "{key.partition("#")[0]}", at = "{key.partition("#")[2]}"'
        )
    else:
        scope.check_name(key, (*path, "key"), issues)
    for where, text in texts(table, path):
        if _is_filled(text):
            issues.add(
                where, "a condition is compared with what is written here: a reference is not filled", "name the value with key and at"
            )


def _is_filled(text: str) -> bool:
    try:
        return bool(references.names(text))
    except ToolgateError:
        return False
