"""Which context keys a command, an answer or an assignment may write: never the reserved ones, which only the program itself writes."""

from __future__ import annotations

from ..core.fields import RESERVED_PREFIXES

_LONGEST = 200
_SYNTAX = frozenset("${}#")  # what a reference is made of: a key with one of these could never be read back


def defect(key: str) -> str | None:
    """Why this key may not be written; None where it may. Keys that a model made up come here too, so their form is looked at."""
    if key.startswith(RESERVED_PREFIXES):
        return "the key is reserved"
    if not key or len(key) > _LONGEST or not key.isprintable() or any(c.isspace() or c in _SYNTAX for c in key):
        return "it is not a proper key"
    return None
