"""The one table of repetition (I9): what happens after an attempt is decided by the declared effect class, and by nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from .types import Effect

Reconciliation = Literal["applied", "not_applied", "unknown"]  # what a reconciler says

Kind = Literal["success", "business", "permanent", "not_dispatched", "answered", "uncertain", "confirm"]  # of results.Judged
Next = Literal["settle", "repeat", "reconcile", "EXECUTION_FAILED", "OUTCOME_UNKNOWN", "CONFIRMATION_REQUIRED"]
ROUNDS = 3  # questions that a tool may ask in one go

# kind -> effect -> (attempts left, attempts used up). A class that is not here is treated as unsafe.
_TABLE: Mapping[Kind, Mapping[Effect, tuple[Next, Next]]] = {
    "success": {
        "read_only": ("settle", "settle"),
        "idempotent": ("settle", "settle"),
        "reconcilable": ("settle", "settle"),
        "unsafe": ("settle", "settle"),
    },
    "business": {
        "read_only": ("settle", "settle"),
        "idempotent": ("settle", "settle"),
        "reconcilable": ("settle", "settle"),
        "unsafe": ("settle", "settle"),
    },
    "confirm": {
        "read_only": ("CONFIRMATION_REQUIRED", "CONFIRMATION_REQUIRED"),
        "idempotent": ("CONFIRMATION_REQUIRED", "CONFIRMATION_REQUIRED"),
        "reconcilable": ("CONFIRMATION_REQUIRED", "CONFIRMATION_REQUIRED"),
        "unsafe": ("CONFIRMATION_REQUIRED", "CONFIRMATION_REQUIRED"),
    },
    "permanent": {
        "read_only": ("EXECUTION_FAILED", "EXECUTION_FAILED"),
        "idempotent": ("EXECUTION_FAILED", "EXECUTION_FAILED"),
        "reconcilable": ("EXECUTION_FAILED", "EXECUTION_FAILED"),
        "unsafe": ("EXECUTION_FAILED", "EXECUTION_FAILED"),
    },
    "not_dispatched": {
        "read_only": ("repeat", "EXECUTION_FAILED"),
        "idempotent": ("repeat", "EXECUTION_FAILED"),
        "reconcilable": ("repeat", "EXECUTION_FAILED"),
        "unsafe": ("repeat", "EXECUTION_FAILED"),
    },
    "answered": {
        "read_only": ("repeat", "EXECUTION_FAILED"),
        "idempotent": ("repeat", "EXECUTION_FAILED"),
        "reconcilable": ("reconcile", "reconcile"),
        "unsafe": ("EXECUTION_FAILED", "EXECUTION_FAILED"),
    },
    "uncertain": {
        "read_only": ("repeat", "EXECUTION_FAILED"),
        "idempotent": ("repeat", "OUTCOME_UNKNOWN"),
        "reconcilable": ("reconcile", "reconcile"),
        "unsafe": ("OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"),
    },
}
_STRICTNESS: tuple[Effect, ...] = ("read_only", "idempotent", "reconcilable", "unsafe")
_LONGEST = 60.0  # seconds


def after(judged_kind: Kind, effect: Effect, attempts_left: bool) -> Next:
    """What follows an attempt that ended like this: the call is settled, it is started once more, or a row of that origin waits."""
    by_effect = _TABLE[judged_kind]
    left, used_up = by_effect.get(effect, by_effect["unsafe"])
    return left if attempts_left else used_up


def after_reconciling(verdict: Reconciliation, attempts_left: bool) -> Literal["settle", "repeat", "EXECUTION_FAILED", "OUTCOME_UNKNOWN"]:
    """What follows the reconciler's answer about an attempt."""
    if verdict == "applied":
        return "settle"
    if verdict == "unknown":
        return "OUTCOME_UNKNOWN"
    return "repeat" if attempts_left else "EXECUTION_FAILED"


def doubtful(judged_kind: Kind, effect: Effect) -> bool:
    """Whether nobody knows what an attempt that ended like this has done: of a reconcilable tool its own "failed" does not tell."""
    return judged_kind == "uncertain" or (judged_kind == "answered" and effect == "reconcilable")


def stricter(a: Effect, b: Effect) -> Effect:
    """The class that permits less."""
    return max(a, b, key=_STRICTNESS.index)


def repeatable(doubt: Effect | None) -> bool:
    """Whether a call may be started again without a person's word. `doubt`: its effect class, if its outcome is in doubt."""
    return doubt in (None, "read_only", "idempotent")


def rekeyed(doubt: Effect | None) -> Effect | None:
    """The doubt of a call that is to be asked for otherwise: what made a start of it harmless to repeat, its key and its arguments, is not
    what the next start has; only what changes nothing stays harmless."""
    return doubt if doubt in (None, "read_only") else "unsafe"


def backoff(attempt_number: int, jitter: float) -> float:
    """Seconds to wait after the attempt of that number (the first is 1): 1 s, doubled each time, plus up to as much again for `jitter` in
    [0, 1); at most 60 s in all."""
    return min(_LONGEST, 2.0 ** min(attempt_number - 1, 6) * (1 + jitter))
