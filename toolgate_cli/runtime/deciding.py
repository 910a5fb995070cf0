"""Decisions on tool calls: approve, reject, retry, continue-tool. One race, one winner (I2); what runs is what was shown (I3).

A decision is one transaction: the row is verified or claimed as it was selected, and everything that follows from it commits with it.
A refusal that is itself on record commits its event and is raised afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Literal, TypeAlias

from ..core import chain, digests, quorum, verbs
from ..core.config import Config
from ..core.errors import Choice, ToolgateError
from ..core.records import Call, EventQuery, Row, Run, Vote
from ..core.types import Json
from ..core.verdict import Park, Question, Start, past_deadline, untold
from ..core.world import Needs
from . import doubted, editing, ending, gate, parking, recovery, standing
from .answers import EffectWord
from .cases import Case, Decided, Decision, Undone, claim, said
from .engine import Engine
from .place import put, waiting
from .sealing import tells
from .unit import Unit
from .work import Invoke

Handler: TypeAlias = Callable[[Case], "Decided | Needs | ToolgateError"]  # an error: the refusal is to be on record


def decide(engine: Engine, target: Row, decision: Decision, ask: Callable[[Call], None] | None = None) -> EffectWord:
    """Carries a decision out and drives what it set free. Raises what refused it. `ask`: is given the call as it would be decided, once
    nothing refuses that and with nothing of it done; where it returns, the decision is made on what is there then."""
    _load(target)
    if decision.arguments is not None:
        decision = decision._replace(key=engine.ports.mint.id("k"))  # once: what a probe is asked about is what is started
    while True:
        call: Call | None = None
        with suppress(Undone), engine.write() as unit:
            decided = _decide(engine, unit, target, decision)
            if ask is not None and not isinstance(decided, Needs) and not _in_vain(unit, target, decided):
                call = _newest(unit, target)
                raise Undone
        if call is not None:
            assert ask is not None, "nobody else is shown a call"
            ask(call)
            ask = None
            engine.forget()  # a person may have taken their time
        elif isinstance(decided, Needs):
            engine.prepare(decided)
        else:
            break
    engine.carry(target.run_id, decided.work)
    if decided.refusal is not None:
        if decided.work is None:
            raise decided.refusal
        engine.faults.setdefault(target.run_id, decided.refusal)  # something was started on the way: how the run stands is the answer
    return decided.effect


def _load(row: Row) -> None:
    """What few decisions need: now, for no module is imported while the store is locked (I7)."""
    if row.origin == "CONFIRMATION_REQUIRED":
        from . import confirming  # noqa: F401
    if row.doubt is not None:
        from . import reconciling  # noqa: F401


def _in_vain(unit: Unit, target: Row, decided: Decided) -> bool:
    """Whether a word would count for nothing: it is refused and the row stays as it is, or it came too late."""
    refusal = decided.refusal
    return refusal is not None and (refusal.kind == "expired" or unit.tx.verify_still_current(target) is not None)


def _newest(unit: Unit, target: Row) -> Call:
    stored = unit.tx.call(target.id)
    assert stored is not None, target.id
    return stored[0]


def _decide(engine: Engine, unit: Unit, target: Row, decision: Decision) -> Decided | Needs:
    row = unit.tx.verify_still_current(target)
    if row is None:
        raise ToolgateError("claim_lost", f"{target.id} was decided by somebody else", "toolgate pending list")
    if not unit.ports.files.unchanged(engine.world):
        return Needs(files=True)  # who may decide is said by the files as they are now
    run, stored = unit.run(row.run_id), unit.tx.call(row.id, row.revision)
    assert run is not None and stored is not None
    case = Case(engine, unit, run, row, stored[0], decision)
    if standing.is_over(row, unit.now) and row.on_expiry == "reject" and run.status != "CANCELLED":
        return ending.lapse(case)
    name = standing.handler(unit.tx, run, row, decision.verb, standing.of(unit))
    if (why := _untold(unit, run, row, name, engine.world.config)) is not None:  # what cannot be judged is no yes (I5)
        hint = f"set the clock and decide again; if that event's time is wrong, toolgate reject {row.id}"
        raise ToolgateError("expired", why, hint)
    if name not in UNSIGNED or decision.outcome is not None:
        parking.parked_by_the_chain(unit, row)
    handler = HANDLERS[name]
    case = case._replace(run=recovery.sweep(unit, run, but=row.id))
    config = engine.world.config
    try:
        quorum.may_decide(row, unit.person.name, stored[0].requested_by, config.approvers, decision.verb)
    except ToolgateError as refusal:
        return _refused(case, refusal)
    decided = handler(case)
    return _refused(case, decided) if isinstance(decided, ToolgateError) else decided


def _untold(unit: Unit, run: Run, row: Row, name: str, config: Config) -> str | None:
    """Which time of a row or its run, that may be over, a clock that is behind the log does not tell."""
    if unit.behind and row.expires_at is not None and name in ("start", "answer_yes", "answer_no"):
        return untold(unit.now, f"{row.id} has expired")
    return past_deadline(config, run.created_at, unit.now, True) if unit.behind and name in STARTS else None


def _refused(case: Case, refusal: ToolgateError) -> Decided:
    """A refusal for scope, separation or a missing flag is itself on record."""
    facts: dict[str, Json] = {"verb": case.decision.verb, "kind": refusal.kind}
    case.unit.decided("DECISION_REFUSED", case.run, case.row, case.call, facts)
    return Decided("approved", refusal=refusal)


# ---- the handlers of the table of verbs ----
def _start(case: Case) -> Decided | Needs | ToolgateError:
    edited = editing.revision(case) if case.decision.arguments is not None else None
    if edited is not None:
        return _edit(case, edited)
    found = doubted.look(case, "TOOL_INVOCATION_APPROVED", "approved")
    if not isinstance(found, Case):
        return found
    case = found
    verdict = gate.judge(case.unit, _question(case, "approve"), case.engine.world)
    if isinstance(verdict, Needs):
        return verdict
    # a limit is judged by the last voter: nothing but a full quorum may leave the row cleared by approval
    if isinstance(verdict, Start) or verdict.cleared == "approval":
        votes = [vote for vote in case.unit.tx.votes(case.row) if vote.actor in _voted(case)]
        name = case.unit.person.name
        try:
            left = quorum.votes_left(case.row, votes, case.engine.world.config.approvers, name)
        except ToolgateError as second:
            return _refused(case, second)
        _vote(case, last=left == 0)
        if left > 0:
            return Decided("voted")
    return _carry_out(case, verdict, "TOOL_INVOCATION_APPROVED", "approved")


def _edit(case: Case, call: Call) -> Decided | Needs:
    """A yes to other arguments: the new revision starts where nothing more is asked than this person's word, else it is parked."""
    verdict = gate.judge(case.unit, editing.question(case, call), case.engine.world)
    if isinstance(verdict, Needs):
        return verdict
    approved = isinstance(verdict, Start) or editing.is_a_vote(case.row, verdict)
    edited = case._replace(row=parking.of_revision(case.row, call))
    refusal = doubted.refusal(edited) if approved else editing.refusal(case, verdict)  # a yes is refused for the doubt alone
    if refusal is not None:
        return _refused(case, refusal)
    claimed, case = editing.replace(case, call, verdict)
    if isinstance(verdict, Start):
        digest = claimed._replace(call_digest=verdict.call_digest)
        case.unit.decided("TOOL_INVOCATION_APPROVED", case.run, digest, call, said(case))
        return _begin(case, claimed, verdict, "approved")
    if verdict.superseded:
        verdict = _with_changes(case.unit, claimed, verdict)
    row = parking.park(case.unit, case.run, call, claimed, verdict)
    if approved:
        _vote(case._replace(row=row))
    work = case.engine.move_on(case.unit, case.run)
    return Decided("voted", work) if approved else Decided("approved", work, _parked_again(verdict, row, as_edited=" as edited"))


def _voted(case: Case) -> set[str]:
    """Who has voted for exactly this row by the log: a vote that no event tells of is none."""
    row = case.row
    events = case.unit.tx.events(EventQuery(call_id=row.id, type="TOOL_INVOCATION_VOTED"))
    return {
        event.actor
        for event in events
        if chain.intact(event) and event.call_digest == row.call_digest and tells(event, "version", row.version)
    }


def _vote(case: Case, *, last: bool = False) -> None:
    """A vote for exactly this row; the last one is told of by what it starts."""
    case.unit.tx.add([Vote(case.row.id, digests.ref(case.row), case.unit.person.name, case.unit.now)])
    if not last:
        case.unit.decided("TOOL_INVOCATION_VOTED", case.run, case.row, case.call, said(case))


def _replay(case: Case) -> Decided | Needs | ToolgateError:
    found = doubted.look(case, "TOOL_INVOCATION_RETRIED", "retried")
    if not isinstance(found, Case):
        return found
    case = found
    verdict = gate.judge(case.unit, _question(case, "retry"), case.engine.world)
    if isinstance(verdict, Needs):
        return verdict
    return _carry_out(case, verdict, "TOOL_INVOCATION_RETRIED", "retried")


def _ask_again(case: Case) -> Decided | Needs | ToolgateError:
    """An approval that expired: the whole gate again, with a fresh row if a person is still to be asked."""
    verdict = gate.judge(case.unit, _question(case, "ask"), case.engine.world)
    if isinstance(verdict, Needs):
        return verdict
    found = doubted.look(case, "TOOL_INVOCATION_RETRIED", "retried") if isinstance(verdict, Start) else case
    if not isinstance(found, Case):
        return found
    case = found
    return _carry_out(case, verdict, "TOOL_INVOCATION_RETRIED", "retried")


def _answer(case: Case, word: Literal["yes", "no"]) -> Decided | Needs | ToolgateError:
    from . import confirming  # see _load

    return confirming.answer(case, word)


def _question(case: Case, verb: Literal["ask", "approve", "retry"]) -> Question:
    return Question(case.call, case.run.workflow, case.run.started, case.row, verb, since=case.run.created_at)


def _carry_out(case: Case, verdict: Start | Park, event: str, effect: EffectWord) -> Decided:
    """Claims the row, and starts the call or parks it again."""
    claimed = claim(case)
    unit, run = case.unit, case.run
    if isinstance(verdict, Start):
        unit.decided(event, run, claimed, case.call, said(case))
        return _begin(case, claimed, verdict, effect)
    if verdict.superseded:
        verdict = _with_changes(unit, claimed, verdict)
        unit.decided("TOOL_INVOCATION_SUPERSEDED", run, claimed, case.call, {**said(case), "digest": verdict.call_digest})
    elif event == "TOOL_INVOCATION_RETRIED":
        unit.decided(event, run, claimed, case.call, said(case))
    else:  # it was approved, and the gate did not let it through
        unit.decided("DECISION_REFUSED", run, claimed, case.call, {**said(case), "verb": case.decision.verb, "kind": verdict.code})
    row = parking.park(unit, run, case.call, claimed, verdict)
    work = case.engine.move_on(unit, run)
    return Decided(
        effect, work, _parked_again(verdict, row, asked_again=claimed.origin == "APPROVAL_REQUIRED" and case.decision.verb == "retry")
    )


def _begin(case: Case, claimed: Row, verdict: Start, effect: EffectWord) -> Decided:
    run, started = gate.start(case.unit, case.run, case.call, claimed, verdict, case.engine.world.config)
    put(case.unit, waiting(case.unit, run), case.run.version)
    return Decided(effect, Invoke(started))


def _with_changes(unit: Unit, row: Row, verdict: Park) -> Park:
    """The same, with what of the tool is not as it was parked."""
    return verdict._replace(
        reason=f"{verdict.reason} (changed since it was asked for: {parking.changed(unit.tx, row, verdict.definition)})"
    )


def _parked_again(verdict: Park, row: Row, *, asked_again: bool = False, as_edited: str = "") -> ToolgateError | None:
    """How a verb ends whose call was parked again without a start."""
    if row.origin == "POLICY_DENIED":
        denied = verbs.command("POLICY_DENIED", digests.ref(row))
        return ToolgateError("policy_denied", f"the policy now denies {row.id}: {row.reason}", denied)
    if row.origin == "APPROVAL_REQUIRED" and not asked_again:
        why = f"its tool changed after it was parked: {row.reason}" if verdict.superseded else f"the policy asks for it: {row.reason}"
        ref = digests.ref(row)
        choices = [Choice(f"toolgate pending show {ref}", ""), Choice(verbs.command("APPROVAL_REQUIRED", ref), "")]
        return ToolgateError("superseded", f"{row.id}{as_edited} waits for approval: {why}", choices=choices)
    return None


HANDLERS: dict[str, Handler] = {
    "start": _start,
    "answer_yes": lambda case: _answer(case, "yes"),
    "answer_no": lambda case: _answer(case, "no"),
    "refuse": ending.refuse,
    "replay": _replay,
    "ask_again": _ask_again,
    "lapsed": ending.lapsed,
    "give_up": ending.give_up,
    "override": ending.override,
    "settle": ending.settle_doubt,
}
STARTS = ("start", "answer_yes", "replay", "ask_again")  # a no is taken whatever the time is
UNSIGNED = ("refuse", "give_up", "lapsed", "override")  # they let nothing run: a row that other hands changed can still be closed
