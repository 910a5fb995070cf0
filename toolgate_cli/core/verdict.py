"""What the gate makes of a call: run it, or park it, or fetch what is missing first. Pure, and the same for every pass (I3, I4, I5).

The stages are those of the design in their fixed order: resolve, authorise, validate, policy, precheck, limits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from . import authorise, canonical, durations, policy
from .config import Config, Rule, Tool
from .digests import call_digest, sha256
from .errors import ToolgateError
from .records import Call, Row
from .results import ToolResult
from .types import Cleared, Json, Origin, Phase, ProbeName
from .values import NamedTuple
from .world import Needs, Probe, Problem, Ready, World


class Question(NamedTuple):
    """A call and how it comes to the gate. `was`: the row that a person decided (None on the first pass; of an edit,
    with the digest that the new arguments have under the definition that was shown); `wary`: allow counts as require_approval, and so it
    does where there is a `doubt`: why such a call may be a second one. `behind`: the clock was set back, so `now` stands still."""

    call: Call
    workflow: str
    started: int  # starts of the run so far
    was: Row | None = None
    verb: Literal["ask", "approve", "retry", "edit", "answer"] = "ask"  # answer: the tool goes on with its stored state
    wary: bool = False
    refusal: str | None = None  # why the arguments were not taken, "CODE at POINTER: why"
    since: str = ""  # when the run began
    now: str = ""
    behind: bool = False
    doubt: str | None = None


class Start(NamedTuple):
    """It may run, with these bound arguments, under this definition, for so many seconds. `seen`: digest to remember as validated, if it
    was validated now."""

    tool: Tool
    ready: Ready
    bound: object
    call_digest: str
    cleared: Cleared
    rule: str | None
    seen: str | None
    timeout: float


class Park(NamedTuple):
    """It waits for a person. `event` is the type that says why; `superseded`: a decision was made for something else than this."""

    origin: Origin
    event: Literal["TOOL_INVOCATION_APPROVAL_PENDING", "TOOL_INVOCATION_DENIED", "TOOL_INVOCATION_FAILED"]
    reason: str
    call_digest: str
    definition: Ready | None
    cleared: Cleared = "none"
    phase: Phase | None = None
    code: str | None = None
    rule: Rule | None = None
    superseded: bool = False
    seen: str | None = None


Verdict: TypeAlias = Start | Park | Needs


def evaluate(question: Question, world: World, accepted: Callable[[str], bool]) -> Verdict:
    """`accepted(digest)`: whether these arguments were found valid under this schema before."""
    call = question.call
    tool = world.config.tools.get(call.capability)
    if call.arguments is None:
        why = question.refusal or "not_received"
        return _failed(question, None, "RECEIVE", why.split()[0].rstrip(":"), f"the arguments were refused and are not stored: {why}")
    if tool is None:
        return _failed(question, None, "RESOLVE", "unknown_tool", _unknown(call.capability, world))
    seen = sha256(f"{tool.schema_digest}:{call.arguments_digest}")
    valid = accepted(seen)
    missing = _missing(tool, world, valid=valid)
    if missing is not None:
        return missing
    ready = world.ready[tool.capability]
    unresolved = _unresolved(question, tool, ready, world)
    if unresolved is not None:
        return _failed(question, ready, "RESOLVE", *unresolved)
    arguments = canonical.shared(call.arguments)
    context = world.config.context
    refusal = authorise.may_call(tool, call.requested_by, context) or authorise.other_tenant(tool, arguments, context)
    if refusal is not None:
        return _denied(question, ready, "auth_denied", refusal)
    invalid = None if valid or tool.schema is True else _invalid(question, tool, ready, arguments, world)
    if invalid is not None:
        return invalid
    if not isinstance(arguments, dict):
        return _failed(question, ready, "VALIDATE", "INVALID_TYPE", "INVALID_TYPE at ''")
    try:
        bound = ready.bind(arguments)
    except ToolgateError as error:
        return _failed(question, ready, "VALIDATE", "unbindable", error.message)
    stop = _of_another_tenant(question, ready, world) if "tenant_of" in tool.probes else None
    if stop is not None:
        return stop
    return _ruled(question, tool, ready, bound, arguments, None if valid else seen, world)


def _unknown(capability: str, world: World) -> str:
    server = capability.split(".")[0]
    if server in world.config.servers:
        return f"no tool {capability} of the server {server} is pinned: toolgate tools pin {server}"
    return f"no tool {capability} in toolgate.toml"


def _invalid(q: Question, tool: Tool, ready: Ready, arguments: Json, world: World) -> Park | None:
    try:
        problems = world.checks[tool.schema_digest](arguments)
    except Exception as error:  # noqa: BLE001  # a check that cannot be made did not let the call through (I5)
        return _failed(q, ready, "VALIDATE", "unchecked", f"the arguments could not be checked: {type(error).__name__}")
    return _failed(q, ready, "VALIDATE", problems[0].code, _tell(problems)) if problems else None


def _of_another_tenant(q: Question, ready: Ready, world: World) -> Needs | Park | None:
    """By what the tool's own lookup answers; None: the resource is the caller's."""
    answer = _asked(q, "tenant_of", ready, world)
    if isinstance(answer, (Needs, Park)):
        return answer
    from . import probes  # imported by whoever asked: only a tool that has one pays for it

    refusal = authorise.not_the_callers(probes.value(answer), "the command of tenant_of", world.config.context)
    return None if refusal is None else _denied(q, ready, "auth_denied", refusal)


def _asked(q: Question, name: ProbeName, ready: Ready, world: World) -> ToolResult | Needs | Park:
    """What the probe answered in this pass; behind the deadline nothing is asked."""
    if late := past_deadline(world.config, q.since, q.now, q.behind):
        return _denied(q, ready, "limit_exceeded", late)
    probe = probe_of(q.call, name, ready, q.since)
    answer = world.answers.get(probe)
    return Needs(probes=(probe,)) if answer is None else answer


def probe_of(call: Call, name: ProbeName, ready: Ready, since: str) -> Probe:
    return Probe(name, call.capability, call.id, call.run_id, call.arguments or "", call.idempotency_key, ready.digest, since)


def _missing(tool: Tool, world: World, *, valid: bool) -> Needs | None:
    tools = () if tool.capability in world.ready else (tool.capability,)
    loaded = valid or tool.schema is True or tool.schema_digest in world.checks
    return Needs(tools, () if loaded else (tool.capability,)) if tools or not loaded else None


def _unresolved(question: Question, tool: Tool, ready: Ready, world: World) -> tuple[str, str] | None:
    if not tool.enabled:
        return "disabled", f"the tool {tool.capability} is disabled"
    if outside := authorise.outside_scope(world.config, question.call.agent, tool.capability):
        return "agent_scope", outside
    if ready.error is not None:
        return "unavailable", ready.error
    for secret in tool.secrets:
        if fault := world.secrets.fault(secret):
            return "secret", f"${{secret.{secret}}} cannot be filled: {fault}"
    return None


def _ruled(q: Question, tool: Tool, ready: Ready, bound: object, arguments: dict[str, Json], seen: str | None, world: World) -> Verdict:
    """Policy and limits, for a call that is valid."""
    asked = ready.fill(arguments) if ready.fill is not None else arguments
    assert isinstance(asked, dict)
    facts = policy.facts(world.config, tool, asked, q.workflow, q.call.agent, q.call.requested_by)
    digest = call_digest(tool.capability, q.call.arguments or "", ready.digest)
    ruling = policy.judge(world.config.policy, facts)
    if ruling.decision == "deny":
        return Park(
            "POLICY_DENIED", "TOOL_INVOCATION_DENIED", ruling.reason, digest, ready, rule=ruling.rule, code="policy_denied", seen=seen
        )
    changed = q.was is not None and q.was.call_digest != digest
    cleared = _clearance(q, ruling, changed)
    over = _over(q, world.config) if cleared is not None else None
    if "precheck" in tool.probes and over is None and q.verb != "answer":  # it is about a beginning
        answer = _asked(q, "precheck", ready, world)
        if isinstance(answer, (Needs, Park)):
            return answer
        from . import probes  # as above

        if (refused := probes.refusal(answer)) is not None:
            return _failed(q, ready, "PRECHECK", *refused)._replace(cleared=cleared or "none")
    if cleared is None:
        asks = ruling.decision == "require_approval"
        reason = ruling.reason if asks else _why_asked(q)
        return Park(
            "APPROVAL_REQUIRED", "TOOL_INVOCATION_APPROVAL_PENDING", reason, digest, ready, "policy",
            rule=ruling.rule if asks else None, superseded=changed and q.verb != "ask", seen=seen,
        )  # fmt: skip
    if over is not None:
        return _denied(q, ready, "limit_exceeded", over, cleared)
    timeout = min(tool.timeout, time_left(world.config, q.since, q.now))
    return Start(tool, ready, bound, digest, cleared, ruling.rule.name if ruling.rule else None, seen, timeout)


def _over(q: Question, config: Config) -> str | None:
    """Which limit of the run is reached; of two the smaller counts."""
    limits = [(config.limits.calls_per_run, "limits.calls_per_run")]
    if config.context is not None and config.context.calls is not None:
        limits.append((config.context.calls, "context.budget.calls"))
    most, name = min(limits)
    if q.started >= most:
        return f"the run has made its {most} calls ({name})"
    return past_deadline(config, q.since, q.now, q.behind)


def past_deadline(config: Config, since: str, now: str, behind: bool) -> str | None:
    """Why nothing is started any more for a run that began `since`. `behind`: the clock was set back, so that `now` stands still, and a
    deadline cannot be judged."""
    left = time_left(config, since, now)
    if left <= 0:
        return f"{_OVER} (context.deadline)"
    return untold(now, f"{_OVER} (context.deadline)") if behind and left != float("inf") else None


_OVER = "the deadline of the run is over"


def untold(now: str, what: str) -> str:
    """What cannot be said while the clock is behind the log."""
    return f"the clock is behind the log, whose last event is of {now}: nobody can tell whether {what}"


def time_left(config: Config, since: str, now: str) -> float:
    """Seconds until the deadline of a run that began `since`; infinite where it has none."""
    if config.context is None or config.context.deadline is None:
        return float("inf")
    return config.context.deadline - durations.between(since, now)


def _clearance(q: Question, ruling: policy.Ruling, changed: bool) -> Cleared | None:
    """What lets the call run: a person's decision on exactly this, or the policy; None: a person is to be asked.

    A row that never passed the policy is never cleared by a retry alone, and nobody alone clears an edit that the policy asks more of.
    """
    if q.was is not None and not changed:
        if q.verb == "approve" or (q.verb == "edit" and ruling.decision == "require_approval" and _asks_for_one(q.was, ruling.rule)):
            return "approval"
        if q.verb in ("retry", "answer") and q.was.cleared in ("policy", "approval"):
            return q.was.cleared
    if q.verb in ("approve", "answer") or (q.verb == "edit" and changed):
        return None  # what waits for approval and changed is asked again, whatever the policy says now
    return "policy" if ruling.decision == "allow" and not q.wary and q.doubt is None else None


def _why_asked(q: Question) -> str:
    """Why a person is asked although a rule allows it."""
    if q.doubt is not None:
        return q.doubt
    return "an earlier call of this turn was refused" if q.wary else "the tool changed after it was parked"


def _asks_for_one(was: Row, rule: Rule | None) -> bool:
    """Whether an edit is asked for as its row was, and of no more than the one person who edited it."""
    return same_terms(was, rule) and was.approvals_needed == 1 and not was.separate_requester


def same_terms(was: Row, rule: Rule | None) -> bool:
    """Whether this rule (None: the default of the policy) asks for what the row was parked for: the same rule, scope and approvals."""
    if rule is None:
        return was.rule is None
    asked = (was.rule, was.approver_scope, was.approvals_needed, was.separate_requester)
    return asked == (rule.name, rule.approver_scope, rule.approvals, rule.separate_requester)


def _digest(question: Question, ready: Ready | None) -> str:
    return call_digest(question.call.capability, question.call.arguments or question.call.arguments_digest, ready.digest if ready else "")


def _failed(question: Question, ready: Ready | None, phase: Phase, code: str, reason: str) -> Park:
    return Park("EXECUTION_FAILED", "TOOL_INVOCATION_FAILED", reason, _digest(question, ready), ready, phase=phase, code=code)


def _denied(question: Question, ready: Ready, code: str, reason: str, cleared: Cleared = "none") -> Park:
    return Park("EXECUTION_FAILED", "TOOL_INVOCATION_DENIED", reason, _digest(question, ready), ready, cleared, code=code)


def _tell(problems: tuple[Problem, ...]) -> str:
    return "arguments do not validate: " + ", ".join(problem.told() for problem in problems)
