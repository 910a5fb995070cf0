"""A workflow as a tree: every step with what its kind's `Fields` say that it names, blocks inside the steps that run them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from . import canonical
from .definition import COMMON, Definition, StepTable
from .errors import ToolgateError
from .fields import Filled, Key, Names, Reads
from .marks import marked, table_in
from .tables import hints, without_markers
from .types import Json
from .values import NamedTuple

MOST = 1000  # steps of one tree: blocks that run blocks could double it at every level
DEEPEST = 32


class Way(NamedTuple):
    """Where a step may lead. `label`: the arm, None where there is but one way; `target`: a block, or one of the reserved words;
    `steps`: of the block, None where it is none, or the tree has grown too large."""

    label: str | None
    target: str
    steps: tuple[Node, ...] | None


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
    return _Drawing(definition, fields).sequence(block, 0)


class _Drawing:
    def __init__(self, definition: Definition, fields: Callable[[str], type]) -> None:
        self._definition = definition
        self._fields = fields
        self._room = MOST

    def sequence(self, block: str, depth: int) -> tuple[Node, ...]:
        return tuple(self._node(table, depth) for table in self._definition.sequence(block))

    def _node(self, table: StepTable, depth: int) -> Node:
        self._room -= 1
        raw = {key: value for key, value in table.items() if key not in COMMON or key == "if"}
        says: dict[str, list[str]] = {}
        ways: list[Way] = []
        items: tuple[Mapping[str, Json], ...] = ()
        fields = self._of(str(table["type"]))
        for found in marked(fields, raw) if fields is not None else ():
            field = str(found.path[0])
            if isinstance(found.marker, Names) and found.marker.what == "block":
                ways.append(self._way(str(found.path[-1]) if len(found.path) > 1 else None, found.text, depth))
            elif isinstance(found.marker, (Names, Reads, Key)) or (isinstance(found.marker, Filled) and len(found.path) == 1):
                says.setdefault(field, []).append(found.text)
            if isinstance(found.marker, Names) and found.marker.what == "form":
                items = self._items(found.text)
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

    def _way(self, label: str | None, target: str, depth: int) -> Way:
        if depth >= DEEPEST or self._room <= 0:
            return Way(label, target, None)
        try:
            return Way(label, target, self.sequence(target, depth + 1))
        except KeyError:
            return Way(label, target, None)

    def _items(self, form: str) -> tuple[Mapping[str, Json], ...]:
        try:
            return tuple(self._definition.form(form))
        except KeyError:
            return ()


def _settings(raw: StepTable, fields: type | None) -> dict[str, str]:
    """Small tables inside a step, such as `repeat`; and what is common to all kinds, yet changes what they do."""
    hinted = hints(fields) if fields is not None else {}
    found: dict[str, str] = {}
    for key, held in raw.items():
        if key not in hinted:
            found[key] = canonical.encode(held)
        elif isinstance(held, dict) and table_in(without_markers(hinted[key])[0]) is not None:
            found[key] = ", ".join(f"{name} {v if isinstance(v, str) else canonical.encode(v)}" for name, v in held.items())
    return found
