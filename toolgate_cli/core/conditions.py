"""Conditions of rules, steps and outcomes: what cannot be judged counts against the call, never for it (I5)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

from . import paths, wildcards
from .config import Condition
from .pointer import resolve, tokens
from .types import Json
from .unsure import UNSURE, stands_in


class Unjudgeable(Exception):
    """The value is of a type that the operator cannot judge."""


def holds(condition: Condition, document: Json, on_type_error: bool) -> bool:
    """Whether the condition is true of the document. An absent value makes it false, except for `exists`; `on_type_error` is the answer
    for a value that the operator cannot judge, or that is UNSURE: False for a rule that allows, True for one that asks or denies. Raises
    ValueError for a condition that is itself broken (see `fault`)."""
    op, wanted = condition.op, condition.value
    if op not in OPERATORS:
        raise ValueError(f"unknown operator {op}")
    try:
        found: Json = resolve(document, condition.at)
    except KeyError:
        return op == "exists" and not _flag(wanted)
    if found is UNSURE or (op in _WHOLE and stands_in(found)):
        return on_type_error
    if op == "exists":
        return _flag(wanted)
    try:
        if op in QUANTIFIERS:
            return _of_each(found, op, _nested(wanted), on_type_error)
        return _JUDGES[op](found, wanted)
    except Unjudgeable:
        return on_type_error


def condition(raw: Mapping[str, Json], place: str) -> Condition:
    """A condition as it is written, `{ arg = "/amount", gt = 500 }`, once it was checked. `place` is the key that holds the pointer; the
    one operator that stands beside it is the test."""
    op = next(key for key in raw if key in OPERATORS)
    at = raw[place]
    assert isinstance(at, str)
    return Condition(at, op, _each(raw[op]) if op in QUANTIFIERS else raw[op])


def _each(raw: Json) -> Json:
    """The conditions of `all` and `any`, each about one item, as [at, op, value]."""
    if not isinstance(raw, list):
        raise TypeError("a list was expected")
    found: list[Json] = []
    for item in raw:
        if not isinstance(item, dict):
            raise TypeError("a table was expected")
        found.append(list(condition(item, "at")))
    return found


def fault(condition: Condition) -> str | None:
    """What is wrong with a condition, for the check when it is loaded; None: it can be evaluated."""
    if condition.op not in OPERATORS:
        return f"unknown operator {condition.op}"
    try:
        tokens(condition.at)
        if condition.op in QUANTIFIERS:
            return next(filter(None, map(fault, _nested(condition.value))), None)
        if condition.op == "exists":
            _flag(condition.value)
        else:
            _JUDGES[condition.op](None, condition.value)
    except ValueError as error:
        return str(error)
    except Unjudgeable:  # null cannot be judged, and what it is compared with was looked at first
        pass
    return None


def equal(left: Json, right: Json) -> bool:
    """Equality of JSON values: numbers by value (1 is 1.0), and true is no number; text by code points."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(value, right[key]) for key, value in left.items())
    return left == right


def _of_each(found: Json, op: str, nested: tuple[Condition, ...], on_type_error: bool) -> bool:
    """`all`: every item meets every condition (an empty array does); `any`: one item meets all of them."""
    if not isinstance(found, list):
        raise Unjudgeable
    each = (all(holds(condition, item, on_type_error) for condition in nested) for item in found)
    return all(each) if op == "all" else any(each)


# ---- the judges: (found, wanted) -> bool; first ValueError where `wanted` is broken, then Unjudgeable where `found` cannot be judged ----
def _ordered(compare: Callable[[float, float], bool]) -> Callable[[Json, Json], bool]:
    def judge(found: Json, wanted: Json) -> bool:
        if isinstance(wanted, bool) or not isinstance(wanted, (int, float)):
            raise ValueError("lt, le, gt and ge compare with a number")
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            raise Unjudgeable
        return compare(found, wanted)

    return judge


def _in(found: Json, wanted: Json) -> bool:
    if not isinstance(wanted, list):
        raise ValueError("in compares with a list")
    return any(equal(found, item) for item in wanted)


def _glob(found: Json, wanted: Json) -> bool:
    """`*` any run without "/", `**` any run, `?` any one character but "/"; the whole text, spelled the same however it was composed."""
    pattern = _text(wanted, "glob")
    if not isinstance(found, str):
        raise Unjudgeable
    return wildcards.matches(_composed(pattern), _composed(found), "/", question=True)


def _under(found: Json, wanted: Json) -> bool:
    """The path is the directory `wanted` or in it, component by component, once "." and ".." are gone. What leaves the directory that it
    starts from, or is relative where `wanted` is not (and the other way round), cannot be judged."""
    base = paths.normalise(_composed(_text(wanted, "under")))
    if base is None:
        raise ValueError("under compares with a path that stays where it says")
    place = paths.normalise(_composed(found)) if isinstance(found, str) else None
    if place is None or place.absolute != base.absolute:
        raise Unjudgeable
    return place.parts[: len(base.parts)] == base.parts


def _matches(found: Json, wanted: Json) -> bool:
    """A search in linear time, anchored only as it is written; `$` is the very end of the text."""
    import re2

    pattern = _text(wanted, "matches")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError("matches needs a regular expression that RE2 knows") from error
    if not isinstance(found, str):
        raise Unjudgeable
    return compiled.search(found) is not None


def _size(found: Json, wanted: Json) -> bool:
    """Length of text (code points), list or table, against a whole number or a table such as {gt = 0, le = 10}."""
    bounds: Mapping[str, Json] = wanted if isinstance(wanted, dict) else {"eq": wanted}
    if not bounds or not bounds.keys() <= _SIZES:
        raise ValueError("size compares with a whole number or a table of lt, le, gt, ge, eq")
    for bound in bounds.values():
        if not isinstance(bound, int) or isinstance(bound, bool):
            raise ValueError("size compares with whole numbers")
    if not isinstance(found, (str, list, dict)):
        raise Unjudgeable
    return all(_JUDGES[name](len(found), bound) for name, bound in bounds.items())


def _composed(text: str) -> str:
    """NFC: what a file system or a keyboard composed differently is the same text."""
    if text.isascii():
        return text
    from unicodedata import normalize  # imported where it is needed: most text is ASCII

    return normalize("NFC", text)


def _text(wanted: Json, op: str) -> str:
    if not isinstance(wanted, str):
        raise ValueError(f"{op} compares with text")
    return wanted


def _flag(wanted: Json) -> bool:
    if not isinstance(wanted, bool):
        raise ValueError("exists is true or false")
    return wanted


def _nested(wanted: Json) -> tuple[Condition, ...]:
    """The conditions of `all` and `any`: a list of [at, op, value], each about one item of the array."""
    if not isinstance(wanted, list) or not wanted:
        raise ValueError("all and any need a list of conditions")
    found = []
    for item in wanted:
        if not (isinstance(item, list) and len(item) == 3 and isinstance(item[0], str) and isinstance(item[1], str)):
            raise ValueError("a condition in all or any is [at, op, value]")
        found.append(Condition(item[0], item[1], item[2]))
    return tuple(found)


_JUDGES: Mapping[str, Callable[[Json, Json], bool]] = {
    "eq": equal,
    "ne": lambda found, wanted: not equal(found, wanted),
    "in": _in,
    "lt": _ordered(lambda found, wanted: found < wanted),
    "le": _ordered(lambda found, wanted: found <= wanted),
    "gt": _ordered(lambda found, wanted: found > wanted),
    "ge": _ordered(lambda found, wanted: found >= wanted),
    "glob": _glob,
    "under": _under,
    "matches": _matches,
    "size": _size,
}
_SIZES = frozenset({"lt", "le", "gt", "ge", "eq"})
_WHOLE = frozenset({"eq", "ne", "in", "size"})  # they judge a list or a table by all that is in it
QUANTIFIERS = ("all", "any")
OPERATORS: frozenset[str] = frozenset({*_JUDGES, "exists", *QUANTIFIERS})
_NEEDED: Mapping[str, str] = {"matches": "re2", "glob": "unicodedata", "under": "unicodedata"}  # operator -> module


def warm(conditions: Iterable[Condition]) -> None:
    """Imports what judging these needs: to be called outside of any transaction, for no module is imported while a store is locked (I7)."""
    used = {condition.op for condition in conditions}
    if used & {"matches", "all", "any"}:
        import re2  # noqa: F401
    if used & {"glob", "under", "all", "any"}:
        import unicodedata  # noqa: F401


def needed(written: Json) -> tuple[str, ...]:
    """The modules that judging conditions needs which are written anywhere in this value."""
    return tuple(sorted({_NEEDED[key] for key in _keys(written) if key in _NEEDED}))


def missing(modules: Iterable[str]) -> tuple[str, ...]:
    """Those that are not imported yet; `fetch` them outside of any transaction."""
    return tuple(name for name in modules if name not in sys.modules)


def fetch(modules: Iterable[str]) -> None:
    from importlib import import_module

    for name in modules:
        import_module(name)


def _keys(written: Json) -> Iterator[str]:
    if isinstance(written, dict):
        yield from written
    for part in written.values() if isinstance(written, dict) else written if isinstance(written, list) else ():
        yield from _keys(part)
