"""Decisions that end a call without a start: reject, continue-tool, a result that was found out, what a denial or a clock forbids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from ..core import canonical
from ..core.errors import ToolgateError
from ..core.pointer import escape
from ..core.records import Outcome, Row
from ..core.types import Json
from . import recovery, standing
from .cases import Case, Decided, claim


def refuse(case: Case) -> Decided:
    row = claim(case)
    reason = case.decision.reason or "rejected by a person"
    _settle(case, row, "rejected", reason)
    case.unit.decided("TOOL_INVOCATION_REJECTED", case.run, row, case.call, {"reason": reason})
    return Decided("rejected", case.engine.move_on(case.unit, case.run))


def lapse(case: Case) -> Decided:
    """An expired row whose rule says so is rejected as `system` by whoever comes by; the verb that came for it is refused."""
    row = claim(case)
    recovery.expire(case.unit, case.run, row, case.call)
    refusal = ToolgateError(
        "expired", f"{row.id} expired at {row.expires_at} and was rejected, as its rule says", f"toolgate runs show {row.run_id}"
    )
    return Decided("rejected", case.engine.move_on(case.unit, case.run), refusal)


def lapsed(case: Case) -> Decided:
    if case.row.origin == "CONFIRMATION_REQUIRED":
        hint = f"it is not started again: toolgate reject {case.row.id}"
        raise ToolgateError("expired", f"the question of {case.row.id} expired at {case.row.expires_at}", hint)
    raise ToolgateError("expired", f"{case.row.id} expired at {case.row.expires_at}", f"ask again: toolgate retry {case.row.id}")


def give_up(case: Case) -> Decided:
    if case.decision.outcome is not None:
        return _found_out(case)
    row = claim(case)
    _settle(case, row, "continued", row.reason or "continued without a result")
    case.unit.decided("TOOL_INVOCATION_CONTINUED", case.run, row, case.call, {"reason": case.decision.reason})
    return Decided("continued_tool", case.engine.move_on(case.unit, case.run))


def _found_out(case: Case) -> Decided:
    """A person found out how a doubtful call ended: that settles it."""
    if case.row.doubt is None and case.row.origin != "OUTCOME_UNKNOWN":
        raise ToolgateError(
            "wrong_state", f"the end of {case.row.id} is known: {case.row.reason}", "use continue-tool without --outcome-file"
        )
    applied, result = _outcome(case.decision.outcome or {})
    row = claim(case)
    if applied:
        _settle(case, row, "recorded", result, applied="yes")
    else:
        _settle(case, row, "continued", result if result is not None else "it did not take effect", applied="no")
    case.unit.decided("TOOL_INVOCATION_CONTINUED", case.run, row, case.call, {"reason": case.decision.reason, "applied": applied})
    return Decided("continued_tool", case.engine.move_on(case.unit, case.run))


def _outcome(found: Mapping[str, Json]) -> tuple[bool, Json]:
    applied = found.get("applied")
    unknown = next((name for name in found if name not in ("applied", "result")), None)
    if "applied" not in found:
        wrong = "/applied is missing: whether it took effect"
    elif not isinstance(applied, bool):
        wrong = "/applied must be true or false"
    elif unknown is not None:
        wrong = f"/{escape(unknown)} is no part of an outcome"
    else:
        return applied, found.get("result")
    hint = 'an outcome is {"applied": true | false, "result": ...}; leave the row until it is known'
    raise ToolgateError("invalid", f"the outcome: {wrong}", hint)


def settle_doubt(case: Case) -> Decided:
    """The doubt of a cancelled run: recorded, and nothing moves."""
    if case.decision.outcome is None:
        hint = standing.command(case.unit.tx, case.run, case.row, standing.of(case.unit))
        raise ToolgateError("wrong_state", f"the run of {case.row.id} was cancelled: only what a person found out settles its doubt", hint)
    return _found_out(case)


def _settle(
    case: Case, row: Row, status: Literal["rejected", "continued", "recorded"], body: Json, applied: Literal["no", "yes"] | None = None
) -> None:
    dispatched: Literal["no", "unknown", "yes"] = "no" if row.starts == 0 else "unknown" if row.doubt else "yes"
    effect = applied or ("no" if row.starts == 0 else "unknown")
    case.unit.tx.add([Outcome(row.id, status, dispatched, effect, None, canonical.encode(body), None, case.unit.now)])


def override(case: Case) -> Decided:
    """A denial is terminal (I4): the attempt to get past it is on record, the row stays, nothing runs."""
    case.unit.decided(
        "TOOL_INVOCATION_OVERRIDE_REJECTED", case.run, case.row, case.call, {"verb": case.decision.verb, "reason": case.row.reason}
    )
    refusal = ToolgateError(
        "policy_denied",
        f"the policy denies {case.row.id}: {case.row.reason}",
        standing.command(case.unit.tx, case.run, case.row, standing.of(case.unit)),
    )
    return Decided("approved", refusal=refusal)
