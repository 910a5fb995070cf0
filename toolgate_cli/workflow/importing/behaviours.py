"""What a step does, by the type of its behaviour: a function each, from its object to the keys of a step here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from ...core.types import Json
from .held import Held, literal

Step = dict[str, Json]


class Flow(Protocol):
    """What a behaviour asks of the workflow that it stands in: names that must exist there, and blocks for what it leads to."""

    def agent(self, held: Held, name: str) -> str: ...
    def form(self, held: Held, name: str) -> str: ...
    def other(self, held: Held, name: str) -> str: ...
    def target(self, holder: Held, name: str) -> str: ...
    def prompt(self, step: Held) -> str | None: ...
    def reads_tool(self, key: str) -> str: ...


GATES = {"AUTO": "none", "HUMAN_REVIEW": "review", "HUMAN_APPROVAL": "approval"}
_ROOTS = ("workflow-resources", "schemas", "templates", "examples", "schema")
_ELSEWHERE = ("user.", "spar.", "generated.", "__", "untrustedUserInput")  # keys of the other program itself


def behave(flow: Flow, step: Held, held: Held) -> Step:
    """`step` holds the `contextMapping`; `held` is its behaviour."""
    kind = held.text("type")
    made: Step = {}
    if kind in _TYPES:
        made = _TYPES[kind](flow, step, held)
        held.over()
    elif kind:
        held.wrong("type", f"{kind} cannot be imported: {', '.join(_TYPES)} can")
    return made


def gate(held: Held) -> Step:
    """Of a transition, which has no default."""
    if not held.has("transition"):
        held.wrong("transition", "required, one of " + ", ".join(GATES))
    found = held.word("transition", GATES, "none")
    return {} if found == "none" else {"gate": found}


def _mapping(step: Held) -> tuple[list[str], list[str]]:
    """Keys that are read, and keys that may be written; an empty list means all there."""
    mapping = step.child("contextMapping")
    if mapping is None:
        return [], []
    reads, writes = mapping.texts("inputKeys"), mapping.texts("outputKeys")
    for key in reads:
        if key.startswith(_ELSEWHERE):
            mapping.wrong("inputKeys", f"{key} is a key of the other program's own, there is none of it here")
    for key in writes:
        mapping.check_key("outputKeys", key)
    mapping.over()
    return reads, writes


def _unmapped(step: Held) -> None:
    """Of kinds that neither read nor write by lists."""
    if any(_mapping(step)):
        step.wrong("contextMapping", "a step of this type has no use for it")


def _talking(flow: Flow, step: Held, held: Held) -> Step:
    reads, writes = _mapping(step)
    for key in reads:
        flow.reads_tool(key)
    made: Step = {"reads": list(reads or ["*"]), "writes": list(writes or ["*"]), **gate(held)}
    if prompt := flow.prompt(step):
        made["prompt"] = literal(prompt)
    policy = held.child("retryPolicy")
    if policy is not None:
        allow, previous = policy.flag("allowRetry", False), policy.flag("allowRetryFromPrevious", False)
        retry: Step = {"allow": allow, "allow_from_previous": previous}
        if allow or previous or policy.has("maxAttempts"):
            retry["max_retries"] = policy.whole("maxAttempts")
        policy.over()
        made["retry"] = retry
    return made


def _agent(flow: Flow, step: Held, held: Held) -> Step:
    return {"type": "agent", "agent": flow.agent(held, "agentRef"), **_talking(flow, step, held)}


def _spar(flow: Flow, step: Held, held: Held) -> Step:
    made: Step = {"type": "spar", "agent": flow.agent(held, "agentRef")}
    between = held.child("sparConfig")
    if between is None:
        held.wrong("sparConfig", "required")
    else:
        made["challenger"] = flow.agent(between, "challengerAgentId")
        made["max_rounds"] = between.whole("maxRounds")
        made["resolution_prompt"] = literal(between.text("resolutionPrompt"))
        between.over()
    return made | _talking(flow, step, held)


def _input(flow: Flow, step: Held, held: Held) -> Step:
    reads, writes = _mapping(step)
    if reads:
        step.wrong("contextMapping.inputKeys", "a form reads nothing")
    made: Step = {"type": "input", "form": flow.form(held, "artifactId"), **gate(held)}
    return made | ({"writes": list(writes)} if writes else {})


def _resource(_flow: Flow, step: Held, held: Held) -> Step:
    _unmapped(step)
    path = held.text("resourcePath")
    parts = path.split("/")
    proper = parts[0] == "" and len(parts) > 2 and parts[1] in _ROOTS and not {"", ".", ".."} & set(parts[1:])
    if path and (not proper or not path.isprintable() or set(path) & set("%\\:")):
        held.wrong("resourcePath", f"a plain path under one of {', '.join(f'/{root}/' for root in _ROOTS)} is wanted")
    return {"type": "resource", "file": path.lstrip("/"), "save_as": held.key("contextKey"), **gate(held)}


def _assign(_flow: Flow, step: Held, held: Held) -> Step:
    _unmapped(step)
    key = held.key("contextKey")
    value = held.child("value")
    if value is None:
        held.wrong("value", "required, an object")
        return {}
    kind = value.word("type", {"STRING": (str,), "NUMBER": (int, float), "BOOLEAN": (bool,)}, ())
    found = value.raw("value")
    if type(found) not in kind:
        value.wrong("value", "not of its type")
    value.over()
    return {"type": "assign", "set": {key: literal(found) if isinstance(found, str) else found}}


def _branch(flow: Flow, step: Held, held: Held) -> Step:
    _unmapped(step)
    arms: Step = {}
    for predicate in held.children("predicates"):
        kind = predicate.word("kind", {"EMPTY": "EMPTY", "MEMBER_OF": "MEMBER_OF"}, "EMPTY")
        target = flow.target(predicate, "target")
        for word in [""] if kind == "EMPTY" else predicate.texts("members"):
            if word == "*":
                predicate.wrong("members", '"*" means any other value here')
            arms.setdefault(word, target)
        predicate.over()
    branches = held.child("branches")
    for word in branches.names() if branches is not None else ():
        if word in ("", "*"):
            held.wrong("branches", f'"{word}" has a meaning of its own here')
        target = flow.target(branches, word) if branches is not None and branches.has(word) else "continue"
        arms.setdefault(word, target)
    if not arms:
        held.wrong("branches", "a branch needs at least one of branches and predicates")
    fails = held.flag("failOnUnmatched", False)
    if held.has("defaultBranch"):
        arms["*"] = flow.target(held, "defaultBranch")
    else:
        held.raw("defaultBranch")
        arms["*"] = "fail" if fails else "continue"
    return {"type": "branch", "on": flow.reads_tool(held.text("contextKey")), "arms": arms}


def _fail(_flow: Flow, step: Held, held: Held) -> Step:
    _unmapped(step)
    return {"type": "fail", "reason": literal(held.text("reason"))}


def _retry(flow: Flow, step: Held, held: Held) -> Step:
    _unmapped(step)
    if not held.has("retryMode"):
        held.wrong("retryMode", "required, SINGLE_STEP or FROM_STEP")
    return {
        "type": "retry_previous",
        "step": held.text("retryStepId"),
        "mode": held.word("retryMode", {"SINGLE_STEP": "single", "FROM_STEP": "from"}, "single"),
        "max_retries": held.whole("maxAttempts"),
        "fallback": flow.target(held, "fallback"),
    }


def _validate(_flow: Flow, step: Held, held: Held) -> Step:
    reads, writes = _mapping(step)
    if held.text("validatorId") != "required-artifacts-present":
        held.wrong("validatorId", "a program of its own cannot be imported; required-artifacts-present can")
    files = held.texts("requiredArtifacts")
    if not files:
        held.wrong("requiredArtifacts", "required, at least one")
    made: Step = {"type": "validate", "require": {"files": list(files)}}
    equal: list[Json] = []
    for contract in held.children("contextEqualityContracts"):
        key, file = contract.text("contextKey"), contract.text("artifactPath")
        if key and key not in reads:
            contract.wrong("contextKey", f"{key} is not among the step's inputKeys")
        if file and file not in files:
            contract.wrong("artifactPath", f"{file} is not among requiredArtifacts")
        equal.append({"key": key, "file": file, "at": contract.text("jsonPointer", blank=True)})
        contract.over()
    if writes:
        step.wrong("contextMapping.outputKeys", "a step of this type writes nothing")
    return made | ({"equal": equal} if equal else {})


def _workflow(flow: Flow, step: Held, held: Held) -> Step:
    _unmapped(step)
    return {"type": "workflow", "workflow": flow.other(held, "workflowRef"), "share": True, **gate(held)}


def _aggregate(_flow: Flow, step: Held, held: Held) -> Step:
    held.text("outputContextKeyPrefix")
    held.wrong("aggregatorId", f"{held.text('aggregatorId')} is a program of its own: write an aggregate or a tool step instead")
    _mapping(step)
    return gate(held)


_TYPES: dict[str, Callable[[Flow, Held, Held], Step]] = {
    "AGENT": _agent,
    "SPAR": _spar,
    "INPUT": _input,
    "RESOURCE": _resource,
    "ASSIGN_CONTEXT": _assign,
    "BRANCH": _branch,
    "FAIL": _fail,
    "RETRY_PREVIOUS": _retry,
    "VALIDATE": _validate,
    "WORKFLOW": _workflow,
    "AGGREGATE": _aggregate,
}
