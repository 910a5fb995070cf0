"""A list that is drawn again whenever it changes: on a terminal alone, until the person has seen enough."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from ..core.errors import ToolgateError
from ..host import heeding
from .frame import Frame
from .streams import OUT
from .views.shapes import Sheet

_PAUSE: Final = 0.5  # seconds between two looks


def must_redraw(frame: Frame) -> None:
    """Raises `usage` where nothing can be drawn twice in one place."""
    import os

    if frame.format() != "table" or not OUT.terminal() or os.environ.get("TERM", "dumb") == "dumb":
        raise ToolgateError(
            "usage", "--watch draws on a terminal that can be redrawn", "toolgate events --follow -o jsonl tells what happens"
        )


def watch(frame: Frame, look: Callable[[], tuple[str, Sheet]]) -> None:
    """Draws the sheet, and again when its head or the terminal's size is another. Ctrl-C ends it: that is how one stops looking."""
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    from .tables import draw

    console = Console(file=OUT.file, markup=False, emoji=False, highlight=False, no_color=not frame.colored(), legacy_windows=False)
    seen: object = None
    try:
        with Live(console=console, screen=True, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:
            while not OUT.failed:
                head, sheet = look()
                size = OUT.size()
                if (head, size) != seen:
                    seen = (head, size)
                    live.update(Text(_cut(draw(sheet, OUT, False, size[0]), size[1]), no_wrap=True, overflow="crop"), refresh=True)
                time.sleep(_PAUSE)
    except KeyboardInterrupt:
        heeding.told()
        return


def _cut(drawn: str, lines: int) -> str:
    """As much as the screen holds, and how much does not fit."""
    rows = drawn.splitlines()
    if len(rows) <= lines:
        return drawn.rstrip("\n")
    return "\n".join([*rows[: lines - 1], f"{len(rows) - lines + 1} more lines: toolgate pending list"])
