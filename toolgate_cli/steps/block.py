"""Runs a named block inside this step, once or a fixed number of times."""

from __future__ import annotations

from typing import Annotated, Literal

from ..core.fields import Between, Names
from ..core.intents import Done, Ended, Enter, Intent, View
from ..core.values import NamedTuple


class Repeat(NamedTuple):
    """`count`: exactly `max` iterations."""

    until: Literal["count"]
    max: Annotated[int, Between(1)]


class Fields(NamedTuple):
    block: Annotated[str, Names("block")]
    repeat: Repeat | None = None


def plan(step: Fields, view: View) -> Intent:
    """Iterations count from 1; a block that is no loop is entered as iteration 0. The memo holds the iteration that runs."""
    if not isinstance(view.arrived, Ended):
        running = view.memo.get("iteration")
        return _enter(step, running if isinstance(running, int) else int(step.repeat is not None))
    ended = view.arrived.iteration
    if step.repeat is None or ended >= step.repeat.max:
        return Done()
    return _enter(step, ended + 1)


def _enter(step: Fields, iteration: int) -> Intent:
    return Enter(step.block, iteration, {"iteration": iteration})
