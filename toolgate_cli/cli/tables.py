"""Tables for people, drawn by Rich into text: no markup, no emoji names, long text folded, no more cut than what nobody reads there, and
ids always whole.

Columns that do not fit beside each other stand under their row, one a line, by name: a column of three letters is a ribbon, no table.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..core.values import NamedTuple
from .folding import HANG, cells, fold
from .safe import Safe, fill, spaced
from .streams import Stream
from .views.shapes import Column, Sheet, readable

_RULE = box.Box("    \n    \n ── \n    \n    \n    \n    \n    \n")  # a line under the header, and nothing else
_BETWEEN = 2  # characters between two columns
_UNDER = Safe(" " * 4)

Row = tuple[Safe, ...]


class _Grid(NamedTuple):
    """Columns beside each other, with their widths, as Rich draws them."""

    columns: Sequence[Column]
    widths: Sequence[int]
    rule: box.Box | None
    color: bool

    def text(self, rows: Sequence[Row], header: bool) -> str:
        # between columns: one space of padding and one that the rule's box draws
        padding = (0, _BETWEEN - 1 if self.rule else _BETWEEN, 0, 0)
        table = Table(box=self.rule, padding=padding, pad_edge=False, show_edge=False, show_header=header, header_style="bold")
        for column, wide in zip(self.columns, self.widths, strict=True):
            table.add_column(Text(column.name), no_wrap=column.whole, overflow="fold", width=wide)
        for row in rows:
            table.add_row(*(Text(value) for value in row))
        console = Console(
            file=io.StringIO(),
            width=sum(self.widths) + _BETWEEN * len(self.widths),
            force_terminal=self.color,
            color_system="standard" if self.color else None,
            no_color=not self.color,
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
        )
        with console.capture() as drawn:
            console.print(table, soft_wrap=False)
        return "\n".join(text.rstrip() for text in drawn.get().rstrip("\n").split("\n")) + "\n"


def draw(sheet: Sheet, stream: Stream, color: bool, width: int | None = None) -> str:
    """The sheet as wide as the terminal, or wider where an id alone would not fit."""
    rows = [tuple(map(readable, row)) for row in sheet.rows]
    total = width or stream.size()[0]
    natural = [max([cell_len(row[index]) for row in rows] + [len(column.name)]) for index, column in enumerate(sheet.columns)]
    every = [_wide(column, [row[index] for row in rows], total) for index, column in enumerate(sheet.columns)]
    told = [all(cell_len(row[index]) == cells(row[index]) for row in rows) for index in range(len(every))]
    beside = _beside(every, natural, total, told)
    under = [index for index in range(len(every)) if index not in beside]
    columns = [every[index] for index in beside]
    rule = _RULE if (stream.file.encoding or "").lower().startswith("utf") else None
    grid = _Grid(columns, _widths(columns, [natural[index] for index in beside], total), rule, color)
    if not under:
        return spaced(grid.text(rows, header=True))
    lines = [grid.text([], header=True)]
    for row in rows:
        lines.append(grid.text([tuple(row[index] for index in beside)], header=False))
        lines += (piece + "\n" for piece in _under([(every[index], row[index]) for index in under], total))
    return spaced("".join(lines))


def _wide(column: Column, texts: Sequence[Safe], total: int) -> Column:
    """The column, and so wide that no word in it is broken which a line of its own would hold: a path is copied whole."""
    if column.whole:
        return column
    words = (cell_len(word) for text in texts for word in text.split(" "))
    return column._replace(least=max([column.least, *(wide for wide in words if wide <= total - len(HANG))]))


def _under(named: Sequence[tuple[Column, Safe]], total: int) -> Iterator[Safe]:
    for column, value in named:
        text = fill("{}{}: {}", _UNDER, column.name, value)
        if value:
            yield from [text] if column.whole else fold(text, total)


def _beside(columns: Sequence[Column], natural: Sequence[int], total: int, told: Sequence[bool]) -> list[int]:
    """The columns that fit beside each other, in their order; the first always does. `told`: whether Rich can tell the width of each."""
    kept: list[int] = []
    room = total + _BETWEEN
    for index, (column, wide) in enumerate(zip(columns, natural, strict=True)):
        room -= _BETWEEN + (wide if column.whole else min(wide, column.least))
        if kept and (room < 0 or not told[index]):
            break
        kept.append(index)
    return kept


def _widths(columns: Sequence[Column], natural: Sequence[int], total: int) -> list[int]:
    """The width of every column. Rich is left no choice: where it has to shrink a table by itself it cuts characters off its cells."""
    least = [wide if column.whole else min(wide, column.least) for column, wide in zip(columns, natural, strict=True)]
    spare = total - sum(least) - _BETWEEN * (len(least) - 1)
    widths = least
    while spare > 0:  # one by one to the narrowest that could use more, so that no column starves beside a long one
        wanting = [index for index, wide in enumerate(widths) if wide < natural[index]]
        if not wanting:
            break
        widths[min(wanting, key=lambda index: widths[index])] += 1
        spare -= 1
    return widths
