"""The home as the use cases see it: read afresh every time, checked or remembered, turned into values (I3, I5)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from .. import __version__
from ..core import canonical
from ..core.config import Config, Model
from ..core.digests import sha256
from ..core.errors import ToolgateError
from ..core.records import Accepted
from ..core.secrets import NONE
from ..core.types import Json
from ..core.world import Needs, Problem, World
from ..runtime.answers import Checked, Offering
from ..runtime.ports import Bundle
from .flows import Flow, Flows
from .kinds import Kinds
from .loading import Loaded, Operator, Told
from .pinning import Pinning, are_unchanged
from .reach import reached
from .reading import Table

if TYPE_CHECKING:
    from ..core.intents import Finding, Look
    from ..runtime.plugs import ModelAdapter

CHECKER = f"toolgate/{__version__}"


class HomeFiles:
    """`remembered` asks whether these bytes were accepted by this checker; nothing else is ever taken from there. `apart`: files and
    folders in the home that no step may look at."""

    def __init__(
        self, home: str, kinds: Kinds, remembered: Callable[[Accepted], bool], checker: str = CHECKER, apart: tuple[str, ...] = ()
    ) -> None:
        self.home = os.path.abspath(home)
        self._kinds = kinds
        self._checker = checker
        self._ask = remembered
        self._apart = apart
        self._secrets = NONE  # of the last world
        self._fresh: dict[Accepted, None] = {}
        self._bundles: dict[tuple[str, ...], Bundle] = {}  # the last one, by the marks of all that it was made of
        self._operator = Operator(self.home, kinds, self._remembered)
        self._flows = Flows(self.home)
        self._pinning = Pinning(self.home, kinds)

    def world(self) -> World:
        loaded = self._load()
        if not loaded.config.secrets:
            self._secrets = NONE
            return World(loaded.config, loaded.stamps, {}, {})
        from .secrets import resolve

        self._secrets, stamps = resolve(loaded.config.secrets, self.home)
        for name, text in loaded.texts():
            self._secrets.refuse(name, text)
        return World(loaded.config, (*loaded.stamps, *stamps), {}, {}, self._secrets)

    def prepare(self, world: World, needs: Needs) -> World:
        return self._pinning.prepare(world, needs)

    def unchanged(self, world: World) -> bool:
        return are_unchanged(world.stamps)

    def workflow(self, id: str) -> Bundle:
        """ToolgateError("not_found") with the ids that there are; "invalid" where its file, or one that it could be in, is broken."""
        loaded = self._load()
        flows = self._flows.all(loaded.raw)
        raws = _by_id(flows)
        ids = reached(id, raws)
        for each in flows:
            if each.source is not None and (each.fault is not None or each.id in ids):  # what is wrong with it may be told in its own words
                self._secrets.refuse(each.name, each.source.data.decode("utf-8", "replace"), each.raw)
        marks = {}
        for each in (_the_one(name, flows) for name in ids):
            together = tuple(flow for flow in flows if flow.id in reached(str(each.id), raws))
            marks[self._mark(each, together, loaded)] = each
        whole = tuple(marks)
        warnings: tuple[str, ...] = ()
        if whole not in self._bundles:
            for mark, each in marks.items():
                warnings += _lines(self._accept(mark, each, loaded))
            self._bundles = {whole: bundle(id, {name: raws[name][0] for name in ids})}
        return self._bundles[whole]._replace(correlation=self._correlation(loaded.config), warnings=warnings)

    def _mark(self, flow: Flow, together: tuple[Flow, ...], loaded: Loaded) -> str:
        """Of what is accepted with a workflow: its file and those that it reaches, toolgate.toml, and the plug-ins that there are."""
        files = [each for each in (flow, *(each for each in together if each is not flow)) if each.source is not None]
        parts = [part for each in files if each.source is not None for part in (each.name, sha256(each.source.data))]
        return sha256("\n".join(("workflow", loaded.mark, *parts, *self._kinds.step_kinds())))

    def _accept(self, mark: str, flow: Flow, loaded: Loaded) -> Told:
        """Checks a workflow that is not remembered; its warnings."""
        if self._remembered(mark):
            return ()
        errors, warnings = self._check(flow, loaded.config)
        if errors:
            from .issues import refusal

            raise refusal(errors)
        self._remember(mark)
        return warnings

    def _correlation(self, config: Config) -> str | None:
        if config.context is None or config.context.correlation is None:
            return None
        from .correlation import fill

        filled = fill(config.context.correlation)
        self._secrets.refuse("context.correlation", filled)
        return filled

    def accepted(self) -> tuple[Accepted, ...]:
        found = tuple(self._fresh)
        self._fresh = {}
        return found

    def model(self, model: Model) -> ModelAdapter:
        return self._kinds.model(model.adapter)

    def offering(self, server: str) -> Offering:
        from .offering import offering

        return offering(server, self._operator.served(), self.home, self._kinds)

    def pin(self, offered: Offering) -> str:
        from .offering import pin

        return pin(offered, self.home, self._operator.served().raw)

    def misfits(self, schema: Json, value: Json) -> tuple[Problem, ...]:
        return self._pinning.check(schema)(value)

    def inputs(self, bundle: Bundle, given: Mapping[str, Json], texts: Mapping[str, str]) -> dict[str, Json]:
        from .inputs import fill_inputs

        return fill_inputs(bundle.inputs, given, texts)

    def check(self, id: str | None) -> tuple[Checked, ...]:
        """Every workflow file, or the one of that id."""
        found = tuple(Checked(file, of, _lines(errors), _lines(warnings)) for file, of, errors, warnings in self.inspect())
        wanted = tuple(checked for checked in found if id is None or checked.id == id)
        if id is not None and not wanted:
            from .issues import meant

            near = meant(id, [checked.id for checked in found if checked.id])
            raise ToolgateError("not_found", _no_workflow(id, self._flows.all(self._load().raw)), near or "toolgate workflow check")
        return wanted

    def observe(self, looks: Sequence[Look]) -> tuple[Finding, ...]:
        from .observing import observe

        return observe(self.home, self._apart, looks)

    def begin(self, folder: str) -> tuple[str, ...]:
        from .beginning import begin

        return begin(folder)

    def bring(self, folder: str, home: str) -> tuple[str, ...]:
        from .importing.home import import_folder

        return import_folder(folder, home)

    def inspect(self) -> tuple[tuple[str, str | None, Told, Told], ...]:
        """Of every file: its name, the id of its workflow, errors and warnings as (message, hint). All is checked, remembered or not."""
        from .inspecting import inspect

        return inspect(self._operator, self._flows, self._pinning, self._kinds, self.home, self._check)

    def _load(self) -> Loaded:
        loaded = self._operator.load()
        if loaded.fresh:
            self._remember(loaded.mark)
        return loaded

    def _check(self, flow: Flow, config: Config) -> tuple[Told, Told]:
        """Errors and warnings of a workflow."""
        from .checks.flow import check_flow
        from .document import decode
        from .issues import tell

        assert flow.raw is not None and flow.source is not None
        issues = check_flow(flow.raw, config, self._kinds, _by_id(self._flows.all(self._load().raw)))
        text = decode(flow.source)
        return tell(flow.name, text, issues.errors), tell(flow.name, text, issues.warnings)

    def _remembered(self, mark: str) -> bool:
        seen = Accepted(mark, self._checker)
        return seen in self._fresh or self._ask(seen)

    def _remember(self, mark: str) -> None:
        self._fresh[Accepted(mark, self._checker)] = None


def bundle(id: str, raws: Mapping[str, Table]) -> Bundle:
    """A checked workflow as it is pinned, with all that it reaches; their steps stay as they are written."""
    body = canonical.encode({"root": id, "workflows": {name: _pinned(name, raw) for name, raw in raws.items()}})
    inputs = raws[id].get("inputs", {})
    assert isinstance(inputs, dict)
    fragments: Mapping[str, Json] = inputs
    return Bundle(id, sha256(body), body, fragments)


def _pinned(id: str, raw: Table) -> Json:
    return {
        "id": id,
        "title": raw.get("title"),
        "inputs": raw.get("inputs", {}),
        "steps": raw["steps"],
        "blocks": raw.get("blocks", {}),
        "forms": raw.get("forms", {}),
    }


def _by_id(flows: tuple[Flow, ...]) -> dict[str, list[Table]]:
    found: dict[str, list[Table]] = {}
    for flow in flows:
        if flow.id is not None and flow.raw is not None:
            found.setdefault(flow.id, []).append(flow.raw)
    return found


def _lines(told: Told) -> tuple[str, ...]:
    return tuple(f"{message} ({hint})" if hint else message for message, hint in told)


def _the_one(id: str, flows: tuple[Flow, ...]) -> Flow:
    found = [flow for flow in flows if flow.id == id]
    if len(found) == 1:
        return found[0]
    if found:
        places = "; ".join(f"{flow.name}:{_line_of_id(flow)}" for flow in found)
        raise ToolgateError("invalid", f"several workflows have the id {id}: {places}", "give each its own id")
    broken = [flow.fault for flow in flows if flow.fault is not None]
    if broken:
        raise broken[0]
    from .issues import meant

    ids = sorted(flow.id for flow in flows if flow.id is not None)
    near = meant(id, ids)
    listed = "workflows: " + ", ".join(ids[:20]) if ids else "write one: a file *.toml with an id and [[steps]]"
    raise ToolgateError("not_found", _no_workflow(id, flows), f"{near} {listed}" if near.startswith("did") else listed)


def _no_workflow(id: str, flows: tuple[Flow, ...]) -> str:
    """A file that is meant as a workflow and does not say as which may be the one."""
    nameless = [flow.name for flow in flows if flow.raw is not None and flow.id is None]
    return f"no workflow {id}" + (f", and no id in {', '.join(nameless[:5])}" if nameless else "")


def _line_of_id(flow: Flow) -> int:
    from .document import decode
    from .positions import Positions

    return Positions(decode(flow.source)).line(("id",)) if flow.source is not None else 1
