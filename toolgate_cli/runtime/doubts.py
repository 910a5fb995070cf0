"""What of a run may have taken effect without anybody knowing: it is never asked for again without a word of a person (I8, I9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ..core.errors import ToolgateError
from ..core.records import Run
from .unit import Unit


def first(unit: Unit, run: Run, again: Callable[[str], bool]) -> ToolgateError | None:
    """Why it takes a word more to run steps again: doubt outlives the call that it is of, and what runs again asks for the same effect
    under another key. `again`: whether a step, by its path, is among them."""
    return next((refusal for _, refusal in _doubts(unit, run, again)), None)


def since_the_last_word(unit: Unit, run: Run, again: Callable[[str], bool]) -> ToolgateError | None:
    """The same for what no person has just asked for: one who sent the run back with that word said it of all that came before."""
    said = max((event.seq for event in unit.told(run, "STEP_RETRIED") if event.payload.get("may_run_twice") is True), default=0)
    return next((refusal for seq, refusal in _doubts(unit, run, again) if seq > said), None)


def _doubts(unit: Unit, run: Run, again: Callable[[str], bool]) -> Iterator[tuple[int, ToolgateError]]:
    for event in unit.told(run, "TOOL_INVOCATION_OUTCOME_UNKNOWN"):
        stored = unit.tx.call(event.call_id) if event.call_id is not None else None
        if stored is None or not again(event.step_id or ""):
            continue
        call, outcome = stored
        if outcome is not None and outcome.effect_applied == "unknown":
            said = f"{call.capability} of {call.step} was started as {call.id} and may have taken effect: a new call would be a second one"
            yield event.seq, ToolgateError("unknown_outcome", said, "find out what happened, then add --may-run-twice")
