"""`doctor`: what is wrong with a home and its store, and what to do about it."""

from __future__ import annotations

from typing import Final

from .. import output
from ..frame import Frame
from ..views import doctor

PURPOSE: Final = "Know"


def run(frame: Frame) -> int:
    """Examine home and store; exit 1 where something is wrong.

    Every finding with what to do. Warnings alone are exit 0. Nothing is changed, and it works while toolgate.toml is broken.
    On a terminal heads are cut to 12 digits and "..."; -o tsv and -o json have all of them.
    """
    frame.format()
    with frame.window(readonly=True) as session:
        found = tuple(remark._replace(hint=frame.leading(remark.hint)) for remark in session.examine())
        output.show_list(frame, doctor.SCHEMA, found, None, doctor.to_json, doctor.sheet, doctor.wide_sheet)
    return 1 if any(remark.level == "error" for remark in found) else 0
