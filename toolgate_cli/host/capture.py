"""What is kept of a tool's output while it is read: a flood costs no more memory than the cap."""

from __future__ import annotations

import hashlib


class Head:
    """The first `limit` bytes, and the size and sha256 of all."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sum = hashlib.sha256()
        self.kept = bytearray()
        self.size = 0

    def feed(self, data: bytes) -> None:
        self.size += len(data)
        self._sum.update(data)
        room = self._limit - len(self.kept)
        if room > 0:
            self.kept += data[:room]

    @property
    def digest(self) -> str:
        return self._sum.hexdigest()


class Tail:
    """The last `limit` bytes: a tool says at the end why it failed."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.kept = bytearray()

    def feed(self, data: bytes) -> None:
        self.kept += data
        if len(self.kept) > 2 * self._limit:
            self.trim()

    def trim(self) -> bytes:
        del self.kept[: -self._limit]
        return bytes(self.kept)
