"""Authorisation: what nobody granted is refused."""

from __future__ import annotations

import pytest

from toolgate_cli.core.authorise import may_call
from toolgate_cli.core.config import ExitRules, Tool

FREE = Tool("a.b", "", None, "write", "unsafe", 1.0, 1, None, True, True, "", "command", None, ExitRules(), (), None)
GUARDED = FREE._replace(permission="refunds:issue")


@pytest.mark.parametrize("permissions", [None, {}, {"*": ("x",)}])
def test_a_tool_without_a_permission_is_open(permissions: dict[str, tuple[str, ...]] | None) -> None:
    assert may_call(FREE, "alice", permissions) is None


@pytest.mark.parametrize(
    "permissions",
    [
        None,
        {},
        {"*": ()},
        {"bob": ("refunds:issue",)},
        {"alice": ("refunds:issu",)},
        {"alice": ("refunds:issue2",)},
        {"alice": ("refunds:*",)},
        {"*": ("*",)},
        {"al*": ("refunds:issue",)},
        {"Alice": ("refunds:issue",)},
    ],
)
def test_a_permission_that_is_not_granted_word_for_word_is_refused(permissions: dict[str, tuple[str, ...]] | None) -> None:
    reason = may_call(GUARDED, "alice", permissions)
    assert reason is not None
    assert reason.startswith("auth_denied")
    assert "refunds:issue" in reason


def test_a_permission_is_granted_to_everybody_or_to_one() -> None:
    assert may_call(GUARDED, "alice", {"*": ("refunds:issue",)}) is None
    assert may_call(GUARDED, "alice", {"*": ("x",), "alice": ("y", "refunds:issue")}) is None
    assert may_call(GUARDED, "bob", {"*": ("x",), "alice": ("refunds:issue",)}) is not None
