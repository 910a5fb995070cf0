"""The chokepoint: the only place that makes a Claim and the only one that calls a provider (I1, I2).

A start is one transaction that takes the row, writes the attempt and its STARTED event; only then the provider is called,
outside any transaction. How it ended is recorded by a second transaction, in `settling`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from ..core import canonical, durations, effects
from ..core.config import PROBER, Config, Tool
from ..core.errors import ToolgateError
from ..core.records import Accepted, Attempt, Call, Definition, Row, Run
from ..core.results import ToolResult
from ..core.secrets import Secrets
from ..core.types import Json
from ..core.values import NamedTuple
from ..core.verdict import Question, Start, Verdict, evaluate, time_left
from ..core.world import Needs, Probe, World
from . import doubts
from .parking import ARGUMENTS, digest, of_revision, parked_by_the_chain
from .plugs import Answer, InvokeLimits
from .rounds import answer
from .unit import Unit

if TYPE_CHECKING:
    from .ports import Ports


class Claim(NamedTuple):
    """The right to start one attempt of one call, once. Made here alone, in the transaction that wrote the attempt."""

    attempt: Attempt
    call: Call
    tool: Tool
    bound: object
    timeout: float  # seconds

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

    @property
    def answer(self) -> Answer | None:
        return answer(self.attempt.row)


class Asking(NamedTuple):
    """A probe on its way to the provider. It is no start: it has no lock, no attempt, and no event."""

    probe: Probe
    bound: object
    fence: None = None
    answer: None = None

    @property
    def call_id(self) -> str:
        return self.probe.call_id

    @property
    def run_id(self) -> str:
        return self.probe.run_id

    @property
    def key(self) -> str:
        return self.probe.key

    @property
    def arguments(self) -> str:
        return self.probe.arguments


def judge(unit: Unit, question: Question, world: World) -> Verdict:
    """The verdict on a call, in the transaction that reached it; Needs where something outside has to be fetched first."""
    tool = world.config.tools.get(question.call.capability)
    doubt = doubts.of_an_equal(unit, question.call, tool) if question.started else None  # a doubt is of a start
    question = question._replace(now=unit.now, behind=unit.behind, doubt=doubt)
    known = unit.judged.get(question)
    if known is None or known[0] is not world:  # else it is the same: nothing but these two decides
        if not unit.ports.files.unchanged(world):
            return Needs(files=True)
        verdict = evaluate(question, world, lambda digest: unit.tx.accepted(Accepted(digest, ARGUMENTS)))
        known = unit.judged[question] = world, verdict
    return known[1]


def permits(row: Row, tool: Tool) -> bool:
    """I9: whether a call may be started again on nobody's word: it is not in doubt, or the stricter of its effect class then and now
    permits repetition."""
    return row.doubt is None or effects.repeatable(effects.stricter(row.doubt, tool.effect))


def start(unit: Unit, run: Run, call: Call, was: Row | None, verdict: Start, config: Config) -> tuple[Run, Claim]:
    """T1: the attempt and its STARTED event. The caller has taken the row that was decided in this same transaction."""
    if was is not None:
        parked_by_the_chain(unit, was)
    row = of_revision(was, call) if was else Row(call.id, 1, run.id, call.step, "APPROVAL_REQUIRED", call.revision)
    return _begin(unit, run, call, row._replace(rule=row.rule or verdict.rule), row.starts + 1, verdict, config)


def start_again(
    unit: Unit, run: Run, call: Call, waiting: Attempt, verdict: Start, config: Config, told: Mapping[str, Json] = {}
) -> tuple[Run, Claim]:
    """T1 of a repetition: the waiting attempt (already taken) becomes a running one. `told`: what else its event says."""
    return _begin(unit, run, call, waiting.row, waiting.number, verdict, config, told)


def _begin(
    unit: Unit, run: Run, call: Call, row: Row, number: int, verdict: Start, config: Config, told: Mapping[str, Json] = {}
) -> tuple[Run, Claim]:
    unit.ports.processes.heed()  # whoever was told to end starts nothing more
    unit.tx.add([Definition(verdict.ready.digest, "tool", verdict.ready.definition)])
    if verdict.seen is not None:
        unit.tx.add([Accepted(verdict.seen, ARGUMENTS)])
    owners = unit.ports.owners
    host, boot = owners.place()
    deadline = durations.later(unit.now, verdict.timeout + 2)
    row = row._replace(
        call_digest=verdict.call_digest,
        definition=verdict.ready.digest,
        cleared=verdict.cleared,
        left_behind=_lock(unit, verdict),
    )
    attempt = Attempt(row, number, "running", owners.mine(), host, boot, deadline)
    unit.tx.begin(attempt)
    facts: dict[str, Json] = {
        "config": config.digest,
        "rule": verdict.rule,
        "cleared": verdict.cleared,
        "version": row.version,
        "effect": verdict.tool.effect,
        "attempt_row": digest(row),
        **told,
    }
    unit.record("TOOL_INVOCATION_STARTED", run, facts, call=call, digest=verdict.call_digest, attempt=number)
    return run._replace(started=run.started + 1), Claim(attempt, call, verdict.tool, verdict.bound, verdict.timeout)


def _lock(unit: Unit, verdict: Start) -> str:
    """Known before anything starts, so that recovery can look for survivors."""
    held = cast("Callable[[object], str | None]", getattr(unit.ports.provider(verdict.tool), "lock", lambda _: None))
    return held(verdict.bound) or unit.ports.mint.id("f")


def invoke(ports: Ports, claim: Claim, world: World) -> ToolResult:
    """Calls the provider, once, outside any transaction; a fault of the provider's own code is an uncertain end. `world`: what the call was
    judged in; a file that changed since is found out here, at the last moment that there is."""

    def stop() -> bool:
        try:
            with ports.store.read() as tx:
                mine = [attempt for attempt in tx.attempts(claim.run_id) if attempt.row.id == claim.call_id]
        except ToolgateError:
            return False  # a store that cannot be read says nothing about the call
        return not mine or mine[0].cancelled

    if not ports.files.unchanged(world):
        return ToolResult("not_dispatched", message="a file of the home changed between the decision and the start")
    if ports.heads.lost is not None:
        return ToolResult("not_dispatched", message=ports.heads.lost)
    limits = InvokeLimits(claim.timeout, world.config.limits.output_bytes, stop, world.secrets)
    try:
        result = ports.provider(claim.tool).invoke(claim, limits)
    except ToolgateError as error:
        result = ToolResult("uncertain", message=error.message)
    except Exception as error:  # noqa: BLE001  # nothing that a provider does may lose the outcome
        result = ToolResult("uncertain", message=f"the provider failed: {type(error).__name__}")
    result = _without_secrets(result, world.secrets) if world.secrets else result
    return _marked(result, claim.tool, ports) if claim.tool.output_schema is not None else result


def _marked(result: ToolResult, tool: Tool, ports: Ports) -> ToolResult:
    """A result that does not keep the schema of its tool is a result all the same: the tool has done what it did."""
    if result.ended != "answered" or not result.ok or result.mark is not None:
        return result
    try:
        problems = ports.files.misfits(tool.output_schema, canonical.parse(result.output))
        told = ", ".join(problem.told() for problem in problems)
    except Exception as error:  # noqa: BLE001  # whatever keeps it from being judged: the result stays
        told = "it is not JSON" if isinstance(error, ToolgateError) else "it could not be judged"
    return result._replace(mark="OUTPUT_MISMATCH", message=f"the result does not keep the output schema: {told}") if told else result


def ask(ports: Ports, asked: Probe, world: World) -> ToolResult | None:
    """The answer of a probe, outside any transaction; whatever goes wrong is an answer that says nothing. None: the tool or a file is not
    the one that the question was about, so a new verdict has to say what is needed."""
    from ..core import probes  # noqa: F401  # only who has probes; what an answer means is judged while the store is locked

    tool, ready = world.config.tools.get(asked.capability), world.ready.get(asked.capability)
    if tool is None or ready is None or ready.digest != asked.definition or not ports.files.unchanged(world):
        return None

    def stop() -> bool:
        try:
            with ports.store.read() as tx:
                run = tx.run(asked.run_id)
        except ToolgateError:
            return False
        assert run is not None, asked.run_id
        return run.status == "CANCELLED"

    timeout = tool.timeout
    if asked.name != "reconcile":  # it is about what was started in time
        timeout = min(timeout, time_left(world.config, asked.since, ports.clock.now()))
    if timeout <= 0:
        return ToolResult("not_dispatched", message="the deadline of the run is over")
    limits = InvokeLimits(timeout, world.config.limits.output_bytes, stop, world.secrets, asks=True)
    try:
        arguments = canonical.parse(asked.arguments)
        assert isinstance(arguments, dict), "it was validated"
        asking = Asking(asked, ready.probes[asked.name](arguments))
        result = ports.provider(tool._replace(provider=PROBER)).invoke(asking, limits)
    except ToolgateError as error:
        result = ToolResult("not_dispatched", message=error.message)
    except Exception as error:  # noqa: BLE001  # an answer that nobody can judge refuses
        result = ToolResult("uncertain", message=f"it failed: {type(error).__name__}")
    result = result if not world.secrets else _without_secrets(result, world.secrets)
    return result if tool.output_schema is None else _marked_too(result, tool, ports)


def _marked_too(answer: ToolResult, tool: Tool, ports: Ports) -> ToolResult:
    """What a reconciler says that came of a call is held to the same schema; of another probe's answer nobody reads the mark."""
    from ..core import probes

    found = probes.reconciled(answer)
    if found.verdict != "applied":
        return answer
    marked = _marked(answer._replace(output=canonical.encode(found.result)), tool, ports)
    return answer._replace(mark=marked.mark, message=marked.message)


def _without_secrets(result: ToolResult, secrets: Secrets) -> ToolResult:
    """I12: whatever a provider says of a call, no value of a secret is in what is judged and recorded."""
    survivors = tuple(map(secrets.scrub, result.survivors))
    return result._replace(output=secrets.scrub_document(result.output), message=secrets.scrub(result.message), survivors=survivors)
