"""What shows that something was erased: the REDACTED events of a call or a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import canonical, chain
from ..core.records import Event, EventQuery
from ..core.types import Json

if TYPE_CHECKING:
    from .store import Reader


def is_redacted(tx: Reader, call: str) -> bool:
    return next(tx.events(EventQuery(call_id=call, type=chain.REDACTED, limit=1)), None) is not None


def of_run(tx: Reader, run: str) -> tuple[Event, ...]:
    return tuple(tx.events(EventQuery(run, chain.REDACTED)))


def steps(events: tuple[Event, ...]) -> tuple[str, ...]:
    """Paths of the steps whose outputs were erased."""
    return tuple(dict.fromkeys(str(path) for event in events for path in _paths(event)))


def _paths(event: Event) -> list[Json]:
    told = canonical.parse(event.payload) if event.payload is not None else None
    paths = told.get("steps") if isinstance(told, dict) else None
    return paths if isinstance(paths, list) else []
