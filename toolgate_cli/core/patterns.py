"""Patterns of capabilities: an exact name is exact, only an explicit wildcard is a wildcard."""

from __future__ import annotations

from . import wildcards


def matches(pattern: str, name: str) -> bool:
    """Whether a capability's name matches: `*` is any run within a segment, `**` across segments (dots); nothing else is special."""
    if "*" not in pattern:
        return pattern == name
    return wildcards.matches(pattern, name, ".")


def matches_name(pattern: str, name: str) -> bool:
    """The same for names without segments (a workflow, an agent, a person), where a dot is a character like any other."""
    if "*" not in pattern:
        return pattern == name
    return wildcards.matches(pattern, name, "")
