"""JSON pointers, after the examples of RFC 6901."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.pointer import escape, resolve, tokens

DOCUMENT: Any = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "m~n": 8, " ": 7, "~1": 9, "n": None}


@pytest.mark.parametrize(
    ("pointer", "value"),
    [
        ("", DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/foo/1", "baz"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/ ", 7),
        ("/m~0n", 8),
        ("/~01", 9),
        ("/n", None),
    ],
)
def test_a_pointer_names_one_value(pointer: str, value: Any) -> None:
    assert resolve(DOCUMENT, pointer) == value


@pytest.mark.parametrize(
    "pointer",
    ["/nope", "/foo/2", "/foo/-", "/foo/-1", "/foo/01", "/foo/+1", "/foo/\u0661", "/foo/0/x", "/n/x", "//", "/foo/", "/foo/" + "9" * 5000],
)
def test_an_absent_place_is_a_key_error(pointer: str) -> None:
    with pytest.raises(KeyError):
        resolve(DOCUMENT, pointer)


@pytest.mark.parametrize("pointer", ["foo", "#/foo", "/~", "/~2", "/a~", "/~00~"])
def test_what_is_no_pointer_is_a_value_error(pointer: str) -> None:
    with pytest.raises(ValueError, match="JSON pointer"):
        resolve(DOCUMENT, pointer)


@given(st.lists(st.text()))
def test_escaped_keys_come_back(keys: list[str]) -> None:
    assert tokens("".join("/" + escape(key) for key in keys)) == tuple(keys)


@given(st.text(), st.text("~/01"))
def test_any_key_can_be_pointed_at(key: str, other: str) -> None:
    for name in (key, other):
        assert resolve({"x": [{name: 5}]}, f"/x/0/{escape(name)}") == 5
