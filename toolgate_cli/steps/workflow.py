"""Runs another workflow of the home inside this step: what goes in and what comes out is named, or all of the context is shared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from ..core.fields import Defect, Filled, Key, Names
from ..core.intents import Done, Ended, Fail, FillInputs, Intent, Nest, View, Write
from ..core.intents import Filled as Inputs
from ..core.types import Json
from ..core.values import NamedTuple
from ..runtime import nesting
from . import _keys

HANDLERS = {FillInputs: nesting.fill, Nest: nesting.enter}


class Fields(NamedTuple):
    """`outputs`: key here -> key there; `share`: no inputs and no outputs, both have one context."""

    workflow: Annotated[str, Names("workflow")]
    inputs: Annotated[Mapping[str, Json], Filled()] = {}
    outputs: Annotated[Mapping[str, str], Key(of="keys")] = {}
    share: bool = False


def plan(step: Fields, view: View) -> Intent:
    if isinstance(view.arrived, Ended):
        return _ended(step, view)
    if step.share:
        return Nest(step.workflow, shared=True)
    if isinstance(view.arrived, Inputs):
        return Nest(step.workflow, view.arrived.values)
    return FillInputs(step.workflow, {name: view.fill(value) for name, value in step.inputs.items()})


def _ended(step: Fields, view: View) -> Intent:
    """What comes out is trusted as much as it was inside."""
    writes: list[Write] = []
    for key, there in step.outputs.items():
        if why := _keys.defect(key):
            return Fail(f"an output may not write {key}: {why}")
        try:
            value, came = view.inner(there)
        except KeyError:
            return Fail(f"the workflow {step.workflow} left nothing at {there}, which is to be {key}")
        writes.append(Write(key, value, came))
    return Done(writes=tuple(writes))


def check(step: Fields) -> Iterator[Defect]:
    for name in ("inputs", "outputs"):
        if step.share and getattr(step, name):
            yield Defect((name,), f"a shared context has no {name}", "leave it out, or leave out share")
