"""Runs an earlier step of the same sequence again, once each time it is reached; when that was often enough, a fallback instead."""

from __future__ import annotations

from typing import Annotated, Literal

from ..core.fields import Between, Names
from ..core.intents import Done, Ended, Intent, Replay, View
from ..core.values import NamedTuple
from ..runtime import replaying

HANDLERS = {Replay: replaying.replay}


class Fields(NamedTuple):
    """`mode`: `single` runs that step again, `from` all steps from it to this one; `max_retries`: how often in a run."""

    step: Annotated[str, Names("earlier step")]
    mode: Literal["single", "from"] = "single"
    max_retries: Annotated[int, Between(1)] = 1
    fallback: Annotated[str, Names("block")] | None = None


def plan(step: Fields, view: View) -> Intent:
    if isinstance(view.arrived, Ended):
        return Done(then="end" if view.arrived.cut else "next")
    return Replay(step.step, step.mode, step.max_retries, step.fallback)
