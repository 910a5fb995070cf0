"""A script of model answers, as the script of a scripted model here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...core import canonical
from ...core.errors import ToolgateError
from ...core.types import Json
from .agents import TOOLS
from .flows import Known, form_items
from .held import Held, Problems

Turn = dict[str, Json]


class Script:
    """`turns` in the order of the files. `steps`: the ids of each workflow's steps."""

    def __init__(self, files: Iterable[Held], known: Known, steps: Mapping[str, set[str]], problems: Problems) -> None:
        self._known = known
        self._steps = steps
        self._problems = problems
        self._seen: set[tuple[str, str, str, int]] = set()
        self.turns: list[Json] = []
        self.notes: list[str] = []
        for held in files:
            if held.raw("schemaVersion") != 1 or isinstance(held.raw("schemaVersion"), bool):
                held.wrong("schemaVersion", "required, 1 is the only one that can be imported")
            self.turns += [self._turn(one) for one in held.children("responses")]
            held.over()

    def _turn(self, held: Held) -> Turn:
        workflow, step, agent = held.text("workflowId"), held.text("stepId"), held.text("agentId")
        ordinal = held.whole("ordinal", 0)
        if workflow and workflow not in self._known.workflows:
            held.wrong("workflowId", f"there is no workflow {workflow} in the folder")
        elif step and step not in self._steps.get(workflow, ()):
            held.wrong("stepId", f"the workflow {workflow} has no step {step}")
        if agent and agent not in self._known.agents:
            held.wrong("agentId", f"there is no agent {agent} in the folder")
        if (workflow, step, agent, ordinal) in self._seen:
            held.wrong("ordinal", "this answer is there twice")
        self._seen.add((workflow, step, agent, ordinal))
        text = held.text("responseText", blank=True)
        self.notes += held.notes(("tokenUsage",))
        held.over()
        return {"workflow": workflow, "step": step, "agent": agent, "ordinal": ordinal, **self._answer(held, text)}

    def _answer(self, held: Held, text: str) -> Turn:
        """The commands; where the text is none on purpose, the text: it is refused here as there."""
        try:
            raw = canonical.parse(_unfenced(text))
        except ToolgateError:
            return {"text": text}
        if not isinstance(raw, list) or not raw or not all(isinstance(each, dict) and each.get("type") in _MADE for each in raw):
            return {"text": text}
        made: list[Json] = []
        for number, each in enumerate(raw):
            assert isinstance(each, dict)
            command = Held(held.file, f"{held.path}.responseText[{number}]", each, self._problems)
            made.append(self._command(command))
            command.over()
        return {"text": canonical.encode(made)} if _has_null(made) else {"commands": made}

    def _command(self, held: Held) -> Turn:
        kind = held.text("type")
        if kind == "TOOL_INVOCATION":
            capability = held.text("capability")
            self._known.tools[capability] = None
            arguments = held.raw("arguments")
            made: Turn = {"type": "tool_invocation", "capability": capability, "arguments": {} if arguments is None else arguments}
            for name, there in (("id", "toolInvocationId"), ("rationale", "llmRationale")):
                told = held.maybe(there)
                made |= {} if told is None else {name: told}
            return made
        if kind in TOOLS:
            self._known.tools[TOOLS[kind]] = None
            return {"type": "tool_invocation", "capability": TOOLS[kind], "arguments": _arguments(kind, held)}
        if kind == "SET_CONTEXT":
            key = held.key("key")
            if not held.has("value"):
                held.wrong("value", "required")
            return {"type": "set_context", "values": {key: _plain(held.raw("value"))}}
        return _others(kind, held)


def _others(kind: str, held: Held) -> Turn:
    match kind:
        case "USER_PROMPT":
            kind, field = ("ask", "question") if held.flag("responseRequired", False) else ("say", "message")
            said: Turn = {"type": kind, field: held.text("message")}
            return said
        case "GENERATE_QUESTIONS":
            return {"type": "ask", "items": [*form_items(held, "questions")]}
        case "ESCALATE":
            return {"type": "escalate", "reason": held.text("reason")}
        case "CONTINUE":
            reason = held.maybe("reason")
            held.refuse("unresolvedConcerns", "there is nothing of this kind here: put it into reason")
            made: Turn = {"type": "continue", "wants_another_round": held.flag("wantsAnotherRound", False)}
            return made | ({} if reason is None else {"reason": reason})
        case _:
            summary = held.maybe("summary")
            return {"type": "complete", **({} if summary is None else {"output": summary})}


def _arguments(kind: str, held: Held) -> Json:
    if kind == "RUN_COMMAND":
        return {"command": held.text("command")}
    path = held.text("path" if held.has("path") else "filePath")
    return {"path": path, "content": held.text("content", blank=True)}


_MADE = ("TOOL_INVOCATION", *TOOLS, "SET_CONTEXT", "USER_PROMPT", "GENERATE_QUESTIONS", "ESCALATE", "CONTINUE", "COMPLETE")


def _plain(value: Json) -> Json:
    """A value as it is, out of the envelope that says its type."""
    match value:
        case {"type": "STRING" | "NUMBER" | "BOOLEAN", "value": inner}:
            return inner
        case {"type": "JSON", "json": str(text)}:
            try:
                return canonical.parse(text)
            except ToolgateError:
                return text
        case {"type": "LIST", "values": list(values)}:
            return [_plain(each) for each in values]
    return value


def _has_null(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    return any(map(_has_null, value)) if isinstance(value, list) else value is None


def _unfenced(text: str) -> str:
    """What stands inside a code fence, where the text begins with one."""
    text = text.strip()
    if not text.startswith("```"):
        return text
    return text.partition("\n")[2].rpartition("```")[0]
