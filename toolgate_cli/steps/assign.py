"""Writes values into the context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from ..core.fields import Filled, Key
from ..core.intents import Done, Fail, Intent, View, Write
from ..core.types import Json
from ..core.values import NamedTuple
from . import _keys, _origins


class Fields(NamedTuple):
    set: Annotated[Mapping[str, Json], Key(of="keys"), Filled()]


def plan(step: Fields, view: View) -> Intent:
    """All values are filled before one is written, so `set = { a = "${b}", b = "${a}" }` swaps. A copy is trusted as little as the least
    trusted of what is in it."""
    for key in step.set:
        if why := _keys.defect(key):
            return Fail(f"assign may not write {key}: {why}")
    return Done(writes=tuple(Write(key, view.fill(value), _origins.of(value, view)) for key, value in step.set.items()))
