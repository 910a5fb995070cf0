"""Values in base64 or hex that are broken into lines, groups or lists: found in a view of the text without what stands between the digits.

Linear in the text. A value is looked for in as many bytes as `longest` says, wherever the text is cut.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping

from .disguises import base64_cores

SPREAD = 32  # bytes of a text that one byte of a value may take up: a digit pair on a line of its own, indented
_LEAST = 4  # digits of a beginning that say something

_BETWEEN = rb"[ \t\r\n,:;.|\"'\[\](){}<>]+|\\{1,8}(?:u00(?:0[9aAdD]|20)|[nrt]|(?=[\"'\r\n]))|%(?:0[9aAdD]|20)"
_BASE64 = re.compile(_BETWEEN)
_HEX = re.compile(_BETWEEN + rb"|0[xX]|\\{1,8}x|[-_]")
# a dump begins its lines with an address, and may end them with what can be printed of them
_LINE = rb"(?:[ \t]{2,}\S[^\n]{0,17})?(?:\\r|\r)?(?:\\n|\n)(?:[0-9a-fA-F]{6,16}(?::[ \t]*|[ \t]+))?"
_DUMP = re.compile(_LINE + b"|" + _HEX.pattern)

Core = tuple[bytes, str]  # digits that stand for a value wherever it begins, and its name


class Wrapped:
    """Every value of some secrets, by name."""

    def __init__(self, values: Mapping[str, str]) -> None:
        encoded = [(name, value.encode()) for name, value in values.items()]
        base64: list[Core] = [(core, name) for name, data in encoded for core in base64_cores(data)]
        hexes: list[Core] = [(data.hex().encode(), name) for name, data in encoded]
        self._views: tuple[tuple[re.Pattern[bytes], Callable[[bytes], bytes], list[Core]], ...] = (
            (_BASE64, bytes, base64),
            (_HEX, bytes.lower, hexes),
            (_DUMP, bytes.lower, hexes),
        )
        self.longest = max((SPREAD * len(data) for _, data in encoded), default=0)

    def find(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """Start, end and name of every value that something stands between the digits of."""
        for between, spelled, cores in self._views:
            view = spelled(between.sub(b"", data))
            places: _Places | None = None
            for core, name in cores:
                at = view.find(core)
                while at >= 0:
                    places = places or _Places(between, data)
                    start, end = places.of(at), places.of(at + len(core) - 1) + 1
                    if end - start <= self.longest:
                        yield start, end, name
                    at = view.find(core, at + 1)

    def begun(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Where the text ends with at least half of a value."""
        data = data[-self.longest :] if self.longest else b""
        for between, spelled, cores in self._views:
            view = spelled(between.sub(b"", data))
            if between is not _BASE64:
                view = view.removesuffix(b"0")  # half of a 0x
            for core, name in cores:
                least = max(_LEAST, len(core) // 2)
                at = view.find(core[:least], max(0, len(view) - len(core) + 1))
                while at >= 0 and not core.startswith(view[at:]):
                    at = view.find(core[:least], at + 1)
                if at >= 0:
                    yield _Places(between, data).of(at), name


class _Places:
    """Where in the text a byte of its view stands."""

    def __init__(self, between: re.Pattern[bytes], data: bytes) -> None:
        self._views, self._texts = [0], [0]
        for gap in between.finditer(data):
            self._views.append(self._views[-1] + gap.start() - self._texts[-1])
            self._texts.append(gap.end())

    def of(self, at: int) -> int:
        last = bisect_right(self._views, at) - 1
        return self._texts[last] + at - self._views[last]
