"""Which workflows a workflow runs inside itself: all of them are checked with it, and pinned with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ..core.types import Json
from ..core.values import NamedTuple
from .reading import Table

if TYPE_CHECKING:
    from .positions import KeyPath


class Inner(NamedTuple):
    """A step that runs another workflow, and where it stands. `block`: the sequence that it is in, "" the workflow's own."""

    id: str
    step: Mapping[str, Json]
    block: str
    path: KeyPath


def inner(raw: Table) -> Iterator[Inner]:
    """The tables may have any shape: what has a wrong one names nothing."""
    blocks = raw.get("blocks")
    sequences: dict[str, Json] = {"": raw.get("steps"), **(blocks if isinstance(blocks, dict) else {})}
    for block, steps in sequences.items():
        for number, step in enumerate(steps if isinstance(steps, list) else ()):
            if isinstance(step, dict) and step.get("type") == "workflow" and isinstance(step.get("workflow"), str):
                path: KeyPath = ("blocks", block, number) if block else ("steps", number)
                yield Inner(str(step["workflow"]), step, block, path)


def reached(id: str, raws: Mapping[str, Sequence[Table]]) -> tuple[str, ...]:
    """The ids of all that there are, `id` first. `raws`: the files by id; where several have one id, all of them."""
    found = {id: None}
    left = [id]
    while left:
        names = [named.id for raw in raws.get(left.pop(), ()) for named in inner(raw)]
        fresh = [name for name in dict.fromkeys(names) if name not in found and name in raws]
        found |= dict.fromkeys(fresh)
        left += fresh
    return tuple(found)
