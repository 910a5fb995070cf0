"""`audit verify`: whether the log is whole and unchanged."""

from __future__ import annotations

from typing import Final

from ... import output
from ...frame import Frame
from ...safe import fill
from ...streams import ERR
from ...views import audit

PURPOSE: Final = "Know"


def run(frame: Frame) -> int:
    """Verify the chain of events; exit 1 where it does not hold."""
    frame.format()
    with frame.window() as session:
        found = session.verify()
        output.show_one(frame, lambda: audit.to_json(found), lambda: audit.fields(found))
    if not found.ok:
        ERR.line(fill("error: event {} does not hold: {}", found.first_bad, found.reason))
    return 0 if found.ok else 1
