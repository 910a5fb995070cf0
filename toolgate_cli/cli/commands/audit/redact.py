"""`audit redact`: erases what a settled call holds; the log still verifies."""

from __future__ import annotations

from typing import Annotated, Final

from ....core.errors import ToolgateError
from ... import ask, deciding, output, streams
from ...declared import Argument
from ...frame import Frame
from ...options import NoInput, Reason, Yes
from ...safe import command, fill
from ...views import redaction

PURPOSE: Final = "Know"

CallId = Annotated[str, Argument(metavar="CALL", help="A settled call: its id or a ref, or its first 8 characters or more.")]


def run(frame: Frame, call_id: CallId, reason: Reason = None, yes: Yes = False, no_input: NoInput = False) -> int:
    """Erase what a settled call holds; the log still verifies.

    Its arguments, title, rationale and result, what its events say, the model's turns with it, and copies of its result in the run.
    """
    frame.format()
    if not (reason or "").strip():
        raise ToolgateError("usage", "a redaction needs a reason", f"toolgate audit redact {call_id} -m REASON")
    asking = ask.must_ask(yes, no_input)
    with frame.session() as session:
        call = session.redactable(call_id)
        if asking:
            output.write_fields(redaction.doomed(call), streams.ERR)
            ask.consent(fill("{} of {} ({}): what is erased cannot be had back", call.id, call.run_id, call.capability), "redact")
        erased = session.redact(call, reason or "")
    output.show_one(frame, lambda: redaction.to_json(erased), lambda: redaction.fields(erased))
    if erased.nothing:
        frame.note("note: nothing was left to be erased")
    for place in erased.still:
        if place.startswith("call "):
            frame.note(fill("next: {}", command(frame.here(f"toolgate audit redact {place.removeprefix('call ')} -m REASON"))))
    if erased.fault is None:
        return 0
    deciding.tell(frame, erased.fault)
    frame.note(fill("next: {}", command(frame.here(f"toolgate audit redact {erased.call_id} -m REASON"))))
    return 1
