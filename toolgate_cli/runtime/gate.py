"""The chokepoint: the only place that makes a Claim and the only one that calls a provider (I1, I2, I9).

A start is one transaction that takes the row, writes the attempt and its STARTED event; only then the provider is called,
outside any transaction; a second transaction takes the attempt and records how it ended.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..core import canonical, chain, digests, durations, effects, outcomes, references
from ..core.config import Config, Tool
from ..core.errors import ToolgateError
from ..core.intents import Asked
from ..core.records import Accepted, Attempt, Call, Definition, Outcome, Row, Run
from ..core.results import Judged, ToolResult
from ..core.types import Json
from ..core.verdict import Park, Question, Start, Verdict, evaluate
from ..core.world import Needs, World
from .ports import InvokeLimits, Ports
from .unit import Unit

ARGUMENTS = "arguments/1"  # the checker under which validated arguments are remembered


class Claim(NamedTuple):
    """The right to start one attempt of one call, once. Made here alone, in the transaction that wrote the attempt."""

    attempt: Attempt
    call: Call
    tool: Tool
    bound: object

    @property
    def call_id(self) -> str:
        return self.call.id

    @property
    def run_id(self) -> str:
        return self.call.run_id

    @property
    def key(self) -> str:
        return self.call.idempotency_key

    @property
    def fence(self) -> str | None:
        return self.attempt.row.left_behind

    @property
    def arguments(self) -> str:
        return self.call.arguments or "{}"


def receive(unit: Unit, run: Run, step: str, asked: Asked, config: Config) -> Call:
    """A call as it was asked for: canonical arguments, or none where they cannot be taken."""
    refusal: str | None = None
    try:
        text: str | None = canonical.receive(asked.arguments, asked.raw, config.limits)
    except ToolgateError as error:
        text, refusal = None, error.message
    tool = config.tools.get(asked.capability)
    mint = unit.ports.mint
    return Call(
        id=asked.id or mint.id("c"),
        revision=1,
        run_id=run.id,
        step=step,
        capability=asked.capability,
        arguments=text,
        arguments_digest=digests.sha256(text if text is not None else refusal or ""),
        idempotency_key=mint.id("k"),
        title=_title(tool, text),
        rationale=asked.rationale,
        label=asked.label,
        agent=asked.agent,
        requested_by=run.requester,
        created_at=unit.now,
    )


def _title(tool: Tool | None, arguments: str | None) -> str | None:
    """What to call one call; cosmetic, so whatever fails falls back to the name."""
    if tool is None or tool.title is None or arguments is None:
        return None
    values = canonical.parse(arguments)

    def lookup(name: str) -> Json:
        if not name.startswith("args.") or not isinstance(values, dict):
            raise KeyError(name)
        return values[name.removeprefix("args.")]

    try:
        title = references.fill(tool.title, lookup)
    except ToolgateError:
        return None
    return title if isinstance(title, str) else canonical.encode(title)


def judge(unit: Unit, question: Question, world: World) -> Verdict:
    """The verdict on a call, in the transaction that reached it; Needs where something outside has to be fetched first."""
    if not unit.ports.files.unchanged(world):
        return Needs(files=True)
    return evaluate(question, world, lambda digest: unit.tx.accepted(Accepted(digest, ARGUMENTS)))


def request(unit: Unit, run: Run, call: Call, refusal: str | None) -> None:
    """Stores a call with its REQUESTED event."""
    unit.tx.add([call])
    facts: dict[str, Json] = {"arguments_digest": call.arguments_digest, "agent": call.agent, "label": call.label}
    unit.record("TOOL_INVOCATION_REQUESTED", run, facts if refusal is None else {**facts, "refused": refusal}, call=call)


def park(unit: Unit, run: Run, call: Call, was: Row | None, verdict: Park) -> Row:
    """Saves the row that waits for a person, with the event that says why; doubt and starts stay on record."""
    rule = verdict.rule
    if verdict.definition is not None:
        unit.tx.add([Definition(verdict.definition.digest, "tool", verdict.definition.definition)])
    if verdict.seen is not None:
        unit.tx.add([Accepted(verdict.seen, ARGUMENTS)])
    keeps = was if was is not None and rule is None else None  # without a rule of its own it keeps who may decide
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
        rule=rule.name if rule else keeps.rule if keeps else None,
        approver_scope=rule.approver_scope if rule else keeps.approver_scope if keeps else None,
        approvals_needed=rule.approvals if rule else keeps.approvals_needed if keeps else 1,
        separate_requester=rule.separate_requester if rule else keeps.separate_requester if keeps else False,
        starts=was.starts if was else 0,
        doubt=was.doubt if was else None,
        last=was.last if was else None,
        left_behind=was.left_behind if was else None,
        expires_at=durations.later(unit.now, rule.expires_in) if rule and rule.expires_in else None,
        on_expiry=rule.on_expiry if rule and rule.expires_in else None,
    )
    facts: dict[str, Json] = {"reason": verdict.reason, "code": verdict.code, "rule": row.rule}
    if verdict.phase is not None:
        facts = {"phase": verdict.phase, "code": verdict.code, "message": verdict.reason}
    return keep(unit, run, call, row, verdict.event, facts)


def keep(unit: Unit, run: Run, call: Call, row: Row, event: str, facts: dict[str, Json]) -> Row:
    """Saves a row together with its parking event, which names exactly this row: a row without one is never started."""
    row = row._replace(created_at=unit.now, parked_by=unit.next_seq)
    told: dict[str, Json] = {**facts, "ref": digests.ref(row), "version": row.version, "origin": row.origin}
    unit.record(event, run, told, call=call, digest=row.call_digest, attempt=row.starts or None)
    unit.tx.save(row)
    return row


def start(unit: Unit, run: Run, call: Call, was: Row | None, verdict: Start, config: Config) -> tuple[Run, Claim]:
    """T1: the attempt and its STARTED event. The caller has taken the row that was decided in this same transaction."""
    if was is not None:
        _parked_by_the_chain(unit, was)
    row = was or Row(call.id, 1, run.id, call.step, "APPROVAL_REQUIRED", call.revision)
    return _begin(unit, run, call, row._replace(rule=row.rule or verdict.rule), row.starts + 1, verdict, config)


def start_again(unit: Unit, run: Run, call: Call, waiting: Attempt, verdict: Start, config: Config) -> tuple[Run, Claim]:
    """T1 of a repetition: the waiting attempt (already taken) becomes a running one."""
    return _begin(unit, run, call, waiting.row, waiting.number, verdict, config)


def overtaken(unit: Unit, run: Run, call: Call, waiting: Attempt) -> None:
    """The tool changed before the next attempt of a doubtful call, and no longer permits it: a person decides."""
    reason = "the tool changed before its next attempt and is not declared safe to repeat any more"
    row = waiting.row._replace(version=waiting.row.version + 1, origin="OUTCOME_UNKNOWN", starts=waiting.number - 1, reason=reason)
    facts: dict[str, Json] = {"phase": "INVOKE", "code": "tool_changed", "message": reason}
    keep(unit, run, call, row._replace(expires_at=None, on_expiry=None), "TOOL_INVOCATION_OUTCOME_UNKNOWN", facts)


def permits(row: Row, tool: Tool) -> bool:
    """I9: whether a call may be started again on nobody's word: it is not in doubt, or the stricter of its effect class then and now
    permits repetition."""
    return row.doubt is None or effects.repeatable(effects.stricter(row.doubt, tool.effect))


def _begin(unit: Unit, run: Run, call: Call, row: Row, number: int, verdict: Start, config: Config) -> tuple[Run, Claim]:
    unit.tx.add([Definition(verdict.ready.digest, "tool", verdict.ready.definition)])
    if verdict.seen is not None:
        unit.tx.add([Accepted(verdict.seen, ARGUMENTS)])
    owners = unit.ports.owners
    host, boot = owners.place()
    deadline = durations.later(unit.now, verdict.tool.timeout + 2)
    row = row._replace(
        call_digest=verdict.call_digest,
        definition=verdict.ready.digest,
        cleared=verdict.cleared,
        left_behind=unit.ports.mint.id("f"),  # known before anything starts, so that recovery can look for survivors
    )
    attempt = Attempt(row, number, "running", owners.mine(), host, boot, deadline)
    unit.tx.begin(attempt)
    facts: dict[str, Json] = {
        "config": config.digest,
        "rule": verdict.rule,
        "cleared": verdict.cleared,
        "version": row.version,
        "effect": verdict.tool.effect,
    }
    unit.record("TOOL_INVOCATION_STARTED", run, facts, call=call, digest=verdict.call_digest, attempt=number)
    return run._replace(started=run.started + 1), Claim(attempt, call, verdict.tool, verdict.bound)


def _parked_by_the_chain(unit: Unit, row: Row) -> None:
    """A row is started only if the chain has the event that parked exactly it; one that was put in by hand has none."""
    event = unit.tx.event(row.parked_by)
    sound = event is not None and chain.intact(event) and (event.call_id, event.call_digest) == (row.id, row.call_digest)
    if sound and event is not None and event.payload is not None:
        payload = canonical.parse(event.payload)
        sound = isinstance(payload, dict) and payload.get("ref") == digests.ref(row)
    if not sound:
        raise ToolgateError(
            "storage", f"no event of the log parked {row.id}: the database was changed by other hands", "toolgate audit verify"
        )


def invoke(ports: Ports, claim: Claim, config: Config) -> ToolResult:
    """Calls the provider, once, outside any transaction; a fault of the provider's own code is an uncertain end."""

    def stop() -> bool:
        try:
            with ports.store.read() as tx:
                mine = [attempt for attempt in tx.attempts(claim.run_id) if attempt.row.id == claim.call_id]
        except ToolgateError:
            return False  # a store that cannot be read says nothing about the call
        return not mine or mine[0].cancelled

    limits = InvokeLimits(claim.tool.timeout, config.limits.output_bytes, stop)
    try:
        return ports.provider(claim.tool).invoke(claim, limits)
    except ToolgateError as error:
        return ToolResult("uncertain", message=error.message)
    except Exception as error:  # noqa: BLE001  # nothing that a provider does may lose the outcome
        return ToolResult("uncertain", message=f"the provider failed: {type(error).__name__}")


class After(NamedTuple):
    """How a call stands after an attempt: settled, parked (`row`), to be repeated (`waiting`), or late (an event and nothing else)."""

    state: Literal["settled", "parked", "repeat", "late"]
    waiting: Attempt | None = None


def settle(unit: Unit, run: Run, claim: Claim, result: ToolResult) -> After:
    """T2: takes the attempt and records what became of it. A result that comes too late is an event and changes nothing."""
    judged = outcomes.judge(claim.tool, result)
    held = unit.tx.finish(claim.attempt)
    facts: dict[str, Json] = {
        "code": judged.code,
        "message": judged.message,
        "size": result.size,
        "output_digest": result.digest or None,
        "truncated": result.truncated,
        "survivors": list(result.survivors),
        "dispatched": judged.dispatched,
        "effect_applied": judged.effect_applied,
    }
    if held is None or held.cancelled:
        return _late(unit, run, claim, held, judged, result, facts)
    if judged.kind in ("success", "business"):
        status: Literal["succeeded", "business_failed"] = "succeeded" if judged.kind == "success" else "business_failed"
        unit.tx.add(
            [Outcome(claim.call_id, status, judged.dispatched, judged.effect_applied, judged.code, judged.body, result.size, unit.now)]
        )
        told: dict[str, Json] = {**facts, "outcome": status}
        unit.record("TOOL_INVOCATION_COMPLETED", run, told, call=claim.call, digest=held.row.call_digest, attempt=held.number)
        return After("settled")
    return _failed(unit, run, claim, held, judged, result, facts)


def _failed(unit: Unit, run: Run, claim: Claim, held: Attempt, judged: Judged, result: ToolResult, facts: dict[str, Json]) -> After:
    tool = claim.tool
    row = _after_start(held, tool, judged, result)
    left = held.number - held.row.starts < tool.max_attempts and not result.survivors and result.left_behind is None
    then = effects.after(judged.kind, tool.effect, left)
    if then == "repeat":
        told: dict[str, Json] = {"phase": "INVOKE", **facts, "repeats": True}
        event = "TOOL_INVOCATION_OUTCOME_UNKNOWN" if judged.kind == "uncertain" else "TOOL_INVOCATION_FAILED"
        unit.record(event, run, told, call=claim.call, digest=held.row.call_digest, attempt=held.number)
        waiting = held._replace(row=held.row._replace(doubt=row.doubt, last=row.last), number=held.number + 1, state="waiting")
        unit.tx.begin(waiting)
        return After("repeat", waiting)
    origin: Literal["OUTCOME_UNKNOWN", "EXECUTION_FAILED"] = "OUTCOME_UNKNOWN" if then == "OUTCOME_UNKNOWN" else "EXECUTION_FAILED"
    event = "TOOL_INVOCATION_OUTCOME_UNKNOWN" if origin == "OUTCOME_UNKNOWN" else "TOOL_INVOCATION_FAILED"
    keep(unit, run, claim.call, row._replace(origin=origin, reason=judged.message), event, {"phase": "INVOKE", **facts})
    return After("parked")


def _after_start(held: Attempt, tool: Tool, judged: Judged, result: ToolResult) -> Row:
    """The row of an attempt that did not settle its call. Doubt is sticky: an uncertain end adds to it, a later clear failure does not
    take it away."""
    doubt = held.row.doubt
    if doubt is not None or judged.kind == "uncertain":
        doubt = effects.stricter(doubt or tool.effect, tool.effect)
    last = canonical.encode({"code": judged.code, "message": judged.message, "output": result.output[:2000]})
    return held.row._replace(
        version=held.row.version + 1,
        starts=held.number,
        doubt=doubt,
        last=last,
        left_behind=result.left_behind,
        expires_at=None,
        on_expiry=None,
    )


def _late(unit: Unit, run: Run, claim: Claim, held: Attempt | None, judged: Judged, result: ToolResult, facts: dict[str, Json]) -> After:
    """Recovery or a cancel was faster. Doubt of a cancelled run is still listed; everything else is an event only."""
    told: dict[str, Json] = {**facts, "kind": judged.kind}
    digest = held.row.call_digest if held else claim.attempt.row.call_digest
    unit.record("TOOL_INVOCATION_LATE_RESULT", run, told, call=claim.call, digest=digest, attempt=claim.attempt.number)
    if held is not None and judged.kind not in ("success", "business"):
        cancelled(unit, run, claim.call, _after_start(held, claim.tool, judged, result)._replace(reason=judged.message))
    return After("late")


def cancelled(unit: Unit, run: Run, call: Call, row: Row) -> None:
    """What is left of a call whose run was cancelled: its doubt, if it has any that matters, is listed until a person settles it."""
    if row.doubt in (None, "read_only"):
        unit.record("TOOL_INVOCATION_CANCELLED", run, {"reason": row.reason}, call=call, digest=row.call_digest, attempt=row.starts or None)
    else:
        keep(
            unit,
            run,
            call,
            row._replace(origin="OUTCOME_UNKNOWN"),
            "TOOL_INVOCATION_OUTCOME_UNKNOWN",
            {"phase": "INVOKE", "message": row.reason},
        )
