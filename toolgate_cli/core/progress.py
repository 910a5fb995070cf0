"""Where a run stands in the tree of its workflow: what is finished, where it is, what was passed over, what is still to come. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from .cursor import GATE, Cursor
from .outline import Node, Way
from .types import Status
from .values import NamedTuple

State = Literal["done", "here", "failed", "stopped", "skipped", "to come", "not reached"]

_HERE: Mapping[Status, State] = {"FAILED": "failed", "CANCELLED": "stopped"}
_OVER = ("COMPLETED", "FAILED", "CANCELLED")


class Finished(NamedTuple):
    """A finished step. `took`: the mark of the way that it took, where it said which; `skipped`: it was passed over."""

    took: str | int | None = None
    skipped: bool = False


class Reached(NamedTuple):
    """A step or a way of the tree, how deep it stands, and how the run stands to it. `iteration`: of the loop that it is, 0 where none
    runs."""

    depth: int
    what: Node | Way
    state: State
    iteration: int = 0


def plain(nodes: tuple[Node, ...]) -> tuple[Reached, ...]:
    """The tree, line by line, as nobody has run it."""
    return tuple(_Walk({}, "here", "to come").all(nodes))


def progress(nodes: tuple[Node, ...], cursor: Cursor, finished: Mapping[str, Finished], status: Status) -> tuple[Reached, ...]:
    """The tree, line by line. `cursor`: the run's frames; `finished`: path of ids -> what is recorded of that step. A record alone does not
    say that a step is done: in a loop it may be of the iteration before."""
    later: State = "not reached" if status in _OVER else "to come"
    return tuple(_Walk(finished, _HERE.get(status, "here"), later).sequence(nodes, "", cursor, 0))


class _Walk:
    def __init__(self, finished: Mapping[str, Finished], here: State, later: State) -> None:
        self._finished = finished
        self._here = here
        self._later = later

    def all(self, nodes: tuple[Node, ...]) -> Iterator[Reached]:
        return (line for node in nodes for line in self._alike(node, self._later, 0))

    def sequence(self, nodes: tuple[Node, ...], above: str, frames: Cursor, depth: int) -> Iterator[Reached]:
        """`frames`: of this sequence and of those inside it; none where it does not run now."""
        at = {held[0].position: held for held in _standing(frames)}
        for index, node in enumerate(nodes):
            path = above + node.id
            if index in at:
                yield Reached(depth, node, self._here, at[index][1].iteration if len(at[index]) > 1 else 0)
                yield from self._inside(node, path, at[index], depth)
            elif frames and index > frames[0].position:
                yield from self._alike(node, self._later, depth)
            elif path in self._finished and not self._finished[path].skipped:
                yield Reached(depth, node, "done")
                yield from self._behind(node, path, depth)
            else:
                yield from self._alike(node, "skipped", depth)

    def _inside(self, node: Node, path: str, frames: Cursor, depth: int) -> Iterator[Reached]:
        """The step at which the run is."""
        if len(frames) == 1:
            if frames[0].phase == GATE:
                yield from self._behind(node, path, depth)
            else:
                yield from (line for way in node.ways for line in self._way_alike(way, self._later, depth + 1))
            return
        fitting = [way for way in node.ways if way.target == (frames[1].workflow or frames[1].block)]
        taken = next((way for way in fitting if way.mark is not None and way.mark in frames[0].memo.values()), (*fitting, None)[0])
        for way in node.ways:
            if way is taken:
                yield Reached(depth + 1, way, self._here)
                yield from self.sequence(way.steps or (), f"{path}/", frames[1:], _below(way, depth + 1))
            else:
                yield from self._way_alike(way, "skipped", depth + 1)

    def _behind(self, node: Node, path: str, depth: int) -> Iterator[Reached]:
        """What is inside a finished step."""
        took = self._finished[path].took if path in self._finished else None
        for way in node.ways:
            if took is not None and way.mark != took:
                yield from self._way_alike(way, "skipped", depth + 1)
            elif way.steps is None:
                yield Reached(depth + 1, way, "done")
            else:
                inside = list(self.sequence(way.steps, f"{path}/", (), _below(way, depth + 1)))
                entered = any(line.state == "done" for line in inside)
                yield Reached(depth + 1, way, "done" if entered or not way.steps else "skipped")
                yield from inside

    def _alike(self, node: Node, state: State, depth: int) -> Iterator[Reached]:
        yield Reached(depth, node, state)
        yield from (line for way in node.ways for line in self._way_alike(way, state, depth + 1))

    def _way_alike(self, way: Way, state: State, depth: int) -> Iterator[Reached]:
        yield Reached(depth, way, state)
        yield from (line for node in way.steps or () for line in self._alike(node, state, _below(way, depth)))


def _standing(frames: Cursor) -> Iterator[Cursor]:
    """The places of one sequence at which a run is: a step that runs others again, and the one that runs."""
    here = 0
    for index, frame in enumerate(frames):
        if index and frame.stop is None:
            yield frames[here:]
            return
        if index:
            yield (frames[here],)
            here = index
    if frames:
        yield frames[here:]


def _below(way: Way, depth: int) -> int:
    """How deep the steps of a way stand; one without a label is not worth a level."""
    return depth if way.label is None else depth + 1
