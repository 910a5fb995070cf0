"""Workflows that run workflows: each is there once, gets the inputs that it needs, and is never inside itself or too deep."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from ...core import references
from ...core.config import Config
from ...core.cursor import DEPTH
from ...core.errors import ToolgateError
from ...core.types import Json
from ..issues import Issues, meant
from ..kinds import Kinds
from ..reach import Inner, inner
from ..reading import Table
from .data import is_there
from .steps import written

Raws = Mapping[str, Sequence[Table]]


def check_nested(raw: Table, raws: Raws, config: Config, kinds: Kinds, issues: Issues) -> None:
    """`raws`: every workflow of the home by its id, this one among them."""
    for found in inner(raw):
        there = raws.get(found.id, ())
        if len(there) != 1:
            said = f"several workflows have the id {found.id}" if there else f"there is no workflow {found.id}"
            issues.add((*found.path, "workflow"), said, "give each its own id" if there else meant(found.id, raws))
            continue
        circle = _circle(str(raw.get("id")), found.id, raws)
        if circle:
            issues.add((*found.path, "workflow"), f"workflows in a circle: {' > '.join(circle)}", "a loop is written with repeat")
        else:
            _check_inputs(found, raw, there[0], issues)
            _warn_of_outputs(found, written(there[0], config, kinds), issues)
    if not issues.errors and (depth := _depth(str(raw.get("id")), raw, raws)) > DEPTH:
        issues.add(("steps",), f"blocks and workflows are nested {depth} deep, which is more than {DEPTH}")


def is_shared(raw: Table, raws: Raws) -> bool:
    """Whether another workflow runs this one in its own context."""
    named = (found for held in raws.values() for one in held for found in inner(one))
    return any(found.id == raw.get("id") and found.step.get("share") is True for found in named)


def _circle(start: str, first: str, raws: Raws) -> tuple[str, ...]:
    """The way from a workflow back to itself that begins with this one; () where there is none. Others that are in a circle among
    themselves are told where they stand, and keep this one from running too."""
    ways: list[tuple[str, ...]] = [(start, first)]
    seen: set[str] = set()
    while ways:
        way = ways.pop(0)
        if way[-1] in way[:-1]:
            return way[way.index(way[-1]) :]
        if way[-1] not in seen:
            seen.add(way[-1])
            ways += [(*way, named.id) for raw in raws.get(way[-1], ()) for named in inner(raw)]
    return ()


def _check_inputs(found: Inner, raw: Table, there: Table, issues: Issues) -> None:
    wanted, own = _table(there.get("inputs")), _table(raw.get("inputs"))
    path = (*found.path, "inputs")
    if found.step.get("share") is True:
        for name in wanted.keys() - own.keys():
            issues.add((*found.path, "share"), f"{found.id} has an input {name}, and this workflow has none", "declare it here as well")
        return
    given = _table(found.step.get("inputs"))
    for name in given.keys() - wanted.keys():
        issues.add((*path, name), f"{found.id} has no input {name}", meant(name, wanted))
    for name, schema in wanted.items():
        if name in given:
            _check_value(found, name, given[name], schema, issues)
        elif not (isinstance(schema, dict) and "default" in schema):
            issues.add(path, f"{found.id} needs the input {name}")


def _warn_of_outputs(found: Inner, there: Collection[str], issues: Issues) -> None:
    """`there`: what the inner workflow may write."""
    for key, wanted in _table(found.step.get("outputs")).items():
        if isinstance(wanted, str) and not is_there(wanted, there):
            near = meant(wanted, [name for name in there if not name.startswith("steps.")])
            issues.warn((*found.path, "outputs", key), f"nothing in {found.id} writes {wanted}: the step fails", near)


def _check_value(found: Inner, name: str, value: Json, schema: Json, issues: Issues) -> None:
    """One without references is what it will be."""
    from ..inputs import fill_inputs

    try:
        if not references.names(value):
            fill_inputs({name: schema}, {name: references.fill(value, _nothing)}, {})
    except ToolgateError as error:
        issues.add((*found.path, "inputs", name), error.message.removeprefix(f"{name}: "))


def _nothing(name: str) -> Json:
    raise KeyError(name)


def _depth(id: str, raw: Table, raws: Raws) -> int:
    """Sequences that may be open at once; nothing is in a circle."""
    heights: dict[tuple[str, str], int] = {}

    def height(id: str, raw: Table, block: str) -> int:
        if (id, block) in heights:
            return heights[id, block]
        heights[id, block] = 1  # of blocks in a circle, which are told elsewhere
        blocks = _table(raw.get("blocks"))
        steps = blocks.get(block) if block else raw.get("steps")
        inside = [height(id, raw, name) for step in _list(steps) for name in _names(step) if name in blocks]
        inside += [height(named.id, there, "") for named in inner(raw) if named.block == block for there in raws.get(named.id, ())]
        heights[id, block] = 1 + max(inside, default=0)
        return heights[id, block]

    return height(id, raw, "")


def _names(step: Json) -> list[str]:
    """Whatever may be the name of a block in it."""
    if isinstance(step, str):
        return [step]
    parts = step.values() if isinstance(step, dict) else step if isinstance(step, list) else ()
    return [name for part in parts for name in _names(part)]


def _table(held: Json) -> dict[str, Json]:
    return held if isinstance(held, dict) else {}


def _list(held: Json) -> list[Json]:
    return held if isinstance(held, list) else []
