"""`workflow import`: workflows of another format, as a home of their own."""

from __future__ import annotations

import os
from typing import Annotated, Final

from ... import output
from ...declared import Argument, option
from ...frame import Frame
from ...safe import command, fill
from ...views import written

PURPOSE: Final = "Know"

Folder = Annotated[str, Argument(metavar="DIR", help="The folder that holds workflows/ and agents/, as JSON.")]
Into = Annotated[str | None, option("--into", metavar="DIR", help="The new home, default: the home; nothing in it is overwritten.")]


def run(frame: Frame, folder: Folder, into: Into = None) -> int:
    """Import workflows, agents and a script of JSON bundles.

    All of it, or exit 7 with the file and the field of everything that cannot be imported.
    """
    frame.format()
    where = into or frame.home or os.environ.get("TOOLGATE_HOME") or "."
    with frame._replace(home=where).window(begun=False) as session:
        files = session.bring(folder, where)
        output.show_list(frame, written.SCHEMA, files, None, written.to_json, written.sheet)
    frame.note(fill("next: {}", command((frame if into is None else frame._replace(home=into)).here("toolgate workflow check"))))
    return 0
