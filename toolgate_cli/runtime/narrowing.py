"""Before an agent that may call many tools is asked, a model chooses those that it is shown; the choice is stored before it is used (I13).

It is an answer of a model like any other: behind the same budget and deadline, and told and counted in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ..core import canonical, selection, untrusted
from ..core.errors import ToolgateError
from ..core.intents import AskModel
from ..core.records import Run, Turn
from ..core.soundness import clean
from ..core.turns import Completion, Offer, TurnRequest
from ..core.types import Json
from . import asking
from .unit import Unit
from .work import Ask

if TYPE_CHECKING:
    from .place import Place

_APART = ".tools"  # no step has a dot in its id, so a selector's turns stand beside those of the step
_TASK = (
    "Another model takes the next turn of the conversation that you are shown. It could call many tools, and is shown only some: choose "
    "those that it may need for this turn. You carry nothing out yourself. Call complete once; its output is the list of the names of the "
    "tools, the most useful first, {most} at most. An empty list means that it needs none of them."
)


def narrowed(place: Place, intent: AskModel, ask: Ask) -> Ask:
    """The question with the tools that were chosen for this very turn; where none were chosen yet, the question to the selector."""
    request, config = ask.request, place.world.config
    chosen = config.agents[request.agent].selection
    choice = selection.choice(chosen, [tool.capability for tool in request.tools], request.ordinal)
    if chosen is None or choice is None:
        return ask
    shown = _shown(place, request.ordinal)
    if shown is None:
        return Ask(config.models[chosen.selector], _question(place, intent, request, choice), ask.path, choice=choice)
    # what is exposed now counts: a choice of before cannot widen it
    tools = tuple(tool for tool in request.tools if tool.capability in shown)
    also = tuple(tool.capability for tool in request.tools if tool.capability not in shown)
    return ask._replace(request=request._replace(tools=tools, also=also))


def _shown(place: Place, turn: int) -> frozenset[str] | None:
    """The names that were chosen for a turn since the step was begun; None: it is still to be asked for."""
    number = place.frame.selected
    for stored in place.unit.tx.turns(place.run.id, place.path + _APART, number) if number is not None else ():
        of, names = _kept(stored)
        if of == turn:
            return names
    return None


def _kept(stored: Turn) -> tuple[int, frozenset[str]]:
    """For which turn, and what. ToolgateError("storage") for what is none: other hands changed it."""
    try:
        held = cast("dict[str, Json]", canonical.parse(stored.commands))
        return cast(int, held["turn"]), frozenset(cast("list[str]", held["tools"]))
    except (KeyError, TypeError, ToolgateError) as error:
        said = f"the tools that were chosen for {stored.path} cannot be read: they were changed by other hands"
        raise ToolgateError("storage", said, "toolgate audit verify") from error


def _question(place: Place, intent: AskModel, request: TurnRequest, choice: selection.Choice) -> TurnRequest:
    """What the agent is shown, and the tools: all of it as data."""
    path = place.path + _APART
    about = (
        _TASK.format(most=choice.most),
        untrusted.wrap("what it is told", "system", intent.prompt),
        untrusted.wrap("tools", "tool", [_entry(tool) for tool in request.tools if tool.capability in choice.open]),
        untrusted.RULE,
    )
    return request._replace(
        step=path.rsplit("/", 1)[-1],
        path=path,
        ordinal=place.unit.tx.next_turn(place.run.id, path),
        prompt="\n\n".join(about),
        tools=(),
        commands=("complete",),
        keys=(),
        output=choice.schema,
    )


def _entry(tool: Offer) -> Json:
    return {"name": tool.capability, "description": tool.description}


def settle(unit: Unit, run: Run, ask: Ask, came: Completion | ToolgateError) -> ToolgateError | None:
    """Stores what is shown, whatever came of the question. An error: nothing is, and the step fails with it."""
    choice = ask.choice
    assert choice is not None
    why = came.message if isinstance(came, ToolgateError) else came.fault
    if isinstance(came, ToolgateError):
        found = selection.failed(choice, "no_answer")
    else:
        found = selection.failed(choice, "cut_off") if came.fault is not None else selection.judge(choice, asking.commands(came))
    why = clean(why or selection.WHY[found.code])
    facts: dict[str, Json] = {
        "agent": ask.request.agent,
        "model": ask.model.name,
        "ordinal": ask.request.ordinal,
        "turn": choice.turn,
        "action": found.action,
        "code": found.code,
        "tools": list(found.tools),
        "of": len(choice.exposed),
        "unknown": found.unknown,
        "over": found.over,
        **({"message": why} if why else {}),
    }
    unit.record("TOOLS_SELECTED", run, facts, step=ask.path)
    if found.action == "throw":
        said = f"no tools were selected for the agent {ask.request.agent}: the selector {ask.model.name} failed: {why}"
        return ToolgateError("failed", said)
    kept: Json = {"turn": choice.turn, "tools": list(found.tools)}
    unit.tx.add([Turn(run.id, ask.request.path, ask.request.ordinal, canonical.encode(kept))])
    return None
