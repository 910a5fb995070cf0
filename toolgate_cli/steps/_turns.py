"""The turns of one agent: each is checked whole before its first command runs, and goes on after every decision where it was (I13).

An answer that is no turn is asked for once more, with what is wrong with it; a second one that is none ends the step.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TypeAlias, cast

from ..core.config import Agent
from ..core.errors import ToolgateError
from ..core.intents import Answered, Arrived, Asked, AskModel, AskPerson, CallTools, Done, Escalate, Fail, Noted, Settled, View, Write
from ..core.records import Turn
from ..core.types import Json
from ..core.values import NamedTuple
from . import _commands, _origins, _questions, _results
from ._commands import Command
from ._conversation import Talk

Wanted: TypeAlias = Done | Fail | CallTools | AskModel | AskPerson | Escalate


class Voice(NamedTuple):
    """Who speaks, and what the step gives it. `prompts` come after its own, with their references filled; `told` comes last, as it is."""

    agent: Agent
    prompts: tuple[str | None, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    told: str = ""

    def prompt(self, view: View, defect: str | None) -> str:
        """All that it is told. Raises ToolgateError("invalid") naming the reference that cannot be filled."""
        filled = (_origins.prompt(prompt, view) for prompt in self.prompts if prompt)
        return "\n\n".join(filter(None, (self.agent.prompt, *filled, self.told, defect and correction(defect))))


def correction(defect: str) -> str:
    """What a model is told whose answer was no turn."""
    return f"Your last answer cannot be used, and nothing of it was carried out: {defect}. Answer again, with a list of commands."


def carry_on(voice: Voice, view: View, talk: Talk, arrived: Arrived) -> Wanted:
    """What the agent wants next."""
    if isinstance(arrived, Turn):
        return _hear(voice, view, talk, arrived)
    if isinstance(arrived, Settled):
        refused = any(outcome.status in ("rejected", "continued") for outcome in arrived.outcomes)
        return _go_on(voice, view, talk._replace(wary=talk.wary or arrived.wary or refused), list(_results.writes(arrived)))
    if isinstance(arrived, Answered):
        return _go_on(voice, view, talk.hear(arrived.values), [])
    if isinstance(arrived, Noted):
        return _go_on(voice, view, talk.hear({"note": arrived.note}), [])
    if talk.turn is not None:
        # asking the model instead would answer a decision with a new turn (I13)
        raise ToolgateError("internal", f"turn {talk.turn} of {voice.agent.name} waits for something that did not arrive")
    return _ask(voice, view, talk, [])


def _hear(voice: Voice, view: View, talk: Talk, turn: Turn) -> Wanted:
    try:
        commands = _commands.read(turn.commands, voice.agent.commands, voice.writes)
    except ToolgateError as refusal:
        if talk.defect is not None:
            return Fail(refusal.message)
        return _ask(voice, view, talk.refuse(turn.number, refusal.message), [])
    return _go_on(voice, view, talk.begin(turn.number, commands), [])


def _go_on(voice: Voice, view: View, talk: Talk, writes: list[Write]) -> Wanted:
    """Runs commands up to the first that needs somebody else; what was written on the way is handed over with it."""
    for index, command in enumerate(talk.rest):
        kind = command["type"]
        if kind == "tool_invocation":
            return _call(voice, talk._replace(rest=talk.rest[index:]), writes)
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
    return _end_turn(voice, view, talk, writes)


def _turn_to_a_person(command: Command, talk: Talk, writes: list[Write]) -> Wanted:
    if command["type"] == "escalate":
        return Escalate(cast(str, command["reason"]), talk.memo(), tuple(writes))
    return AskPerson(_questions.form(command), cast("str | None", command.get("question")), talk.memo(), tuple(writes))


def _call(voice: Voice, talk: Talk, writes: list[Write]) -> Wanted:
    """The tool calls that come next without another command between them: one batch."""
    batch = tuple(takewhile(lambda command: command["type"] == "tool_invocation", talk.rest))
    talk = talk._replace(rest=talk.rest[len(batch) :], again=True)
    return CallTools(tuple(_asked(command, voice.agent.name) for command in batch), talk.memo(), talk.wary, tuple(writes))


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


def _end_turn(voice: Voice, view: View, talk: Talk, writes: list[Write]) -> Wanted:
    """Another turn where there is something to show to the model; an agent of one turn never sees what came of it."""
    agent = voice.agent
    if not talk.again or agent.max_turns == 1:
        return Done(talk.said, tuple(writes), signal=talk.signal)
    if talk.turns() >= agent.max_turns:
        return Fail(f"agent {agent.name} used up its {agent.max_turns} turns without complete", tuple(writes))
    return _ask(voice, view, talk.end(), writes)


def _ask(voice: Voice, view: View, talk: Talk, writes: list[Write]) -> Wanted:
    try:
        prompt = voice.prompt(view, talk.defect)
    except ToolgateError as error:
        if error.kind == "storage":
            raise
        return Fail(error.message, tuple(writes))  # what the turn before has led to is kept
    name, heard, keys = voice.agent.name, talk.heard, voice.writes
    memo, refused, defect = talk.memo(), talk.refused, talk.defect
    return AskModel(name, prompt, voice.reads, memo, talk.first, tuple(writes), heard, keys, refused=refused, corrects=defect)
