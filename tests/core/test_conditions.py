"""Conditions: values, absence, and types that cannot be judged."""

from __future__ import annotations

import builtins
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.conditions import OPERATORS, equal, fault, holds, warm
from toolgate_cli.core.config import Condition
from toolgate_cli.core.unsure import UNSURE

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=8
)


def ask(op: str, wanted: Any, found: Any) -> bool | None:
    """The answer for a value that is there; None where it cannot be judged."""
    condition = Condition("/x", op, wanted)
    strict, lenient = holds(condition, {"x": found}, True), holds(condition, {"x": found}, False)
    if strict != lenient:
        assert strict and not lenient
        return None
    return strict


JUDGED: list[tuple[str, Any, Any, bool | None]] = [
    ("eq", 1, 1, True),
    ("eq", 1, 1.0, True),
    ("eq", 1, True, False),
    ("eq", 0, False, False),
    ("eq", True, True, True),
    ("eq", True, 1, False),
    ("eq", None, None, True),
    ("eq", None, False, False),
    ("eq", "1", 1, False),
    ("eq", "", None, False),
    ("eq", [1, {"a": 2}], [1.0, {"a": 2}], True),
    ("eq", [1], [True], False),
    ("eq", [1, 2], [1], False),
    ("eq", [1], [1, 2], False),
    ("eq", {"a": 1}, {"a": True}, False),
    ("eq", {"a": 1}, {"b": 1}, False),
    ("eq", {"a": 1}, {"a": 1, "b": 1}, False),
    ("eq", {}, [], False),
    ("eq", 9007199254740993, 9007199254740992.0, False),
    ("ne", 1, 1.0, False),
    ("ne", 1, True, True),
    ("ne", 500, "500", True),
    ("in", [1, "a"], "a", True),
    ("in", [1, "a"], True, False),
    ("in", [1, "a"], 1.0, True),
    ("in", [], 1, False),
    ("in", [[1]], [1], True),
    ("lt", 500, 499, True),
    ("lt", 500, 500, False),
    ("lt", 500, 500.5, False),
    ("le", 500, 500, True),
    ("le", 500, 501, False),
    ("gt", 500, 500, False),
    ("gt", 500, 501, True),
    ("gt", 500, 500.0000001, True),
    ("ge", 500, 500, True),
    ("ge", 500, 499, False),
    ("gt", 0.5, 10**400, True),
    ("gt", 500, "900", None),
    ("gt", 500, True, None),
    ("gt", 0, True, None),
    ("ge", 0, None, None),
    ("lt", 5, [1], None),
    ("glob", "a*c", "abc", True),
    ("glob", "a*c", "ac", True),
    ("glob", "a*c", "abcd", False),
    ("glob", "a*c", "xabc", False),
    ("glob", "a*c", "a/c", False),
    ("glob", "a**c", "a/b/c", True),
    ("glob", "a?c", "abc", True),
    ("glob", "a?c", "ac", False),
    ("glob", "a?c", "a/c", False),
    ("glob", "a.c", "abc", False),
    ("glob", "[ab]", "a", False),
    ("glob", "*", "a\nb", True),
    ("glob", "abc", "abc\n", False),
    ("glob", "", "", True),
    ("glob", "passwo\u0308rter*", "passw\u00f6rter.txt", True),
    ("glob", "passw\u00f6rter*", "passwo\u0308rter.txt", True),
    ("glob", "passw?rter", "passwo\u0308rter", True),
    ("glob", "*", 5, None),
    ("glob", "*", None, None),
    ("under", "/srv/app", "/srv/app", True),
    ("under", "/srv/app", "/srv/app/", True),
    ("under", "/srv/app", "/srv/app/x/y", True),
    ("under", "/srv/app/", "/srv//app/./x", True),
    ("under", "/srv/app", "/srv/app-evil", False),
    ("under", "/srv/app", "/srv/app-evil/x", False),
    ("under", "/srv/app", "/srv/app/../x", False),
    ("under", "/srv/app", "/srv/app/../app-evil/x", False),
    ("under", "/srv/app", "/srv/x/../app/y", True),
    ("under", "/srv/app", "/srv", False),
    ("under", "/srv/app", "/", False),
    ("under", "/", "/anything", True),
    ("under", "/srv/app", "/SRV/app/x", False),
    ("under", "data", "data/x", True),
    ("under", "data", "./data/../data/x", True),
    ("under", "data", "database", False),
    ("under", "data", "other/data", False),
    ("under", ".", "anything", True),
    ("under", "/passw\u00f6rter", "/passwo\u0308rter/x", True),
    ("under", "/srv/app", "/srv/app\x00/x", None),
    ("under", "data", "../data/x", None),
    ("under", "data", "data/../../data/x", None),
    ("under", "/srv/app", "srv/app/x", None),
    ("under", "data", "/data/x", None),
    ("under", "/srv", 5, None),
    ("matches", "b+", "abbc", True),
    ("matches", "^b+", "abbc", False),
    ("matches", "b+$", "abb", True),
    ("matches", "b+$", "abb\n", False),
    ("matches", "^[a-z]+$", "abc\n", False),
    ("matches", "^ä$", "ä", True),
    ("matches", "", "", True),
    ("matches", "a.c", "a\nc", False),
    ("matches", "1", 1, None),
    ("matches", "n", None, None),
    ("size", 2, "ab", True),
    ("size", 2, "abc", False),
    ("size", 1, "\U0001f600", True),
    ("size", 2, [1, 2], True),
    ("size", 1, {"a": 1}, True),
    ("size", {"gt": 1, "lt": 3}, [1, 2], True),
    ("size", {"gt": 1, "lt": 3}, [1], False),
    ("size", {"gt": 1, "lt": 3}, [1, 2, 3], False),
    ("size", {"ge": 2}, [1, 2], True),
    ("size", {"ge": 2}, [1], False),
    ("size", {"le": 2}, [1, 2], True),
    ("size", {"le": 2}, [1, 2, 3], False),
    ("size", {"eq": 0}, [], True),
    ("size", {"eq": 0}, [1], False),
    ("size", {"lt": 3, "le": 2, "gt": 1, "ge": 2, "eq": 2}, "ab", True),
    ("size", 0, 0, None),
    ("size", 0, None, None),
    ("exists", True, None, True),
    ("exists", True, 0, True),
    ("exists", False, None, False),
    ("all", [["", "gt", 0]], [1, 2], True),
    ("all", [["", "gt", 0]], [1, 0], False),
    ("all", [["", "gt", 0]], [], True),
    ("all", [["/a", "eq", 1], ["/b", "exists", False]], [{"a": 1}], True),
    ("all", [["/a", "eq", 1], ["/b", "exists", False]], [{"a": 1, "b": 1}], False),
    ("all", [["", "gt", 0]], [1, "x"], None),
    ("all", [["", "gt", 0]], {"a": 1}, None),
    ("any", [["", "gt", 5]], [1, 6], True),
    ("any", [["", "gt", 5]], [1, 5], False),
    ("any", [["", "gt", 5]], [], False),
    ("any", [["/a", "eq", 1], ["/b", "eq", 2]], [{"a": 1, "b": 3}, {"a": 3, "b": 2}], False),
    ("any", [["/a", "eq", 1], ["/b", "eq", 2]], [{"a": 1, "b": 2}], True),
    ("any", [["", "gt", 5]], [1, "x"], None),
    ("any", [["", "all", [["", "eq", 1]]]], [[1, 2], [1, 1]], True),
    ("any", [["", "gt", 5]], "abc", None),
]


@pytest.mark.parametrize(("op", "wanted", "found", "answer"), JUDGED)
def test_a_value_that_is_there_is_judged(op: str, wanted: Any, found: Any, answer: bool | None) -> None:
    assert ask(op, wanted, found) is answer
    assert fault(Condition("/x", op, wanted)) is None


@pytest.mark.parametrize(("op", "wanted"), sorted({(op, repr(wanted)): (op, wanted) for op, wanted, _, _ in JUDGED}.values(), key=repr))
def test_an_absent_value_makes_every_condition_false_but_exists(op: str, wanted: Any) -> None:
    expected = op == "exists" and wanted is False
    documents: list[Any] = [{}, {"y": 1}, [], None, "x"]
    for document in documents:
        for on_type_error in (True, False):
            assert holds(Condition("/x", op, wanted), document, on_type_error) is expected


def test_every_operator_is_in_the_table_of_this_test() -> None:
    assert {op for op, _, _, _ in JUDGED} == OPERATORS


BROKEN: list[tuple[str, str, Any]] = [
    ("/x", "like", 1),
    ("x", "eq", 1),
    ("/x", "in", "abc"),
    ("/x", "gt", "5"),
    ("/x", "gt", True),
    ("/x", "le", None),
    ("/x", "glob", 5),
    ("/x", "under", None),
    ("/x", "under", "../up"),
    ("/x", "under", "/a\0b"),
    ("/x", "matches", "("),
    ("/x", "matches", "(?=look)"),
    ("/x", "matches", r"(a)\1"),
    ("/x", "matches", 5),
    ("/x", "size", "5"),
    ("/x", "size", True),
    ("/x", "size", 1.5),
    ("/x", "size", {}),
    ("/x", "size", {"ne": 1}),
    ("/x", "size", {"gt": "1"}),
    ("/x", "size", {"gt": False}),
    ("/x", "exists", 1),
    ("/x", "exists", "true"),
    ("/x", "all", []),
    ("/x", "all", "x"),
    ("/x", "all", 5),
    ("/x", "any", [["", "eq"]]),
    ("/x", "any", [{"at": "", "op": "eq", "value": 1}]),
    ("/x", "any", [[1, "eq", 1]]),
    ("/x", "any", [["", ["eq"], 1]]),
]


@pytest.mark.parametrize(("at", "op", "wanted"), BROKEN)
def test_a_broken_condition_is_found_when_loaded_and_is_an_error_when_asked(at: str, op: str, wanted: Any) -> None:
    condition = Condition(at, op, wanted)
    assert fault(condition)
    candidates: list[Any] = ["text", 5, [1]]
    for found in candidates:
        if (op, found) in (("all", "text"), ("any", "text"), ("all", 5), ("any", 5)):
            continue
        with pytest.raises(ValueError):
            holds(condition, {"x": found}, False)


def test_a_broken_regular_expression_writes_nothing_to_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    assert fault(Condition("/x", "matches", "(never written before"))
    assert capfd.readouterr() == ("", "")


def test_faults_of_nested_conditions_are_found() -> None:
    assert fault(Condition("/x", "all", [["", "like", 1]])) == "unknown operator like"
    assert fault(Condition("/x", "any", [["", "eq", 1], ["y", "eq", 1]]))
    assert fault(Condition("/x", "any", [["", "all", [["", "gt", "x"]]]]))


@given(values)
def test_equality_is_reflexive(value: Any) -> None:
    assert equal(value, value)


@given(values, values)
def test_equality_is_symmetric_and_unequal_is_its_negation(left: Any, right: Any) -> None:
    assert equal(left, right) == equal(right, left)
    assert ask("ne", left, right) is not ask("eq", left, right)


@pytest.mark.parametrize(("op", "wanted", "found", "answer"), [
    ("eq", [1, 2], [1, UNSURE], None),
    ("ne", [1, 2], [3, UNSURE], None),
    ("in", [{}], {"a": {"b": UNSURE}}, None),
    ("size", 2, [1, UNSURE], None),
    ("exists", True, UNSURE, None),
    ("exists", True, {"a": UNSURE}, True),
    ("exists", False, [UNSURE], False),
    ("any", [["", "gt", 5]], [9, UNSURE], True),
    ("any", [["", "gt", 5]], [1, UNSURE], None),
    ("all", [["", "gt", 5]], [1, UNSURE], False),
    ("all", [["", "gt", 5]], [9, UNSURE], None),
    ("any", [["/a", "gt", 5]], [{"a": 9, "b": UNSURE}], True),
])  # fmt: skip
def test_a_place_that_is_not_certain_counts_only_where_it_could_change_the_answer(
    op: str, wanted: Any, found: Any, answer: bool | None
) -> None:
    assert ask(op, wanted, found) is answer


@given(st.sampled_from(JUDGED), values)
def test_a_strict_reading_never_says_less_than_a_lenient_one(case: tuple[str, Any, Any, Any], found: Any) -> None:
    condition = Condition("/x", case[0], case[1])
    assert holds(condition, {"x": found}, True) >= holds(condition, {"x": found}, False)


def test_a_regular_expression_takes_linear_time() -> None:
    assert ask("matches", "^(a+)+$", "a" * 5000 + "!") is False


def test_what_judging_needs_is_imported_beforehand() -> None:
    code = (
        "import sys\nfrom toolgate_cli.core import conditions\nfrom toolgate_cli.core.config import Condition\n"
        "conditions.warm([Condition('/a', 'eq', 1)])\nassert not {'re2', 'unicodedata'} & set(sys.modules)\n"
        "conditions.warm([Condition('/a', 'matches', 'x'), Condition('/a', 'glob', 'x')])\n"
        "assert {'re2', 'unicodedata'} <= set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(("op", "needed"), [
    ("eq", set()), ("matches", {"re2"}), ("glob", {"unicodedata"}), ("under", {"unicodedata"}),
    ("all", {"re2", "unicodedata"}), ("any", {"re2", "unicodedata"}),
])  # fmt: skip
def test_each_operator_has_what_it_needs_imported(op: str, needed: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    imported: list[str] = []
    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", lambda name, *more: imported.append(name) or real(name, *more))
    warm([Condition("/a", op, "x")])
    monkeypatch.undo()
    assert set(imported) & {"re2", "unicodedata"} == needed


@pytest.mark.parametrize("op", ["glob", "under", "matches"])
def test_a_fault_names_its_operator(op: str) -> None:
    assert fault(Condition("/a", op, 5)) == f"{op} compares with text"
