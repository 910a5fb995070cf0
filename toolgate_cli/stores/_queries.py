"""The SELECTs that depend on what is asked for. Each names its bounds so that an index answers it: no cost grows with the store."""

from __future__ import annotations

from typing import Any

from ..core.records import Call, Event, EventQuery, Row, RowQuery, Run, RunQuery
from ._rows import columns
from ._schema import SOUGHT

_ROW, _RUN, _CALL, _EVENT = columns(Row), columns(Run), columns(Call), columns(Event)
_LAST = "\U0010ffff"  # sorts after every id

CALLS = (
    f"SELECT {_CALL} FROM calls AS c WHERE id >= ? AND id < ? "
    "AND revision = (SELECT max(revision) FROM calls WHERE id = c.id) ORDER BY id LIMIT ?"
)


def between(prefix: str) -> tuple[str, str]:
    """The bounds of all ids that begin with `prefix`."""
    return prefix, prefix + _LAST


def _select(what: str, table: str, where: list[str], order: str, values: list[Any], limit: int | None) -> tuple[str, list[Any]]:
    return f"SELECT {what} FROM {table} WHERE {' AND '.join(where)} ORDER BY {order} LIMIT ?", [*values, -1 if limit is None else limit]


def rows(query: RowQuery) -> tuple[str, list[Any]]:
    """Pending rows by (created_at, parked_by, id). `created_at >= ''` is always true: it makes the index's order the way in, and only rows
    of one moment are sorted; a prefix and a time have an index of their own."""
    where: list[str] = [] if query.prefix or query.expired_by else ["created_at >= ''"]
    values: list[Any] = []
    if query.run_id is not None:
        where.append("run_id = ?")
        values.append(query.run_id)
    if query.calls_only:
        where.append("revision IS NOT NULL AND (SELECT status FROM runs WHERE runs.id = pending.run_id) <> 'CANCELLED'")
    if query.prefix:
        where.append("id >= ? AND id < ?")
        values.extend(between(query.prefix))
    if query.expired_by is not None:
        where.append("expires_at <= ?")
        values.append(query.expired_by)
    order = "created_at DESC, parked_by DESC, id DESC" if query.newest_first else "created_at, parked_by, id"
    return _select(_ROW, "pending", where, order, values, query.limit)


def runs(query: RunQuery) -> tuple[str, list[Any]]:
    """Runs, newest first."""
    where: list[str] = [] if query.prefix else ["created_at >= ''"]
    values: list[Any] = []
    if query.status is not None:
        where.append("status = ?")
        values.append(query.status)
    if query.prefix:
        where.append("id >= ? AND id < ?")
        values.extend(between(query.prefix))
    return _select(_RUN, "runs", where, "created_at DESC, id DESC", values, query.limit)


def events(query: EventQuery, after: int, limit: int | None) -> tuple[str, list[Any]]:
    """Events by seq. Only the most exact condition may choose the index (a `+` hides a column from the planner)."""
    where: list[str] = ["seq > ?"]
    values: list[Any] = [after]
    if query.call_id is None and query.run_id is not None and query.type in SOUGHT:  # a literal: else its index is not found
        where.append(f"run_id = ? AND type = '{query.type}'")
        values.append(query.run_id)
        return _select(_EVENT, "events", where, "seq DESC" if query.newest else "seq", values, limit)
    hidden = ""
    for column, wanted in (("call_id", query.call_id), ("run_id", query.run_id), ("type", query.type)):
        if wanted is not None:
            where.append(f"{hidden}{column} = ?")
            values.append(wanted)
            hidden = "+"
    return _select(_EVENT, "events", where, "seq DESC" if query.newest else "seq", values, limit)
