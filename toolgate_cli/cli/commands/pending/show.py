"""`pending show`: one thing that waits, in full."""

from __future__ import annotations

from typing import Final

from ....core.errors import ToolgateError
from ... import deciding, output
from ...frame import Frame
from ...options import Words
from ...views import card, pending

PURPOSE: Final = "Decide"


def run(frame: Frame, words: Words = None) -> int:
    """Show one thing that waits, with all that a decision rests on."""
    frame.format()
    if len(words or ()) > 2:
        raise ToolgateError("usage", "too many words", "toolgate pending show [RUN] [CALL]")
    with frame.window() as session:
        waiting, head = session.show_pending(words or [])
        if frame.format() in ("json", "jsonl"):
            output.show_list(frame, pending.SCHEMA, [waiting], head, pending.to_json, pending.sheet)
        else:
            person = frame.format() == "table"  # who has the files read beside the store for it
            output.show_fields(frame, card.fields(session.as_now(waiting) if person else waiting))
        deciding.believed(frame, session)
        deciding.say_next(frame, session.next_of(waiting))
    return 0
