"""Loads toolgate.toml: a file whose bytes were accepted before is parsed and built, any other is checked in full first (I5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..core.config import Config
from ..core.digests import sha256
from ..core.errors import ToolgateError
from ..core.types import Json
from ..core.values import NamedTuple
from ..core.world import Stamp
from . import operator
from .kinds import Kinds
from .outside import Outside
from .reading import Source, Table, parse, read
from .servers import expand

FILE = "toolgate.toml"

Told = tuple[tuple[str, str], ...]  # (message, hint)


class Loaded(NamedTuple):
    """`mark`: digest of everything that was accepted; `raw`: the file's tables and those of servers' tools; `fresh`: it was checked now."""

    config: Config
    stamps: tuple[Stamp, ...]
    mark: str
    raw: Table
    fresh: bool
    data: bytes
    outside: dict[str, bytes]

    def texts(self) -> tuple[tuple[str, Json], ...]:
        """All that was read, by the name of its file; toolgate.toml also as its values."""
        files = {FILE: self.data, **self.outside}
        return (*((name, data.decode("utf-8", "replace")) for name, data in files.items()), (FILE, self.raw))


class Served(NamedTuple):
    """The file as far as its servers go. `secrets`: name -> its file, or None for the environment variable of that name."""

    raw: Table
    path: str
    timeout: float
    secrets: Mapping[str, str | None]
    data: bytes


class Operator:
    """Loads the operator's file of one home; keeps the last values, which count only while every byte is the same."""

    def __init__(self, home: str, kinds: Kinds, remembered: Callable[[str], bool]) -> None:
        self._home = home
        self._kinds = kinds
        self._remembered = remembered
        self._last: Loaded | None = None

    def load(self) -> Loaded:
        source = self._read()
        if self._last is not None and self._last.data == source.data:
            outside = Outside(self._home, self._last.raw)
            if not outside.faults and outside.bytes() == self._last.outside:
                return self._last._replace(stamps=(source.stamp, *outside.stamps()), fresh=False)
        self._last = self._load(source)
        return self._last

    def served(self) -> Served:
        """What is needed to ask a server for its tools: nothing else in the file has to be right, least of all what names those tools."""
        from .checks.servers import check_served
        from .document import decode, parse_strictly
        from .issues import refusal, tell

        source = self._read()
        raw = parse_strictly(source)
        issues = check_served(raw, self._kinds)
        if issues.errors:
            raise refusal(tell(FILE, decode(source), issues.errors))
        gate = operator.gate(raw)
        return Served(raw, gate.path, gate.timeout, operator.secrets(raw, self._kinds), source.data)

    def inspect(self) -> tuple[Told, Told]:
        """Errors and warnings, whatever is remembered."""
        from .document import parse_strictly

        source = self._read()
        raw = parse_strictly(source)
        return self._check(source, raw, Outside(self._home, raw))

    def _read(self) -> Source:
        try:
            return read(self._home, FILE)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ToolgateError("invalid", f"no {FILE} in {self._home}", "toolgate init") from error

    def _load(self, source: Source) -> Loaded:
        known = self._load_remembered(source)
        if known is not None:
            return known
        from .document import parse_strictly

        raw = parse_strictly(source)
        outside = Outside(self._home, raw)
        errors, _ = self._check(source, raw, outside)
        if errors:
            from .issues import refusal

            raise refusal(errors)
        return self._made(source, raw, outside, fresh=True)

    def _load_remembered(self, source: Source) -> Loaded | None:
        """None where these bytes are not remembered, or what is remembered does not fit this program after all."""
        try:
            raw = parse(source)
        except (ValueError, RecursionError):
            return None
        outside = Outside(self._home, raw)
        if outside.faults or not self._remembered(_mark(source, outside, self._kinds)):
            return None
        try:
            return self._made(source, raw, outside, fresh=False)
        except (ToolgateError, ValueError, TypeError, LookupError, AttributeError, AssertionError, RecursionError):
            return None

    def _made(self, source: Source, raw: Table, outside: Outside, *, fresh: bool) -> Loaded:
        raw = expand(raw, outside.locked(), self._kinds.providers())
        built = operator.build(raw, sha256(source.data), self._kinds, outside)
        mark = _mark(source, outside, self._kinds)
        return Loaded(built, (source.stamp, *outside.stamps()), mark, raw, fresh, source.data, outside.bytes())

    def _check(self, source: Source, raw: Table, outside: Outside) -> tuple[Told, Told]:
        from .checks.operator import check_operator
        from .document import decode
        from .issues import tell

        issues = check_operator(raw, self._kinds, outside)
        text = decode(source)
        return tell(FILE, text, issues.errors), tell(FILE, text, issues.warnings)


def _mark(source: Source, outside: Outside, kinds: Kinds) -> str:
    """Of the file, the files that it names and the plug-ins that there are: what was accepted was all of them together."""
    parts = [FILE, sha256(source.data), *kinds.providers(), "", *kinds.models(), ""]
    parts += [f"{name}\n{sha256(data)}" for name, data in sorted(outside.bytes().items())]
    return sha256("\n".join(parts))
