"""A workflow as a tree: every step with what its kind's `Fields` say that it names, blocks inside the steps that run them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from . import canonical
from .definition import COMMON, Definition, Flow, StepTable
from .errors import ToolgateError
from .fields import Filled, Key, Names, Reads
from .marks import Marked, marked, presumed, table_in
from .tables import hints, without_markers
from .types import Json
from .values import NamedTuple

MOST = 1000  # steps of one tree: blocks that run blocks could double it at every level
DEEPEST = 32


class Way(NamedTuple):
    """Where a step may lead. `label`: the arm or the case, None where there is but one way; `target`: a block, a workflow, or one of the
    reserved words; `steps`: of what it leads to, None where these are none, or the tree has grown too large; `mark`: what a run remembers
    of it when it takes it."""

    label: str | None
    target: str
    steps: tuple[Node, ...] | None
    mark: str | int | None = None


class Node(NamedTuple):
    """One step. `says`: (field, what it names), in the order of the kind's fields; `items`: of the form that it asks for."""

    id: str
    kind: str
    title: str | None
    gate: str
    says: tuple[tuple[str, str], ...]
    ways: tuple[Way, ...]
    items: tuple[Mapping[str, Json], ...]


class Outline(NamedTuple):
    id: str
    title: str | None
    inputs: Mapping[str, Json]
    steps: tuple[Node, ...]


def outline(definition: Definition, fields: Callable[[str], type], block: str = "") -> tuple[Node, ...]:
    """The tree of a sequence. `fields(kind)` is a kind's `Fields`; where it raises ToolgateError a step of that kind names nothing."""
    return _Drawing(definition, fields).sequence(definition, block, 0)


class _Drawing:
    def __init__(self, definition: Definition, fields: Callable[[str], type]) -> None:
        self._definition = definition
        self._fields = fields
        self._room = MOST

    def sequence(self, flow: Flow, block: str, depth: int) -> tuple[Node, ...]:
        return tuple(self._node(flow, table, depth) for table in flow.sequence(block))

    def _node(self, flow: Flow, table: StepTable, depth: int) -> Node:
        self._room -= 1
        raw = {key: value for key, value in table.items() if key not in COMMON or key == "if"}
        says: dict[str, list[str]] = {}
        ways: list[Way] = []
        items: tuple[Mapping[str, Json], ...] = ()
        fields = self._of(str(table["type"]))
        for found in marked(fields, raw) if fields is not None else ():
            field = str(found.path[0])
            what = found.marker.what if isinstance(found.marker, Names) else None
            if what == "block":
                ways.append(self._way(flow, _labelled(found, raw), depth))
            elif what == "workflow":
                ways.append(self._inside(found.text, depth))
            elif isinstance(found.marker, (Names, Reads, Key)) or (isinstance(found.marker, Filled) and len(found.path) == 1):
                says.setdefault(field, []).append(found.text)
            if what == "form":
                items = _items(flow, found.text)
        named = {field: ", ".join(texts) for field, texts in says.items()} | _settings(raw, fields)
        order = [*(hints(fields) if fields is not None else ()), *raw]
        told = tuple((field, named[field]) for field in dict.fromkeys(order) if field in named)
        title = cast("str | None", table.get("title"))
        return Node(str(table["id"]), str(table["type"]), title, str(table.get("gate", "none")), told, tuple(ways), items)

    def _of(self, kind: str) -> type | None:
        try:
            return self._fields(kind)
        except ToolgateError:
            return None

    def _way(self, flow: Flow, way: Way, depth: int) -> Way:
        if depth >= DEEPEST or self._room <= 0:
            return way
        try:
            return way._replace(steps=self.sequence(flow, way.target, depth + 1))
        except KeyError:
            return way

    def _inside(self, workflow: str, depth: int) -> Way:
        try:
            flow = self._definition.flow(workflow)
        except KeyError:
            return Way(None, workflow, None)
        return self._way(flow, Way(None, "", None), depth)._replace(target=workflow)


def _labelled(found: Marked, raw: StepTable) -> Way:
    """The way that a text names: by its key, by its place in a list and what is asked for there, or by its field, which needs no word
    where it is called `block`."""
    field, *inside = found.path
    if not inside:
        return Way(None if field == "block" else str(field), found.text, None)
    mark = inside[0]
    listed = raw[str(field)]
    if isinstance(mark, str) or not isinstance(listed, list):
        return Way(str(mark), found.text, None, mark)
    held = listed[mark]
    when = _conditions(held["when"]) if isinstance(held, dict) and "when" in held else ""
    return Way(" ".join(filter(None, (f"{str(field).removesuffix('s')} {mark + 1}", when and f"if {when}"))), found.text, None, mark)


def _conditions(written: Json) -> str:
    """A list of conditions in one line."""
    return " and ".join(_condition(each) for each in written) if isinstance(written, list) else canonical.encode(written)


def _condition(written: Json) -> str:
    if not isinstance(written, dict):
        return canonical.encode(written)
    key, at = written.get("key"), written.get("at")
    tests = [f"{op} {canonical.encode(value)}" for op, value in written.items() if op not in ("key", "at")]
    return f"{key}#{at} {' '.join(tests)}" if at else f"{key} {' '.join(tests)}"


def _items(flow: Flow, form: str) -> tuple[Mapping[str, Json], ...]:
    try:
        return tuple(flow.form(form))
    except KeyError:
        return ()


def _settings(raw: StepTable, fields: type | None) -> dict[str, str]:
    """Small tables inside a step, such as `repeat`; and what is common to all kinds, yet changes what they do."""
    hinted = hints(fields) if fields is not None else {}
    found: dict[str, str] = {}
    for key, held in raw.items():
        if key == "if":
            found[key] = _conditions(held)
        elif key not in hinted:
            found[key] = canonical.encode(held)
        elif isinstance(held, dict) and (inner := table_in(without_markers(hinted[key])[0])) is not None:
            shown = {**presumed(inner, held), **held}
            found[key] = ", ".join(f"{name} {v if isinstance(v, str) else canonical.encode(v)}" for name, v in sorted(shown.items()))
    return found
