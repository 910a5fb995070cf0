"""Makes one value of several: a sum, the least, the greatest, a number of items, texts or lists one after the other, tables in one."""

from __future__ import annotations

from typing import Annotated, Literal

from ..core import canonical
from ..core.errors import ToolgateError
from ..core.fields import Between, Key, Reads
from ..core.intents import Done, Fail, Intent, View, Write
from ..core.types import TRUST, Json
from ..core.values import NamedTuple
from . import _keys
from ._operations import OPERATIONS

_BIGGEST = 1024 * 1024  # characters of the result as JSON: a value made of itself again and again must come to an end


class Fields(NamedTuple):
    """A list counts as its items; `merge` goes key by key, and a later table wins."""

    keys: Annotated[tuple[str, ...], Reads(outputs=True), Between(1, 1000)]
    into: Annotated[str, Key()]
    operation: Literal["sum", "min", "max", "count", "concat", "merge"]


def plan(step: Fields, view: View) -> Intent:
    if why := _keys.defect(step.into):
        return Fail(f"aggregate may not write {step.into}: {why}")
    operation = OPERATIONS[step.operation]
    values: list[Json] = []
    reasons: dict[str, None] = {}
    for key in step.keys:
        try:
            value = view.value(key)
        except KeyError:
            reasons[f"{key} is absent"] = None
            continue
        except ToolgateError as error:
            if error.kind == "storage":
                raise
            reasons[error.message] = None
            continue
        values.append(value)
        if not operation.fits(value):
            reasons[f"{key} is not {operation.takes}"] = None
    if reasons:
        return Fail(f"{step.operation}: " + "; ".join(reasons))
    try:
        made = operation.make(values)
    except ValueError as error:
        return Fail(f"{step.operation} of {', '.join(step.keys)}: {error}")
    if len(canonical.encode(made)) > _BIGGEST:
        return Fail(f"{step.operation} of {', '.join(step.keys)}: larger than 1 MiB")
    # no more trusted than the least trusted of what it was made of
    whose = max((view.provenance(key) for key in step.keys), key=TRUST.index)
    return Done(made, (Write(step.into, made, whose),))
