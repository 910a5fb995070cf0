"""An edit: other arguments for a call that waits for approval, as a revision of its own. Calls are immutable; the old ref ends (I3).

Whatever stands before the policy refuses an edit and leaves the row as it was, and so does its denial; otherwise the new revision takes its
place.
"""

from __future__ import annotations

from ..core import digests
from ..core.errors import ToolgateError
from ..core.records import Call, Row
from ..core.types import Json
from ..core.verdict import Park, Question, Start, same_terms
from . import receiving
from .cases import Case, claim, said


def revision(case: Case) -> Call | None:
    """The call with the arguments of the decision; None where they are the ones that it has. ToolgateError("invalid") where they cannot be
    taken."""
    try:
        call = receiving.revise(case.unit, case.call, case.decision.arguments or {}, case.decision.key, case.engine.world)
    except ToolgateError as error:
        raise _unfit(case, error.message) from None
    return None if call.arguments == case.call.arguments else call


def question(case: Case, call: Call) -> Question:
    """What the gate is asked: the new revision, against the row as it would have been parked for it under the definition that was shown."""
    shown = digests.call_digest(call.capability, call.arguments or "", case.row.definition or "")
    return Question(call, case.run.workflow, case.run.started, case.row._replace(call_digest=shown), "edit", since=case.run.created_at)


def refusal(case: Case, verdict: Start | Park) -> ToolgateError | None:
    """What is to be on record of an edit that nobody, or not its editor, may ask for. ToolgateError("invalid") for one that cannot
    be judged."""
    if isinstance(verdict, Start):
        return None
    if verdict.phase is not None:
        raise _unfit(case, verdict.reason)
    if verdict.origin == "POLICY_DENIED":
        hint = f"it still waits as it was: toolgate pending show {case.row.id}"
        return ToolgateError("policy_denied", f"the policy denies {case.row.id} with these arguments: {verdict.reason}", hint)
    if verdict.code != "auth_denied":
        return None
    return ToolgateError(
        "not_authorised", f"{case.unit.person.name} may not ask for this call: {verdict.reason}", "somebody who may has to edit it"
    )


def replace(case: Case, call: Call, verdict: Start | Park) -> tuple[Row, Case]:
    """Takes the old row and stores the new revision: the row that was taken, and the case as it goes on."""
    unit, claimed = case.unit, claim(case)
    told: dict[str, Json] = {
        "revision": call.revision,
        "digest": verdict.call_digest,
        "arguments_digest": call.arguments_digest,
        "arguments_digest_before": case.call.arguments_digest,
    }
    unit.decided("TOOL_INVOCATION_SUPERSEDED", case.run, claimed, case.call, {**said(case), **told})
    receiving.request(unit, case.run, call, None)
    return claimed, case._replace(call=call)


def is_a_vote(was: Row, verdict: Park) -> bool:
    """Whether who edited has thereby approved the new row too: it asks for what the old one did, and not for somebody else."""
    return verdict.origin == "APPROVAL_REQUIRED" and not verdict.superseded and same_terms(was, verdict.rule) and not was.separate_requester


def _unfit(case: Case, why: str) -> ToolgateError:
    hint = f"{case.row.id} still waits as it was: toolgate tools show {case.call.capability}"
    return ToolgateError("invalid", f"the new arguments cannot be taken: {why}", hint)
