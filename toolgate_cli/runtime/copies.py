"""The lists that loops go through, as they were on entry: read and parsed once, however many iterations ask for their element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core import canonical
from ..core.definition import is_whole
from ..core.errors import ToolgateError
from ..core.types import Json

if TYPE_CHECKING:
    from .store import Reader

MOST = 8  # that are kept open: loops inside loops take turns
_open: dict[str, list[Json]] = {}


def opened(tx: Reader, digest: str) -> Sequence[Json]:
    """A copied list. ToolgateError("storage") where the database was changed by other hands."""
    if digest not in _open:
        stored = tx.definition(digest)
        items = canonical.parse(stored.body) if stored is not None and is_whole(stored) else None
        if not isinstance(items, list):
            raise ToolgateError("storage", f"the list {digest[:12]} is not what a loop copied", "toolgate audit verify")
        while len(_open) >= MOST:
            del _open[next(iter(_open))]
        _open[digest] = items
    return _open[digest]
