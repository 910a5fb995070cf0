"""What the log alone says of a run: whether it went past something that a person had to decide, at any depth, without that decision."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tests.runtime.kit import payload
from toolgate_cli.core.records import Event

from .growing import Grown

GATES = {"approval": "STEP_APPROVED", "review": "STEP_REVIEWED"}
ASKS = {"AWAITING_INPUT": "INPUT_SUBMITTED", "AWAITING_APPROVAL": "APPROVED"}
STILL = (  # what may be told of a run that waits
    "DECISION_REFUSED", "RUN_FAILED", "RUN_CANCELLED", "RUN_CONTINUED", "RUN_RECOVERED", "STEP_FAILED", "STEP_REJECTED", "REJECTED",
    "STEP_AWAITING_REVIEW", "STEP_AWAITING_APPROVAL",
)  # fmt: skip
LETS_START = ("TOOL_INVOCATION_APPROVED", "TOOL_INVOCATION_RETRIED")


def unlawful(events: Iterable[Event], grown: Grown) -> Iterator[str]:
    """Everything that was done without the word that it needed. `events`: of one run."""
    needs: dict[str, str] = {}  # path -> the event that lets it pass
    given: set[str] = set()  # paths that were answered, calls that were let start
    for event in events:
        path, facts = event.step_id or "", payload(event)
        if needs.get(path) == event.type:
            del needs[path]
            given.add(path)
            if not event.actor or "os_user" not in facts:
                yield f"nobody said the {event.type} of {event.seq}"
        elif event.type == "STEP_RETRIED" and "status" in facts:
            needs = {waits: word for waits, word in needs.items() if grown.place(waits) < grown.place(path)}
        elif needs and event.type not in STILL:
            yield f"{event.seq} {event.type} of {path} came without the word that it needed: {needs}"
        if event.type == "STEP_STARTED":
            given.discard(path)
        if event.type == "STEP_COMPLETED" and "skipped" not in facts and grown.table(path)["type"] == "input" and path not in given:
            yield f"{event.seq}: the form of {path} was passed without an answer"
        if event.call_id is not None:
            yield from _of_a_call(event, facts, event.call_id, given)
        needs |= _needed(event, facts, path, grown)


def _needed(event: Event, facts: Mapping[str, object], path: str, grown: Grown) -> dict[str, str]:
    if event.type in ASKS:
        return {path: ASKS[event.type]}
    if event.type == "STEP_COMPLETED" and "skipped" not in facts and grown.gate(path) != "none":
        return {path: GATES[grown.gate(path)]}
    return {}


def _of_a_call(event: Event, facts: Mapping[str, object], call: str, given: set[str]) -> Iterator[str]:
    """A word lasts until the call waits again: the gate itself may repeat what was approved."""
    if event.type in LETS_START:
        given.add(call)
    elif "row" in facts:
        given.discard(call)
    if event.type == "TOOL_INVOCATION_STARTED" and facts["cleared"] != "policy" and call not in given:
        yield f"{event.seq}: nobody let {call} start"
