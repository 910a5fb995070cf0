"""Changes that no test notices, and why none has to: the program does the same with them."""

from __future__ import annotations

_NEVER_CALLED_WITHOUT = "who calls it has looked before"
_AT_MOST_SLOWER = "it only takes longer"
_ELSEWHERE = "the same is asked again where it counts"

KNOWN: dict[str, str] = {
    "core/conditions.py: _composed: return text -> nothing": "ASCII is its own composition: it only takes longer",
    "core/effects.py: backoff: 6 -> 7": "both are beyond the longest wait of 60 s",
    "core/quorum.py: _holders: row.approver_scope or '' -> row.approver_scope": "no scope is called None either",
    "core/verdict.py: _ruled: q.call.arguments or '' -> q.call.arguments": "a call without arguments was refused before",
    "runtime/gate.py: Claim.arguments: self.call.arguments or '{}' -> self.call.arguments": "a call without arguments is never started",
}
