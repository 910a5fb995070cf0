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
COMMON = ("id", "type", "title", "gate")  # keys that every kind of step has


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


class Definition:
    """The bundle of a run, left raw: only the step under the cursor is ever built. `body` is canonical JSON."""

    def __init__(self, body: str) -> None:
        bundle = cast("dict[str, Json]", canonical.parse(body))
        workflows = cast("dict[str, dict[str, Json]]", bundle["workflows"])
        self.id = cast(str, bundle["root"])
        self._root = workflows[self.id]
        self._made: dict[tuple[str, int], Any] = {}

    def once(self, at: tuple[str, int], make: Callable[[], T]) -> T:
        """What is made of a step (block and position), made once: a step never changes."""
        if at not in self._made:
            self._made[at] = make()
        made: T = self._made[at]
        return made

    @property
    def title(self) -> str | None:
        return cast("str | None", self._root.get("title"))

    def sequence(self, block: str) -> list[StepTable]:
        """The steps of a block; "" names the workflow's own. KeyError for a block that is not there."""
        if not block:
            return cast("list[StepTable]", self._root["steps"])
        return cast("dict[str, list[StepTable]]", self._root["blocks"])[block]

    def kinds(self) -> set[str]:
        """The kinds of all steps, wherever they stand."""
        sequences = [self.sequence(""), *cast("dict[str, list[StepTable]]", self._root["blocks"]).values()]
        return {str(table["type"]) for sequence in sequences for table in sequence}

    def form(self, name: str) -> list[Mapping[str, Json]]:
        return cast("dict[str, list[Mapping[str, Json]]]", self._root["forms"])[name]

    def path(self, cursor: Cursor) -> str:
        """The step under the cursor as a path of ids; "" behind the last step."""
        ids = []
        for frame, above in zip(cursor, (*cursor[1:], None), strict=True):
            sequence = self.sequence(frame.block)
            replays = above is not None and above.stop is not None  # what it replays are steps of this very sequence
            if frame.position < len(sequence) and not replays:
                ids.append(str(sequence[frame.position]["id"]))
        return "/".join(ids)

    def top(self, step: str) -> int | None:
        """The index of a top-level step; None if there is none of that id."""
        return next((i for i, table in enumerate(self.sequence("")) if table["id"] == step), None)

    def holder(self, step: str) -> str | None:
        """The id of the top-level step inside which a nested step runs; None if no step has that id."""
        return next((str(table["id"]) for table in self.sequence("") if step in self._inside(table, ())), None)

    def _inside(self, table: StepTable, seen: tuple[str, ...]) -> set[str]:
        found: set[str] = set()
        for name in self._blocks(table):
            if name in seen:
                continue
            for step in self.sequence(name):
                found |= {str(step["id"])} | self._inside(step, (*seen, name))
        return found

    def _blocks(self, table: StepTable) -> list[str]:
        arms = table.get("arms")
        named = [table.get("block"), table.get("fallback"), *(arms.values() if isinstance(arms, dict) else ())]
        blocks = cast("dict[str, Json]", self._root["blocks"])
        return [name for name in named if isinstance(name, str) and name in blocks]
