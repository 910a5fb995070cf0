"""The two streams, the only place that writes: no raw foreign text, no encoding error, no exception for a reader that went away."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from .safe import Safe, line, spaced


class Stream:
    """stdout or stderr. After a failed write everything goes to nowhere, and `failed` says why ("" for a reader that closed the pipe)."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.failed: str | None = None

    @property
    def file(self) -> TextIO:
        return sys.stdout if self.fd == 1 else sys.stderr

    def line(self, text: str) -> bool:
        """Writes one line, folded by us on a terminal: what the terminal wraps would begin a line. False once nobody reads any more."""
        safe = text if isinstance(text, Safe) else line(text)
        if self.terminal():
            from .folding import fold

            return all(self.raw(piece + "\n") for piece in fold(safe, self.size()[0]))
        return self.raw(spaced(safe) + "\n")

    def raw(self, text: str) -> bool:
        """Writes text that its maker answers for: pure ASCII JSON, a drawn table, a prompt."""
        if self.failed is None:
            try:
                self.file.write(text)
            except OSError as error:
                self._fail(error)
        return self.failed is None

    def flush(self) -> bool:
        if self.failed is None:
            try:
                self.file.flush()
            except OSError as error:
                self._fail(error)
        return self.failed is None

    def terminal(self) -> bool:
        try:
            return os.isatty(self.fd)
        except OSError:
            return False

    def width(self) -> int | None:
        """Columns of the terminal that this stream writes to, or fewer where COLUMNS says so; None where there is none."""
        return self.size()[0] if self.terminal() else None

    def size(self) -> tuple[int, int]:
        """Columns and lines to write within: never more than this stream's terminal has, for what that wrapped would begin a line with
        foreign text; without a terminal as COLUMNS and LINES say."""
        import shutil

        said = shutil.get_terminal_size()  # COLUMNS, else of stdout, which may be a file while this is a terminal
        try:
            real = os.get_terminal_size(self.fd)
        except OSError:
            return said
        return min(said.columns, real.columns or said.columns), min(said.lines, real.lines or said.lines)

    def _fail(self, error: OSError) -> None:
        self.failed = "" if isinstance(error, BrokenPipeError) else error.strerror or "it cannot be written"
        # what is still buffered must go somewhere, or the interpreter complains at its end
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fd)
        os.close(nowhere)


OUT = Stream(1)
ERR = Stream(2)


def prepare() -> None:
    """Makes both streams able to write any text. Descriptors 0 to 2 must exist: a file opened on a free one would be written to."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for stream, name in ((OUT, "stdout"), (ERR, "stderr")):
        stream.failed = None
        if getattr(sys, name) is None:
            setattr(sys, name, open(stream.fd, "w", encoding="utf-8", closefd=False))  # noqa: SIM115  # it lives as long as the process
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding=readable(getattr(sys, name).encoding), errors="backslashreplace")


def readable(encoding: str | None) -> str:
    """The encoding, or UTF-8 in place of one in which ASCII is something else: whoever reads JSON, or answers y, has ASCII in mind."""
    ascii = bytes(range(128))
    try:
        return encoding if encoding and ascii.decode("ascii").encode(encoding) == ascii else "utf-8"
    except (LookupError, UnicodeError):
        return "utf-8"
