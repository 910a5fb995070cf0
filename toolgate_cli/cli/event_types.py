"""The types of events that there are, so that a misspelt `--type` is told from one of which there is no event yet."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from ..core.errors import ToolgateError

_OF_CALLS: Final = (
    *("REQUESTED", "APPROVAL_PENDING", "CONFIRMATION_PENDING", "VOTED", "APPROVED", "REJECTED", "RETRIED", "CONTINUED"),
    *("OVERRIDE_REJECTED", "SUPERSEDED", "EXPIRED", "STARTED", "COMPLETED", "FAILED", "DENIED", "OUTCOME_UNKNOWN", "LATE_RESULT"),
    "CANCELLED",
)
TYPES: Final = (
    *("RUN_STARTED", "RUN_CONTINUED", "RUN_COMPLETED", "RUN_FAILED", "RUN_CANCELLED", "RUN_PAUSED", "RUN_RECOVERED", "RUN_ADVANCED"),
    *("STEP_STARTED", "STEP_COMPLETED", "STEP_FAILED", "STEP_RETRIED", "STEP_AWAITING_REVIEW", "STEP_REVIEWED"),
    *("STEP_AWAITING_APPROVAL", "STEP_APPROVED", "STEP_REJECTED", "AWAITING_INPUT", "INPUT_SUBMITTED", "AWAITING_APPROVAL"),
    *("APPROVED", "REJECTED", "CONTEXT_UPDATED", "LOOP_ITERATION_STARTED", "LOOP_ITERATION_COMPLETED", "TOOLS_SELECTED"),
    *("LLM_CALL_COMPLETED", "DECISION_REFUSED", "REDACTED"),
    *(f"TOOL_INVOCATION_{what}" for what in _OF_CALLS),
)


def meant(type: str) -> str:
    """The type as it is spelt, whatever its case was. Raises `usage` for what is no type of event."""
    spelt = type.upper()
    if spelt not in TYPES:
        near = get_close_matches(spelt, TYPES, 2, 0.6)
        hint = f"did you mean {' or '.join(near)}" if near else f"one of {', '.join(TYPES)}"
        raise ToolgateError("usage", f"--type {type}: no event is of this type", hint)
    return spelt
