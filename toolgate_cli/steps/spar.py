"""Two agents argue: in every round each of them says one thing, seeing what both said in the rounds before. After the last round the first
one resolves.

There is another round while one of them asks for it with a reason, up to `max_rounds`. What is said in a round is said only: nothing of it
is carried out. The resolution is a conversation like any other agent's.
"""

from __future__ import annotations

from typing import Annotated

from ..core.errors import ToolgateError
from ..core.fields import Between, Key, Names, Reads
from ..core.intents import Arrived, AskModel, Done, Fail, Intent, View
from ..core.records import Turn
from ..core.values import NamedTuple
from . import _commands, _debate
from ._conversation import Talk, recall
from ._debate import Debate
from ._retry import Retry
from ._turns import Voice, carry_on

_SAYING = ("say", "continue", "complete")  # all that a round may hold
_INSTRUCTION = (
    "You are the {side} in round {round} of at most {most} of an argument. Say what you hold and why, in one turn. "
    "Only if something concrete is still open, name it: continue with wants_another_round = true and a reason that says what it is. "
    "Else do not ask for another round."
)


class Fields(NamedTuple):
    """`agent` speaks first in every round, and resolves with `resolution_prompt`; `prompt` is for both, in every round and at the end."""

    agent: Annotated[str, Names("agent")]
    challenger: Annotated[str, Names("agent")]
    prompt: str | None = None
    max_rounds: Annotated[int, Between(1)] = 3
    resolution_prompt: str | None = None
    reads: Annotated[tuple[str, ...], Reads(any_word=True)] = ()
    writes: Annotated[tuple[str, ...], Key(any_word=True)] = ()
    retry: Retry | None = None


def plan(step: Fields, view: View) -> Intent:
    debate = _debate.recall(view.memo)
    if "first" in view.memo:
        return _resolve(step, debate, view, recall(view.memo), view.arrived)
    if not isinstance(view.arrived, Turn):
        return _ask(step, debate, view)
    try:
        commands = _commands.read(view.arrived.commands, _allowed(step, debate, view), ())
    except ToolgateError as refusal:
        if debate.defect is not None:
            return Fail(refusal.message)
        return _ask(step, debate._replace(defect=refusal.message), view)
    return _go_on(step, debate.say(_debate.words(commands), _debate.wants_another(commands)), view)


def _go_on(step: Fields, debate: Debate, view: View) -> Intent:
    if len(debate.said[-1]) < 2:
        return _ask(step, debate, view)
    if debate.wants and debate.round < step.max_rounds:
        return _ask(step, debate.next_round(), view)
    return _resolve(step, debate, view, Talk(first=view.turns()), None)


def _allowed(step: Fields, debate: Debate, view: View) -> tuple[str, ...]:
    own = view.agent(_speaker(step, debate)).commands
    return tuple(command for command in _SAYING if command in own)


def _speaker(step: Fields, debate: Debate) -> str:
    return step.agent if debate.side == "agent" else step.challenger


def _ask(step: Fields, debate: Debate, view: View) -> Intent:
    agent, commands = view.agent(_speaker(step, debate)), _allowed(step, debate, view)
    if not commands:
        return Fail(f"agent {agent.name} may use none of {', '.join(_SAYING)}, and can say nothing")
    told = _INSTRUCTION.format(side=debate.side, round=debate.round, most=step.max_rounds)
    voice = Voice(agent, (step.prompt,), step.reads, (), "\n\n".join(filter(None, (debate.told(), told))))
    prompt, first = voice.prompt(view, debate.defect), view.turns()  # what was said is shown as data: no round has a history
    return AskModel(agent.name, prompt, step.reads, debate.memo(), first, commands=commands, corrects=debate.defect)


def _resolve(step: Fields, debate: Debate, view: View, talk: Talk, arrived: Arrived) -> Intent:
    """The first agent's conversation, which is shown the whole argument."""
    voice = Voice(view.agent(step.agent), (step.prompt, step.resolution_prompt), step.reads, step.writes, debate.told())
    intent = carry_on(voice, view, talk, arrived)
    if isinstance(intent, Done):
        return intent._replace(event={"rounds": debate.round})
    if isinstance(intent, Fail):
        return intent
    return intent._replace(memo={**debate.memo(), **intent.memo})
