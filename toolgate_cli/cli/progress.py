"""How far a long look has come: one line on stderr that is written over, at a terminal only, and gone at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from .frame import Frame
from .streams import ERR

_CLEAR = "\r\x1b[K"


@contextmanager
def shown(frame: Frame) -> Iterator[Callable[[int, int | None], None] | None]:
    """What is to be told how many were read, of how many; None where nobody sees it."""
    if frame.quiet or not ERR.terminal():
        yield None
        return

    told = False

    def tell(done: int, total: int | None) -> None:
        nonlocal told
        told = True
        ERR.raw(f"{_CLEAR}{done} of {total} events" if total is not None else f"{_CLEAR}{done} events")
        ERR.flush()

    try:
        yield tell
    finally:
        if told:
            ERR.raw(_CLEAR)
            ERR.flush()
