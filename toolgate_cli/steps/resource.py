"""Loads a file of the home into the context, once: a text, or the value of a `.json` file."""

from __future__ import annotations

from typing import Annotated

from ..core.fields import Key, Path
from ..core.intents import Done, Fail, Intent, Look, Observe, Observed, View, Write
from ..core.values import NamedTuple
from . import _keys


class Fields(NamedTuple):
    """`file`: relative to the home, in it, 1 MiB of UTF-8 at most."""

    file: Annotated[str, Path()]
    save_as: Annotated[str, Key()]


def plan(step: Fields, view: View) -> Intent:
    if why := _keys.defect(step.save_as):
        return Fail(f"resource may not write {step.save_as}: {why}")
    if not isinstance(view.arrived, Observed):
        return Observe((Look(step.file, "json" if step.file.endswith(".json") else "text"),))
    [found] = view.arrived.findings
    if found.error is not None:
        return Fail(f"{step.file} was not loaded: {found.error}")
    return Done(writes=(Write(step.save_as, found.value, "system"),))
