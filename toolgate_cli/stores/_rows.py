"""Records to and from SQLite's columns. The columns of a table stand in the order of its record's fields, so most need no code at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..core.records import Accepted, Attempt, Call, Definition, Outcome, Row, Step, Turn, Value, Vote

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode
_SEPARATE = Row._fields.index("separate_requester")


def insert(table: str, record: Any, rest: str = "") -> str:
    """The statement that inserts one record of that type."""
    fields = record._fields
    return f"INSERT INTO {table} ({', '.join(fields)}) VALUES ({', '.join('?' * len(fields))}){rest}"


def columns(record: Any, alias: str = "") -> str:
    """The fields of a record type, to be selected."""
    return ", ".join(alias + field for field in record._fields)


# "Definitions and accepted marks that exist already are left alone; a value or step of the same key replaces; the rest must be new."
KEEP: dict[type, str] = {
    Call: insert("calls", Call),
    Outcome: insert("outcomes", Outcome),
    Turn: insert("turns", Turn),
    Vote: insert("votes", Vote),
    Definition: insert("definitions", Definition, " ON CONFLICT DO NOTHING"),
    Accepted: insert("checked", Accepted, " ON CONFLICT DO NOTHING"),
    Value: insert(
        "context",
        Value,
        " ON CONFLICT (run_id, key, top) DO UPDATE SET value = excluded.value, call_id = excluded.call_id,"
        " provenance = excluded.provenance",
    ),
    Step: insert(
        "steps",
        Step,
        " ON CONFLICT (run_id, path) DO UPDATE SET top = excluded.top, ended = excluded.ended, output = excluded.output, at = excluded.at",
    ),
}


def to_row(found: Sequence[Any]) -> Row:
    """A row from the columns of `pending`."""
    return Row._make((*found[:_SEPARATE], bool(found[_SEPARATE]), *found[_SEPARATE + 1 :]))


def to_call(found: Sequence[Any]) -> tuple[Call, Outcome | None]:
    """A call and how it was settled, from the columns of both."""
    split = len(Call._fields)
    return Call._make(found[:split]), None if found[split] is None else Outcome._make(found[split:])


ATTEMPT = "id, row, version, run_id, number, state, owner, host, boot, deadline, cancelled"


def from_attempt(attempt: Attempt) -> tuple[Any, ...]:
    """The columns of `attempts`; the row goes in as JSON."""
    row = attempt.row
    return (row.id, _encode(row._asdict()), row.version, row.run_id, *attempt[1:])


def to_attempt(found: Sequence[Any]) -> Attempt:
    """An attempt from the columns of `attempts`."""
    _, row, _, _, number, state, owner, host, boot, deadline, cancelled = found
    return Attempt(Row(**json.loads(row)), number, state, owner, host, boot, deadline, bool(cancelled))
