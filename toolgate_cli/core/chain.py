"""The chain of events: each binds the one before it and commits to its payload, so nothing can be changed unnoticed (I1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from . import canonical, sums
from .errors import ToolgateError
from .records import Event
from .types import Json
from .values import NamedTuple

Head: TypeAlias = tuple[int, str]  # seq and hash of an event; 0 and the id of the database before the first
REDACTED = "REDACTED"


class Draft(NamedTuple):
    """An event before it has its place in the chain; `at` is UTC text."""

    at: str
    run_id: str | None
    step_id: str | None
    call_id: str | None
    capability: str | None
    call_digest: str | None
    attempt: int | None
    type: str
    actor: str
    payload: Mapping[str, Json]


class Finding(NamedTuple):
    """How many of the events that were read hold, the seq of the first that does not and why, and the head of those that do
    (`seq:hash`)."""

    events: int
    first_bad: int | None
    reason: str | None
    head: str


def commitment(salt: str, payload: str) -> str:
    """Binds a payload without giving it away: it can be erased and the chain still verifies. Hex; `payload` is canonical JSON."""
    return sums.sha256((salt + payload).encode("utf-8")).hexdigest()


def hash_event(event: Event) -> str:
    """Hex sha256 of the canonical JSON list of everything but payload, salt and the hash itself."""
    return _hash((*event[:10], event.commitment, event.prev))


def _hash(bound: Sequence[str | int | None]) -> str:
    return sums.sha256(canonical.flat(bound).encode("utf-8")).hexdigest()


def extend(head: Event | None, identity: str, draft: Draft, salt: str) -> Event:
    """The next event. `head`: the last one so far; `identity`: the random id of the database, `prev` of the first. Raises
    ToolgateError("invalid") where the payload is not JSON."""
    payload = canonical.encode(dict(draft.payload))
    seq, prev = (head.seq + 1, head.hash) if head else (1, identity)
    committed = commitment(salt, payload)
    told = (seq, *draft[:9])
    return Event(*told, payload, salt, committed, prev, _hash((*told, committed, prev)))


def verify(events: Iterable[Event], prev: str, seq: int = 0, heads: Iterable[Head] = ()) -> Finding:
    """Follows the chain and stops at the first event that does not hold, or cannot be read.

    `events` are those behind `seq`, in order; `prev` is the hash of the event `seq`, or for the whole log the id of its database. `heads`
    were kept of this log, so each has to be on the way; one before `seq` is not looked at. What is remembered is one number for every
    erased payload, until the event comes that says that exactly it was erased: no other is let pass.
    """
    began = seq
    kept = sorted(head for head in heads if head[0] >= seq)
    erased: set[int] = set()
    reason = _unlike(kept, seq, prev)
    if reason is not None:
        return Finding(0, seq, reason, f"{seq}:{prev}")
    try:
        for event in events:
            reason = _wrong(event, seq + 1, prev) or _unlike(kept, event.seq, event.hash)
            if reason is not None:
                return Finding(seq - began, event.seq, reason, f"{seq}:{prev}")
            seq, prev = event.seq, event.hash
            if event.payload is None:
                erased.add(seq)
            elif event.type == REDACTED:
                erased.difference_update(_erased_by(event.payload))
    except ToolgateError as unread:
        return Finding(seq - began, seq + 1, unread.message, f"{seq}:{prev}")
    head = f"{seq}:{prev}"
    if erased:
        return Finding(seq - began, min(erased), "its payload was erased, and no event says so", head)
    if kept:
        return Finding(seq - began, seq + 1, f"the log ends at {head}, before its kept head {kept[0][0]}:{kept[0][1]}", head)
    return Finding(seq - began, None, None, head)


def intact(event: Event) -> bool:
    """Whether the event by itself holds: its payload (unless redacted) and everything else in it are what its hash was made of."""
    return _altered(event) is None


def head_text(event: Event | None, identity: str) -> str:
    """`seq:hash` of the last event; `0:identity` where there is none."""
    return f"{event.seq}:{event.hash}" if event else f"0:{identity}"


def _erased_by(payload: str) -> frozenset[int]:
    """The seqs of the events whose payloads were erased, by what a REDACTED event says."""
    told = canonical.parse(payload)
    seqs = told.get("events") if isinstance(told, dict) else None
    return frozenset(seq for seq in seqs if isinstance(seq, int)) if isinstance(seqs, list) else frozenset()


def _unlike(kept: list[Head], seq: int, hash: str) -> str | None:
    """Why the event is not the one of the heads of its seq, which are then behind us."""
    while kept and kept[0][0] == seq:
        known = kept.pop(0)
        if known[1] != hash:
            return f"it is not the event of the kept head {known[0]}:{known[1]}"
    return None


def _wrong(event: Event, seq: int, prev: str) -> str | None:
    if event.seq != seq:
        return f"seq {seq} was expected: an event is missing or out of place"
    if event.prev != prev:
        return "prev is not the hash of the event before" if seq > 1 else "prev is not the id of the database"
    return _altered(event)


def _altered(event: Event) -> str | None:
    try:
        return _differs(event)
    except (TypeError, ValueError):  # what no event of ours ever held: bytes, text that is not UTF-8
        return "it holds a value of another kind"


def _differs(event: Event) -> str | None:
    payload, salt = event.payload, event.salt
    if payload is None or salt is None:
        if payload is not salt:
            return "a redacted event has neither payload nor salt, this one has one of them"
    elif payload[:1] != "{" or "{" in salt:  # else the boundary between the two could be moved
        return "payload or salt do not have their form"
    elif commitment(salt, payload) != event.commitment:
        return "the payload is not the one that was committed to"
    return None if hash_event(event) == event.hash else "hash is not that of the event"
