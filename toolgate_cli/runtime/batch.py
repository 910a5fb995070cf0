"""The calls that a step asked for together: all are judged and stored at once, the cleared ones start in order, a failure holds back the
rest."""

from __future__ import annotations

from typing import TypeAlias

from ..core.config import Config
from ..core.cursor import ASKED, CALLS, Frame
from ..core.intents import CallTools, Settled
from ..core.records import Call, Outcome, Row, Run
from ..core.types import FAILED_ORIGINS
from ..core.values import NamedTuple
from ..core.verdict import Park, Question, Start, Verdict
from ..core.world import Needs, World
from . import gate, parking, receiving
from .unit import Unit
from .work import Invoke, Prepare

REFUSALS = ("rejected", "continued")  # after one of these, allow counts as require_approval for the rest of the turn


class Held(NamedTuple):
    """Rows or attempts of the run are open: it waits."""


Next: TypeAlias = Prepare | Invoke | Held | Settled


def open_batch(unit: Unit, run: Run, frame: Frame, step: str, intent: CallTools, world: World) -> tuple[Frame, Needs | None]:
    """Stores every call of the batch, parking those that a person decides; nothing at all is stored while something is needed first, unless
    that is a probe alone: nothing is run for a call that is not on record."""
    received = [receiving.receive(unit, run, step, asked, world) for asked in intent.calls]
    questions = [
        Question(call, run.workflow, run.started, wary=intent.wary, refusal=refusal, since=run.created_at) for call, refusal in received
    ]
    calls = [call for call, _ in received]
    verdicts = [gate.judge(unit, question, world) for question in questions]
    needs = _together([verdict for verdict in verdicts if isinstance(verdict, Needs)])
    if needs is not None and (needs.files or needs.tools or needs.schemas):
        return frame, needs._replace(probes=())
    for call, verdict in zip(calls, verdicts, strict=True):
        refused = verdict.reason if isinstance(verdict, Park) and verdict.phase == "RECEIVE" else None
        receiving.request(unit, run, call, refused)
        if isinstance(verdict, Park):
            parking.park(unit, run, call, None, verdict)
    phase = CALLS if needs is None else ASKED
    return frame._replace(phase=phase, memo=intent.memo, calls=tuple(call.id for call in calls), wary=intent.wary), needs


def judge_rest(unit: Unit, run: Run, frame: Frame, world: World) -> Needs | None:
    """Parks those of a stored batch that a person decides, once all of it can be judged: nothing of it starts before."""
    found = [_stored(unit, id) for id in frame.calls]
    wary = frame.wary or any(outcome.status in REFUSALS for _, outcome in found if outcome)
    held = {row.id for row in unit.tx.find_by_run(run.id)} | {attempt.row.id for attempt in unit.tx.attempts(run.id)}
    left = [call for call, outcome in found if outcome is None and call.id not in held]
    questions = [Question(call, run.workflow, run.started, wary=wary, since=run.created_at) for call in left]
    verdicts = [(question.call, gate.judge(unit, question, world)) for question in questions]
    needs = _together([verdict for _, verdict in verdicts if isinstance(verdict, Needs)])
    if needs is None:
        for call, verdict in verdicts:
            if isinstance(verdict, Park):
                parking.park(unit, run, call, None, verdict)
    return needs


def _together(needs: list[Needs]) -> Needs | None:
    if not needs:
        return None
    tools = dict.fromkeys(name for need in needs for name in need.tools)
    schemas = dict.fromkeys(name for need in needs for name in need.schemas)
    probes = tuple(probe for need in needs for probe in need.probes)
    return Needs(tuple(tools), tuple(schemas), any(need.files for need in needs), probes=probes)


def go_on(unit: Unit, run: Run, frame: Frame, world: World) -> tuple[Run, Next]:
    """The next thing to do for an open batch: a start, something to prepare, to wait, or all is settled."""
    found = [(call, outcome) for call, outcome in (_stored(unit, id) for id in frame.calls)]
    rows = {row.id: row for row in unit.tx.find_by_run(run.id)}
    running = {attempt.row.id for attempt in unit.tx.attempts(run.id)}
    refused = any(outcome.status in REFUSALS for _, outcome in found if outcome)
    for call, outcome in found:
        if outcome is not None or call.id in rows or call.id in running:
            continue
        if any(rows[id].origin in FAILED_ORIGINS for id in frame.calls if id in rows):
            return run, Held()  # an unsettled failure holds back the rest
        verdict = gate.judge(unit, Question(call, run.workflow, run.started, wary=frame.wary or refused, since=run.created_at), world)
        if isinstance(verdict, Needs):
            return run, Prepare(verdict)
        run, claim = _judged(unit, run, call, verdict, rows, world.config)
        if claim is not None:
            return run, claim
    if rows or running:
        return run, Held()
    return run, Settled(tuple(outcome for _, outcome in found if outcome), tuple(call.capability for call, _ in found), frame.wary)


def _judged(unit: Unit, run: Run, call: Call, verdict: Verdict, rows: dict[str, Row], config: Config) -> tuple[Run, Invoke | None]:
    if isinstance(verdict, Start):
        run, claim = gate.start(unit, run, call, None, verdict, config)
        return run, Invoke(claim)
    assert isinstance(verdict, Park)
    rows[call.id] = parking.park(unit, run, call, None, verdict)
    return run, None


def _stored(unit: Unit, id: str) -> tuple[Call, Outcome | None]:
    stored = unit.tx.call(id)
    assert stored is not None, id
    return stored
