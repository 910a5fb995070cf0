"""What was erased of a call, by number and place, never by content."""

from __future__ import annotations

from typing import Final

from ...core import canonical
from ...core.records import Call
from ...core.types import Json
from ...runtime.answers import Redaction
from ..safe import fill
from .shapes import Field, Fields, field, members

SCHEMA: Final = "toolgate.redaction/1"


def to_json(erased: Redaction) -> dict[str, Json]:
    return {
        "schema": SCHEMA,
        "call_id": erased.call_id,
        "run_id": erased.run_id,
        "revisions": erased.revisions,
        "events": list(erased.events),
        "context": erased.context,
        "steps": erased.steps,
        "turns": erased.turns,
        "error": erased.error,
        "still": list(erased.still),
        "files_clean": erased.fault is None,
        "head": erased.head,
    }


def doomed(call: Call) -> Fields:
    """What a person is asked about: the call as it is while it still is."""
    if call.arguments is None:
        arguments: Fields = (field("arguments", "not stored: the call was refused when it came in, or it was redacted"),)
    else:
        arguments = tuple(members("arguments", canonical.parse(call.arguments)))
    return (
        field("call", call.id),
        field("run", call.run_id),
        field("capability", call.capability),
        field("title", call.title or call.capability),
        *arguments,
    )


def fields(erased: Redaction) -> Fields:
    counts = (("revisions", erased.revisions), ("events", len(erased.events)), ("context values", erased.context))
    more = (("outputs of steps", erased.steps), ("turns", erased.turns), ("errors", int(erased.error)))
    return (
        field("call", erased.call_id),
        field("run", erased.run_id),
        *(Field(fill("{}", name), fill("{}", count), "erased") for name, count in (*counts, *more)),
        *(Field(fill("{}", number), fill("{}", place), "still in") for number, place in enumerate(erased.still, 1)),
        field("files clean", "yes" if erased.fault is None else "no"),
        field("head", erased.head),
    )
