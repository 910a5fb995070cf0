"""What a model is asked, and how its answer is stored before anything of it is carried out (I13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..core import canonical, exposure, scopes, untrusted
from ..core.config import Agent, Config
from ..core.errors import ToolgateError
from ..core.fields import HIDDEN
from ..core.intents import AskModel
from ..core.records import Run, Turn, Value
from ..core.soundness import clean
from ..core.turns import Completion, Exchange, Offer, TurnRequest
from ..core.types import Json, Provenance
from ..core.values import NamedTuple
from ..core.verdict import past_deadline
from . import redacted
from .unit import Unit
from .work import Ask

if TYPE_CHECKING:
    from .place import Place
    from .store import Reader


_UNCOUNTED = f"{HIDDEN}uncounted"
_BEFORE = -1  # as an input: no repositioning takes it away


def over(unit: Unit, run: Run, config: Config) -> str | None:
    """Why no model is asked any more: what the run was given for it is used up, tokens or time. The last answer may have cost more tokens
    than were left."""
    most = None if config.context is None else config.context.tokens
    if most is not None and run.tokens >= most:
        return f"the run has used up its {most} tokens (context.budget.tokens)"
    if most is not None and unit.tx.value(run.id, _UNCOUNTED) is not None:
        return f"a model did not say how many tokens its answer took, so the run's {most} cannot be kept to (context.budget.tokens)"
    return past_deadline(config, run.created_at, unit.now, unit.behind)


def count(unit: Unit, run: Run, completion: Completion, config: Config) -> Run:
    """The run with what an answer took. One of which that is not known is used, and keeps the next one from being asked for where there
    is a budget."""
    if completion.tokens is not None:
        return run._replace(tokens=run.tokens + completion.tokens)
    if config.context is not None and config.context.tokens is not None:
        unit.tx.add([Value(run.id, _UNCOUNTED, _BEFORE, "true", None, "system")])
    return run


def request(place: Place, intent: AskModel) -> Ask:
    """Everything that the model is shown, read in the transaction that reached it."""
    tx, run, path, config, scope = place.unit.tx, place.run, place.path, place.world.config, place.scope
    agent = config.agents[intent.agent]
    commands = intent.commands or agent.commands
    past = (turn for turn in tx.turns(run.id, path, intent.first) if turn.number not in intent.refused)
    request = TurnRequest(
        run.id,
        place.flow.id,
        path.rsplit("/", 1)[-1],
        agent.name,
        tx.next_turn(run.id, path),
        f"{intent.prompt}\n\n{untrusted.RULE}",
        {key: _shown(tx, run.id, key, scope) for key in _readable(tx, run.id, intent.reads, scope)},
        tuple(_exchange(tx, turn, intent.heard) for turn in past),
        offers(agent, config, run) if "tool_invocation" in commands else (),
        commands,
        intent.keys,
        path,
    )
    return Ask(config.models[agent.model], request, path, intent.corrects)


def offers(agent: Agent, config: Config, run: Run) -> tuple[Offer, ...]:
    """The tools that an agent is shown: those that it may call."""
    tools = exposure.shown(config, agent.name, run.workflow, run.requester)
    return tuple(Offer(tool.capability, tool.description, tool.schema) for tool in tools)


def _readable(tx: Reader, run: str, reads: tuple[str, ...], scope: str) -> list[str]:
    """Of what it reads, the keys that are there; without "*" no other is looked at."""
    if "*" not in reads:
        named = (key for key in sorted(set(reads)) if scopes.readable(scope + key, scope) is not None)
        return [key for key in named if tx.value(run, scope + key) is not None]
    keys = (scopes.readable(key, scope) for key in tx.keys(run))
    return [key for key in keys if key is not None]


def _shown(tx: Reader, run: str, key: str, scope: str) -> str:
    found = tx.value(run, scope + key)
    if found is None or found.value is None:
        return "null"
    return untrusted.show(key, found.provenance, canonical.parse(found.value))


def _exchange(tx: Reader, turn: Turn, heard: tuple[tuple[int, str], ...]) -> Exchange:
    """A past turn with what came of its calls, then what people said to it."""
    commands = canonical.parse(turn.commands)
    calls = [c for c in commands if isinstance(c, dict) and "call" in c] if isinstance(commands, list) else []
    ends = [_end(tx, str(call["call"]), str(call.get("capability"))) for call in calls]
    ends += (_End(words, "what a person said", "user", words) for number, words in heard if number == turn.number)
    return Exchange(commands, tuple(end.shown() for end in ends), tuple(end.raw for end in ends))


class _End(NamedTuple):
    """What a model sees of a call's end, or of what a person said. `raw`: all of it as text; `body`: the part that came from outside, as
    JSON, `word`: what is said of it."""

    raw: str
    name: str = ""
    came: Provenance = "system"
    body: str | None = None
    word: str = ""

    def shown(self) -> str:
        return self.raw if self.body is None else self.word + untrusted.show(self.name, self.came, canonical.parse(self.body))


def _end(tx: Reader, call: str, capability: str) -> _End:
    """Its result, or how it was settled and why."""
    stored = tx.call(call)
    outcome = stored[1] if stored else None
    if outcome is None:
        return _End("no result")
    if outcome.body is None and redacted.is_redacted(tx, call):
        return _End(f"{outcome.status}: the result was redacted")
    body = outcome.body or "null"
    if outcome.status in ("succeeded", "recorded"):
        return _End(body, f"result of {capability}", "tool", body)
    return _End(f"{outcome.status}: {body}", f"end of {capability}", "tool", body, f"{outcome.status}:\n")


def store(unit: Unit, run: Run, ask: Ask, completion: Completion) -> Turn:
    """The turn as it will be carried out, with the ids of its calls; written before its first command runs."""
    found = commands(completion)
    if isinstance(found, list):
        found = [_with_id(unit, command) for command in found]
    turn = Turn(run.id, ask.path, ask.request.ordinal, _encoded(found))
    unit.tx.add([turn])
    return turn


def tell(unit: Unit, run: Run, ask: Ask, completion: Completion) -> None:
    """That a model answered, whatever becomes of it: which one, how long it took, and what it counted."""
    facts: dict[str, Json] = {
        "agent": ask.request.agent,
        "model": ask.model.name,
        "answered_by": completion.answered_by and clean(completion.answered_by),
        "ordinal": ask.request.ordinal,
        "corrects": ask.corrects is not None,
        "selects": ask.choice is not None,
        "tokens_in": completion.tokens_in,
        "tokens_out": completion.tokens_out,
        "tokens": completion.tokens,
        "duration_ms": None if completion.seconds is None else round(completion.seconds * 1000),
    }
    unit.record("LLM_CALL_COMPLETED", run, facts, step=ask.path)


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
