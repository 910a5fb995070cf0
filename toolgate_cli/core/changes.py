"""Where two values differ, of a tool's definition or of a call's arguments: what a person has to be told before they decide (I3)."""

from __future__ import annotations

from . import canonical
from .pointer import escape
from .types import Json

MOST = 5


def places(old: Json, new: Json, at: str = "") -> list[str]:
    """JSON pointers of what is not the same canonical bytes in both, at most `MOST`, in the order of the names; "" for the whole."""
    found: list[str] = []
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted({*old, *new}):
            place = f"{at}/{escape(name)}"
            found += places(old[name], new[name], place) if name in old and name in new else [place]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            found += places(one, other, f"{at}/{index}")
    elif canonical.encode(old) != canonical.encode(new):
        found = [at]
    return found[:MOST]
