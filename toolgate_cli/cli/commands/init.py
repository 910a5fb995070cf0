"""`init`: a first home."""

from __future__ import annotations

import os
from typing import Annotated, Final

from .. import output
from ..declared import Argument
from ..frame import Frame
from ..safe import command, fill
from ..views import written

PURPOSE: Final = "Know"

Folder = Annotated[str | None, Argument(metavar="[DIR]", help="Where; default: the home.")]


def run(frame: Frame, folder: Folder = None) -> int:
    """Write a toolgate.toml and a first workflow to start from."""
    frame.format()
    where = folder or frame.home or os.environ.get("TOOLGATE_HOME") or "."
    with frame._replace(home=where).window(begun=False) as session:
        files = session.init(where)
        output.show_list(frame, written.SCHEMA, files, None, written.to_json, written.sheet)
    frame.note(fill("next: {}", command((frame if folder is None else frame._replace(home=folder)).here("toolgate start hello"))))
    return 0
