"""Conditions on context values: all must hold, and what is absent or cannot be judged does not."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core import guards
from toolgate_cli.core.conditions import OPERATORS, missing, needed
from toolgate_cli.core.types import Json

VALUES: dict[str, Json] = {"amount": 900, "who": "ann", "order": {"state": "damaged", "n/m": 1}, "tags": ["a", "b"], "nothing": None}
ONE: dict[str, tuple[Any, Any]] = {  # an operand that holds of the value, and one that does not
    "eq": (900, 901),
    "ne": (901, 900),
    "in": ([1, 900], [1]),
    "lt": (901, 900),
    "le": (900, 899),
    "gt": (899, 900),
    "ge": (900, 901),
    "exists": (True, False),
}
TEXT: dict[str, tuple[Any, Any]] = {"glob": ("a*", "b*"), "matches": ("n+$", "^n"), "size": (3, 4), "under": ("ann", "bob")}
LIST: dict[str, tuple[Any, Any]] = {
    "all": ([{"at": "", "in": ["a", "b"]}], [{"at": "", "eq": "a"}]),
    "any": ([{"at": "", "eq": "a"}], [{"at": "", "eq": "c"}]),
}
CASES = [(key, op, *pair) for key, table in (("amount", ONE), ("who", TEXT), ("tags", LIST)) for op, pair in table.items()]


def why(*tables: dict[str, Json]) -> str | None:
    return guards.failing(guards.read(list(tables)), VALUES.__getitem__)


def test_every_operator_is_looked_at_here() -> None:
    assert {case[1] for case in CASES} == set(OPERATORS)


@pytest.mark.parametrize(("key", "op", "holds", "fails"), CASES)
def test_an_operator_holds_or_says_of_what_it_does_not(key: str, op: str, holds: Json, fails: Json) -> None:
    assert why({"key": key, op: holds}) is None
    assert why({"key": key, op: fails}) == f"{op} does not hold of {key}"


def test_a_place_in_the_value_is_named_by_a_pointer() -> None:
    assert why({"key": "order", "at": "/state", "eq": "damaged"}) is None
    assert why({"key": "order", "at": "/n~1m", "eq": 1}) is None
    assert why({"key": "order", "at": "/state", "eq": "fine"}) == "eq does not hold of order#/state"
    assert why({"key": "order", "at": "/sate", "eq": "fine"}) == "order#/sate is absent"


@pytest.mark.parametrize("op", sorted(OPERATORS - {"exists"}))
def test_what_is_absent_makes_every_condition_false_but_the_one_that_asks_for_it(op: str) -> None:
    [(holds, _)] = [pair for table in (ONE, TEXT, LIST) for name, pair in table.items() if name == op]
    assert why({"key": "gone", op: holds}) == "gone is absent"
    assert why({"key": "gone", "exists": False}) is None and why({"key": "gone", "exists": True}) == "exists does not hold of gone"


def test_a_null_is_there() -> None:
    assert why({"key": "nothing", "eq": None}) is None and why({"key": "nothing", "exists": True}) is None


@pytest.mark.parametrize(
    ("key", "op", "wanted"), [("who", "gt", 5), ("amount", "glob", "*"), ("amount", "size", 3), ("who", "all", [{"at": "", "eq": 1}])]
)
def test_a_type_that_cannot_be_judged_does_not_hold_and_is_told_as_such(key: str, op: str, wanted: Json) -> None:
    assert why({"key": key, op: wanted}) == f"{key} is of a type that {op} cannot judge"


def test_all_must_hold_and_the_first_that_does_not_is_told() -> None:
    assert why({"key": "amount", "gt": 1}, {"key": "who", "eq": "ann"}) is None
    assert why({"key": "amount", "gt": 1}, {"key": "who", "eq": "bob"}, {"key": "gone", "eq": 1}) == "eq does not hold of who"
    assert why() is None


def test_a_fault_of_the_store_is_no_answer() -> None:
    def broken(key: str) -> Json:
        raise OSError(key)

    with pytest.raises(OSError):
        guards.failing(guards.read([{"key": "who", "eq": "ann"}]), broken)


def test_the_modules_that_are_needed_are_found_wherever_an_operator_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.delitem(sys.modules, "re2", raising=False)
    assert missing(needed({"if": [{"key": "a", "any": [{"at": "", "matches": "x"}]}]})) == ("re2",)
    assert needed({"if": [{"key": "a", "eq": "matches"}]}) == () and needed("matches") == ()
