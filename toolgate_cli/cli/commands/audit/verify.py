"""`audit verify`: whether the log is whole and unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from ....core.errors import ToolgateError
from ... import output
from ...declared import Argument, option
from ...frame import Frame
from ...progress import shown
from ...safe import fill
from ...streams import ERR
from ...views import audit

if TYPE_CHECKING:
    from ....core.chain import Head as Known
    from ....runtime.answers import Verified

PURPOSE: Final = "Know"

File = Annotated[str | None, Argument(metavar="[FILE]", help="A log that was exported (no line of it is longer than 64 MiB); - is stdin.")]
Head = Annotated[str | None, option("--head", metavar="SEQ:HASH", help="A head that was kept: the log has to go on from it, unchanged.")]
Since = Annotated[str | None, option("--since", metavar="SEQ:HASH", help="The same, and nothing before that head is read again.")]


def run(frame: Frame, file: File = None, head: Head = None, since: Since = None) -> int:
    """Verify the chain of events, and the runs against it; exit 1 where it does not hold.

    It is held against the head that was kept outside the home too. Without any, the end of the log cannot be proved.
    """
    frame.format()
    known, start = _known("--head", head), _known("--since", since)
    if known and start and known[0] < start[0]:
        raise ToolgateError("usage", "--head is before --since, and nothing there is read", "without --since the whole log is")
    if file is not None and start:
        raise ToolgateError("usage", "--since is for the store: a file is read as a whole", "--head holds it against a head that was kept")
    found = _of_store(frame, known, start) if file is None else _of_file(frame, file, known)
    output.show_one(frame, lambda: audit.to_json(found), lambda: audit.fields(found))
    for text in found.changed:
        ERR.line(fill("error: {}", text))
    if found.first_bad is not None:
        ERR.line(fill("error: event {} does not hold: {}", found.first_bad, found.reason))
    elif found.ok and not found.heads:
        frame.note("note: no head was kept of this log, so what was cut off its end could not be seen: keep the one above, for --head")
    return 0 if found.ok else 1


def _of_store(frame: Frame, known: Known | None, since: Known | None) -> Verified:
    with frame.window() as session, shown(frame) as progress:
        return session.verify(known, since, progress)


def _of_file(frame: Frame, file: str, known: Known | None) -> Verified:
    from ....core.exported import LONGEST
    from ....runtime.verifying import verify_lines
    from ...files import lines

    with lines(file, LONGEST) as read, shown(frame) as progress:
        return verify_lines(read, known, progress)


def _known(option: str, text: str | None) -> Known | None:
    if text is None:
        return None
    seq, _, hash = text.partition(":")
    if not (seq.isascii() and seq.isdigit() and 0 < len(seq) < 19 and len(hash) == 64 and set(hash) <= set("0123456789abcdef")):
        raise ToolgateError("usage", f"{option}: {text} is no head", "SEQ:HASH as every answer carries it in head")
    return int(seq), hash
