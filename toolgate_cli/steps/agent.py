"""An agent: turns of commands. A turn is checked whole before its first command runs, and goes on after every decision where it was."""

from __future__ import annotations

from itertools import takewhile
from typing import Annotated, cast

from ..core.config import Agent
from ..core.errors import ToolgateError
from ..core.fields import Between, Key, Names, Reads
from ..core.intents import Answered, Asked, AskModel, AskPerson, CallTools, Done, Escalate, Fail, Intent, Noted, Settled, View, Write
from ..core.records import Turn
from ..core.types import Json
from ..core.values import NamedTuple
from . import _commands, _questions, _results
from ._commands import Command
from ._conversation import Talk, recall


class Retry(NamedTuple):
    """Whether `retry --step` and a `retry_previous` step may repeat this one, and how often both together; without it: never."""

    allow: bool = False
    allow_from_previous: bool = False
    max_retries: Annotated[int, Between(1)] = 1


class Fields(NamedTuple):
    agent: Annotated[str, Names("agent")]
    prompt: str | None = None
    reads: Annotated[tuple[str, ...], Reads(any_word=True)] = ()
    writes: Annotated[tuple[str, ...], Key(any_word=True)] = ()
    retry: Retry | None = None


def plan(step: Fields, view: View) -> Intent:
    talk = recall(view.memo) if view.memo else Talk(first=view.turns())
    agent = view.agent(step.agent)
    arrived = view.arrived
    if isinstance(arrived, Turn):
        try:
            commands = _commands.read(arrived.commands, agent.commands, step.writes)
        except ToolgateError as refusal:
            return Fail(refusal.message)
        return _go_on(step, agent, talk.begin(arrived.number, commands), [])
    if isinstance(arrived, Settled):
        refused = any(outcome.status in ("rejected", "continued") for outcome in arrived.outcomes)
        return _go_on(step, agent, talk._replace(wary=talk.wary or refused), list(_results.writes(arrived)))
    if isinstance(arrived, Answered):
        return _go_on(step, agent, talk.hear(arrived.values), [])
    if isinstance(arrived, Noted):
        return _go_on(step, agent, talk.hear({"note": arrived.note}), [])
    if talk.turn is not None:
        # asking the model instead would answer a decision with a new turn (I13)
        raise ToolgateError("internal", f"turn {talk.turn} of {step.agent} waits for something that did not arrive")
    return _ask(step, agent, talk, [])


def _go_on(step: Fields, agent: Agent, talk: Talk, writes: list[Write]) -> Intent:
    """Runs commands up to the first that needs somebody else; what was written on the way is handed over with it."""
    for index, command in enumerate(talk.rest):
        kind = command["type"]
        if kind == "tool_invocation":
            return _call(step, talk._replace(rest=talk.rest[index:]), writes)
        if kind in ("ask", "escalate"):
            return _turn_to_a_person(command, talk._replace(rest=talk.rest[index + 1 :]), writes)
        if kind == "complete":
            return Done(command.get("output"), tuple(writes), signal="complete")
        if kind == "set_context":
            writes += (Write(key, value, "model") for key, value in cast("dict[str, Json]", command["values"]).items())
        elif kind == "say":
            talk = talk._replace(said=cast(str, command["message"]))
        elif kind == "continue":
            more = command.get("wants_another_round") is not False
            talk = talk._replace(again=talk.again or more, signal="continue" if more else "complete")
    return _end_turn(step, agent, talk, writes)


def _turn_to_a_person(command: Command, talk: Talk, writes: list[Write]) -> Intent:
    if command["type"] == "escalate":
        return Escalate(cast(str, command["reason"]), talk.memo(), tuple(writes))
    return AskPerson(_questions.form(command), cast("str | None", command.get("question")), talk.memo(), tuple(writes))


def _call(step: Fields, talk: Talk, writes: list[Write]) -> Intent:
    """The tool calls that come next without another command between them: one batch."""
    batch = tuple(takewhile(lambda command: command["type"] == "tool_invocation", talk.rest))
    talk = talk._replace(rest=talk.rest[len(batch) :], again=True)
    return CallTools(tuple(_asked(command, step.agent) for command in batch), talk.memo(), talk.wary, tuple(writes))


def _asked(command: Command, agent: str) -> Asked:
    """Arguments that are a text are JSON as the model wrote it, for the gate to judge. The call's id is the minted one; the model's own
    `id` is a label."""
    arguments = command.get("arguments")
    return Asked(
        cast(str, command["capability"]),
        {} if arguments is None else arguments,
        cast("str | None", command.get("rationale")),
        cast("str | None", command.get("id")),
        agent,
        raw=isinstance(arguments, str),
        id=cast("str | None", command.get("call")),
    )


def _end_turn(step: Fields, agent: Agent, talk: Talk, writes: list[Write]) -> Intent:
    """Another turn where there is something to show to the model; an agent of one turn never sees what came of it."""
    if not talk.again or agent.max_turns == 1:
        return Done(talk.said, tuple(writes), signal=talk.signal)
    if (talk.turn or 0) - talk.first + 1 >= agent.max_turns:
        return Fail(f"agent {step.agent} used up its {agent.max_turns} turns without complete", tuple(writes))
    return _ask(step, agent, Talk(talk.first, heard=talk.heard, signal=talk.signal), writes)


def _ask(step: Fields, agent: Agent, talk: Talk, writes: list[Write]) -> Intent:
    prompt = "\n\n".join(part for part in (agent.prompt, step.prompt) if part)
    return AskModel(step.agent, prompt, step.reads, talk.memo(), talk.first, tuple(writes), talk.heard)
