"""What the verification of the log found."""

from __future__ import annotations

from typing import Final

from ...core.types import Json
from ...runtime.answers import Verified
from .shapes import Fields, field

SCHEMA: Final = "toolgate.audit/1"
EXPORTED_SCHEMA: Final = "toolgate.exported/1"


def to_json(found: Verified) -> dict[str, Json]:
    return {
        "schema": SCHEMA,
        "ok": found.ok,
        "events": found.events,
        "first_bad": found.first_bad,
        "reason": found.reason,
        "head": found.head,
        "since": found.since,
        "heads": list(found.heads),
        "changed": list(found.changed),
    }


def fields(found: Verified) -> Fields:
    return (
        field("ok", "yes" if found.ok else "no"),
        field("events", found.events),
        *([] if found.first_bad is None else [field("first bad", found.first_bad), field("reason", found.reason)]),
        *(field("changed", text) for text in found.changed),
        field("head", found.head),
        *([field("read since", found.since)] if found.since else []),
        *(field("goes on from", "this head" if head == found.head else head) for head in found.heads if found.ok),
    )


def exported_json(file: str, events: int) -> dict[str, Json]:
    return {"schema": EXPORTED_SCHEMA, "file": file, "events": events}


def exported_fields(file: str, events: int) -> Fields:
    return (field("file", file), field("events", events))
