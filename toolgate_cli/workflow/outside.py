"""The files that toolgate.toml names, read once for a load: what is checked, what is built and what is stamped are the same bytes (I3)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core.errors import ToolgateError
from ..core.types import Json
from ..core.world import Stamp
from .reading import Source, read_inside, stamp
from .servers import SECTION

if TYPE_CHECKING:
    from .locking import Locked

LOCK = "toolgate.lock.toml"  # written by `tools pin`
_KEYS = {"tools": "input_schema_file", "agents": "prompt_file"}


class Outside:
    """`sources`: what was read, by name; `faults`: why a file could not be."""

    def __init__(self, home: str, raw: Mapping[str, Json]) -> None:
        self.sources: dict[str, Source] = {}
        self.faults: dict[str, ToolgateError] = {}
        self._absent: tuple[Stamp, ...] = ()
        lock = os.path.join(home, LOCK)
        locked = (LOCK,) if SECTION in raw and os.path.lexists(lock) else ()
        if SECTION in raw and not locked:
            self._absent = (stamp(lock),)  # nothing is pinned yet; from when it is, this differs
        for name in (*_named(raw), *locked):
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
        return (*(source.stamp for source in self.sources.values()), *self._absent)

    def locked(self) -> Mapping[str, Locked]:
        """What is pinned of servers' tools. Raises ToolgateError("invalid") where that cannot be read."""
        if LOCK not in self.sources and LOCK not in self.faults:
            return {}
        from .locking import read_lock

        return read_lock(self.text(LOCK))

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
