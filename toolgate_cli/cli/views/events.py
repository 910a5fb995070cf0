"""The log, event by event."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from ...core.records import Event
from ...core.types import Json
from ..safe import Safe, line, show_json
from .shapes import EMPTY, REDACTED, Column, Sheet, cell

SCHEMA: Final = "toolgate.events/1"


def to_json(event: Event) -> dict[str, Json]:
    return {
        "seq": event.seq,
        "at": event.at,
        "run_id": event.run_id,
        "step": event.step_id,
        "call_id": event.call_id,
        "capability": event.capability,
        "call_digest": event.call_digest,
        "attempt": event.attempt,
        "type": event.type,
        "actor": event.actor,
        "payload": _payload(event),
        "hash": event.hash,
        **({"redacted": True} if event.payload is None else {}),
    }


def _payload(event: Event) -> Json:
    if event.payload is None:
        return None
    value: Json = json.loads(event.payload)
    return value


_COLUMNS: Final = (
    *(Column(name, True) for name in ("seq", "at (utc)", "type", "call_id")),
    *(Column(name) for name in ("actor", "step")),
    Column("payload", least=60),
)
_WIDE: Final = ("seq", "at", "run_id", "call_id", "type", "step", "capability", "attempt", "actor", "payload")


def sheet(events: Iterable[Event]) -> Sheet:
    """For a terminal."""
    return Sheet(
        _COLUMNS, ((cell(e.seq), _short(e.at), cell(e.type), *map(cell, (e.call_id, e.actor, e.step_id)), _said(e)) for e in events)
    )


def _short(at: str) -> Safe:
    """Month, day and time; the year is in every other form."""
    return line(at[5:10] + " " + at[11:19] if len(at) == 24 and at.endswith("Z") else at)


def wide_sheet(events: Iterable[Event]) -> Sheet:
    """For a program that reads columns."""
    return Sheet(
        tuple(Column(name) for name in _WIDE),
        ((*map(cell, (e.seq, e.at, e.run_id, e.call_id, e.type, e.step_id, e.capability, e.attempt, e.actor)), _shown(e)) for e in events),
    )


def _shown(event: Event) -> Safe:
    return REDACTED if event.payload is None else show_json(_payload(event))


def _said(event: Event) -> Safe:
    return EMPTY if event.payload == "{}" else _shown(event)
