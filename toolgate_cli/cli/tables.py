"""Tables for people, drawn by Rich into text: no markup, no emoji names, long text folded, nothing cut, and ids always whole."""

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
_BETWEEN = 2  # characters between two columns


def draw(sheet: Sheet, stream: Stream, color: bool, width: int | None = None) -> str:
    """The sheet as wide as the terminal, or wider where its ids would not fit."""
    rows = [tuple(row) for row in sheet.rows]
    widths = _widths(sheet, rows, width or shutil.get_terminal_size().columns)
    rule = _RULE if (stream.file.encoding or "").lower().startswith("utf") else None
    # between columns: one space of padding and one that the rule's box draws
    padding = (0, _BETWEEN - 1 if rule else _BETWEEN, 0, 0)
    table = Table(box=rule, padding=padding, pad_edge=False, show_edge=False, highlight=False, header_style="bold")
    for column, wide in zip(sheet.columns, widths, strict=True):
        table.add_column(Text(column.name), no_wrap=column.whole, overflow="fold", width=wide)
    for row in rows:
        table.add_row(*(Text(value) for value in row))
    console = Console(
        file=io.StringIO(),
        width=sum(widths) + _BETWEEN * len(widths),
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


def _widths(sheet: Sheet, rows: Sequence[tuple[str, ...]], total: int) -> list[int]:
    """The width of every column. Rich is left no choice: where it has to shrink a table by itself it cuts characters off its cells."""
    natural = [max([_widest(row[index]) for row in rows] + [len(column.name)]) for index, column in enumerate(sheet.columns)]
    least = [wide if column.whole else min(wide, column.least) for column, wide in zip(sheet.columns, natural, strict=True)]
    spare = total - sum(least) - _BETWEEN * (len(least) - 1)
    widths = least
    while spare > 0:  # one by one to the narrowest that could use more, so that no column starves beside a long one
        wanting = [index for index, wide in enumerate(widths) if wide < natural[index]]
        if not wanting:
            break
        widths[min(wanting, key=lambda index: widths[index])] += 1
        spare -= 1
    return widths


def _widest(text: str) -> int:
    return max(cell_len(part) for part in text.split("\n"))
