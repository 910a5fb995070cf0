"""A step that runs an earlier one again: what stands between them in the source decides whether it can do so here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ...core.types import Json
from .behaviours import Step
from .held import Held

_FIELD = "behaviour.retryStepId"


def check_replay(held: Held, step: Step, before: Sequence[Json]) -> None:
    """`before`: the steps that stand before this one in its sequence, as they were imported."""
    if step["type"] != "retry_previous":
        return
    steps, name = cast("Sequence[Step]", before), step["step"]
    at = next((number for number, each in enumerate(steps) if each["id"] == name), None)
    if at is None:
        held.wrong(_FIELD, f"no step {name} stands before it in its sequence")
        return
    for each in steps[at:]:
        if each["type"] in ("block", "workflow"):
            held.wrong(_FIELD, f"it would run the {each['type']} {each['id']} again, which cannot be")
    policy = steps[at].get("retry")
    if steps[at]["type"] in ("agent", "spar") and not (isinstance(policy, dict) and policy.get("allow_from_previous")):
        held.wrong(_FIELD, f"{name} does not allow it: retryPolicy.allowRetryFromPrevious is not true")
