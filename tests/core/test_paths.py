"""Paths as text."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.paths import Place, normalise


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/", Place(True, ())),
        ("//", Place(True, ())),
        ("/a/./b//c/", Place(True, ("a", "b", "c"))),
        ("/a/../b", Place(True, ("b",))),
        ("/../../b", Place(True, ("b",))),
        ("", Place(False, ())),
        (".", Place(False, ())),
        ("a/..", Place(False, ())),
        ("a/../..", None),
        ("../a", None),
        ("a/../../a/b", None),
        ("/a\0b", None),
        ("a/...", Place(False, ("a", "..."))),
    ],
)
def test_a_path_names_one_place_or_none_that_can_be_told(path: str, place: Place | None) -> None:
    assert normalise(path) == place


@given(st.lists(st.sampled_from(["a", "b", "", ".", ".."]), max_size=8).map("/".join))
def test_absolute_paths_are_normalised_as_the_system_library_does(path: str) -> None:
    place = normalise("/" + path)
    assert place is not None
    assert "/" + "/".join(place.parts) == posixpath.normpath("/" + path).replace("//", "/")
