"""Whether a principal may call a tool at all: a permission that nobody granted is refused, and no context grants none (I5)."""

from __future__ import annotations

from collections.abc import Mapping

from .config import Tool


def may_call(tool: Tool, principal: str, permissions: Mapping[str, tuple[str, ...]] | None) -> str | None:
    """None: it may. Else the reason, which begins with the code `auth_denied`. `permissions`: principal, or "*" for everybody, -> exact
    names; None where the operator declared no [context]."""
    if tool.permission is None:
        return None
    if permissions is None:
        return f"auth_denied: {tool.capability} needs the permission {tool.permission}, and [context] grants none"
    if tool.permission in permissions.get("*", ()) or tool.permission in permissions.get(principal, ()):
        return None
    return f"auth_denied: {principal} does not have the permission {tool.permission}"
