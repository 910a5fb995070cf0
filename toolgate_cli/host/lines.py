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
        self._held = bytearray()
        self._seen = 0  # of what is held: there is no newline in it
        self._skipping = False

    def feed(self, data: bytes) -> list[Line]:
        """The lines that are whole now."""
        found: list[Line] = []
        self._held += data
        while (end := self._held.find(b"\n", self._seen)) >= 0:
            cut = self._skipping or end > self._limit
            found.append(Line(b"" if cut else bytes(self._held[:end]), cut))
            del self._held[: end + 1]
            self._seen, self._skipping = 0, False
        if len(self._held) > self._limit:
            self._held.clear()
            self._skipping = True
        self._seen = len(self._held)
        return found
