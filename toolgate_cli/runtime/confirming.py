"""The answer to a tool that stopped half-way: it is started again with it and with its stored state, as any start is (I1, I3, I9).

Where the gate would not start it now, a yes is refused and the question stays. A no is taken all the same: the call ends without the tool.
"""

from __future__ import annotations

from typing import Literal

from ..core.errors import Kind, ToolgateError
from ..core.types import Json
from ..core.verdict import Park, Question
from ..core.world import Needs
from . import doubted, ending, gate, rounds
from .cases import Case, Decided, claim, said
from .place import put, waiting
from .work import Invoke


def answer(case: Case, word: Literal["yes", "no"]) -> Decided | Needs | ToolgateError:
    if case.decision.arguments is not None:
        raise ToolgateError("invalid", f"{case.row.id} has been started: its arguments are what they are", "answer without --arguments")
    if (refusal := doubted.refusal(case)) is not None:
        return refusal
    question = Question(case.call, case.run.workflow, case.run.started, case.row, "answer", since=case.run.created_at)
    verdict = gate.judge(case.unit, question, case.engine.world)
    if isinstance(verdict, Needs):
        return verdict
    if isinstance(verdict, Park):
        return _refused(case, verdict) if word == "yes" else _without_the_tool(case, verdict)
    unit, row = case.unit, rounds.answered(claim(case), word)
    unit.shown.add(row)  # what was asked is what the log says; the answer is this very decision
    facts: dict[str, Json] = {**said(case), "answer": word, "round": rounds.number(row)}
    unit.decided("TOOL_INVOCATION_APPROVED" if word == "yes" else "TOOL_INVOCATION_REJECTED", case.run, row, case.call, facts)
    run, started = gate.start(unit, case.run, case.call, row, verdict, case.engine.world.config)
    put(unit, waiting(unit, run), case.run.version)
    return Decided("approved" if word == "yes" else "rejected", Invoke(started))


def _without_the_tool(case: Case, verdict: Park) -> Decided:
    said_so = f"{case.decision.reason or 'rejected by a person'} (the tool was not told: {verdict.reason})"
    return ending.refuse(case._replace(decision=case.decision._replace(reason=said_so)))


def _refused(case: Case, verdict: Park) -> ToolgateError:
    kind: Kind = "policy_denied" if verdict.origin == "POLICY_DENIED" else "superseded" if verdict.superseded else "not_authorised"
    if verdict.phase is not None:
        kind = "invalid"
    message = f"{case.row.id} cannot go on: {verdict.reason}"
    return ToolgateError(kind, message, f"mend that and answer again, or end it without the tool: toolgate reject {case.row.id}")
