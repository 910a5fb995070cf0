"""What a store keeps, as immutable values; every id, time and salt in them was made outside."""

from __future__ import annotations

from typing import Literal, TypeAlias

from .types import Cleared, Effect, Fact, Origin, Provenance, Status
from .values import NamedTuple


class Run(NamedTuple):
    """One execution of a workflow. `cursor` and `error` are JSON text; `version` grows with every write; `owner` names the lock of who
    drives it."""

    id: str
    workflow: str
    definition: str
    requester: str
    status: Status
    cursor: str
    version: int
    owner: str | None
    started: int  # starts of tools, reserved in the transaction that starts
    tokens: int
    error: str | None
    created_at: str
    updated_at: str
    correlation: str | None = None  # what the operator's context says of it, on every event of the run


class Call(NamedTuple):
    """What was asked, once for ever; an edit is the next revision. `arguments` is canonical JSON, None when refused at RECEIVE or
    redacted."""

    id: str
    revision: int
    run_id: str
    step: str
    capability: str
    arguments: str | None
    arguments_digest: str
    idempotency_key: str
    title: str | None
    rationale: str | None
    label: str | None
    agent: str | None
    requested_by: str
    created_at: str


class Row(NamedTuple):
    """One thing that waits for a person; a tool's row has the id of its call. Rows are inserted and claimed, never updated."""

    id: str
    version: int
    run_id: str
    step: str
    origin: Origin
    revision: int | None = None
    call_digest: str | None = None
    definition: str | None = None
    cleared: Cleared | None = None
    reason: str | None = None
    rule: str | None = None
    approver_scope: str | None = None
    approvals_needed: int = 1
    separate_requester: bool = False
    starts: int = 0  # starts of this call so far
    doubt: Effect | None = None  # strictest effect class since the doubtful start
    last: str | None = None  # JSON text: what the last attempt or the gate said
    left_behind: str | None = None  # name of the lock that a survivor of the last start may hold
    parked_by: int = 0  # seq of the event that parked it
    created_at: str = ""
    expires_at: str | None = None
    on_expiry: Literal["stay", "reject"] | None = None


class Attempt(NamedTuple):
    """A claimed row and who started it; `number` counts every start of the call. `deadline` is UTC text."""

    row: Row
    number: int
    state: Literal["running", "waiting"]
    owner: str
    host: str
    boot: str
    deadline: str
    cancelled: bool = False


class Outcome(NamedTuple):
    """How a call was settled, once. `body` is JSON text: the result, or the error for everything that is not a success."""

    call_id: str
    status: Literal["succeeded", "business_failed", "rejected", "continued", "recorded", "cancelled"]
    dispatched: Fact
    effect_applied: Fact
    code: str | None
    body: str | None
    size: int | None
    at: str


class Value(NamedTuple):
    """A context value, written by the top-level step `top` (-1: inputs). A tool's value is read from its outcome (`call_id`); both None
    = removed."""

    run_id: str
    key: str
    top: int
    value: str | None
    call_id: str | None
    provenance: Provenance


class Step(NamedTuple):
    """A finished step, for looking, outputs and replays; nothing decides by it. `output` is JSON text."""

    run_id: str
    path: str
    top: int
    ended: Literal["done", "skipped", "failed"]
    output: str | None
    at: str


class Turn(NamedTuple):
    """A model's answer to its `number`-th call of this step in the run, from 0; `commands` is JSON text."""

    run_id: str
    path: str
    number: int
    commands: str


class Vote(NamedTuple):
    row_id: str
    ref: str
    actor: str
    at: str


class Definition(NamedTuple):
    """Content-addressed: a pinned workflow, tool definition or list. `body` is canonical JSON."""

    digest: str
    kind: Literal["workflow", "tool", "list"]
    body: str


class Accepted(NamedTuple):
    """These bytes (or schema and arguments) were accepted by this checker: a memory, never a source."""

    digest: str
    checker: str


class Event(NamedTuple):
    """One entry of the log; `payload` is canonical JSON, None together with `salt` once redacted."""

    seq: int
    at: str
    run_id: str | None
    step_id: str | None
    call_id: str | None
    capability: str | None
    call_digest: str | None
    attempt: int | None
    type: str
    actor: str
    payload: str | None
    salt: str | None
    commitment: str
    prev: str
    hash: str


Keep: TypeAlias = Call | Outcome | Value | Step | Turn | Vote | Definition | Accepted


class RowQuery(NamedTuple):
    """Pending rows in the one total order (created_at, parked_by, id): as they were asked for, also those of one turn; `calls_only`: what
    a person may be given without naming it, so no step gates, reviews, escalations and forms, and nothing of cancelled runs."""

    run_id: str | None = None
    calls_only: bool = False
    prefix: str | None = None  # of the id
    expired_by: str | None = None  # only those whose time was over then
    newest_first: bool = False
    limit: int = 50


class RunQuery(NamedTuple):
    """Runs, newest first."""

    status: Status | None = None
    prefix: str | None = None
    limit: int = 50


class EventQuery(NamedTuple):
    """Events by seq; `newest` asks for the last `limit` of them (still given in rising order)."""

    run_id: str | None = None
    type: str | None = None
    call_id: str | None = None
    after: int = 0
    limit: int | None = None
    newest: bool = False
