"""Steps that run an earlier one again: it stands before them in the same sequence and allows it; no sequence of its own is in between."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.marks import Marked
from ...core.types import Json
from .. import models
from ..issues import Issues, meant
from ..kinds import Kinds

COMPOSITE = ("block", "workflow")


def check_replay(found: Marked, before: Sequence[Json], kinds: Kinds, issues: Issues) -> None:
    """`before`: the steps of the sequence that stand before this one, of any shape."""
    steps = [step if isinstance(step, dict) else {} for step in before]
    at = next((number for number, step in enumerate(steps) if step.get("id") == found.text), None)
    if at is None:
        hint = meant(found.text, [str(step["id"]) for step in steps if "id" in step]) or "it must stand earlier in the same sequence"
        issues.add(found.path, f"there is no step {found.text} before this one", hint)
        return
    for step in steps[at:]:
        if step.get("type") in COMPOSITE:
            issues.add(found.path, f"it would run the {step['type']} {step.get('id')} again, which cannot be", "put both into one block")
    target, retry = steps[at], steps[at].get("retry")
    kind = target.get("type")
    if not isinstance(kind, str) or kind not in kinds.step_kinds() or "retry" not in models.names(kinds.step_kind(kind).Fields):
        return
    if not isinstance(retry, dict) or retry.get("allow_from_previous") is not True:
        issues.add(found.path, f"the step {found.text} does not allow it", "give it retry = { allow_from_previous = true }")
