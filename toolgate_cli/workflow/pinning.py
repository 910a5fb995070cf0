"""Pins tools and loads validators outside any transaction; what was pinned before counts as long as none of its files has changed (I3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..core import canonical
from ..core.config import Tool
from ..core.defaults import filler
from ..core.digests import sha256
from ..core.types import Json
from ..core.values import NamedTuple
from ..core.world import Check, Needs, Ready, Stamp, World
from .kinds import Kinds
from .reading import stamp

if TYPE_CHECKING:
    from ..runtime.plugs import Provider


class _Pin(NamedTuple):
    declared: Json
    path: str
    ready: Ready
    stamps: tuple[Stamp, ...]


class Pinning:
    """Remembers within one process."""

    def __init__(self, home: str, kinds: Kinds) -> None:
        self._home = home
        self._kinds = kinds
        self._pins: dict[str, _Pin] = {}
        self._checks: dict[str, Check] = {}

    def prepare(self, world: World, needs: Needs) -> World:
        """The same world with more tools pinned and validators loaded."""
        pins = {name: self._pin(world.config.tools[name], world.config.path) for name in needs.tools}
        stamps = dict.fromkeys(world.stamps)
        for pin in pins.values():
            stamps.update(dict.fromkeys(pin.stamps))
        checks: dict[str, Check] = dict(world.checks)
        for name in needs.schemas:
            tool = world.config.tools[name]
            checks[tool.schema_digest] = self.check(tool.schema, tool.schema_digest)
        ready: Mapping[str, Ready] = {**world.ready, **{name: pin.ready for name, pin in pins.items()}}
        return world._replace(stamps=tuple(stamps), ready=ready, checks=checks)

    def _pin(self, tool: Tool, path: str) -> _Pin:
        known = self._pins.get(tool.capability)
        if known is not None and (known.declared, known.path) == (tool.declared, path) and are_unchanged(known.stamps):
            return known
        provider = self._kinds.provider(tool.provider)
        pinned = provider.pin(tool.fields, self._home, path)
        for _ in range(3):
            # stamped before they are read for good: a file that changes after its stamp differs from it, whenever it was read
            stamps = tuple(map(stamp, pinned.paths))
            before, pinned = pinned, provider.pin(tool.fields, self._home, path)
            if pinned == before:
                break
        else:
            pinned = pinned._replace(error="its files change while they are read")
        definition = canonical.encode({"declared": tool.declared, "pinned": pinned.facts})
        bind = _binding(provider, tool.fields, pinned.facts, self._home)
        ready = Ready(definition, sha256(definition), bind, filler(tool.schema), pinned.error)
        made = self._pins[tool.capability] = _Pin(tool.declared, path, ready, stamps)
        return made

    def check(self, schema: Json, digest: str | None = None) -> Check:
        """The check of a schema that was accepted."""
        digest = digest or sha256(canonical.encode(schema))
        found = self._checks.get(digest)
        if found is None:
            from .validators import load

            found = self._checks[digest] = load(schema)
        return found


def _binding(provider: Provider, fields: object, facts: Json, home: str) -> Callable[[dict[str, Json]], object]:
    """Fills a provider's table with arguments; pure."""
    return lambda arguments: provider.bind(fields, facts, home, arguments)


def are_unchanged(stamps: tuple[Stamp, ...]) -> bool:
    """Whether every file is the one that was read: same device, inode, size and times. No file is read."""
    return all(stamp(known.path) == known for known in stamps)
