"""A run as it stands, and what a verb that moved it answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ...core.records import Event
from ...core.types import Json
from ...runtime.answers import Answer, RunView, Waiting
from ..safe import Safe, fill, line, show_json
from . import pending
from .shapes import REDACTED, Column, Field, Fields, Sheet, cell, field, member_name

ANSWER_SCHEMA: Final = "toolgate.run/1"
STATE_SCHEMA: Final = "toolgate.run_state/1"
PINNED: Final = "this run goes on with the definition it started with"
CHANGED: Final = f"the workflow's file has changed since; {PINNED}, and only a new start uses the file as it is now"


def run_json(view: RunView) -> dict[str, Json]:
    run = view.run
    shown: dict[str, Json] = {
        "id": run.id,
        "workflow": run.workflow,
        "title": view.title,
        "status": run.status,
        "step": view.step,
        "requester": run.requester,
        "created_at": run.created_at,
        "updated_at": run.updated_at,
        "definition_digest": run.definition,
        "error": _error(view.error),
        "outputs": dict(view.outputs),
    }
    if view.context is not None:
        shown["context"] = {
            key: {"value": value, "provenance": provenance, **({"redacted": True} if key in view.erased else {})}
            for key, (value, provenance) in view.context.items()
        }
        if view.redactions:
            from . import events

            shown["redactions"] = [events.to_json(event) for event in view.redactions]
    return shown


def _error(error: Mapping[str, Json] | None) -> Json:
    return None if error is None else {name: error.get(name) for name in ("message", "step", "support_id")}


def answer_json(answer: Answer) -> dict[str, Json]:
    return {
        "schema": ANSWER_SCHEMA,
        "effect": answer.effect,
        "run": run_json(answer.run),
        "pending": [pending.to_json(waiting) for waiting in answer.pending],
        "head": answer.head,
        "next": [advice.command for advice in answer.next],
    }


def answer_fields(answer: Answer) -> Fields:
    """For a terminal."""
    return (field("run", answer.run.run.id), field("effect", answer.effect), *_standing(answer.run, answer.pending))


_ANSWER_COLUMNS: Final = ("run_id", "effect", "status", "pending", "workflow", "step", "error", "reason")


def answer_sheet(answers: Iterable[Answer]) -> Sheet:
    """For a program that reads columns."""
    columns = tuple(Column(name, name == "run_id") for name in _ANSWER_COLUMNS)
    return Sheet(columns, (tuple(map(cell, _answer_cells(answer))) for answer in answers))


def _answer_cells(answer: Answer) -> tuple[object, ...]:
    run, error = answer.run.run, answer.run.error
    refs = ",".join(waiting.ref for waiting in answer.pending)
    reasons = "; ".join(waiting.row.reason for waiting in answer.pending if waiting.row.reason)
    return run.id, answer.effect, run.status, refs, run.workflow, answer.run.step, error and error.get("message"), reasons or None


def state_json(view: RunView, rows: Sequence[Waiting], head: str) -> dict[str, Json]:
    return {"schema": STATE_SCHEMA, "run": run_json(view), "pending": [pending.to_json(waiting) for waiting in rows], "head": head}


def state_fields(view: RunView, rows: Sequence[Waiting]) -> Fields:
    run = view.run
    return (
        field("run", run.id),
        *_standing(view, rows),
        *([field("title", view.title)] if view.title else []),
        field("requester", run.requester),
        field("created", run.created_at),
        field("updated", run.updated_at),
        field("definition", run.definition),
        *(Field(member_name(step), show_json(output), "outputs") for step, output in view.outputs.items()),
        *(
            Field(member_name(key), fill("{} ({})", REDACTED if key in view.erased else show_json(value), source), "context")
            for key, (value, source) in (view.context or {}).items()
        ),
        *(
            Field(line(event.call_id or ""), fill("by {} at {}: {}", event.actor, event.at, _why(event)), "redacted")
            for event in view.redactions
        ),
    )


_OF_A_CALL: Final = "TOOL_INVOCATION_"
_NO_END: Final = ("VOTED", "OVERRIDE_REJECTED", "LATE_RESULT")  # they change nothing of how a call stands


def call_lines(events: Iterable[Event]) -> Iterator[Safe]:
    """The calls of a run in the order in which they were asked for, with the last that the log says of each."""
    last: dict[str, Event] = {}
    for event in events:
        if event.call_id is not None and event.type.startswith(_OF_A_CALL) and event.type.removeprefix(_OF_A_CALL) not in _NO_END:
            last[event.call_id] = event
    if last:
        yield Safe("calls:")
    for id, event in last.items():
        yield fill("  {}: {}: {}, {}", id, event.type.removeprefix(_OF_A_CALL), event.capability, event.step_id)


def _why(event: Event) -> str:
    told = json.loads(event.payload) if event.payload is not None else {}
    return str(told.get("reason"))


def _standing(view: RunView, rows: Sequence[Waiting]) -> Iterator[Field]:
    yield field("status", view.run.status)
    yield field("workflow", view.run.workflow)
    if view.step is not None:
        yield field("step", view.step)
    if view.error is not None:
        yield from (
            field(name, view.error.get(key)) for name, key in (("error", "message"), ("failed at", "step"), ("support id", "support_id"))
        )
    yield from (Field(line(w.ref), _waits(w), "pending") for w in rows)


def _waits(waiting: Waiting) -> Safe:
    """What waits and why; of several approvals, how many there are."""
    row = waiting.row
    said = [str(pending.title(waiting) or row.step)]
    if row.reason and row.origin != "APPROVAL_REQUIRED":
        said.append(row.reason)
    if row.origin == "APPROVAL_REQUIRED" and row.approvals_needed > 1:
        said.append(_votes(waiting))
    return fill("{}: {}", row.origin, ": ".join(said))


def _votes(waiting: Waiting) -> str:
    """How many there are, and whose is still wanted."""
    row, given = waiting.row, waiting.approvals
    by = f" ({', '.join(given)})" if given else ""
    but = [*given, *([waiting.call.requested_by] if row.separate_requester and waiting.call else [])]
    whose = f"{row.approver_scope}" if row.approver_scope else "anybody"
    others = f", but not {', '.join(dict.fromkeys(but))}" if but else ""
    others += "; nobody is left over" if waiting.out_of_reach else ""
    return f"{len(given)} of {row.approvals_needed} approvals{by}; may approve: {whose}{others}"
