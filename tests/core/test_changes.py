"""What is told of two values that differ: places, few of them, in a fixed order."""

from __future__ import annotations

import pytest

from toolgate_cli.core.changes import MOST, places
from toolgate_cli.core.types import Json


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, ["/a"]),
        ({"a": 1}, {"a": True}, ["/a"]),
        ({"a": [1, 2]}, {"a": [1, 3]}, ["/a/1"]),
        ({"a": [1]}, {"a": [1, 2]}, ["/a"]),
        ({"a": {"b/c": 1}}, {"a": {}}, ["/a/b~1c"]),
        (1, "1", [""]),
        ({"a": None}, {}, ["/a"]),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": None}}, ["/a/c"]),
        ([0.0, 1], [-0.0, 1.0], ["/0", "/1"]),
        ({}, {str(n): n for n in range(9)}, [f"/{n}" for n in range(MOST)]),
    ],
)
def test_the_places_that_differ_are_named(old: Json, new: Json, found: list[str]) -> None:
    assert places(old, new) == found
