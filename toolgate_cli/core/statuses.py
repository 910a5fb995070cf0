"""The status of a run that waits, read off its open rows and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .records import Row
from .types import Origin, Status

_STATUS: Mapping[Origin, Status] = {
    "APPROVAL_REQUIRED": "AWAITING_TOOL_APPROVAL",
    "CONFIRMATION_REQUIRED": "AWAITING_TOOL_APPROVAL",
    "EXECUTION_FAILED": "AWAITING_TOOL_DECISION",
    "OUTCOME_UNKNOWN": "AWAITING_TOOL_DECISION",
    "POLICY_DENIED": "AWAITING_TOOL_DECISION",
    "STEP_APPROVAL": "AWAITING_STEP_APPROVAL",
    "REVIEW": "AWAITING_REVIEW",
    "ESCALATION": "AWAITING_APPROVAL",
    "INPUT": "AWAITING_INPUT",
}
# Of several rows the first of these decides: a call that can still be approved comes before one that can only be decided on.
_ORDER: tuple[Status, ...] = (
    "AWAITING_TOOL_APPROVAL",
    "AWAITING_TOOL_DECISION",
    "AWAITING_STEP_APPROVAL",
    "AWAITING_REVIEW",
    "AWAITING_APPROVAL",
    "AWAITING_INPUT",
)


def waiting_status(rows: Sequence[Row]) -> Status:
    """The status of a run with these open rows; RUNNING where there is none."""
    found = {_STATUS.get(row.origin, "AWAITING_TOOL_DECISION") for row in rows}
    return next((status for status in _ORDER if status in found), "RUNNING")
