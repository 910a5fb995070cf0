"""A workflow document with its blueprints and artifacts, as a workflow here: blueprints and arms become blocks, artifacts become forms."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import cast

from ...core.types import Json
from .behaviours import Step, behave, gate
from .folder import Part
from .held import Held, Problems
from .replays import check_replay

_ABOUT = ("description", "uuid", "author", "contact", "version", "source", "lifecycle")
_ENDS = {"AGENT_SIGNAL": "agent_done", "EVALUATOR": "evaluator", "FIXED_COUNT": "count", "FOR_EACH": "each"}
_ITEMS = ("TEXT", "TEXT_AREA", "SINGLE_CHOICE", "MULTI_CHOICE", "BOOLEAN", "NUMBER", "DATE")


class Known:
    """What the parts of one import may name. `tools`: the capabilities that they do."""

    def __init__(self, agents: frozenset[str], workflows: set[str]) -> None:
        self.agents = agents
        self.workflows = workflows
        self.tools: dict[str, None] = {}


class Flow:
    """One document. After `convert` there are `steps`, `blocks`, `forms`; `inline`: the workflows that stood inside it."""

    def __init__(self, part: Part, known: Known, problems: Problems) -> None:
        self.id = part.name
        self.problems = problems
        self.notes: list[str] = []
        self.inline: list[Flow] = []
        self.title = ""
        self.steps: list[Json] = []
        self.blocks: dict[str, Json] = {}
        self.forms: dict[str, Json] = {}
        self._main = part.main
        self._known = known
        self._prompts = {name.removesuffix(".step.prompt.md"): text for name, text in part.texts.items()}
        self._unread = dict.fromkeys(self._prompts)
        self._blueprints = self._others(part.others, ".blueprint.json", "blueprintId")
        self._forms = self._others(part.others, ".artifact.json", "id")

    def _others(self, others: Mapping[str, Held], ending: str, key: str) -> dict[str, Held]:
        found: dict[str, Held] = {}
        for file, held in others.items():
            if file.endswith(ending):
                name = held.name(key)
                if name and name != file.removesuffix(ending):
                    held.wrong(key, f"{name} is not what the file is called")
                found[name] = held
        return found

    def convert(self) -> Flow:
        main = self._main
        main.word("kind", {"WORKFLOW": ""}, "")
        if main.raw("schemaVersion") != 1 or isinstance(main.raw("schemaVersion"), bool):
            main.wrong("schemaVersion", "required, 1 is the only one that can be imported")
        if main.name("id") != self.id:
            main.wrong("id", "it is not what the folder is called")
        self.title = main.text("name")
        self.notes += main.notes(_ABOUT)
        main.refuse("requirements", "there is nothing of this kind here: declare inputs, or check in a step")
        for name, held in self._forms.items():
            self.forms[name] = self._form(held)
        for name, held in self._blueprints.items():
            held.text("name")
            self._behaviour(held)
            steps = self._sequence(held, "steps")
            held.over()
            self.blocks[name] = steps
        self.steps = self._sequence(main, "steps")
        main.over()
        for name in self._unread:
            place = os.path.join(os.path.dirname(main.file), f"{name}.step.prompt.md")
            self.problems.add(place, "", f"there is no step {name} that asks a model")
        return self

    def table(self) -> dict[str, Json]:
        made: dict[str, Json] = {"schema": 1, "id": self.id, "title": self.title, "steps": self.steps}
        return made | ({"blocks": self.blocks} if self.blocks else {}) | ({"forms": self.forms} if self.forms else {})

    # ---- sequences ----
    def _sequence(self, held: Held, name: str) -> list[Json]:
        made: list[Json] = []
        ids: set[str] = set()
        for one in held.children(name, least=1):
            step = self._step(one)
            step["id"] = _free(str(step["id"]), ids) if step["type"] == "block" else step["id"]
            ids.add(str(step["id"]))
            check_replay(one, step, made)
            made.append(step)
        return made

    def _step(self, held: Held) -> Step:
        kind = held.word("kind", {word: word for word in ("STEP", "BLUEPRINT_REF", "WORKFLOW")}, "")
        if not held.has("kind"):
            held.wrong("kind", "required, STEP, BLUEPRINT_REF or WORKFLOW")
        if kind == "BLUEPRINT_REF":
            return self._reference(held)
        if kind == "WORKFLOW":
            return self._inside(held)
        made: Step = {"id": held.name("stepId"), "type": "", "title": held.text("name")}
        held.refuse("modelTier", "models are chosen by the operator here: an agent of its own does that")
        if held.raw("maxUserPromptRounds") not in (None, 8):
            held.wrong("maxUserPromptRounds", "there is only max_turns of the agent here")
        self.notes += held.notes(("estimatedInputTokens", "estimatedOutputTokens"))
        behaviour = held.child("behaviour")
        if behaviour is None:
            held.wrong("behaviour", "required, an object")
        else:
            made |= behave(self, held, behaviour)
            if held.has("stepPrompt") and made["type"] not in ("agent", "spar", ""):
                held.wrong("stepPrompt", "a step of this type asks no model")
        held.raw("stepPrompt")
        held.over()
        return made

    def _reference(self, held: Held) -> Step:
        name = held.text("blueprintId")
        held.over()
        made: Step = {"id": name, "type": "block", "block": name}
        found = self._blueprints.get(name)
        if found is None:
            held.wrong("blueprintId", f"there is no blueprint {name} in this workflow")
            return made
        return made | {"title": found.text("name")} | self._behaviour(found)

    def _behaviour(self, blueprint: Held) -> Step:
        held = blueprint.child("behaviour")
        if held is None:
            return {}
        made = gate(held)
        loop = held.child("loopConfig")
        held.over()
        if loop is None:
            return made
        until = loop.word("terminationStrategy", _ENDS, "count")
        if not loop.has("terminationStrategy"):
            loop.wrong("terminationStrategy", "required")
        repeat: Step = {"until": until, "max": loop.whole("maxIterations")}
        at_max = loop.word("maxIterationsAction", {"AWAIT_USER": "pause", "FAIL": "fail"}, "pause")
        if until != "count":
            repeat["at_max"] = at_max
        for key, name, strategy in (("evaluator", "evaluatorAgentId", "evaluator"), ("each", "forEachContextKey", "each")):
            if until == strategy:
                repeat[key] = self.agent(loop, name) if key == "evaluator" else self.reads_tool(loop.text(name))
            else:
                loop.refuse(name, "it belongs to another terminationStrategy")
        if loop.flag("allowForEachListMutation", False):
            loop.wrong("allowForEachListMutation", "the list is copied when a loop begins here, and does not change")
        self.notes += [note for note in loop.notes(("expectedIterations",)) if note not in self.notes]
        loop.over()
        return made | {"repeat": repeat}

    def _inside(self, held: Held) -> Step:
        """A workflow that stands in another: a file of its own, in the same context."""
        name = held.name("id")
        if name in self._known.workflows:
            held.wrong("id", f"a workflow is called {name} already")
        self._known.workflows.add(name)
        inner = Flow(Part(name, held, {}, {}), self._known, self.problems)
        inner._prompts, inner._unread = self._prompts, self._unread
        self.inline.append(inner.convert())
        return {"id": name, "type": "workflow", "title": inner.title, "workflow": name, "share": True}

    # ---- what behaviours ask for ----
    def target(self, holder: Held, name: str) -> str:
        """The block that runs one executable; "continue" where there is nothing to run."""
        held = holder.child(name)
        if held is None:
            if name == "fallback":
                holder.wrong(name, "required, an object")
            return "continue"
        step = self._step(held)
        if step["type"] == "block" and step.keys() <= {"id", "type", "block", "title"}:
            return str(step["block"])
        check_replay(held, step, [])
        block = _free(str(step["id"]), {*self.blocks, *self._blueprints})
        self.blocks[block] = [step]
        return block

    def prompt(self, step: Held) -> str | None:
        """Of a step: a file beside the workflow, or a text in it; not both, for the other program drops one of them."""
        name = str(step.raw("stepId"))
        inline = step.maybe("stepPrompt")
        self._unread.pop(name, None)
        if inline is not None and name in self._prompts and inline != self._prompts[name]:
            step.wrong("stepPrompt", f"{name}.step.prompt.md says something else: keep one of them")
        return self._prompts.get(name, inline)

    def agent(self, held: Held, name: str) -> str:
        found = held.text(name)
        if found and found not in self._known.agents:
            held.wrong(name, f"there is no agent {found} in the folder")
        return found

    def form(self, held: Held, name: str) -> str:
        found = held.text(name)
        if found and found not in self._forms:
            held.wrong(name, f"there is no artifact {found} in this workflow")
        return found

    def other(self, held: Held, name: str) -> str:
        found = held.text(name)
        if found and found not in self._known.workflows:
            held.wrong(name, f"there is no workflow {found} in the folder")
        return found

    def reads_tool(self, key: str) -> str:
        if key.startswith("tool."):
            self._known.tools[key.removeprefix("tool.").removesuffix(".error")] = None
        return key

    def _form(self, held: Held) -> list[Json]:
        made: list[Json] = list(form_items(held, "items"))
        held.over()
        return made


def form_items(held: Held, name: str) -> Iterator[Step]:
    for item in held.children(name, least=1):
        kind = item.word("type", {word: word for word in _ITEMS}, "")
        if not item.has("type"):
            item.wrong("type", "required, one of " + ", ".join(_ITEMS))
        label, hint = item.text("label"), item.maybe("hint")
        made: Step = {"id": item.name("id"), "type": kind, "label": f"{label} ({hint})" if hint else label}
        if item.flag("required", False):
            made["required"] = True
        options = item.texts("options")
        if kind.endswith("_CHOICE"):
            made["options"] = cast(Json, options)
        elif options:
            item.wrong("options", f"{kind} has none")
        item.over()
        yield made


def _free(name: str, taken: set[str]) -> str:
    return next(word for word in (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))) if word not in taken)
