"""Who may decide a row, and how many approvals it still lacks; every voter's scope counts as it is now.

Whether two names are two persons is asked of the names as folded: another case or composition makes nobody a second person.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .config import Rule
from .errors import ToolgateError
from .person import folded
from .records import Row, Vote
from .types import Verb


def may_decide(row: Row, person_name: str, requester: str, approvers: Mapping[str, tuple[str, ...]], verb: Verb) -> None:
    """Passes, or raises ToolgateError("scope" | "self_approval"). `requester`: who asked for the call, of an edit its editor;
    `approvers`: scope -> names."""
    if not _holds_scope(row, person_name, approvers):
        holders = ", ".join(_holders(row, approvers)) or "nobody"
        raise ToolgateError(
            "scope", f"{person_name} does not hold the scope {row.approver_scope}", f"the scope {row.approver_scope} is held by {holders}"
        )
    if row.separate_requester and folded(person_name) == folded(requester) and _starts(row, verb):
        raise ToolgateError(
            "self_approval", f"{person_name} asked for this call, and the policy wants somebody else to decide it", "ask another approver"
        )


def votes_left(row: Row, votes: Sequence[Vote], approvers: Mapping[str, tuple[str, ...]], new_actor: str) -> int:
    """How many distinct approvers are still missing once `new_actor` has approved too; 0: the call may start. Votes of people who no
    longer hold the scope do not count. Raises ToolgateError("wrong_state") for a second vote of one person."""
    voted = {vote.actor for vote in votes}
    if folded(new_actor) in map(folded, voted):
        raise ToolgateError("wrong_state", f"{new_actor} has approved {row.id} already", "another person has to approve it")
    valid = {folded(actor) for actor in (*voted, new_actor) if _holds_scope(row, actor, approvers)}
    return max(0, row.approvals_needed - len(valid))


def is_out_of_reach(row: Row, voted: Iterable[str], requester: str, approvers: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether fewer people are left over who may approve than are still wanted. `voted`: who has approved; without a scope anybody may."""
    if row.approver_scope is None:
        return False
    valid = {folded(actor) for actor in voted if _holds_scope(row, actor, approvers)}
    out = valid | ({folded(requester)} if row.separate_requester else set())
    return len({*map(folded, _holders(row, approvers))} - out) < row.approvals_needed - len(valid)


def _starts(row: Row, verb: Verb) -> bool:
    """Rejecting, giving up and asking for an approval again are open to the requester: none of them lets the call run."""
    return verb == "approve" or (verb == "retry" and row.origin != "APPROVAL_REQUIRED")


def _holds_scope(row: Row, name: str, approvers: Mapping[str, tuple[str, ...]]) -> bool:
    return row.approver_scope is None or name in _holders(row, approvers)


def _holders(row: Row, approvers: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return approvers.get(row.approver_scope or "", ())


def warm(rules: Iterable[Rule]) -> None:
    """Imports what telling persons apart under these rules may need: to be called outside of any transaction (I7)."""
    if any(rule.approvals > 1 or rule.separate_requester for rule in rules):
        import unicodedata  # noqa: F401
