"""Blocks that name blocks: never in a circle, and never deeper than a cursor may grow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...core.cursor import DEPTH
from ...core.values import NamedTuple
from ..issues import Issues
from ..positions import KeyPath


class Use(NamedTuple):
    """A block that is named, and where."""

    block: str
    path: KeyPath


def check_blocks(uses: Mapping[str, Sequence[Use]], issues: Issues) -> None:
    """`uses`: what each block names; "" stands for the workflow's own steps. Unknown names were told already."""
    heights: dict[str, int] = {}
    trail: list[str] = []

    def height(block: str) -> int:
        """Sequences that may be open at once inside this one, itself included."""
        if block in heights:
            return heights[block]
        trail.append(block)
        highest = 0
        for use in uses.get(block, ()):
            if use.block in trail:
                circle = [*trail[trail.index(use.block) :], use.block]
                issues.add(use.path, f"blocks in a circle: {' > '.join(circle)}", "a loop is written with repeat")
            elif use.block in uses and len(trail) <= DEPTH:
                highest = max(highest, height(use.block))
        trail.pop()
        heights[block] = highest + 1
        return highest + 1

    if height("") > DEPTH:
        issues.add(("blocks",), f"blocks are nested more than {DEPTH} deep")
    for block in uses:
        height(block)
