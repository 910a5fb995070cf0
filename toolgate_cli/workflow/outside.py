"""The files that toolgate.toml names, read once for a load: what is checked, what is built and what is stamped are the same bytes (I3)."""

from __future__ import annotations

from collections.abc import Mapping

from ..core.errors import ToolgateError
from ..core.types import Json
from ..core.world import Stamp
from .reading import Source, read_inside

_KEYS = {"tools": "input_schema_file", "agents": "prompt_file"}


class Outside:
    """`sources`: what was read, by name; `faults`: why a file could not be."""

    def __init__(self, home: str, raw: Mapping[str, Json]) -> None:
        self.sources: dict[str, Source] = {}
        self.faults: dict[str, ToolgateError] = {}
        for name in _named(raw):
            try:
                self.sources[name] = read_inside(home, name)
            except ToolgateError as error:
                self.faults[name] = error

    def text(self, name: str) -> str:
        """The text of a file; ToolgateError("invalid") where there is none."""
        if name in self.faults:
            raise self.faults[name]
        try:
            return self.sources[name].data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ToolgateError("invalid", f"{name} is not UTF-8", "save it as UTF-8") from error

    def stamps(self) -> tuple[Stamp, ...]:
        return tuple(source.stamp for source in self.sources.values())

    def bytes(self) -> dict[str, bytes]:
        return {name: source.data for name, source in self.sources.items()}


def _named(raw: Mapping[str, Json]) -> tuple[str, ...]:
    """Every file that a tool or an agent names; the tables may still be anything."""
    found: dict[str, None] = {}
    for section, key in _KEYS.items():
        tables = raw.get(section)
        for table in tables.values() if isinstance(tables, dict) else ():
            name = table.get(key) if isinstance(table, dict) else None
            if isinstance(name, str):
                found[name] = None
    return tuple(found)
