"""A decision that would start a call of which nobody knows what it has done: its reconciler is asked, then a person's word counts (I9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import ToolgateError
from ..core.world import Needs
from . import gate
from .answers import EffectWord
from .cases import Case, Decided, claim, said

if TYPE_CHECKING:
    from ..core.probes import Reconciled


def look(case: Case, event: str, effect: EffectWord) -> Case | Decided | Needs | ToolgateError:
    """The case as it goes on, or how it ends: settled by the reconciler (`event` and `effect` are the decision's), or refused."""
    if (running := still_running(case)) is not None:
        return running
    if case.row.doubt is None:
        return case
    from . import reconciling  # loaded before the transaction, for the rows that are in doubt

    found = reconciling.find(case.unit, case.run, case.call, case.row, case.engine.world)
    if isinstance(found, Needs):
        return found
    if found is None or found.verdict == "unknown":
        return refusal(case, found) or case
    if found.verdict == "not_applied":
        return case._replace(settled=True)
    row = claim(case)
    case.unit.decided(event, case.run, row, case.call, {**said(case), "reconciled": "applied"})
    reconciling.applied(case.unit, case.run, case.call, row, found)
    return Decided(effect, case.engine.move_on(case.unit, case.run))


def refusal(case: Case, found: Reconciled | None = None) -> ToolgateError | None:
    """Starting a doubtful call needs the flag, unless the stricter of its effect class then and now permits repetition. `found`: what its
    reconciler, which does not know either, says."""
    row = case.row
    if (running := still_running(case)) is not None:
        return running
    if row.doubt is None or case.decision.may_run_twice:
        return None
    tool = case.engine.world.config.tools.get(case.call.capability)
    if tool is not None and gate.permits(row, tool):
        return None
    found_out = "find out what happened and use continue-tool --outcome-file FILE, or add --may-run-twice"
    if row.origin in ("APPROVAL_REQUIRED", "CONFIRMATION_REQUIRED"):
        found_out = "find out what happened, then reject it, or add --may-run-twice"
    why = f"{case.call.capability} is not declared safe to repeat"
    if found is not None:
        why = f"its reconciler does not know: {found.message}"
    return ToolgateError("unknown_outcome", f"an earlier start of {row.id} may have taken effect, and {why}", found_out)


def still_running(case: Case) -> ToolgateError | None:
    """Why nothing of the call can be started now."""
    if case.unit.ports.owners.left_behind(case.row.left_behind):
        return ToolgateError("unknown_outcome", f"a process of {case.row.id} is still running", "end it, then decide again")
    return None
