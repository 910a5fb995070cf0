"""How an attempt ends: settled, parked, to be repeated, or too late to matter. Repetition is decided here alone, by the
declared effect (I8, I9)."""

from __future__ import annotations

from typing import Literal

from ..core import canonical, durations, effects, outcomes
from ..core.config import Config, Tool
from ..core.records import Attempt, Call, Outcome, Row, Run
from ..core.results import Judged, ToolResult
from ..core.soundness import clean
from ..core.types import Effect, Json
from . import rounds
from .gate import Claim
from .parking import digest, keep
from .unit import Unit


def settle(unit: Unit, run: Run, claim: Claim, result: ToolResult, config: Config) -> Attempt | None:
    """T2: takes the attempt and records what became of it; its next attempt, where it is to be repeated. A result that comes too late is an
    event and changes nothing."""
    judged = outcomes.judge(claim.tool, result)
    held = unit.tx.finish(claim.attempt)
    facts: dict[str, Json] = {
        "code": judged.code,
        "message": judged.message,
        "size": result.size,
        "output_digest": result.digest or None,
        "truncated": result.truncated,
        "survivors": list(result.survivors),
        "dispatched": judged.dispatched,
        "effect_applied": judged.effect_applied,
    }
    if held is None or held.cancelled:
        _late(unit, run, claim, held, judged, result, facts)
        return None
    if judged.kind in ("success", "business"):
        if judged.kind == "business" and _matters(held.row.doubt):
            judged = judged._replace(effect_applied="unknown")  # this start did nothing; of an earlier one nobody knows more than before
        status: Literal["succeeded", "business_failed"] = "succeeded" if judged.kind == "success" else "business_failed"
        unit.tx.add(
            [Outcome(claim.call_id, status, judged.dispatched, judged.effect_applied, judged.code, judged.body, result.size, unit.now)]
        )
        told: dict[str, Json] = {**facts, "effect_applied": judged.effect_applied, "outcome": status}
        unit.record("TOOL_INVOCATION_COMPLETED", run, told, call=claim.call, digest=held.row.call_digest, attempt=held.number)
        return None
    if judged.kind == "confirm":
        _stopped(unit, run, claim, held, judged, result, facts, config)
        return None
    return _failed(unit, run, claim, held, judged, result, facts)


def _stopped(
    unit: Unit, run: Run, claim: Claim, held: Attempt, judged: Judged, result: ToolResult, facts: dict[str, Json], config: Config
) -> None:
    """It stopped half-way with a question, which waits for a person as an approval does; after so many of them it has failed."""
    row, round = _after_start(held, claim.tool, judged, result), rounds.number(held.row) + 1
    if round > effects.ROUNDS:
        reason = f"it asked more than {effects.ROUNDS} questions: {judged.message}"
        told: dict[str, Json] = {"phase": "INVOKE", **facts, "code": "TOO_MANY_CONFIRMATIONS", "message": reason}
        keep(unit, run, claim.call, row._replace(origin="EXECUTION_FAILED", reason=reason), "TOOL_INVOCATION_FAILED", told)
        return
    row = row._replace(
        origin="CONFIRMATION_REQUIRED", reason=judged.message, last=rounds.question(judged.message, canonical.parse(judged.body), round)
    )
    asks = (rule for rule in config.policy.rules if rule.name == row.rule and rule.decision == "require_approval")
    rule = next(asks, None)
    if rule is not None and rule.expires_in is not None:
        row = row._replace(expires_at=durations.later(unit.now, rule.expires_in), on_expiry="stay" if row.doubt else rule.on_expiry)
    told = {"reason": judged.message, **facts, "round": round}
    keep(unit, run, claim.call, row, "TOOL_INVOCATION_CONFIRMATION_PENDING", told)


def _failed(
    unit: Unit, run: Run, claim: Claim, held: Attempt, judged: Judged, result: ToolResult, facts: dict[str, Json]
) -> Attempt | None:
    tool = claim.tool
    row = _after_start(held, tool, judged, result)
    left = held.number - held.row.starts < tool.max_attempts and not result.survivors and result.left_behind is None
    then = effects.after(judged.kind, effects.stricter(row.doubt or tool.effect, tool.effect), left)
    if then == "reconcile" and (result.survivors or result.left_behind is not None):
        then = "OUTCOME_UNKNOWN"  # what has not come to its end cannot be asked about
    if then in ("repeat", "reconcile"):
        last = row.last if rounds.answer(held.row) is None else held.row.last  # the next attempt is told the same answer
        waiting = held._replace(row=held.row._replace(doubt=row.doubt, last=last), number=held.number + 1, state="waiting")
        told: dict[str, Json] = {"phase": "INVOKE", **facts, f"{then}s": True, "attempt_row": digest(waiting.row)}
        event = "TOOL_INVOCATION_OUTCOME_UNKNOWN" if judged.kind == "uncertain" else "TOOL_INVOCATION_FAILED"
        unit.record(event, run, told, call=claim.call, digest=held.row.call_digest, attempt=held.number)
        unit.tx.begin(waiting)
        return waiting
    origin: Literal["OUTCOME_UNKNOWN", "EXECUTION_FAILED"] = "OUTCOME_UNKNOWN" if then == "OUTCOME_UNKNOWN" else "EXECUTION_FAILED"
    event = "TOOL_INVOCATION_OUTCOME_UNKNOWN" if origin == "OUTCOME_UNKNOWN" else "TOOL_INVOCATION_FAILED"
    keep(unit, run, claim.call, row._replace(origin=origin, reason=judged.message), event, {"phase": "INVOKE", **facts})
    return None


def _after_start(held: Attempt, tool: Tool, judged: Judged, result: ToolResult) -> Row:
    """The row of an attempt that did not settle its call. Doubt is sticky: an uncertain end adds to it, a later clear failure does not
    take it away."""
    doubt = held.row.doubt
    if doubt is not None or effects.doubtful(judged.kind, tool.effect):
        doubt = effects.stricter(doubt or tool.effect, tool.effect)
    last = canonical.encode({"code": judged.code, "message": judged.message, "output": clean(result.output[:2000])})
    return held.row._replace(
        version=held.row.version + 1,
        starts=held.number,
        doubt=doubt,
        last=last,
        left_behind=result.left_behind,
        expires_at=None,
        on_expiry=None,
    )


def _late(unit: Unit, run: Run, claim: Claim, held: Attempt | None, judged: Judged, result: ToolResult, facts: dict[str, Json]) -> None:
    """Recovery or a cancel was faster. Doubt of a cancelled run is still listed; everything else is an event only."""
    told: dict[str, Json] = {**facts, "kind": judged.kind}
    digest = held.row.call_digest if held else claim.attempt.row.call_digest
    unit.record("TOOL_INVOCATION_LATE_RESULT", run, told, call=claim.call, digest=digest, attempt=claim.attempt.number)
    settled = judged.kind == "success" or (judged.kind == "business" and held is not None and not _matters(held.row.doubt))
    if held is not None and not settled:
        cancelled(unit, run, claim.call, _after_start(held, claim.tool, judged, result)._replace(reason=judged.message))


def cancelled(unit: Unit, run: Run, call: Call, row: Row) -> None:
    """What is left of a call whose run was cancelled: its doubt, if it has any that matters, is listed until a person settles it."""
    if not _matters(row.doubt):
        unit.record("TOOL_INVOCATION_CANCELLED", run, {"reason": row.reason}, call=call, digest=row.call_digest, attempt=row.starts or None)
    else:
        keep(
            unit,
            run,
            call,
            row._replace(origin="OUTCOME_UNKNOWN", expires_at=None, on_expiry=None),
            "TOOL_INVOCATION_OUTCOME_UNKNOWN",
            {"phase": "INVOKE", "message": row.reason},
        )


def _matters(doubt: Effect | None) -> bool:
    """Whether there is something to find out: what only reads has changed nothing."""
    return doubt not in (None, "read_only")


def overtaken(unit: Unit, run: Run, call: Call, waiting: Attempt) -> None:
    """The tool changed before the next attempt of a doubtful call, and no longer permits it: a person decides."""
    reason = "the tool changed before its next attempt and is not declared safe to repeat any more"
    row = waiting.row._replace(version=waiting.row.version + 1, origin="OUTCOME_UNKNOWN", starts=waiting.number - 1, reason=reason)
    facts: dict[str, Json] = {"phase": "INVOKE", "code": "tool_changed", "message": reason}
    keep(unit, run, call, row._replace(expires_at=None, on_expiry=None), "TOOL_INVOCATION_OUTCOME_UNKNOWN", facts)
