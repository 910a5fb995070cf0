"""Looks at every file of a home for `workflow check`: nothing is remembered, nothing is started, every error and warning is told."""

from __future__ import annotations

from collections.abc import Callable

from ..core.config import Config
from ..core.errors import ToolgateError
from ..core.world import Needs, World
from .checks import played
from .flows import Flow, Flows
from .kinds import Kinds
from .loading import FILE, Operator, Told
from .pinning import Pinning

Seen = tuple[str, "str | None", Told, Told]
Check = Callable[[Flow, Config], "tuple[Told, Told]"]


def inspect(operator: Operator, flows: Flows, pinning: Pinning, kinds: Kinds, home: str, check: Check) -> tuple[Seen, ...]:
    try:
        errors, warnings = operator.inspect()
    except ToolgateError as error:
        errors, warnings = ((error.message, error.hint),), ()
    if errors:
        return ((FILE, None, errors, warnings),)  # what a workflow names cannot be looked up
    loaded = operator.load()
    world = World(loaded.config, loaded.stamps, {}, {})
    found: list[Seen] = [(FILE, None, (), warnings + _unready(world, pinning) + played.warnings(loaded.config, kinds, home))]
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


def _told(error: ToolgateError) -> tuple[str, str]:
    return error.message, error.hint
