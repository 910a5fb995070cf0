"""`audit export`: the log as lines that can be verified elsewhere."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Annotated, Final

from ....core.errors import ToolgateError
from ... import output
from ...declared import option
from ...frame import Frame
from ...streams import OUT
from ...views import audit

PURPOSE: Final = "Know"
_SINCE: Final = re.compile(r"([0-9]{1,18})(?::([0-9a-f]{0,64}))?")

Since = Annotated[str, option("--since", metavar="SEQ", help="Only events after this one, or this head.")]
To = Annotated[str | None, option("--to", metavar="FILE", help="A new file, which only you can read; nothing is overwritten.")]


def run(frame: Frame, since: Since = "0", to: To = None) -> int:
    """Export the log as lines that anybody can verify.

    On stdout, or into a file; always JSON lines, whatever -o says.
    """
    frame.format()
    said = _SINCE.fullmatch(since)
    if said is None:
        raise ToolgateError("usage", f"--since {since}: the seq of an event is wanted", "a number, or a head as toolgate prints it")
    with frame.window() as session:
        lines = session.export(int(said[1]), said[2])
        if to is None:
            all(OUT.raw(text + "\n") for text in lines)
            return 0
        written = _write(to, lines)
    output.show_one(frame, lambda: audit.exported_json(to, written), lambda: audit.exported_fields(to, written))
    return 0


def _write(path: str, lines: Iterator[str]) -> int:
    """A file that is whole, or is not there. How many events it holds."""
    first = next(lines)  # what cannot be exported is found out before there is a file
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileExistsError:
        raise ToolgateError("usage", f"{path} is there already, and is not overwritten", "name a new file with --to") from None
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(first + "\n")
            count = sum(bool(file.write(text + "\n")) for text in lines)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(path)
        raise
    return count - 1
