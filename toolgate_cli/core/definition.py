"""A pinned workflow: what a run carries on with, whatever the file says now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, cast

from . import canonical
from .digests import sha256
from .errors import ToolgateError
from .types import Json

if TYPE_CHECKING:
    from .cursor import Cursor
    from .records import Definition as Stored

T = TypeVar("T")
StepTable = Mapping[str, Json]
COMMON = ("id", "type", "title", "gate", "if")  # keys that every kind of step has


def is_whole(stored: Stored) -> bool:
    """Whether it still is what was pinned: its digest is that of its body."""
    return sha256(stored.body) == stored.digest


def declared(stored: Stored | None) -> Mapping[str, Json] | None:
    """A pinned tool as toolgate.toml declared it; None where it is not there, or not what was pinned."""
    body = canonical.parse(stored.body) if stored is not None and is_whole(stored) else None
    told = body.get("declared") if isinstance(body, dict) else None
    return told if isinstance(told, dict) else None


def opened(stored: Stored) -> Definition:
    """A pinned workflow. ToolgateError("storage") where the database was changed by other hands."""
    return _opened(stored.digest, stored.body)


@lru_cache(maxsize=8)
def _opened(digest: str, body: str) -> Definition:
    if sha256(body) != digest:
        raise ToolgateError(
            "storage",
            f"the workflow {digest[:12]} is not what was pinned: the database was changed by other hands",
            "toolgate audit verify",
        )
    return Definition(body)


class Flow:
    """One workflow of a bundle, left raw: only the step under the cursor is ever built."""

    def __init__(self, raw: Mapping[str, Json]) -> None:
        self.id = cast(str, raw["id"])
        self._raw = raw
        self._made: dict[tuple[str, str, int], Any] = {}

    def once(self, what: str, block: str, position: int, make: Callable[[], T]) -> T:
        """`what` is made of the step there, made once: a step never changes."""
        at = what, block, position
        if at not in self._made:
            self._made[at] = make()
        made: T = self._made[at]
        return made

    @property
    def title(self) -> str | None:
        return cast("str | None", self._raw.get("title"))

    @property
    def inputs(self) -> Mapping[str, Json]:
        """Name -> JSON Schema fragment."""
        return cast("Mapping[str, Json]", self._raw["inputs"])

    @property
    def blocks(self) -> Mapping[str, list[StepTable]]:
        return cast("Mapping[str, list[StepTable]]", self._raw["blocks"])

    def sequence(self, block: str) -> list[StepTable]:
        """The steps of a block; "" names the workflow's own. KeyError for a block that is not there."""
        return self.blocks[block] if block else cast("list[StepTable]", self._raw["steps"])

    def form(self, name: str) -> list[Mapping[str, Json]]:
        return cast("dict[str, list[Mapping[str, Json]]]", self._raw["forms"])[name]

    def top(self, step: str) -> int | None:
        """The index of a top-level step; None if there is none of that id."""
        return next((i for i, table in enumerate(self.sequence("")) if table["id"] == step), None)

    def named(self, table: StepTable) -> list[str]:
        """The blocks that a step names."""
        arms = table.get("arms")
        cases = cast("list[StepTable]", table.get("cases") or [])
        words = [table.get("block"), table.get("fallback"), *(arms.values() if isinstance(arms, dict) else ())]
        words += [case.get("to") for case in cases]
        return [name for name in words if isinstance(name, str) and name in self.blocks]


class Definition(Flow):
    """The bundle of a run: the workflow that was started, and those that it runs inside. `body` is canonical JSON."""

    def __init__(self, body: str) -> None:
        bundle = cast("dict[str, Json]", canonical.parse(body))
        held = cast("dict[str, dict[str, Json]]", bundle["workflows"])
        super().__init__(held[cast(str, bundle["root"])])
        self._flows: dict[str, Flow] = {id: self if id == self.id else Flow(raw) for id, raw in held.items()}

    def flow(self, id: str) -> Flow:
        """KeyError for one that is not in the bundle."""
        return self._flows[id]

    def kinds(self) -> set[str]:
        """The kinds of all steps, wherever they stand."""
        sequences = [steps for flow in self._flows.values() for steps in (flow.sequence(""), *flow.blocks.values())]
        return {str(table["type"]) for sequence in sequences for table in sequence}

    def within(self, cursor: Cursor) -> Flow:
        """The workflow that the step under the cursor belongs to."""
        return next((self._flows[frame.workflow] for frame in reversed(cursor) if frame.workflow), self)

    def path(self, cursor: Cursor) -> str:
        """The step under the cursor as a path of ids; "" behind the last step."""
        ids = []
        flow: Flow = self
        for frame, above in zip(cursor, (*cursor[1:], None), strict=True):
            flow = self._flows[frame.workflow] if frame.workflow else flow
            sequence = flow.sequence(frame.block)
            replays = above is not None and above.stop is not None  # what it replays are steps of this very sequence
            if frame.position < len(sequence) and not replays:
                ids.append(str(sequence[frame.position]["id"]))
        return "/".join(ids)

    def carrier(self, cursor: Cursor, *, shared: bool = True) -> str:
        """The path of the step that runs the workflow under the cursor, "" for the one that was started; without `shared` that of the
        nearest with a context of its own."""
        frames = (n for n in range(len(cursor) - 1, 0, -1) if cursor[n].workflow and (shared or not cursor[n].shared))
        inner = next(frames, 0)
        return self.path(cursor[:inner]) if inner else ""

    def holder(self, step: str) -> str | None:
        """The id of the top-level step inside which a nested step runs; None if no step has that id."""
        return next((str(table["id"]) for table in self.sequence("") if step in self._inside(self, table, ())), None)

    def _inside(self, flow: Flow, table: StepTable, seen: tuple[tuple[str, str], ...]) -> set[str]:
        found: set[str] = set()
        entered = [(flow, name) for name in flow.named(table)]
        if table["type"] == "workflow":
            entered.append((self._flows[cast(str, table["workflow"])], ""))
        for inner, name in entered:
            if (inner.id, name) in seen:
                continue
            for step in inner.sequence(name):
                found |= {str(step["id"])} | self._inside(inner, step, (*seen, (inner.id, name)))
        return found
