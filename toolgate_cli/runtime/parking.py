"""How a call is parked: the row that waits for a person, and the event of the chain that binds every part of it (I3, I6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import __version__
from ..core import canonical, chain, changes, digests, durations, effects
from ..core.definition import is_whole
from ..core.errors import ToolgateError
from ..core.records import Accepted, Attempt, Call, Definition, Event, EventQuery, Row, Run
from ..core.types import Json, Origin
from ..core.verdict import Park
from .sealing import tells
from .unit import Unit

if TYPE_CHECKING:
    from ..core.world import Ready
    from .store import Reader

ARGUMENTS = f"arguments/{__version__}"  # the checker under which validated arguments are remembered
PARKING = frozenset(
    f"TOOL_INVOCATION_{word}" for word in ("APPROVAL_PENDING", "CONFIRMATION_PENDING", "DENIED", "FAILED", "OUTCOME_UNKNOWN")
)

_GOING_ON = frozenset(  # a call of which this is said waits no more
    f"TOOL_INVOCATION_{word}" for word in ("STARTED", "COMPLETED", "REJECTED", "CONTINUED", "EXPIRED", "CANCELLED", "SUPERSEDED")
)
ASKING: dict[Origin, str] = {  # what a step waits for -> the event that asked
    "STEP_APPROVAL": "STEP_AWAITING_APPROVAL",
    "REVIEW": "STEP_AWAITING_REVIEW",
    "ESCALATION": "AWAITING_APPROVAL",
    "INPUT": "AWAITING_INPUT",
}


def park(unit: Unit, run: Run, call: Call, was: Row | None, verdict: Park) -> Row:
    """Saves the row that waits for a person, with the event that says why; doubt and starts stay on record."""
    was = of_revision(was, call) if was else None
    if verdict.definition is not None:
        unit.tx.add([Definition(verdict.definition.digest, "tool", verdict.definition.definition)])
    if verdict.seen is not None:
        unit.tx.add([Accepted(verdict.seen, ARGUMENTS)])
    row = Row(
        id=call.id,
        version=was.version + 1 if was else 1,
        run_id=run.id,
        step=call.step,
        origin=verdict.origin,
        revision=call.revision,
        call_digest=verdict.call_digest,
        definition=verdict.definition.digest if verdict.definition else None,
        cleared=verdict.cleared,
        reason=verdict.reason,
        rule=verdict.rule.name if verdict.rule else was.rule if was else None,
        starts=was.starts if was else 0,
        doubt=was.doubt if was else None,
        last=was.last if was else None,
        left_behind=was.left_behind if was else None,
    )
    facts: dict[str, Json] = {"reason": verdict.reason, "code": verdict.code, "rule": row.rule}
    if verdict.phase is not None:
        facts = {"phase": verdict.phase, "code": verdict.code, "message": verdict.reason}
    return keep(unit, run, call, _who_decides(unit, row, was, verdict), verdict.event, facts)


def changed(tx: Reader, row: Row, ready: Ready | None) -> str:
    """What of the tool's definition is not as the row was parked under, as places in it. `ready`: the tool as it is now."""
    assert ready is not None, "a tool that is gone was refused before"
    was = tx.definition(row.definition) if row.definition else None
    found = changes.places(canonical.parse(was.body), canonical.parse(ready.definition)) if was is not None else []
    return ", ".join(found) or "the tool"


def of_revision(row: Row, call: Call) -> Row:
    """The row of an earlier revision as that of this one: who decides, starts and doubt stay; the rule is what asks for this one."""
    if row.revision == call.revision:
        return row
    return row._replace(revision=call.revision, rule=None, doubt=effects.rekeyed(row.doubt))


def _who_decides(unit: Unit, row: Row, was: Row | None, verdict: Park) -> Row:
    """A rule that asks says who and how long; a row that is parked again for anything else keeps who may decide it."""
    rule = verdict.rule
    if rule is None or verdict.origin != "APPROVAL_REQUIRED":
        if was is None:
            return row
        return row._replace(
            approver_scope=was.approver_scope, approvals_needed=was.approvals_needed, separate_requester=was.separate_requester
        )
    row = row._replace(approver_scope=rule.approver_scope, approvals_needed=rule.approvals, separate_requester=rule.separate_requester)
    if rule.expires_in is None:
        return row
    # no clock settles a doubt
    return row._replace(expires_at=durations.later(unit.now, rule.expires_in), on_expiry="stay" if row.doubt else rule.on_expiry)


def keep(unit: Unit, run: Run, call: Call, row: Row, event: str, facts: dict[str, Json]) -> Row:
    """Saves a row together with its parking event, which binds exactly this row: a row without one is never started."""
    row = row._replace(created_at=unit.now, parked_by=unit.next_seq)
    told: dict[str, Json] = {**facts, "ref": digests.ref(row), "version": row.version, "origin": row.origin}
    told |= {"row": digest(row), "call": digest(call)}
    unit.record(event, run, told, call=call, digest=row.call_digest, attempt=row.starts or None)
    unit.tx.save(row)
    return row


def digest(record: Row | Call) -> str:
    """Over everything that a decision rests on: hex sha256 of the canonical JSON of a row's fields, or of a call's."""
    return digests.sha256(canonical.flat(record._asdict()).encode("utf-8", "surrogatepass"))


def parked_by_the_chain(unit: Unit, row: Row) -> None:
    """A row is started only if the chain has the event that parked exactly it; one that was put in or changed by hand has none."""
    if row in unit.shown:
        return
    if not is_parked(unit.tx, row) or not _is_pinned(unit.tx, row):
        raise _by_other_hands(row)
    unit.shown.add(row)


def _by_other_hands(row: Row) -> ToolgateError:
    return ToolgateError(
        "storage", f"no event of the log parked {row.id}: the database was changed by other hands", "toolgate audit verify"
    )


def _is_pinned(tx: Reader, row: Row) -> bool:
    """Whether the tool that is shown with the row is the one that it was parked under."""
    stored = tx.definition(row.definition) if row.definition is not None else None
    return stored is None or is_whole(stored)


def is_parked(tx: Reader, row: Row) -> bool:
    """Whether the last word of the log on the call is that exactly this row waits, for exactly this call."""
    stored = tx.call(row.id, row.revision)
    event = _last_word(tx, row.id)
    return (
        stored is not None
        and event is not None
        and event.seq == row.parked_by
        and event.type in PARKING
        and event.call_digest == row.call_digest
        and chain.intact(event)
        and tells(event, "row", digest(row))
        and tells(event, "call", digest(stored[0]))
    )


def _last_word(tx: Reader, call_id: str) -> Event | None:
    """The newest event that says whether a call waits: what was merely refused meanwhile says nothing of that."""
    for limit in (8, None):
        told = reversed(tuple(tx.events(EventQuery(call_id=call_id, limit=limit, newest=limit is not None))))
        found = next((event for event in told if event.type in PARKING or event.type in _GOING_ON), None)
        if found is not None:
            return found
    return None


def asked_by_the_chain(unit: Unit, row: Row) -> None:
    """The same for what a step asks: its event says which row and, by its type, what for."""
    event = unit.tx.event(row.parked_by)
    if (
        event is None
        or event.type != ASKING[row.origin]
        or (event.run_id, event.step_id) != (row.run_id, row.step)
        or not chain.intact(event)
        or not tells(event, "row", row.id)
        or not tells(event, "asks", digest(row))
    ):
        raise _by_other_hands(row)


def is_started(tx: Reader, attempt: Attempt) -> bool:
    """Whether the chain has the event that started exactly this attempt, or said that it is to be started again."""
    row = attempt.row
    told = tx.events(EventQuery(call_id=row.id, limit=8, newest=True))
    return any(chain.intact(event) and tells(event, "attempt_row", digest(row)) for event in told)
