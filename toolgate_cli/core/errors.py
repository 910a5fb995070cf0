"""The one error that a user sees: a stable kind, what is, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from .values import NamedTuple

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


class Choice(NamedTuple):
    """One of several commands to choose from, and what it is about: foreign text, which a reader shows as a comment."""

    command: str
    about: str


class ToolgateError(Exception):
    """What was refused and why; nothing happened unless the message says so.

    `message` and `hint` are one line each, lower case, without a full stop; `hint` says what to do ("" = nothing to add).
    Both may hold foreign text: whoever shows them passes them through the one door for such text. `choices` are hints of their own, a
    line each: of commands that stand on one line a shell might run more than one. `each`: where the message joins several faults, those
    one by one, each with its own hint.
    """

    def __init__(
        self,
        kind: Kind,
        message: str,
        hint: str = "",
        *,
        choices: Sequence[Choice] = (),
        retryable: bool = False,
        each: tuple[tuple[str, str], ...] = (),
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.hint = hint
        self.choices = tuple(choices)
        self.retryable = retryable
        self.each = each


LACKING = (OSError, ImportError, MemoryError)  # what a computer raises that is out of files or memory


def after_the_fact(fault: Exception) -> ToolgateError:
    """What this computer lacks, found out after something was decided."""
    said = str(fault) if isinstance(fault, (OSError, ImportError)) else "there is not enough memory"
    return ToolgateError(
        "failed", f"what was decided stays decided, and then: {said or type(fault).__name__}", "toolgate runs list shows it"
    )
