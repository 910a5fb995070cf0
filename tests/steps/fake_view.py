"""A view with everything given beforehand, and what the outside would answer to each intent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, cast

from toolgate_cli.core import canonical, references
from toolgate_cli.core.config import Agent
from toolgate_cli.core.digests import sha256
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.intents import (
    Answered,
    Arrived,
    AskModel,
    AskPerson,
    CallTools,
    Continued,
    Ended,
    Enter,
    Escalate,
    Filled,
    FillInputs,
    Finding,
    Intent,
    Nest,
    Noted,
    Observe,
    Observed,
    Pause,
    Replay,
    Settled,
)
from toolgate_cli.core.records import Outcome, Turn
from toolgate_cli.core.types import Json, Provenance

COMMANDS = ("set_context", "tool_invocation", "ask", "say", "escalate", "continue", "complete")


@dataclass(frozen=True)
class FakeView:
    arrived: Arrived = None
    memo: Mapping[str, Json] = field(default_factory=dict)
    values: Mapping[str, Json] = field(default_factory=dict)
    forms: Mapping[str, Json] = field(default_factory=dict)
    agents: Mapping[str, Agent] = field(default_factory=dict)
    had: int = 0
    lists: tuple[list[Json], ...] = ()
    provenances: Mapping[str, Provenance] = field(default_factory=dict)

    def value(self, key: str) -> Json:
        return self.values[key]

    def provenance(self, key: str) -> Provenance:
        self.value(key)
        return "tool" if key.startswith("steps.") else self.provenances.get(key, "system")

    def inner(self, key: str) -> tuple[Json, Provenance]:
        return self.value(key), self.provenance(key)

    def copied(self, digest: str) -> Sequence[Json]:
        return next(list_ for list_ in self.lists if sha256(canonical.encode(list_)) == digest)

    def fill(self, template: Json) -> Json:
        return references.fill(template, self.value)

    def form(self, name: str) -> Json:
        return self.forms[name]

    def agent(self, name: str) -> Agent:
        if name not in self.agents:
            raise ToolgateError("invalid", f"no agent {name}")
        return self.agents[name]

    def turns(self) -> int:
        return self.had

    def after(self, intent: Intent, arrived: Arrived) -> FakeView:
        """The view of the next plan, with the memo as a store gives it back."""
        memo = json.loads(json.dumps(dict(getattr(intent, "memo", {}))))
        return replace(self, arrived=arrived, memo=MappingProxyType(memo))


def agent(max_turns: int = 8, commands: tuple[str, ...] = COMMANDS, prompt: str = "be kind") -> Agent:
    return Agent("clerk", "default", prompt, ("orders.*",), max_turns, commands)


def turn(*commands: Mapping[str, Json], number: int = 0) -> Turn:
    return Turn("r1", "decide", number, json.dumps(commands))


def call(capability: str = "orders.lookup", **more: Json) -> dict[str, Json]:
    return {"type": "tool_invocation", "capability": capability, "arguments": {"order": "A-17"}, **more}


def outcome(status: str = "succeeded", body: str | None = '{"ok":true}', call_id: str = "c1", code: str | None = None) -> Outcome:
    return Outcome(call_id, cast("Any", status), "yes", "yes", code, body, None, "2026-01-31T12:00:00.000Z")


def settled(intent: Intent, *statuses: str) -> Settled:
    """The end of every call of a batch; the last status counts for all that are left."""
    assert isinstance(intent, CallTools)
    words = [*statuses, *([statuses[-1] if statuses else "succeeded"] * len(intent.calls))]
    outcomes = tuple(
        outcome(word, '{"ok":true}' if word == "succeeded" else '"no"', f"c{index}")
        for index, (word, _) in enumerate(zip(words, intent.calls, strict=False))
    )
    return Settled(outcomes, tuple(asked.capability for asked in intent.calls))


def reply(intent: Intent, turns: list[Turn]) -> Arrived:
    """What comes in after an intent that waits; None for one that ends the step."""
    match intent:
        case CallTools():
            return settled(intent, "succeeded", "rejected")
        case AskModel():
            return turns.pop(0) if turns else turn({"type": "complete", "output": "fine"})
        case AskPerson(form):
            assert isinstance(form, list)
            return Answered({str(cast("dict[str, Json]", item)["id"]): "yes" for item in form})
        case Escalate():
            return Noted("go ahead")
        case Enter():
            return Ended(intent.iteration)
        case FillInputs():
            return Filled({"order": "A-17"})
        case Nest():
            return Ended(0)
        case Replay():
            return Ended(0)
        case Pause():
            return Continued()
        case Observe(looks):
            found: dict[str, Json] = {"text": "hi", "json": "yes", "filled": True, "problems": []}
            return Observed(tuple(Finding(found[look.want]) for look in looks))
        case _:
            return None
