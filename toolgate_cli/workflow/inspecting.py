"""Looks at every file of a home for `workflow check`: nothing is remembered, nothing is started, every error and warning is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from ..core.config import Config
from ..core.errors import ToolgateError
from ..core.world import Needs, World
from .checks import played
from .flows import Flow, Flows
from .issues import Issues, tell
from .kinds import Kinds
from .loading import FILE, Operator, Told
from .pinning import Pinning
from .positions import KeyPath
from .secrets import resolve

Seen = tuple[str, "str | None", Told, Told]
Check = Callable[[Flow, Config], "tuple[Told, Told]"]


_UNTIL = "calls that need it are refused until it is there"


def inspect(operator: Operator, flows: Flows, pinning: Pinning, kinds: Kinds, home: str, check: Check) -> tuple[Seen, ...]:
    try:
        errors, warnings = operator.inspect()
    except ToolgateError as error:
        errors, warnings = ((error.message, error.hint),), ()
    if errors:
        return ((FILE, None, errors, warnings),)  # what a workflow names cannot be looked up
    loaded = operator.load()
    world = World(loaded.config, loaded.stamps, {}, {})
    missing = tell(FILE, loaded.data.decode(), _missing(loaded.config, kinds, home).warnings)
    found: list[Seen] = [(FILE, None, (), warnings + _unready(world, pinning) + missing + played.warnings(loaded.config, kinds, home))]
    listed = flows.all(loaded.raw)
    for flow in listed:
        faults, notes = ((_told(flow.fault),), ()) if flow.fault is not None else check(flow, loaded.config)
        twins = [other.name for other in listed if other.id == flow.id and other is not flow and flow.id is not None]
        clash: Told = tuple((f"{flow.name}: the id {flow.id} is used in {name} too", "give each its own id") for name in twins)
        found.append((flow.name, flow.id, faults + clash, notes))
    return tuple(found)


def _unready(world: World, pinning: Pinning) -> Told:
    """Tools that cannot be used as things are now: an executable or a pinned file that is not there."""
    ready = pinning.prepare(world, Needs(tools=tuple(world.config.tools))).ready
    return tuple((f"{FILE}: tools.{name}: {tool.error}", "") for name, tool in ready.items() if tool.error is not None)


def _missing(config: Config, kinds: Kinds, home: str) -> Issues:
    """Files that toolgate.toml counts on: of secrets, and what a tool's provider knows of."""
    issues = Issues()
    secrets, _ = resolve({name: file for name, file in config.secrets.items() if file is not None}, home)
    for name, fault in secrets.faults.items():
        issues.warn(("secrets", name, "file"), fault, _UNTIL)
    for name, tool in config.tools.items():
        doubts = cast("Callable[[object, str], tuple[tuple[KeyPath, str], ...]]", getattr(kinds.provider(tool.provider), "doubts", _none))
        for path, text in doubts(tool.fields, home):
            issues.warn(("tools", name, tool.provider, *path), text)
    return issues


def _none(_fields: object, _home: str) -> tuple[()]:
    return ()


def _told(error: ToolgateError) -> tuple[str, str]:
    return error.message, error.hint
