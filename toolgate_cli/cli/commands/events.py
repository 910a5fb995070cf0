"""`events`: the log, of a run or of all."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Final

from ...core.errors import ToolgateError
from .. import output
from ..declared import option
from ..frame import Frame
from ..options import MOST, MaybeRun
from ..streams import OUT
from ..views import events

if TYPE_CHECKING:
    from ...core.records import Event
    from ...runtime.window import Window

PURPOSE: Final = "Look"
_HASH: Final = re.compile(r"[0-9a-f]{0,64}\Z")
_PAUSE: Final = 0.3  # seconds between two looks

Type = Annotated[str | None, option("--type", metavar="TYPE", help="Only events of this type.")]
Since = Annotated[str, option("--since", metavar="SEQ", help="Only events after this one, or this head.")]
Follow = Annotated[bool, option("-f", "--follow", help="Go on with those that come.")]
AtMost = Annotated[int | None, option("--limit", least=1, most=MOST, metavar="N", help="At most so many.")]


def run(frame: Frame, run_id: MaybeRun = None, type: Type = None, since: Since = "0", limit: AtMost = None, follow: Follow = False) -> int:
    """Show the log: every decision and every effect, in order.

    On a terminal digests are cut to 12 digits and "..."; -o tsv and -o json have all of them.
    """
    number, colon, hash = since.partition(":")
    if not (number.isascii() and number.isdigit() and len(number) < 19 and (not colon or _HASH.match(hash))):
        raise ToolgateError("usage", f"--since {since}: the seq of an event is wanted", "a number, or a head as toolgate prints it")
    if type is not None:
        from .. import event_types

        type = event_types.meant(type)
    if follow and (frame.format() == "json" or limit is not None):
        raise ToolgateError("usage", "--follow has no end: not one JSON object, no --limit", "-o jsonl is one object a line")
    with frame.window() as session:
        if follow:
            _follow(frame, session, run_id, type, int(number))
        else:
            found, head = session.events(run_id, type, int(number), limit)
            output.show_list(frame, events.SCHEMA, _begun(found), head, events.to_json, events.sheet, events.wide_sheet)
    return 0


def _begun(found: Iterator[Event]) -> Iterator[Event]:
    """The same, with the first one read: what cannot be read at all is found out before anything is written."""
    first = list(islice(found, 1))
    return chain(first, found)


def _follow(frame: Frame, session: Window, run_id: str | None, type: str | None, after: int) -> None:
    """Until the reader goes away or the person interrupts; a line each on a terminal, a table has an end."""
    header, chosen = True, frame.format()
    while True:
        found = list(session.events(run_id, type, after, 1000)[0])
        if chosen == "jsonl":
            alive = all(output.json_line(events.to_json(event)) for event in found)
        elif chosen == "table":
            alive = output.write_lines(events.sheet(found))
        else:
            alive = output.write_tsv(events.wide_sheet(found), header)
        if not alive or not OUT.flush():
            return
        header, after = False, found[-1].seq if found else after
        if len(found) < 1000:
            time.sleep(_PAUSE)
