"""Pins tools and loads validators outside any transaction; what was pinned before counts as long as none of its files has changed (I3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..core import canonical
from ..core.config import PROBER, Tool
from ..core.defaults import filler
from ..core.digests import sha256
from ..core.types import Json
from ..core.values import NamedTuple
from ..core.world import Check, Needs, Ready, Stamp, World
from .kinds import Kinds
from .reading import is_unchanged, stamp
from .servers import SECTION

if TYPE_CHECKING:
    from ..core.types import ProbeName
    from ..runtime.plugs import Pinned, Provider


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
        self._checks: dict[tuple[str, bool], Check] = {}

    def prepare(self, world: World, needs: Needs) -> World:
        """The same world with more tools pinned and validators loaded."""
        pins = {name: self._pin(world.config.tools[name], world.config.path) for name in needs.tools}
        stamps = dict.fromkeys(world.stamps)
        for pin in pins.values():
            stamps.update(dict.fromkeys(pin.stamps))
        checks: dict[str, Check] = dict(world.checks)
        for name in needs.schemas:
            tool = world.config.tools[name]
            checks[tool.schema_digest] = self.check(tool.schema, tool.schema_digest, foreign=tool.provider == SECTION)
        ready: Mapping[str, Ready] = {**world.ready, **{name: pin.ready for name, pin in pins.items()}}
        return world._replace(stamps=tuple(stamps), ready=ready, checks=checks)

    def _pin(self, tool: Tool, path: str) -> _Pin:
        known = self._pins.get(tool.capability)
        if known is not None and (known.declared, known.path) == (tool.declared, path) and are_unchanged(known.stamps):
            return known
        provider = self._kinds.provider(tool.provider)
        pinned, stamps = self._settled(provider, tool.fields, path)
        whole: dict[str, Json] = {"declared": tool.declared, "pinned": pinned.facts}
        bind = _binding(provider, tool.fields, pinned.facts, self._home)
        ready = Ready("", "", bind, filler(tool.schema), pinned.error)
        if tool.probes:
            ready, stamps = self._with_probes(tool, path, ready, stamps, whole)
        definition = canonical.encode(whole)
        ready = ready._replace(definition=definition, digest=sha256(definition))
        made = self._pins[tool.capability] = _Pin(tool.declared, path, ready, stamps)
        return made

    def _with_probes(
        self, tool: Tool, path: str, ready: Ready, stamps: tuple[Stamp, ...], whole: dict[str, Json]
    ) -> tuple[Ready, tuple[Stamp, ...]]:
        """What a tool is asked about is a part of it: a probe that cannot be used makes the tool unusable."""
        command = self._kinds.provider(PROBER)
        facts: dict[str, Json] = {}
        probes: dict[ProbeName, Callable[[dict[str, Json]], object]] = {}
        for name, fields in tool.probes.items():
            pinned, seen = self._settled(command, fields, path)
            facts[name] = pinned.facts
            probes[name] = _binding(command, fields, pinned.facts, self._home)
            stamps += seen
            if pinned.error is not None:
                ready = ready._replace(error=ready.error or f"{name}: {pinned.error}")
        whole["probes"] = facts
        return ready._replace(probes=probes), stamps

    def _settled(self, provider: Provider, fields: object, path: str) -> tuple[Pinned, tuple[Stamp, ...]]:
        pinned = provider.pin(fields, self._home, path)
        for _ in range(3):
            # stamped before they are read for good: a file that changes after its stamp differs from it, whenever it was read
            stamps = tuple(map(stamp, pinned.paths))
            before, pinned = pinned, provider.pin(fields, self._home, path)
            if pinned == before:
                return pinned, stamps
        return pinned._replace(error="its files change while they are read"), stamps

    def check(self, schema: Json, digest: str | None = None, *, foreign: bool = True) -> Check:
        """The check of a schema that was accepted. `foreign`: a server may have written it."""
        key = (digest or sha256(canonical.encode(schema)), foreign)
        found = self._checks.get(key)
        if found is None:
            from .validators import load

            found = self._checks[key] = load(schema, foreign=foreign)
        return found


def _binding(provider: Provider, fields: object, facts: Json, home: str) -> Callable[[dict[str, Json]], object]:
    """Fills a provider's table with arguments; pure."""
    return lambda arguments: provider.bind(fields, facts, home, arguments)


def are_unchanged(stamps: tuple[Stamp, ...]) -> bool:
    """Whether every file is the one that was read: same device, inode, size and times. No file is read."""
    return all(map(is_unchanged, stamps))
