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
    answered: set[str] = set()
    before: Event | None = None
    for event in events:
        path, facts = event.step_id or "", payload(event)
        if needs.get(path) == event.type:
            del needs[path]
            answered.add(path)
            if not event.actor or "os_user" not in facts:
                yield f"nobody said the {event.type} of {event.seq}"
        elif event.type == "STEP_RETRIED" and "status" in facts:
            needs = {waits: word for waits, word in needs.items() if grown.place(waits) < grown.place(path)}
        elif needs and event.type not in STILL:
            yield f"{event.seq} {event.type} of {path} came without the word that it needed: {needs}"
        yield from _of_its_kind(event, facts, path, grown, answered, before)
        needs |= _needed(event, facts, path, grown)
        before = event


def _needed(event: Event, facts: Mapping[str, object], path: str, grown: Grown) -> dict[str, str]:
    if event.type in ASKS:
        return {path: ASKS[event.type]}
    if event.type == "STEP_COMPLETED" and "skipped" not in facts and grown.gate(path) != "none":
        return {path: GATES[grown.gate(path)]}
    return {}


def _of_its_kind(
    event: Event, facts: Mapping[str, object], path: str, grown: Grown, answered: set[str], before: Event | None
) -> Iterator[str]:
    if event.type == "STEP_STARTED":
        answered.discard(path)
    if event.type == "STEP_COMPLETED" and "skipped" not in facts and grown.table(path)["type"] == "input" and path not in answered:
        yield f"{event.seq}: the form of {path} was passed without an answer"
    if event.type == "TOOL_INVOCATION_STARTED" and facts["cleared"] != "policy":
        let = before is not None and before.type in LETS_START and before.call_id == event.call_id
        if not let:
            yield f"{event.seq}: nobody let {event.call_id} start"
