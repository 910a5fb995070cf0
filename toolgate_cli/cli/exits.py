"""Exit numbers: one table for refusals, one function for verbs that took effect."""

from __future__ import annotations

from collections.abc import Sequence

from ..core.errors import Kind
from ..core.records import Row, Run

OF_KIND: dict[Kind, int] = {
    "failed": 1,
    "usage": 2,
    "not_found": 3,
    "ambiguous": 4,
    "claim_lost": 5,
    "wrong_state": 5,
    "unknown_outcome": 5,
    "ref_mismatch": 5,
    "run_owned": 5,
    "expired": 5,
    "superseded": 5,
    "policy_denied": 6,
    "not_authorised": 6,
    "self_approval": 6,
    "scope": 6,
    "invalid": 7,
    "waiting": 8,
    "storage": 10,
    "internal": 70,
}
WAITING = 8
IN_DOUBT = 9
INTERRUPTED = 130
TERMINATED = 143

_PERSON_NEEDED = frozenset(
    [
        "PAUSED",
        "AWAITING_INPUT",
        "AWAITING_APPROVAL",
        "AWAITING_TOOL_APPROVAL",
        "AWAITING_TOOL_DECISION",
        "AWAITING_REVIEW",
        "AWAITING_STEP_APPROVAL",
    ]
)


def after(verb: str, run: Run, rows: Sequence[Row], exit_status: bool = False) -> int:
    """How a verb that took effect exits: by how the run and its open rows stand afterwards."""
    origins = {row.origin for row in rows}
    if "OUTCOME_UNKNOWN" in origins:
        return IN_DOUBT
    if origins & {"POLICY_DENIED", "EXECUTION_FAILED"} or run.status == "FAILED":
        return 1
    if run.status == "CANCELLED":
        return 0 if verb == "cancel" else 1
    return WAITING if exit_status and run.status in _PERSON_NEEDED else 0
