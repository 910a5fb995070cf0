"""What of a run may have taken effect without anybody knowing: it is never asked for again without a word of a person (I8, I9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from ..core import effects
from ..core.config import Tool
from ..core.errors import ToolgateError
from ..core.records import Call, EventQuery, Run
from ..core.types import Effect
from . import sealing
from .unit import Unit


def first(unit: Unit, run: Run, tools: Mapping[str, Tool], again: Callable[[str], bool]) -> ToolgateError | None:
    """Why it takes a word more to run steps again: doubt outlives the call that it is of, and what runs again asks for the same effect
    under another key. `again`: whether a step, by its path, is among them."""
    return _of_steps(unit, (call for _, call in _doubts(unit, run.id)), tools, again)


def since_the_last_word(unit: Unit, run: Run, tools: Mapping[str, Tool], again: Callable[[str], bool]) -> ToolgateError | None:
    """The same for what no person has just asked for: one who sent the run back with that word said it of all that came before."""
    return _of_steps(unit, _unsaid(unit, run.id), tools, again)


def _of_steps(unit: Unit, calls: Iterable[Call], tools: Mapping[str, Tool], again: Callable[[str], bool]) -> ToolgateError | None:
    return next((_refusal(call) for call in calls if again(call.step) and _matters(unit, call, tools.get(call.capability))), None)


def of_an_equal(unit: Unit, call: Call, tool: Tool | None) -> str | None:
    """Why a call is not started because a rule allows it: one with the same arguments, which has another key, may have taken effect."""
    for other in _unsaid(unit, call.run_id):
        equal = (other.capability, other.arguments_digest) == (call.capability, call.arguments_digest)
        if equal and _matters(unit, other, tool):
            return f"an equal call of this run, {other.id}, may have taken effect: nobody has said what came of it"
    return None


def _matters(unit: Unit, call: Call, tool: Tool | None) -> bool:
    """Whether a new call could be a second effect: what only read, and by its tool as it is now only reads, has none."""
    return tool is None or effects.rekeyed(_strictest(unit, call, tool)) == "unsafe"


def _strictest(unit: Unit, call: Call, tool: Tool) -> Effect:
    """Of the class that the tool has now and those under which the call was started."""
    strictest = tool.effect
    for event in unit.tx.events(EventQuery(call_id=call.id, type="TOOL_INVOCATION_STARTED")):
        then = sealing.payload(event).get("effect", "unsafe")  # one that was redacted does not say
        strictest = effects.stricter(strictest, then)  # type: ignore[arg-type]  # one of the classes
    return strictest


def _unsaid(unit: Unit, run: str) -> Iterator[Call]:
    doubts = tuple(_doubts(unit, run))
    words = unit.told(run, "STEP_RETRIED") if doubts else ()  # asked only where there is a doubt
    said = max((event.seq for event in words if event.payload.get("may_run_twice") is True), default=0)
    return (call for seq, call in doubts if seq > said)


def _doubts(unit: Unit, run: str) -> Iterator[tuple[int, Call]]:
    """The calls of a run that were given up while nobody knew what they had done, each with an event that says so."""
    for type in ("TOOL_INVOCATION_OUTCOME_UNKNOWN", "TOOL_INVOCATION_FAILED"):
        for event in unit.told(run, type):
            stored = unit.tx.call(event.call_id) if event.call_id is not None else None
            if stored is None or stored[1] is None or stored[1].effect_applied != "unknown":
                continue
            # of what is no doubt, or no more, it is known that it was dispatched; and a no to a later start settles none
            if stored[1].dispatched == "unknown" or stored[1].status == "business_failed":
                yield event.seq, stored[0]


def _refusal(call: Call) -> ToolgateError:
    said = f"{call.capability} of {call.step} was started as {call.id} and may have taken effect: a new call would be a second one"
    return ToolgateError("unknown_outcome", said, "find out what happened, then add --may-run-twice")
