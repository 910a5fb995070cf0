"""Ends the run as FAILED, with a reason."""

from __future__ import annotations

from typing import Annotated, Final

from ..core import canonical
from ..core.fields import Filled
from ..core.intents import Fail, Intent, View
from ..core.values import NamedTuple

ENDS: Final = True  # nothing behind a step of this kind is reached


class Fields(NamedTuple):
    reason: Annotated[str, Filled()]


def plan(step: Fields, view: View) -> Intent:
    reason = view.fill(step.reason)
    return Fail(reason if isinstance(reason, str) else canonical.encode(reason))
