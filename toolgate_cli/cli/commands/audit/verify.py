"""`audit verify`: whether the log is whole and unchanged."""

from __future__ import annotations

from typing import Annotated, Final

from ....core.errors import ToolgateError
from ... import output
from ...declared import option
from ...frame import Frame
from ...safe import fill
from ...streams import ERR
from ...views import audit

PURPOSE: Final = "Know"


Head = Annotated[str | None, option("--head", metavar="SEQ:HASH", help="A head that was kept: the log has to go on from it, unchanged.")]


def run(frame: Frame, head: Head = None) -> int:
    """Verify the chain of events; exit 1 where it does not hold.

    It is held against the head that was kept outside the home too. Without any, the end of the log cannot be proved.
    """
    frame.format()
    known = _known(head)
    with frame.window() as session:
        found = session.verify(known)
        output.show_one(frame, lambda: audit.to_json(found), lambda: audit.fields(found))
    if not found.ok:
        ERR.line(fill("error: event {} does not hold: {}", found.first_bad, found.reason))
    return 0 if found.ok else 1


def _known(text: str | None) -> tuple[int, str] | None:
    if text is None:
        return None
    seq, _, hash = text.partition(":")
    if not (seq.isascii() and seq.isdigit() and len(seq) < 19 and len(hash) == 64 and set(hash) <= set("0123456789abcdef")):
        raise ToolgateError("usage", f"--head: {text} is no head", "SEQ:HASH as every answer carries it in head")
    return int(seq), hash
