"""What of a workflow can run at all: a step behind one that always leaves, a block that nothing leads to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..issues import Issues
from .steps import Told


def check_reach(steps: Mapping[str, Sequence[Told]], issues: Issues) -> set[str]:
    """Warns, and gives back the sequences that run. There are no circles in them."""
    passing: dict[str, bool] = {}
    seen: set[str] = set()
    waiting = [""]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for index, step in enumerate(steps[name]):
            waiting += step.runs
            if not goes_on(step, steps, passing) and index + 1 < len(steps[name]):
                behind = steps[name][index + 1]
                issues.warn(behind.path, f"nothing comes to {behind.id}: {step.id} always leaves this sequence")
                break
    for block in steps.keys() - seen:
        issues.warn(("blocks", block), "nothing runs this block")
    return seen


def goes_on(step: Told, steps: Mapping[str, Sequence[Told]], passing: dict[str, bool]) -> bool:
    """Whether the step behind it may be reached. `passing`: block -> whether one may come to its end, as far as that was asked."""
    if step.ends:
        return False
    return not step.arms or any(way == "continue" or (way in steps and _passes(way, steps, passing)) for way in step.arms)


def _passes(block: str, steps: Mapping[str, Sequence[Told]], passing: dict[str, bool]) -> bool:
    if block not in passing:
        passing[block] = True
        for step in steps[block]:
            if "end" in step.arms:
                break
            if not goes_on(step, steps, passing):
                passing[block] = False
                break
    return passing[block]
