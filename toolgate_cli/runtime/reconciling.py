"""The reconciler of a call of which nobody knows what it has done: it is asked before anything of it starts again (I8, I9)."""

from __future__ import annotations

from typing import Literal

from ..core import canonical, effects, probes
from ..core.probes import Reconciled
from ..core.records import Attempt, Call, Outcome, Row, Run
from ..core.types import Json
from ..core.verdict import probe_of
from ..core.world import Needs, World
from .parking import keep
from .unit import Unit


def find(unit: Unit, run: Run, call: Call, row: Row, world: World) -> Reconciled | Needs | None:
    """What the reconciler says of a doubtful call, by the files as they are now. None: it is not for a reconciler to say."""
    tool = world.config.tools.get(call.capability)
    if tool is None or row.doubt is None or "reconcile" not in tool.probes:
        return None
    if effects.stricter(row.doubt, tool.effect) != "reconcilable":
        return None
    if not unit.ports.files.unchanged(world):
        return Needs(files=True)
    ready = world.ready.get(call.capability)
    if ready is None:
        return Needs(tools=(call.capability,))
    probe = probe_of(call, "reconcile", ready, run.created_at)
    answer = world.answers.get(probe)
    if answer is None and ready.error is None:
        return Needs(probes=(probe,))
    if answer is None:
        return probes.Reconciled("unknown", message=f"it cannot be asked: {ready.error}")
    return probes.reconciled(answer)


def applied(unit: Unit, run: Run, call: Call, row: Row, found: Reconciled) -> None:
    """It took effect after all: that settles the call, with what the reconciler says that came of it."""
    unit.tx.add([Outcome(call.id, "succeeded", "yes", "yes", found.mark, canonical.encode(found.result), None, unit.now)])
    facts: dict[str, Json] = {"outcome": "succeeded", "reconciled": True, "dispatched": "yes", "effect_applied": "yes"}
    if found.mark is not None:
        facts = {**facts, "code": found.mark, "message": found.message}
    unit.record("TOOL_INVOCATION_COMPLETED", run, facts, call=call, digest=row.call_digest, attempt=row.starts)


def park(
    unit: Unit, run: Run, call: Call, waiting: Attempt, found: Reconciled, origin: Literal["EXECUTION_FAILED", "OUTCOME_UNKNOWN"]
) -> None:
    """It starts no more by itself. Of what was not applied there is no doubt any more."""
    unknown = found.verdict == "unknown"
    why = f"the reconciler does not know what it did: {found.message}" if unknown else "the reconciler says that it was not applied"
    row = waiting.row._replace(
        version=waiting.row.version + 1,
        origin=origin,
        reason=f"{_said(waiting)}; {why}",
        starts=waiting.number - 1,
        doubt=waiting.row.doubt if unknown else None,
        expires_at=None,
        on_expiry=None,
    )
    code = "NOT_RECONCILED" if unknown else "NOT_APPLIED"
    facts: dict[str, Json] = {"phase": "INVOKE", "code": code, "message": row.reason, "reconciled": found.verdict}
    keep(unit, run, call, row, "TOOL_INVOCATION_OUTCOME_UNKNOWN" if unknown else "TOOL_INVOCATION_FAILED", facts)


def _said(waiting: Attempt) -> str:
    """How the last attempt ended, in a few words."""
    assert waiting.row.last is not None, waiting.row.id
    last = canonical.parse(waiting.row.last)
    assert isinstance(last, dict), waiting.row.id
    return str(last.get("message") or "it failed")
