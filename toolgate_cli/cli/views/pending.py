"""What waits for a person: one row as JSON, the list as a sheet."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from ...core.types import Json
from ...runtime.answers import Waiting
from .shapes import Column, Sheet, cell

SCHEMA: Final = "toolgate.pending/1"
_KINDS: Final = {"STEP_APPROVAL": "step_approval", "REVIEW": "review", "ESCALATION": "escalation", "INPUT": "input"}


def kind(waiting: Waiting) -> str:
    return _KINDS.get(waiting.row.origin, "tool")


def title(waiting: Waiting) -> str | None:
    """What to call it: the call's own title, else its capability."""
    return None if waiting.call is None else waiting.call.title or waiting.call.capability


def arguments(waiting: Waiting) -> Json:
    """The stored arguments, read; None where they were never stored or are redacted."""
    if waiting.call is None or waiting.call.arguments is None:
        return None
    value: Json = json.loads(waiting.call.arguments)
    return value


def to_json(waiting: Waiting) -> dict[str, Json]:
    row, call, tool = waiting.row, waiting.call, waiting.definition or {}
    shown: dict[str, Json] = {
        "id": row.id,
        "run_id": row.run_id,
        "workflow": waiting.workflow,
        "step": row.step,
        "kind": kind(waiting),
        "capability": call.capability if call else None,
        "title": title(waiting),
        "arguments": arguments(waiting),
        "rationale": call.rationale if call else None,
        "reason": row.reason,
        "origin": row.origin,
        "approver_scope": row.approver_scope,
        "approvals_needed": row.approvals_needed,
        "approvals": list(waiting.approvals),
        "safety": tool.get("safety"),
        "effect": tool.get("effect"),
        "agent": call.agent if call else None,
        "digest": row.call_digest,
        "ref": waiting.ref,
        "version": row.version,
        "attempts": row.starts,
        "requested_by": call.requested_by if call else None,
        "doubt": row.doubt,
        "still_running": waiting.still_running,
        "created_at": row.created_at,
        "expires_at": row.expires_at,
    }
    if row.origin == "INPUT":
        shown["form"] = waiting.form
    if row.origin in ("STEP_APPROVAL", "REVIEW"):
        shown["output"] = waiting.output
        shown["values"] = None if waiting.values is None else dict(waiting.values)
    return shown


_COLUMNS: Final = (Column("ref", True), Column("run_id", True), Column("origin", True), Column("title"))
_MORE: Final = (Column("id", True), Column("kind"), Column("step"), Column("capability"), Column("requested_by"), Column("approvals"))


def sheet(rows: Iterable[Waiting]) -> Sheet:
    """For a terminal: what is needed to choose, within 80 columns."""
    return Sheet(_COLUMNS, ((cell(w.ref), cell(w.row.run_id), cell(w.row.origin), cell(_when(w, _told(w)))) for w in rows))


def wide_sheet(rows: Iterable[Waiting]) -> Sheet:
    """For a program that reads columns."""
    columns = (*_COLUMNS, *_MORE, Column("created_at"), Column("expires_at"), Column("reason"))
    return Sheet(
        columns,
        (
            (
                *(cell(value) for value in (w.ref, w.row.run_id, w.row.origin, _when(w, _name(w)), w.row.id, kind(w), w.row.step)),
                *(cell(value) for value in (w.call and w.call.capability, w.call and w.call.requested_by)),
                cell(f"{len(w.approvals)}/{w.row.approvals_needed}"),
                cell(w.row.created_at),
                cell(w.row.expires_at),
                cell(w.row.reason),
            )
            for w in rows
        ),
    )


def _when(waiting: Waiting, told: str) -> str:
    return f"expired: {told}" if waiting.expired else told


def _told(waiting: Waiting) -> str:
    """For whoever sees no other column: of a step also which one, of a tool that stopped half-way its question."""
    row = waiting.row
    if waiting.call is None:
        return ": ".join(filter(None, (f"{waiting.workflow}, {row.step}", row.reason)))
    return f"{_name(waiting)}: {row.reason}" if row.origin == "CONFIRMATION_REQUIRED" and row.reason else _name(waiting)


def _name(waiting: Waiting) -> str:
    return title(waiting) or waiting.row.reason or waiting.row.step
