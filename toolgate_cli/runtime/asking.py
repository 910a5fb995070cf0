"""What a model is asked, and how its answer is stored before anything of it is carried out (I13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core import canonical, offering, scopes
from ..core.config import Agent, Config
from ..core.errors import ToolgateError
from ..core.intents import AskModel, Completion, Exchange, Offer, TurnRequest
from ..core.records import Run, Turn
from ..core.soundness import clean
from ..core.types import Json, Provenance
from . import redacted
from .unit import Unit
from .work import Ask

if TYPE_CHECKING:
    from .place import Place
    from .store import Reader


def request(place: Place, intent: AskModel) -> Ask:
    """Everything that the model is shown, read in the transaction that reached it."""
    tx, run, path, config, scope = place.unit.tx, place.run, place.path, place.world.config, place.scope
    agent = config.agents[intent.agent]
    commands = intent.commands or agent.commands
    request = TurnRequest(
        run.id,
        place.flow.id,
        path.rsplit("/", 1)[-1],
        agent.name,
        tx.next_turn(run.id, path),
        intent.prompt,
        {key: _value(tx, run.id, scope + key) for key in _readable(tx, run.id, intent.reads, scope)},
        tuple(_exchange(tx, turn, intent.heard) for turn in tx.turns(run.id, path, intent.first)),
        offers(agent, config, run) if "tool_invocation" in commands else (),
        commands,
    )
    return Ask(config.models[agent.model], request, path)


def offers(agent: Agent, config: Config, run: Run) -> tuple[Offer, ...]:
    """The tools that an agent is shown: those that it may call."""
    tools = offering.shown(config, agent.name, run.workflow, run.requester)
    return tuple(Offer(tool.capability, tool.description, tool.schema) for tool in tools)


def _readable(tx: Reader, run: str, reads: tuple[str, ...], scope: str) -> list[str]:
    keys = (scopes.readable(key, scope) for key in tx.keys(run))
    return [key for key in keys if key is not None and ("*" in reads or key in reads)]


def _value(tx: Reader, run: str, key: str) -> tuple[Json, Provenance]:
    found = tx.value(run, key)
    if found is None or found.value is None:
        return None, "system"
    return canonical.parse(found.value), found.provenance


def _exchange(tx: Reader, turn: Turn, heard: tuple[tuple[int, str], ...]) -> Exchange:
    """A past turn with what came of its calls, then what people said to it."""
    commands = canonical.parse(turn.commands)
    calls = [c["call"] for c in commands if isinstance(c, dict) and "call" in c] if isinstance(commands, list) else []
    said = [words for number, words in heard if number == turn.number]
    return Exchange(commands, (*(_result(tx, str(call)) for call in calls), *said))


def _result(tx: Reader, call: str) -> str:
    """What a model sees of a call's end: its result, or how it was settled and why."""
    stored = tx.call(call)
    outcome = stored[1] if stored else None
    if outcome is None:
        return "no result"
    if outcome.body is None and redacted.is_redacted(tx, call):
        return f"{outcome.status}: the result was redacted"
    body = outcome.body or "null"
    return body if outcome.status in ("succeeded", "recorded") else f"{outcome.status}: {body}"


def store(unit: Unit, run: Run, ask: Ask, completion: Completion) -> Turn:
    """The turn as it will be carried out, with the ids of its calls; written before its first command runs."""
    found = commands(completion)
    if isinstance(found, list):
        found = [_with_id(unit, command) for command in found]
    turn = Turn(run.id, ask.path, ask.request.ordinal, _encoded(found))
    unit.tx.add([turn])
    facts: dict[str, Json] = {
        "agent": ask.request.agent,
        "model": ask.model.name,
        "ordinal": turn.number,
        "tokens_in": completion.tokens_in,
        "tokens_out": completion.tokens_out,
    }
    unit.record("LLM_CALL_COMPLETED", run, facts, step=ask.path)
    return turn


def _encoded(commands: Json) -> str:
    """The turn as it is stored; one that no JSON can carry is stored as what is wrong with it, and fails its step."""
    try:
        return canonical.encode(commands)
    except ToolgateError as error:
        return canonical.encode({"unparsed": error.message})


def commands(completion: Completion) -> Json:
    """What a model answered, parsed; {"unparsed": its text} where it is no JSON."""
    if completion.text is None:
        return completion.commands
    try:
        return canonical.parse(completion.text)
    except ToolgateError:
        return {"unparsed": clean(completion.text)}


def _with_id(unit: Unit, command: Json) -> Json:
    """Ids of calls are ours: whatever a model sent as one is a label only, and `call` is never taken from it."""
    if not isinstance(command, Mapping):
        return command
    mine = {key: value for key, value in command.items() if key != "call"}
    return {**mine, "call": unit.ports.mint.id("c")} if mine.get("type") == "tool_invocation" else mine
