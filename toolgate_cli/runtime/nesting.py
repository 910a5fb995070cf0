"""Another workflow inside a run: it is in the run's bundle, has its own steps, blocks and forms, and, unless shared, its own context."""

from __future__ import annotations

from ..core import canonical, cursor, scopes
from ..core.cursor import Frame
from ..core.intents import FillInputs, Intent, Nest
from ..core.records import Value
from . import blocks
from .place import Place, Walk
from .ports import Bundle
from .work import Fill


def fill(place: Place, intent: Intent) -> Walk:
    """The inputs are checked outside, where anything may be read and imported; the step is planned again."""
    assert isinstance(intent, FillInputs)
    flow = place.definition.flow(intent.workflow)
    return place.run, place.frames, Fill(Bundle(flow.id, "", "", flow.inputs), intent.given, place.path), False


def enter(place: Place, intent: Intent) -> Walk:
    assert isinstance(intent, Nest)
    if len(place.frames) >= cursor.DEPTH:
        return blocks.too_deep(place)
    if not intent.shared:
        _begin_context(place, intent)
    inside = place.frame._replace(phase=cursor.INSIDE, memo={})
    return place.run, (*place.at(inside), Frame("", workflow=intent.workflow, shared=intent.shared)), None, True


def _begin_context(place: Place, intent: Nest) -> None:
    """Nothing of an earlier visit is in it, only the inputs; what a run is given came from outside, and so did these."""
    tx, run, scope = place.unit.tx, place.run.id, scopes.scope(place.path)
    tx.add([Value(run, key, place.top, None, None, "system") for key in tx.keys(run) if key.startswith(scope)])
    values = ((f"{scope}inputs.{name}", canonical.encode(value)) for name, value in intent.inputs.items())
    tx.add([Value(run, key, place.top, text, None, "user") for key, text in values])
