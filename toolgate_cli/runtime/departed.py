"""Attempts whose owner is gone, and the rows that they stand for: all that whoever looks has to know of recovery (I8).

They are found by locks that die with their process; a pid is never trusted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..core import durations, effects
from ..core.definition import declared
from ..core.records import Attempt, Row
from ..core.types import Effect

if TYPE_CHECKING:
    from .ports import Ports
    from .store import Reader


def dead(ports: Ports, attempts: tuple[Attempt, ...], given_up: str | None = None) -> tuple[Attempt, ...]:
    """The attempts whose owner is gone. `given_up`: an owner of another host that a person declares dead."""
    return tuple(attempt for attempt in attempts if _gone(ports, attempt, given_up))


def _gone(ports: Ports, attempt: Attempt, given_up: str | None) -> bool:
    alive = ports.owners.alive(attempt.owner, attempt.host, attempt.boot)
    if alive is None:  # another host: nothing but time and a person's word tell
        return attempt.owner == given_up or ports.clock.now() > durations.later(attempt.deadline, 60)
    return not alive


def as_row(attempt: Attempt, effect: Effect) -> Row:
    """The row that an attempt without an owner stands for: an unknown outcome, or the last known end of a call that waited for its next
    attempt."""
    row = attempt.row
    if attempt.state == "waiting":
        starts, uncertain = attempt.number - 1, row.doubt is not None
        origin: Literal["OUTCOME_UNKNOWN", "EXECUTION_FAILED"] = (
            "OUTCOME_UNKNOWN" if uncertain and effect != "read_only" else "EXECUTION_FAILED"
        )
        reason = "the process that was to repeat it died"
    else:
        starts, origin, reason = attempt.number, "OUTCOME_UNKNOWN", "the process that ran it died before its end was recorded"
        row = row._replace(doubt=effects.stricter(row.doubt or effect, effect))
    return row._replace(version=row.version + 1, origin=origin, starts=starts, reason=reason, expires_at=None, on_expiry=None)


def effect_of(tx: Reader, row: Row) -> Effect:
    """The effect class under which a call was started; without its definition, the strictest."""
    tool = declared(tx.definition(row.definition)) if row.definition else None
    effect = tool.get("effect") if tool is not None else None
    return effect if effect in ("read_only", "idempotent", "reconcilable", "unsafe") else "unsafe"  # type: ignore[return-value]  # one of the literals
