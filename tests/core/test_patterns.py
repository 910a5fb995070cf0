"""Patterns of capabilities (H4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.patterns import matches, matches_name

names = st.from_regex(r"[a-z][a-z0-9_-]{0,5}(\.[a-z][a-z0-9_-]{0,5}){0,3}", fullmatch=True)


@pytest.mark.parametrize(
    ("pattern", "name", "answer"),
    [
        ("fs.read", "fs.read", True),
        ("fs.read", "fs.read_all", False),
        ("fs.read", "fs.readx", False),
        ("fs.read", "FS.read", False),
        ("fs.read", "fs.read ", False),
        ("fs.read", "fs.read\nsh.run", False),
        ("fs.read", "xfs.read", False),
        ("fs.[rw]*", "fs.read", False),
        ("fs.[rw]*", "fs.[rw]x", True),
        ("fs.r?ad", "fs.read", False),
        ("fs.r?*", "fs.read", False),
        ("fs.*", "fs.read", True),
        ("fs.*", "fs.read.deep", False),
        ("fs.*", "fs", False),
        ("fs.*", "fsx.read", False),
        ("fs.**", "fs.read.deep", True),
        ("fs.**", "fs", False),
        ("*", "fs", True),
        ("*", "fs.read", False),
        ("**", "fs.read.deep", True),
        ("*.read", "fs.read", True),
        ("*.read", "a.b.read", False),
        ("**.read", "a.b.read", True),
        ("db.drop_*", "db.drop_table", True),
        ("db.drop_*", "db.drop_", True),
        ("db.drop_*", "db.drop", False),
        ("a.*.c", "a.b.c", True),
        ("a.*.c", "a.b.b.c", False),
        ("", "", True),
        ("", "x", False),
    ],
)
def test_exact_is_exact_and_a_star_stays_in_its_segment(pattern: str, name: str, answer: bool) -> None:
    assert matches(pattern, name) is answer


@given(names, names)
def test_a_name_as_a_pattern_matches_itself_alone(pattern: str, name: str) -> None:
    assert matches(pattern, name) == (pattern == name)
    assert matches_name(pattern, name) == (pattern == name)


@given(names)
def test_two_stars_match_every_name_and_one_star_those_of_one_segment(name: str) -> None:
    assert matches("**", name)
    assert matches("*", name) == ("." not in name)
    assert matches_name("*", name)


def test_a_dot_in_a_persons_name_is_no_boundary() -> None:
    assert matches_name("*@corp.example", "alice.b@corp.example")
    assert not matches_name("*@corp.example", "alice@corp.example.evil")
    assert not matches_name("alice", "alice2")
