"""The tables, and the way from an older file to this version. Constraints hold the invariants even against a bug above: one start per
call and attempt (I2), calls and events that never change (I3), pending rows that are exact.

Times are UTC text with milliseconds, ids a letter and 13 base32 characters, JSON columns canonical JSON. The columns of a record's table
stand in the order of the record's fields.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from ..core.errors import ToolgateError
from ..core.records import Call, Event
from ._faults import not_ours

APPLICATION_ID = 0x54474154  # "TGAT"
SOUGHT = ("REDACTED", "STEP_RETRIED", "TOOL_INVOCATION_FAILED", "TOOL_INVOCATION_OUTCOME_UNKNOWN")


def _only_erasing(table: str, record: Any, erasable: tuple[str, ...], said: str) -> str:
    """A trigger that lets an UPDATE through only if it makes the erasable columns null and leaves all others as they are."""
    kept = [field for field in record._fields if field not in erasable]
    nulls = " AND ".join(f"NEW.{field} IS NULL" for field in erasable)
    new, old = (", ".join(f"{which}.{field}" for field in kept) for which in ("NEW", "OLD"))
    return (
        f"CREATE TRIGGER {table}_are_final BEFORE UPDATE ON {table} WHEN NOT ({nulls} AND ({new}) IS ({old})) "
        f"BEGIN SELECT RAISE(ABORT, '{said}'); END"
    )


_FIRST: tuple[str, ...] = (
    "CREATE TABLE identity (id TEXT NOT NULL) STRICT",
    # content-addressed: pinned workflow bundles, tool definitions, copied lists
    """CREATE TABLE definitions (
  digest TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('workflow','tool','list')), body TEXT NOT NULL
) STRICT""",
    # a memory, never a source
    "CREATE TABLE checked (digest TEXT NOT NULL, checker TEXT NOT NULL, PRIMARY KEY (digest, checker)) STRICT, WITHOUT ROWID",
    """CREATE TABLE runs (
  id TEXT PRIMARY KEY, workflow TEXT NOT NULL, definition TEXT NOT NULL REFERENCES definitions, requester TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('RUNNING','PAUSED','AWAITING_INPUT','AWAITING_APPROVAL','AWAITING_TOOL_APPROVAL',
    'AWAITING_TOOL_DECISION','AWAITING_REVIEW','AWAITING_STEP_APPROVAL','COMPLETED','FAILED','CANCELLED')),
  cursor TEXT NOT NULL, version INTEGER NOT NULL, owner TEXT, started INTEGER NOT NULL, tokens INTEGER NOT NULL, error TEXT,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, correlation TEXT
) STRICT""",
    "CREATE INDEX runs_by_status ON runs (status, created_at, id)",
    "CREATE INDEX runs_by_time ON runs (created_at, id)",
    # one value a key and top-level step: the newest is the one with the highest `top`
    """CREATE TABLE context (
  run_id TEXT NOT NULL REFERENCES runs, key TEXT NOT NULL, top INTEGER NOT NULL, value TEXT, call_id TEXT,
  provenance TEXT NOT NULL CHECK (provenance IN ('user','tool','model','system')), PRIMARY KEY (run_id, key, top)
) STRICT""",
    "CREATE INDEX context_by_top ON context (run_id, top)",
    """CREATE TABLE steps (
  run_id TEXT NOT NULL REFERENCES runs, path TEXT NOT NULL, top INTEGER NOT NULL,
  ended TEXT NOT NULL CHECK (ended IN ('done','skipped','failed')), output TEXT, at TEXT NOT NULL, PRIMARY KEY (run_id, path)
) STRICT""",
    "CREATE INDEX steps_by_top ON steps (run_id, top)",
    # every answer tells the outputs of a run, in this order: most steps have none
    "CREATE INDEX steps_with_output ON steps (run_id, top, at, path) WHERE output IS NOT NULL",
    """CREATE TABLE turns (
  run_id TEXT NOT NULL REFERENCES runs, path TEXT NOT NULL, number INTEGER NOT NULL, commands TEXT NOT NULL,
  PRIMARY KEY (run_id, path, number)
) STRICT""",
    """CREATE TABLE calls (
  id TEXT NOT NULL, revision INTEGER NOT NULL, run_id TEXT NOT NULL REFERENCES runs, step TEXT NOT NULL, capability TEXT NOT NULL,
  arguments TEXT, arguments_digest TEXT NOT NULL, idempotency_key TEXT NOT NULL, title TEXT, rationale TEXT, label TEXT, agent TEXT,
  requested_by TEXT NOT NULL, created_at TEXT NOT NULL, PRIMARY KEY (id, revision)
) STRICT""",
    """CREATE TABLE outcomes (
  call_id TEXT PRIMARY KEY,
  status TEXT NOT NULL CHECK (status IN ('succeeded','business_failed','rejected','continued','recorded','cancelled')),
  dispatched TEXT NOT NULL CHECK (dispatched IN ('no','yes','unknown')),
  effect_applied TEXT NOT NULL CHECK (effect_applied IN ('no','yes','unknown')),
  code TEXT, body TEXT, size INTEGER, at TEXT NOT NULL
) STRICT""",
    # everything that waits for a person. `parked_by` is checked at the end: events are appended last
    """CREATE TABLE pending (
  id TEXT PRIMARY KEY, version INTEGER NOT NULL, run_id TEXT NOT NULL REFERENCES runs, step TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('APPROVAL_REQUIRED','CONFIRMATION_REQUIRED','EXECUTION_FAILED','OUTCOME_UNKNOWN','POLICY_DENIED',
    'STEP_APPROVAL','REVIEW','ESCALATION','INPUT')),
  revision INTEGER, call_digest TEXT, definition TEXT REFERENCES definitions,
  cleared TEXT CHECK (cleared IN ('none','policy','approval')),
  reason TEXT, rule TEXT, approver_scope TEXT, approvals_needed INTEGER NOT NULL,
  separate_requester INTEGER NOT NULL, starts INTEGER NOT NULL,
  doubt TEXT CHECK (doubt IN ('read_only','idempotent','reconcilable','unsafe')), last TEXT, left_behind TEXT,
  parked_by INTEGER NOT NULL REFERENCES events (seq) DEFERRABLE INITIALLY DEFERRED,
  created_at TEXT NOT NULL, expires_at TEXT, on_expiry TEXT,
  FOREIGN KEY (id, revision) REFERENCES calls (id, revision),
  CHECK ((origin IN ('STEP_APPROVAL','REVIEW','ESCALATION','INPUT')) = (revision IS NULL))
) STRICT""",
    "CREATE INDEX pending_by_run ON pending (run_id, created_at, id)",
    "CREATE INDEX pending_by_time ON pending (created_at, id)",
    "CREATE INDEX pending_calls ON pending (created_at, id) WHERE revision IS NOT NULL",  # the implicit choice
    "CREATE INDEX pending_by_event ON pending (parked_by)",  # else every event is looked for in all rows: a row is saved before its event
    "CREATE INDEX pending_by_expiry ON pending (expires_at) WHERE expires_at IS NOT NULL",
    # a claimed row as JSON, with who started it: it goes back as it came
    """CREATE TABLE attempts (
  id TEXT PRIMARY KEY, row TEXT NOT NULL, version INTEGER NOT NULL, run_id TEXT NOT NULL REFERENCES runs, number INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('running','waiting')), owner TEXT NOT NULL, host TEXT NOT NULL, boot TEXT NOT NULL,
  deadline TEXT NOT NULL, cancelled INTEGER NOT NULL
) STRICT""",
    "CREATE INDEX attempts_by_run ON attempts (run_id, id)",
    """CREATE TABLE votes (
  row_id TEXT NOT NULL, ref TEXT NOT NULL, actor TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (row_id, ref, actor)
) STRICT, WITHOUT ROWID""",
    # `prev` of the first event is the identity
    """CREATE TABLE events (
  seq INTEGER PRIMARY KEY CHECK (seq > 0), at TEXT NOT NULL, run_id TEXT, step_id TEXT, call_id TEXT, capability TEXT,
  call_digest TEXT, attempt INTEGER,
  type TEXT NOT NULL, actor TEXT NOT NULL, payload TEXT, salt TEXT, commitment TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL
) STRICT""",
    "CREATE INDEX events_by_run ON events (run_id, seq)",
    "CREATE INDEX events_by_type ON events (type, seq)",
    # what is looked for in a run while it goes on is rare in it: an index of its own, which no other event is in
    *(f"CREATE INDEX events_{type.lower()} ON events (run_id, seq) WHERE type = '{type}'" for type in SOUGHT),
    "CREATE INDEX events_by_call ON events (call_id, seq) WHERE call_id IS NOT NULL",
    "CREATE UNIQUE INDEX one_start ON events (call_id, attempt) WHERE type = 'TOOL_INVOCATION_STARTED'",
    "CREATE TRIGGER pending_is_exact BEFORE UPDATE ON pending BEGIN SELECT RAISE(ABORT, 'pending rows are never changed'); END",
    "CREATE TRIGGER events_stay BEFORE DELETE ON events BEGIN SELECT RAISE(ABORT, 'events are append-only'); END",
    _only_erasing("events", Event, ("payload", "salt"), "events are append-only"),
    "CREATE TRIGGER calls_stay BEFORE DELETE ON calls BEGIN SELECT RAISE(ABORT, 'calls are immutable'); END",
    _only_erasing("calls", Call, ("arguments", "title", "rationale", "label"), "calls are immutable"),
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST,)  # the n-th leads from version n to n + 1
VERSION = len(MIGRATIONS)
_MADE = frozenset(_FIRST)  # as SQLite keeps it: word by word


def version_of(connection: sqlite3.Connection, path: str) -> int:
    """The schema's version, 0 for an empty file; writes nothing.

    Raises ToolgateError("storage") for another program's database and for one that a newer toolgate wrote.
    """
    alone = not connection.in_transaction
    if alone:
        connection.execute("BEGIN")  # one snapshot: another process may be making the tables at this moment
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchall()[0]
        (application,) = connection.execute("PRAGMA application_id").fetchall()[0]
        empty = application == 0 and version == 0 and not connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    finally:
        if alone and connection.in_transaction:
            connection.execute("ROLLBACK")
    if (application != APPLICATION_ID or version == 0) and not empty:
        raise not_ours(path)
    if not 0 <= version <= VERSION:
        raise ToolgateError(
            "storage",
            f"the database has schema version {version}, this toolgate knows versions up to {VERSION}: {path}",
            "install a newer toolgate; nothing was changed",
        )
    return int(version)


def refuse_changed(connection: sqlite3.Connection, path: str) -> None:
    """ToolgateError("storage") where tables, indexes or triggers are not those that this version makes: with a trigger more or less a
    database does not keep what is written into it. To be asked before anything is written; what is there can be looked at."""
    made = frozenset(sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall())
    if made != _MADE:
        raise ToolgateError(
            "storage", f"the tables of the database were changed by other hands: {path}", "toolgate audit verify; take a copy that is whole"
        )


def migrate(connection: sqlite3.Connection, version: int, identity: str) -> None:
    """Brings the schema from `version` to VERSION; to be called within a write transaction, so it happens wholly or not at all."""
    for script in MIGRATIONS[version:]:
        for statement in script:
            connection.execute(statement)
    if version == 0:
        connection.execute("INSERT INTO identity (id) VALUES (?)", (identity,))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")
