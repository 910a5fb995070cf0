"""What outlasts one call and must not outlast this process: the sessions with servers, each ended when the command ends (I8)."""

from __future__ import annotations

from collections.abc import Callable

_held: dict[int, tuple[Callable[[], object], int]] = {}


def keep(end: Callable[[], object], pid: int = 0) -> int:
    """Something that is to be ended; `pid`: of its process, where it has one. A number by which it can be let go."""
    number = max(_held, default=0) + 1
    _held[number] = end, pid
    return number


def let_go(number: int) -> None:
    """It has come to its end."""
    _held.pop(number, None)


def pids() -> set[int]:
    return {pid for _, pid in _held.values() if pid}


def end_all() -> None:
    """Ends them, the last one first."""
    while _held:
        _, (end, _) = _held.popitem()
        end()
