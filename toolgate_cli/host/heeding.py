"""An interruption that is not lost: what a signal handler raises is swallowed where it meets a callback of the interpreter's own."""

from __future__ import annotations

from typing import NoReturn


class Terminated(BaseException):
    """SIGTERM or SIGHUP, as something that every `with` and `finally` sees."""


_raised: BaseException | None = None


def interrupt(interruption: BaseException) -> NoReturn:
    """Raises it, and remembers that it was."""
    global _raised
    _raised = interruption
    raise interruption


def interrupted() -> bool:
    """Whether one was raised that nobody has told of yet."""
    return _raised is not None


def heed() -> None:
    """Raises it again, where it was swallowed."""
    if _raised is not None:
        raise _raised


def told() -> None:
    """Whoever caught it has done what it asked for."""
    global _raised
    _raised = None
