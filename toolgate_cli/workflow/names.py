"""The alphabets of names: small and exact, so that no name can be mistaken for a pattern, a path or another line (CASES H4, H6)."""

from __future__ import annotations

import re

from ..core.fields import RESERVED_NAMES
from .issues import Issues
from .positions import KeyPath

NAME = "^[a-z][a-z0-9_-]{0,63}$"

_NAME = re.compile(NAME.replace("$", r"\Z"))
_PATTERN_SEGMENT = re.compile(r"[a-z0-9_*-]{1,64}\Z")
_LONGEST = 200  # of a capability


def check_name(name: str, what: str, path: KeyPath, issues: Issues) -> None:
    """Of workflows, steps, blocks, forms, agents, models, inputs."""
    if not _NAME.match(name):
        issues.add(path, f"not a name for {what}", "a small letter, then small letters, digits, _ and - (64 at most)")
    elif name in RESERVED_NAMES:
        issues.add(path, f"{name} is reserved: an arm of a branch says it", "choose another name")


def is_capability(name: str) -> bool:
    return len(name) <= _LONGEST and all(_NAME.match(part) and part != "error" for part in name.split("."))


def check_capability(name: str, path: KeyPath, issues: Issues) -> None:
    if "error" in name.split("."):
        issues.add(path, "a segment of a capability cannot be error", "choose another name")
    elif not is_capability(name):
        issues.add(path, "not a capability", "names joined by dots: small letters, digits, _ and -")


def is_pattern(text: str) -> bool:
    """A capability in which `*` and `**` may stand."""
    return len(text) <= _LONGEST and all(_PATTERN_SEGMENT.match(part) and "***" not in part for part in text.split("."))
