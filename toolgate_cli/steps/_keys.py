"""Which context keys a command, an answer or an assignment may write: never the reserved ones, which only the program itself writes."""

from __future__ import annotations

from ..core.fields import RESERVED_PREFIXES

_LONGEST = 200
_NEVER = frozenset("${}# ")  # what a reference is made of: such a key could never be read back; and the only space that is printable


def defect(key: str) -> str | None:
    """Why this key may not be written; None where it may. Keys that a model made up come here too, so their form is looked at."""
    if key.startswith(RESERVED_PREFIXES):
        return "the key is reserved"
    if not key or len(key) > _LONGEST or not key.isprintable() or not _NEVER.isdisjoint(key):
        return "it is not a proper key"
    return None
