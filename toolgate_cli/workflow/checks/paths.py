"""The paths by which the steps of a workflow are called: a step in a block has that of the step that runs the block before it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...core.values import NamedTuple
from ..issues import meant


class Paths(NamedTuple):
    """`runs`: by sequence ("" is the workflow's own) the blocks that each of its steps may run."""

    runs: Mapping[str, Mapping[str, Collection[str]]]

    def has(self, path: str) -> bool:
        """Whether a step is called so: every id of it stands in a sequence that the step before it runs."""
        here: Collection[str] = ("",)
        for id in path.split("/"):
            found = [self.runs[name][id] for name in here if id in self.runs.get(name, {})]
            if not found:
                return False
            here = {block for blocks in found for block in blocks}
        return True

    def meant(self, path: str) -> str:
        """As a hint, what to write instead: the path of a step of that id, or an id that is like it."""
        id = path.rpartition("/")[2]
        reached = {"": ""}  # sequence -> what stands before the ids of its steps
        waiting = [""]
        for name in waiting:
            if id in self.runs.get(name, {}):
                return f"did you mean {reached[name]}{id}?"
            for step, blocks in self.runs.get(name, {}).items():
                new = [block for block in blocks if block not in reached]
                reached |= dict.fromkeys(new, f"{reached[name]}{step}/")
                waiting += new
        return meant(id, {id for steps in self.runs.values() for id in steps})
