from __future__ import annotations

from toolgate_cli.core import scopes
from toolgate_cli.steps import _keys


def test_a_key_of_a_workflow_inside_is_told_apart_and_comes_back() -> None:
    inside = scopes.scope("loop/check")
    assert scopes.split(inside + "tool.a.b") == ("loop/check", "tool.a.b") and scopes.split("decision") == ("", "decision")
    assert scopes.split(inside + "a:b") == ("loop/check", "a:b")
    assert scopes.scope("") == ""


def test_nobody_can_write_such_a_key() -> None:
    assert _keys.defect(scopes.scope("check") + "decision") == "the key is reserved"


def test_a_workflow_reads_its_own_keys_alone() -> None:
    keys = ["decision", scopes.scope("a") + "x", scopes.scope("a/b") + "y", "__retries:a"]
    assert [scopes.readable(key, "") for key in keys] == ["decision", None, None, None]
    assert [scopes.readable(key, scopes.scope("a")) for key in keys] == [None, "x", None, None]
