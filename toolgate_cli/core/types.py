"""The words that the whole program shares: JSON values and the closed sets of DESIGN's vocabulary."""

from __future__ import annotations

from typing import Literal, TypeAlias

# quoted inside only, and joined with "|": a text that typing has to compile costs every start more than all of the rest here
Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

Status = Literal[
    "RUNNING",
    "PAUSED",
    "AWAITING_INPUT",
    "AWAITING_APPROVAL",
    "AWAITING_TOOL_APPROVAL",
    "AWAITING_TOOL_DECISION",
    "AWAITING_REVIEW",
    "AWAITING_STEP_APPROVAL",
    "COMPLETED",
    "FAILED",
    "CANCELLED",
]
Origin = Literal[
    "APPROVAL_REQUIRED",
    "CONFIRMATION_REQUIRED",
    "EXECUTION_FAILED",
    "OUTCOME_UNKNOWN",
    "POLICY_DENIED",
    "STEP_APPROVAL",
    "REVIEW",
    "ESCALATION",
    "INPUT",
]
Safety = Literal["read_only", "write", "destructive"]
Effect = Literal["read_only", "idempotent", "reconcilable", "unsafe"]
Decision = Literal["allow", "require_approval", "deny"]
Cleared = Literal["none", "policy", "approval"]  # what a call has passed
Provenance = Literal["user", "tool", "model", "system"]
TRUST: tuple[Provenance, ...] = ("system", "model", "user", "tool")  # the least trusted last: what is outside of the program and its agents
Fact = Literal["no", "yes", "unknown"]
ProbeName = Literal["tenant_of", "precheck", "reconcile"]  # the read-only commands that a call may be asked about
Phase = Literal["RECEIVE", "RESOLVE", "VALIDATE", "PRECHECK", "INVOKE"]
Verb = Literal["approve", "reject", "retry", "continue-tool", "answer", "review", "continue", "retry --step", "cancel"]

CALL_ORIGINS: tuple[Origin, ...] = ("APPROVAL_REQUIRED", "CONFIRMATION_REQUIRED", "EXECUTION_FAILED", "OUTCOME_UNKNOWN", "POLICY_DENIED")
FAILED_ORIGINS: tuple[Origin, ...] = ("EXECUTION_FAILED", "OUTCOME_UNKNOWN", "POLICY_DENIED")
