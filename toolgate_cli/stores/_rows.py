"""Records to and from SQLite's columns. The columns of a table stand in the order of its record's fields, so most need no code at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..core import canonical, durations
from ..core.errors import ToolgateError
from ..core.records import Accepted, Attempt, Call, Definition, Outcome, Row, Run, Step, Turn, Value, Vote

T = TypeVar("T")

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


def read(table: str, made: Callable[[Sequence[Any]], T], found: Sequence[Any]) -> T:
    """A record from its columns. ToolgateError("storage") names the table and the id of what is none: other hands changed it."""
    try:
        return made(found)
    except (TypeError, ValueError, RecursionError) as error:
        said = f"{found[0]} in the table {table} cannot be read: it was changed by other hands"
        raise ToolgateError("storage", said, "toolgate audit verify") from error


def to_row(found: Sequence[Any]) -> Row:
    """A row from the columns of `pending`."""
    return Row._make((*found[:_SEPARATE], bool(found[_SEPARATE]), *found[_SEPARATE + 1 :]))


def to_call(found: Sequence[Any]) -> tuple[Call, Outcome | None]:
    """A call and how it was settled, from the columns of both."""
    split = len(Call._fields)
    return Call._make(found[:split]), None if found[split] is None else Outcome._make(found[split:])


def to_run(found: Sequence[Any]) -> Run:
    """A run from the columns of `runs`; its owner is of three parts."""
    run = Run._make(found)
    if run.owner is not None and run.owner.count(":") < 2:
        raise ValueError(run.owner)
    return run


ATTEMPT = "id, row, version, run_id, number, state, owner, host, boot, deadline, cancelled"


def from_attempt(attempt: Attempt) -> tuple[Any, ...]:
    """The columns of `attempts`; the row goes in as JSON."""
    row = attempt.row
    return (row.id, canonical.flat(row._asdict()), row.version, row.run_id, *attempt[1:])


def to_attempt(found: Sequence[Any]) -> Attempt:
    """An attempt from the columns of `attempts`."""
    id, row, version, run_id, number, state, owner, host, boot, deadline, cancelled = found
    held = Row(**json.loads(row))
    if (held.id, held.version, held.run_id) != (id, version, run_id) or not all(map(_fits, held, _KINDS)):
        raise ValueError(id)
    durations.later(deadline, 0)
    return Attempt(held, number, state, owner, host, boot, deadline, bool(cancelled))


_NUMBERS, _MUST = ("version", "approvals_needed", "starts", "parked_by"), ("id", "run_id", "step", "origin", "created_at")
_KINDS = [
    (int,) if name in _NUMBERS else (str,) if name in _MUST else (int, type(None)) if name == "revision"
    else (bool,) if name == "separate_requester" else (str, type(None))
    for name in Row._fields
]  # fmt: skip


def _fits(value: object, kinds: tuple[type, ...]) -> bool:
    return type(value) in kinds


# ---- read with what has to be said of one that cannot be ----
def pending(found: Sequence[Any]) -> Row:
    return read("pending", to_row, found)


def attempt(found: Sequence[Any]) -> Attempt:
    return read("attempts", to_attempt, found)


def run(found: Sequence[Any]) -> Run:
    return read("runs", to_run, found)
