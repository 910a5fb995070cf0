"""What a condition must be, as it is written: `{ arg = "/amount", gt = 500 }`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..core.conditions import OPERATORS, QUANTIFIERS, condition, fault
from ..core.pointer import tokens
from ..core.types import Json
from .issues import Issues, meant, shorten
from .positions import KeyPath

_ELSEWHERE: Mapping[str, str] = {"lte": "le", "gte": "ge", "equals": "eq", "neq": "ne", "regex": "matches", "contains": "any"}


def check_condition(raw: Json, place: str, others: Iterable[str], path: KeyPath, issues: Issues) -> None:
    """`others`: further keys that may stand in the table."""
    if not isinstance(raw, dict):
        issues.add(path, "must be a table")
        return
    before = len(issues.errors)
    known = {place, *others, *OPERATORS}
    for key in raw:
        if key not in known:
            hint = f"did you mean {_ELSEWHERE[key]}?" if key in _ELSEWHERE else meant(key, known)
            issues.add((*path, key), "unknown key or operator", hint)
    at = raw.get(place)
    if not isinstance(at, str):
        issues.add((*path, place) if place in raw else path, f"{place} must be a JSON pointer", f'write {place} = "/key"')
    elif wrong := _fault(at):
        issues.add((*path, place), wrong, "" if at.startswith("/") else f'write {place} = "/{shorten(at)}"')
    used = [key for key in raw if key in OPERATORS]
    if not used and len(issues.errors) > before:
        return  # the operator is most likely the key that is misspelt
    if len(used) != 1:
        issues.add(path, f"needs exactly one operator, it has {len(used)}", f"operators: {', '.join(sorted(OPERATORS))}")
        return
    [op] = used
    if op in QUANTIFIERS:
        _check_nested(raw[op], (*path, op), issues)
    if op == "in" and raw[op] == []:
        issues.add((*path, op), "an empty list never holds")
    if len(issues.errors) == before and (found := fault(condition(raw, place))):
        issues.add((*path, op), found)


def _fault(at: str) -> str:
    try:
        tokens(at)
    except ValueError as error:
        return str(error)
    return ""


def _check_nested(raw: Json, path: KeyPath, issues: Issues) -> None:
    if not isinstance(raw, list) or not raw:
        issues.add(path, "needs a list of conditions")
        return
    for number, item in enumerate(raw):
        check_condition(item, "at", (), (*path, number), issues)
