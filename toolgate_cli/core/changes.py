"""Where two definitions of a tool differ, so that a person can be told what has changed since they looked (I3)."""

from __future__ import annotations

from .pointer import escape
from .types import Json

MOST = 5


def places(old: Json, new: Json, at: str = "") -> list[str]:
    """JSON pointers of what is not the same in both, at most `MOST`, in the order of the names; "" for the whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = [(name, old.get(name), new.get(name)) for name in sorted({*old, *new})]
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = [(str(index), one, other) for index, (one, other) in enumerate(zip(old, new, strict=True))]
    else:
        return [] if old == new and type(old) is type(new) else [at]
    return [place for name, one, other in pairs for place in places(one, other, f"{at}/{escape(name)}")][:MOST]
