"""Runs a named block inside this step: once, or as a loop that always has a bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from ..core.fields import Between, Defect, Key, Names, Presumed, Reads
from ..core.intents import Continued, Done, Ended, Enter, Intent, View
from ..core.records import Turn
from ..core.types import Json
from ..core.values import NamedTuple
from . import _rounds


class Repeat(NamedTuple):
    """`count`: exactly `max` iterations; `agent_done`: until an agent inside says so; `evaluator`: until that agent, asked after each
    iteration, says so; `each`: one for each item of the list at that key, as it is on entry, at one go up to 10,000 where no `max` is
    given. `at_max`: what an end that does not come by then means. `item`: the key that holds the item, `loop.item` where none is named."""

    until: Literal["count", "agent_done", "evaluator", "each"]
    max: Annotated[int, Between(1), Presumed(_rounds.ITEMS, "until", "each")] | None = None
    at_max: Literal["pause", "fail"] = "pause"
    evaluator: Annotated[str, Names("agent")] | None = None
    each: Annotated[str, Reads()] | None = None
    item: Annotated[str, Key()] | None = None


class Fields(NamedTuple):
    block: Annotated[str, Names("block")]
    repeat: Repeat | None = None


def plan(step: Fields, view: View) -> Intent:
    """Iterations count from 1; a block that is no loop is entered as iteration 0. The memo holds the iteration that runs."""
    arrived, loop = view.arrived, step.repeat
    if loop is None:
        return Done() if isinstance(arrived, Ended) else Enter(step.block, 0, {"iteration": 0})
    if isinstance(arrived, Ended):
        return _ended(step.block, loop, view, arrived)
    if isinstance(arrived, Turn):
        return _rounds.judged(step.block, loop, view, arrived)
    if isinstance(arrived, Continued):
        return _rounds.resume(step.block, loop, view)
    running = view.memo.get("iteration")
    if not isinstance(running, int):
        return _rounds.begin(step.block, loop, view)
    return _rounds.ask(loop, view, running) if "judging" in view.memo else _rounds.enter(step.block, loop, view, running)


def _ended(block: str, loop: Repeat, view: View, ended: Ended) -> Intent:
    if loop.until == "evaluator":
        return _rounds.ask(loop, view, ended.iteration)
    if loop.until == "each":
        over = ended.iteration >= _rounds.length(view)
    else:
        over = ended.signal == "complete" if loop.until == "agent_done" else ended.iteration >= (loop.max or 1)
    return Done() if over else _rounds.next(block, loop, view, ended.iteration)


def check(step: Fields) -> tuple[Defect, ...]:
    """What a loop lacks, and what it has that its kind of loop would never look at."""
    loop = step.repeat
    if loop is None:
        return ()
    found: list[Defect] = []
    if loop.max is None and loop.until != "each":
        found.append(Defect(("repeat", "max"), f'until = "{loop.until}" needs a max', "a loop always has a bound"))
    fields: Mapping[str, tuple[str, Json]] = {
        "evaluator": ("evaluator", loop.evaluator), "each": ("each", loop.each), "item": ("each", loop.item),
    }  # fmt: skip
    for name, (until, value) in fields.items():
        if value is not None and loop.until != until:
            found.append(Defect(("repeat", name), f'only until = "{until}" has {name}'))
        elif value is None and loop.until == until == name:
            found.append(Defect(("repeat", name), f'until = "{until}" needs {name}'))
    return tuple(found)
