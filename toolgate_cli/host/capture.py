"""What is kept of a tool's output while it is read: a flood costs no more memory than the cap, and no secret is in it (I12)."""

from __future__ import annotations

from collections.abc import Callable

from ..core import sums
from ..core.secrets import Scrubber, Secrets

STDERR_BYTES = 65536


class Head:
    """The first `limit` bytes, and the size and sha256 of all."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._sum = sums.sha256()
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


class Kept:
    """The beginning of stdout and the end of stderr; values are taken out before anything is cut, counted or digested."""

    def __init__(self, output_bytes: int, secrets: Secrets) -> None:
        self.stdout = Head(output_bytes)
        self.stderr = Tail(STDERR_BYTES)
        self.of_stdout: Callable[[bytes], None] = self.stdout.feed
        self.of_stderr: Callable[[bytes], None] = self.stderr.feed
        self._scrubbed: list[_Scrubbed] = []
        if secrets:
            self._scrubbed = [_Scrubbed(secrets, self.stdout.feed), _Scrubbed(secrets, self.stderr.feed)]
            self.of_stdout, self.of_stderr = (stream.feed for stream in self._scrubbed)

    def end(self) -> None:
        """Nothing more comes; idempotent."""
        for stream in self._scrubbed:
            stream.end()


class _Scrubbed:
    def __init__(self, secrets: Secrets, keep: Callable[[bytes], None]) -> None:
        self._scrubber = Scrubber(secrets)
        self._keep = keep

    def feed(self, data: bytes) -> None:
        self._keep(self._scrubber.feed(data))

    def end(self) -> None:
        self._keep(self._scrubber.end())
