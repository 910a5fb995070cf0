"""Looks at every file of a home for `workflow check`: nothing is remembered, nothing is started, every error and warning is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import cast

from ..core import references
from ..core.config import PROBER, Config, Model, Tool
from ..core.errors import ToolgateError
from ..core.tables import hints
from ..core.types import Json
from ..core.world import Needs, World
from .checks import played
from .checks.policy import warn_of_workflows
from .flows import Flow, Flows
from .issues import Issues, tell
from .kinds import Kinds
from .loading import FILE, Operator, Told
from .pinning import Pinning
from .positions import KeyPath
from .secrets import resolve
from .servers import SECTION

Seen = tuple[str, "str | None", Told, Told]
Check = Callable[[Flow, Config], "tuple[Told, Told]"]


_PROBES = {"tenant_of": ("tenant_of", "command")}  # where the command of one stands, if not under its name
_UNTIL = "calls that need it are refused until it is there"


def inspect(operator: Operator, flows: Flows, pinning: Pinning, kinds: Kinds, home: str, check: Check) -> tuple[Seen, ...]:
    try:
        errors, warnings = operator.inspect()
    except ToolgateError as error:
        errors, warnings = ((error.message, error.hint),), ()
    if errors:
        return ((FILE, None, errors, warnings),)  # what a workflow names cannot be looked up
    loaded = operator.load()
    listed = flows.all(loaded.raw)
    issues = _missing(loaded.config, kinds, home)
    _warn_of_unready(World(loaded.config, loaded.stamps, {}, {}), pinning, issues)
    if all(flow.fault is None for flow in listed):  # else one of them may be the one
        warn_of_workflows(loaded.config.policy.rules, [flow.id for flow in listed if flow.id is not None], issues)
    raws = [flow.raw for flow in listed if flow.raw is not None]
    turns = played.warnings(loaded.config, kinds, home, raws if len(raws) == len(listed) else None)
    missing = tell(FILE, loaded.data.decode(), issues.warnings)
    found: list[Seen] = [(FILE, None, (), warnings + missing + turns)]
    for flow in listed:
        faults, notes = ((_told(flow.fault),), ()) if flow.fault is not None else check(flow, loaded.config)
        twins = [other.name for other in listed if other.id == flow.id and other is not flow and flow.id is not None]
        clash: Told = tuple((f"{flow.name}: the id {flow.id} is used in {name} too", "give each its own id") for name in twins)
        found.append((flow.name, flow.id, faults + clash, notes))
    return tuple(found)


def _warn_of_unready(world: World, pinning: Pinning, issues: Issues) -> None:
    """Tools that cannot be used as things are now: an executable or a pinned file that is not there."""
    ready = pinning.prepare(world, Needs(tools=tuple(world.config.tools))).ready
    for name, tool in world.config.tools.items():
        if (error := ready[name].error) is not None:
            issues.warn(*_place(tool, error))


def _place(tool: Tool, error: str) -> tuple[KeyPath, str]:
    """Where in the file it is, and the rest of what is said of it: a fault begins with the field that it is about, if it is about one."""
    path: KeyPath = ("tools", tool.capability)
    if tool.provider == SECTION and isinstance(own := tool.declared, dict) and isinstance(table := own["table"], dict):
        return (SECTION, str(table["server"])), f"{tool.capability}: {error}"  # where nothing of the tool need stand
    word, colon, rest = error.partition(": ")
    kind: type = type(tool.fields)
    if word in tool.probes:
        return (*path, *_PROBES.get(word, (word,))), rest
    return ((*path, tool.provider, word), rest) if colon and word in hints(kind) else ((*path, tool.provider), error)


def _missing(config: Config, kinds: Kinds, home: str) -> Issues:
    """Files that toolgate.toml counts on: of secrets, and what a tool's provider knows of."""
    issues = Issues()
    secrets, _ = resolve({name: file for name, file in config.secrets.items() if file is not None}, home)
    for name, fault in secrets.faults.items():
        issues.warn(("secrets", name, "file"), fault, _UNTIL)
    for name, tool in config.tools.items():
        for path, text in _doubts(kinds.provider(tool.provider))(tool.fields, home):
            issues.warn(("tools", name, tool.provider, *path), text)
        for probe, fields in tool.probes.items():
            at = _PROBES.get(probe, (probe,))
            for path, text in _doubts(kinds.provider(PROBER))(fields, home):
                issues.warn(("tools", name, *at, *(path if probe != "tenant_of" else path[1:])), text)
    for name, model in config.models.items():
        for path, text in (*_doubts(kinds.model(model.adapter))(model.fields, home), *_unset(model, config, home)):
            issues.warn(("models", name, *path), text)
    return issues


def _unset(model: Model, config: Config, home: str) -> Iterator[tuple[KeyPath, str]]:
    """Variables that a model needs: they are for whoever drives a run, while a tool's may be set elsewhere. Files are told as files."""
    kind: type = type(model.fields)
    for field, text in zip(hints(kind), cast("tuple[Json, ...]", model.fields), strict=True):
        wanted = {name: None for name in references.secrets(text) if config.secrets.get(name) is None}
        for name, fault in resolve(wanted, home)[0].faults.items():
            yield (field,), f"the secret {name} has no value: {fault}"


def _doubts(plugin: object) -> Callable[[object, str], Iterable[tuple[KeyPath, str]]]:
    return cast("Callable[[object, str], Iterable[tuple[KeyPath, str]]]", getattr(plugin, "doubts", _none))


def _none(_fields: object, _home: str) -> tuple[()]:
    return ()


def _told(error: ToolgateError) -> tuple[str, str]:
    return error.message, error.hint
