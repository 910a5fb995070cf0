"""One tool call through the gate; its result, or its error, is in the context afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from ..core.errors import ToolgateError
from ..core.fields import Filled, Key, Names
from ..core.intents import Asked, CallTools, Done, Intent, Settled, View
from ..core.types import Json
from ..core.values import NamedTuple
from . import _results


class Fields(NamedTuple):
    tool: Annotated[str, Names("tool")]
    arguments: Annotated[Mapping[str, Json], Filled()] = {}
    save_as: Annotated[str | None, Key()] = None


def plan(step: Fields, view: View) -> Intent:
    if isinstance(view.arrived, Settled):
        [outcome] = view.arrived.outcomes
        return Done(_results.result(outcome), _results.writes(view.arrived, step.save_as))
    if view.memo:
        # asking again would be a second call of what may have run already (I2)
        raise ToolgateError("internal", f"the call of {step.tool} was asked for, and its outcome did not arrive")
    return CallTools((Asked(step.tool, view.fill(dict(step.arguments))),), memo={"asked": True})
