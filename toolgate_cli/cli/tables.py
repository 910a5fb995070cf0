"""Tables for people, drawn by Rich into text: no markup, no emoji names, long text folded and ids always whole."""

from __future__ import annotations

import io
import shutil
from collections.abc import Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .streams import Stream
from .views.shapes import Sheet

_RULE = box.Box("    \n    \n ── \n    \n    \n    \n    \n    \n")  # a line under the header, and nothing else


def draw(sheet: Sheet, stream: Stream, color: bool, width: int | None = None) -> str:
    """The sheet as wide as the terminal, or wider where its ids would not fit."""
    rows = [tuple(row) for row in sheet.rows]
    rule = _RULE if (stream.file.encoding or "").lower().startswith("utf") else None
    # between columns: one space of padding and one that the rule's box draws
    padding = (0, 1 if rule else 2, 0, 0)
    table = Table(box=rule, padding=padding, pad_edge=False, show_edge=False, highlight=False, header_style="bold")
    for index, column in enumerate(sheet.columns):
        table.add_column(Text(column.name), no_wrap=column.whole, overflow="fold", min_width=_needed(sheet, rows, index))
    for row in rows:
        table.add_row(*(Text(value) for value in row))
    console = Console(
        file=io.StringIO(),
        width=max(width or shutil.get_terminal_size().columns, _narrowest(sheet, rows)),
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    with console.capture() as drawn:
        console.print(table, soft_wrap=False)
    return "\n".join(text.rstrip() for text in drawn.get().rstrip("\n").split("\n")) + "\n"


def _narrowest(sheet: Sheet, rows: Sequence[tuple[str, ...]]) -> int:
    return sum(_needed(sheet, rows, index) + 2 for index in range(len(sheet.columns))) - 2


def _needed(sheet: Sheet, rows: Sequence[tuple[str, ...]], index: int) -> int:
    column = sheet.columns[index]
    widest = max([cell_len(row[index]) for row in rows] + [len(column.name)])
    return widest if column.whole else min(widest, column.least)
