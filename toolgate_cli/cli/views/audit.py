"""What the verification of the log found."""

from __future__ import annotations

from typing import Final

from ...core.types import Json
from ...runtime.answers import Verified
from .shapes import Fields, field

SCHEMA: Final = "toolgate.audit/1"


def to_json(found: Verified) -> dict[str, Json]:
    return {"schema": SCHEMA, "ok": found.ok, "events": found.events, "first_bad": found.first_bad, "head": found.head}


def fields(found: Verified) -> Fields:
    return (
        field("ok", "yes" if found.ok else "no"),
        field("events", found.events),
        *([] if found.ok else [field("first bad", found.first_bad), field("reason", found.reason)]),
        field("head", found.head),
    )
