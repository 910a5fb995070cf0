"""Bytes that come in pieces, cut into lines; one that is too long costs no more memory than the longest that is taken."""

from __future__ import annotations

from ..core.values import NamedTuple


class Line(NamedTuple):
    """Without its newline. `cut`: it was longer than is taken, and nothing of it is here."""

    data: bytes
    cut: bool = False


class Lines:
    """`limit`: bytes of the longest line that is taken."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held = bytearray()  # of a line that has not ended
        self._skipping = False

    def feed(self, data: bytes) -> list[Line]:
        """The lines that are whole now."""
        *ends, rest = data.split(b"\n")
        found = [self._line(end) for end in ends]
        if rest:
            self._hold(rest)
        return found

    def _line(self, end: bytes) -> Line:
        """What ends with this."""
        if self._held or self._skipping:
            self._hold(end)
            end, cut = bytes(self._held), self._skipping
            self._held.clear()
            self._skipping = False
        else:
            cut = len(end) > self._limit
        return Line(b"", True) if cut else Line(end)

    def _hold(self, data: bytes) -> None:
        self._held += data
        if len(self._held) > self._limit:
            self._held.clear()
            self._skipping = True
