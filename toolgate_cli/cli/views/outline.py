"""The tree of a workflow, a step a line, and where a run stands in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ...core.outline import Node, Outline, Way
from ...core.progress import Reached, plain
from ...core.types import Json
from ..safe import Safe, fill, line, show_json
from .shapes import Column, Sheet, cell

SCHEMA: Final = "toolgate.workflow/1"
_COLUMNS: Final = (Column("number", True), Column("step"), Column("type", True), Column("gate", True), Column("says"), Column("title"))
_STATE: Final = 13  # characters for the longest state, and a gap


def to_json(outline: Outline) -> dict[str, Json]:
    steps: list[Json] = [_node_json(node) for node in outline.steps]
    return {
        "schema": SCHEMA,
        "workflow": {"id": outline.id, "title": outline.title, "inputs": dict(outline.inputs), "steps": steps},
    }


def _node_json(node: Node) -> dict[str, Json]:
    return {
        "id": node.id,
        "type": node.kind,
        "title": node.title,
        "gate": node.gate,
        "says": dict(node.says),
        "form": [dict(item) for item in node.items] or None,
        "ways": [
            {"arm": way.label, "to": way.target, "steps": None if way.steps is None else [_node_json(one) for one in way.steps]}
            for way in node.ways
        ],
    }


def sheet(outline: Outline) -> Sheet:
    """For a program that reads columns: every step, by its path."""
    return Sheet(_COLUMNS, ((cell(number), *row) for number, row in enumerate(_rows(outline.steps, ""), 1)))


def _rows(nodes: Iterable[Node], above: str) -> Iterator[tuple[Safe, ...]]:
    for node in nodes:
        path = above + node.id
        says = fill("; ".join(["{}"] * len(node.says)), *(fill("{} {}", field, text) for field, text in node.says))
        yield cell(path), cell(node.kind), cell(node.gate), says, cell(node.title)
        for way in node.ways:
            yield from _rows(way.steps or (), f"{path}/")


def lines(outline: Outline) -> Iterator[Safe]:
    """For a person."""
    yield fill("workflow: {}", outline.id)
    if outline.title:
        yield fill("title: {}", outline.title)
    if outline.inputs:
        yield Safe("inputs:")
        for name, schema in outline.inputs.items():
            yield fill("  {}: {}", name, show_json(schema))
    yield Safe("steps:")
    for reached in plain(outline.steps):
        yield from _drawn(reached, "  ", items=True)


def run_lines(found: Sequence[Reached]) -> Iterator[Safe]:
    """The same with how the run stands to every step; nothing where that is not known."""
    yield from (Safe("steps:"),) if found else ()
    for reached in found:
        yield from _drawn(reached, f"  {reached.state:<{_STATE}}", items=False)


def _drawn(reached: Reached, before: str, items: bool) -> Iterator[Safe]:
    depth, what, _, iteration = reached
    start = Safe(before + "  " * depth)
    if isinstance(what, Way):
        if what.label is not None or what.steps is None:
            yield fill("{}{} > {}", start, Safe("block") if what.label is None else show_json(what.label), what.target)
        return
    yield fill("{}{}: {}{}", start, what.id, _about(what), fill(", iteration {}", iteration) if iteration else Safe(""))
    for item in what.items if items else ():
        yield fill("{}  {} {}", start, str(item.get("id")), _item(item))


def _about(node: Node) -> Safe:
    """The kind, what it names, its gate and its title."""
    parts = [fill("{} {}", field, text) for field, text in node.says]
    drawn = [way.target for way in node.ways if way.label is None and way.steps is not None]  # its steps stand below, with no line for it
    if node.says and node.says[0][0] == node.kind:
        parts = [fill("{} {}", node.kind, node.says[0][1]), *parts[1:]]
    else:
        parts.insert(0, fill("{} {}", node.kind, drawn[0]) if drawn else line(node.kind))
    if node.gate != "none":
        parts.append(fill("gate {}", node.gate))
    if node.title:
        parts.append(show_json(node.title))
    return fill(", ".join(["{}"] * len(parts)), *parts)


def _item(item: Mapping[str, Json]) -> Safe:
    told = [line(str(item.get("type"))), *([Safe("required")] if item.get("required") is True else [])]
    options = item.get("options")
    if isinstance(options, list) and options:
        told.append(show_json(options))
    if isinstance(item.get("label"), str):
        told.append(show_json(item["label"]))
    return fill(" ".join(["{}"] * len(told)), *told)
