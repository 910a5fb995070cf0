"""Changes that no test notices, and why none has to: the program does the same with them."""

from __future__ import annotations

_ID = "an id that is there is 14 characters long, and nothing else begins with its letter"
_CANCELLED = "a cancelled run has no row of a step, and none that expires"
_SEVERAL = "two are several already"

KNOWN: dict[str, str] = {
    "core/conditions.py: _composed: return text -> nothing": "ASCII is its own composition: it only takes longer",
    "core/authorise.py: outside_scope: 1 -> 2": "who is under itself stays so, however often it is asked who is above",
    "core/effects.py: backoff: 6 -> 7": "both are beyond the longest wait of 60 s",
    "core/quorum.py: _holders: row.approver_scope or '' -> row.approver_scope": "no scope is called None either",
    "core/verdict.py: _ruled: q.call.arguments or '' -> q.call.arguments": "a call without arguments was refused before",
    "core/verdict.py: probe_of: call.arguments or '' -> call.arguments": "of a call without arguments nothing is asked",
    "runtime/gate.py: Claim.arguments: self.call.arguments or '{}' -> self.call.arguments": "a call without arguments is never started",
    "runtime/deciding.py: _decide: standing.is_over(row, unit.now) and row.on_expiry == 'reject' and (run.status != 'CANCELLED')"
    " -> standing.is_over(row, unit.now) and row.on_expiry == 'reject'": _CANCELLED,
    "runtime/deciding.py: _decide: 'CANCELLED' -> 'CANCELLEDX'": _CANCELLED,
    "runtime/deciding.py: _refused: 'approved' -> 'approvedX'": "the refusal is raised, so nobody is told the effect",
    "runtime/deciding.py: _start: isinstance(verdict, Start) or verdict.cleared == 'approval' -> verdict.cleared == 'approval'":
        "what an approval starts is cleared by approval",
    "runtime/doubts.py: _unsaid: seq > said -> seq >= said": "no event is a doubt and a person's word at once",
    "runtime/selecting.py: _named: found is None and _prefix(call, call[:1], shortest) -> _prefix(call, call[:1], shortest)": _ID,
    "runtime/selecting.py: _prefix: word.startswith(letter) and shortest <= len(word) < ID_LENGTH"
    " -> shortest <= len(word) < ID_LENGTH": _ID,
    "runtime/selecting.py: _prefix: shortest <= len(word) < ID_LENGTH -> shortest <= len(word) <= ID_LENGTH": _ID,
    "runtime/selecting.py: shown: asked.run is not None and asked.call is None -> asked.run is not None":
        "a call that is named is never refused for the state that its run is in",
    "runtime/selecting.py: step: not waits or of.status == 'CANCELLED' -> not waits": _CANCELLED,
    "runtime/selecting.py: run: 2 -> 3": _SEVERAL,
    "runtime/selecting.py: _named: 2 -> 3": _SEVERAL,
    "runtime/selecting.py: _settled: 2 -> 3": _SEVERAL,
    "runtime/selecting.py: step: 1 -> 2": "the last part is the same however often it is split",
    "runtime/selecting.py: step: 'CANCELLED' -> 'CANCELLEDX'": _CANCELLED,
    "runtime/standing.py: _named: 'STEP' -> 'STEPX'": "only a run that failed is told which step to retry, and that has one",
    "stores/_writer.py: SqliteWriter._change_many: raise over() -> nothing": "the head was read before, which is refused then",
    "stores/_writer.py: SqliteWriter.append: self._last or self._one(tuple, _LAST) or (0, self.identity())"
    " -> self._one(tuple, _LAST) or (0, self.identity())": "nobody else adds to the log meanwhile: it only takes longer",
    "stores/memory.py: MemoryWriter._own: self._owned.add(name) -> nothing": "it only takes longer",
}  # fmt: skip
