"""The one error that a user sees: a stable kind, what is, and what to do about it."""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "failed",
    "usage",
    "not_found",
    "ambiguous",
    "claim_lost",
    "wrong_state",
    "unknown_outcome",
    "ref_mismatch",
    "run_owned",
    "expired",
    "superseded",
    "policy_denied",
    "not_authorised",
    "self_approval",
    "scope",
    "invalid",
    "waiting",
    "storage",
    "internal",
]


class ToolgateError(Exception):
    """What was refused and why; nothing happened unless the message says so.

    `message` and `hint` are one line each, lower case, without a full stop; `hint` says what to do ("" = nothing to add).
    Both may hold foreign text: whoever shows them passes them through the one door for such text.
    `each`: where the message joins several faults, those one by one, each with its own hint.
    """

    def __init__(
        self, kind: Kind, message: str, hint: str = "", *, retryable: bool = False, each: tuple[tuple[str, str], ...] = ()
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.hint = hint
        self.retryable = retryable
        self.each = each
