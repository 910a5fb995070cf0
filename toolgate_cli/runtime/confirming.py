"""The answer to a tool that stopped half-way: it is started again with it and with its stored state, as any start is (I1, I3, I9).

Where it would not be started now, a yes is refused and the question stays. A no is taken all the same: the call ends without the tool.
"""

from __future__ import annotations

from typing import Literal

from ..core import cursor
from ..core.errors import Kind, ToolgateError
from ..core.records import Run
from ..core.types import Json
from ..core.verdict import Park, Question
from ..core.world import Needs
from . import doubted, ending, gate, parking, rounds
from .cases import Case, Decided, claim, said
from .place import put, waiting
from .work import Invoke


def answer(case: Case, word: Literal["yes", "no"]) -> Decided | Needs | ToolgateError:
    if case.decision.arguments is not None:
        raise ToolgateError("invalid", f"{case.row.id} has been started: its arguments are what they are", "answer without --arguments")
    if (running := doubted.still_running(case)) is not None:
        return running
    if (refusal := doubted.refusal(case)) is not None:  # also of a tool that was declared safe to repeat, and is no more
        return refusal if word == "yes" else _without_the_tool(case, refusal.message)
    question = Question(case.call, case.run.workflow, case.run.started, case.row, "answer", since=case.run.created_at)
    verdict = gate.judge(case.unit, question, case.engine.world)
    if isinstance(verdict, Needs):
        return verdict
    if isinstance(verdict, Park):
        return _refused(case, verdict) if word == "yes" else _without_the_tool(case, _why(case, verdict))
    unit, row = case.unit, rounds.answered(claim(case), word)
    unit.shown.add(row)  # what was asked is what the log says; the answer is this very decision
    facts: dict[str, Json] = {**said(case), "answer": word, "round": rounds.number(row)}
    unit.decided("TOOL_INVOCATION_APPROVED" if word == "yes" else "TOOL_INVOCATION_REJECTED", case.run, row, case.call, facts)
    run = case.run if word == "yes" else _wary(case.run)
    run, started = gate.start(unit, run, case.call, row, verdict, case.engine.world.config)
    put(unit, waiting(unit, run), case.run.version)
    return Decided("approved" if word == "yes" else "rejected", Invoke(started))


def _wary(run: Run) -> Run:
    """After a no the rest of the turn is asked for, whatever the tool says that came of it."""
    *below, frame = cursor.load(run.cursor)
    return run._replace(cursor=cursor.dump((*below, frame._replace(wary=True))))


def _without_the_tool(case: Case, why: str) -> Decided:
    said_so = f"{case.decision.reason or 'rejected by a person'} (the tool was not told: {why})"
    return ending.refuse(case._replace(decision=case.decision._replace(reason=said_so)))


def _why(case: Case, verdict: Park) -> str:
    """What keeps it from going on; what a rule says to whoever approves is none of it where the tool is another."""
    if not verdict.superseded:
        return verdict.reason
    return f"its tool changed since it asked: {parking.changed(case.unit.tx, case.row, verdict.definition)}"


def _refused(case: Case, verdict: Park) -> ToolgateError:
    kind: Kind = "policy_denied" if verdict.origin == "POLICY_DENIED" else "superseded" if verdict.superseded else "not_authorised"
    if verdict.phase is not None:
        kind = "invalid"
    mend = "bring the tool back as it was" if verdict.superseded else "mend that"
    hint = f"{mend} and answer again, or end it without the tool: toolgate reject {case.row.id}"
    return ToolgateError(kind, f"{case.row.id} cannot go on: {_why(case, verdict)}", hint)
