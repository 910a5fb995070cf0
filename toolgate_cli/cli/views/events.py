"""The log, event by event."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

from ...core.records import Event
from ...core.types import Json
from ..safe import Safe, show_json
from .shapes import EMPTY, REDACTED, Column, Sheet, cell, moment

SCHEMA: Final = "toolgate.events/1"
_DIGEST: Final = re.compile("[0-9a-f]{64}")


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
    *(Column(name, True) for name in ("seq", "at", "type", "call_id")),
    *(Column(name) for name in ("actor", "step", "capability")),
    Column("payload", least=60),
)
_WIDE: Final = ("seq", "at", "run_id", "call_id", "type", "step", "capability", "attempt", "actor", "payload")


def sheet(events: Iterable[Event]) -> Sheet:
    """For a terminal."""
    return Sheet(
        _COLUMNS,
        ((cell(e.seq), moment(e.at), cell(e.type), *map(cell, (e.call_id, e.actor, e.step_id, e.capability)), _said(e)) for e in events),
    )


def wide_sheet(events: Iterable[Event]) -> Sheet:
    """For a program that reads columns."""
    return Sheet(
        tuple(Column(name) for name in _WIDE),
        ((*map(cell, (e.seq, e.at, e.run_id, e.call_id, e.type, e.step_id, e.capability, e.attempt, e.actor)), _shown(e)) for e in events),
    )


def _shown(event: Event) -> Safe:
    return REDACTED if event.payload is None else show_json(_payload(event))


def _said(event: Event) -> Safe:
    if event.payload is None or event.payload == "{}":
        return EMPTY if event.payload else REDACTED
    return show_json(_shortened(_payload(event)))


def _shortened(value: Json) -> Json:
    """Digests by their beginning: for people the other half of every line would be nothing else."""
    if isinstance(value, dict):
        return {name: _shortened(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_shortened(member) for member in value]
    return f"{value[:12]}..." if isinstance(value, str) and _DIGEST.fullmatch(value) else value
