"""The chain of events: each binds the one before it and commits to its payload, so nothing can be changed unnoticed (I1)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from . import canonical
from .records import Event
from .types import Json
from .values import NamedTuple


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
    """How many events hold, the seq of the first that does not and why, and the head of those that do (`seq:hash`)."""

    events: int
    first_bad: int | None
    reason: str | None
    head: str


def commitment(salt: str, payload: str) -> str:
    """Binds a payload without giving it away: it can be erased and the chain still verifies. Hex; `payload` is canonical JSON."""
    return hashlib.sha256((salt + payload).encode("utf-8")).hexdigest()


def hash_event(event: Event) -> str:
    """Hex sha256 of the canonical JSON list of everything but payload, salt and the hash itself."""
    return hashlib.sha256(canonical.encode([*event[:10], event.commitment, event.prev]).encode("utf-8")).hexdigest()


def extend(head: Event | None, identity: str, draft: Draft, salt: str) -> Event:
    """The next event. `head`: the last one so far; `identity`: the random id of the database, `prev` of the first. Raises
    ToolgateError("invalid") where the payload is not JSON."""
    payload = canonical.encode(dict(draft.payload))
    event = Event(
        head.seq + 1 if head else 1,
        *draft[:9],
        payload=payload,
        salt=salt,
        commitment=commitment(salt, payload),
        prev=head.hash if head else identity,
        hash="",
    )
    return event._replace(hash=hash_event(event))


def verify(events: Iterable[Event], identity: str) -> Finding:
    """Follows the chain from its first event and stops at the first event that does not hold. What it remembers is one number for every
    call that was redacted: an erased payload holds only with a later event that says that its call was redacted."""
    seq = 0
    prev = identity
    erased: dict[str | None, int] = {}
    for event in events:
        reason = _wrong(event, seq + 1, prev)
        if reason is not None:
            return Finding(seq, event.seq, reason, f"{seq}:{prev}")
        if event.payload is None:
            erased.setdefault(event.call_id, event.seq)
        elif event.type == "REDACTED" and event.call_id is not None:
            erased.pop(event.call_id, None)
        seq, prev = event.seq, event.hash
    if erased:
        return Finding(seq, min(erased.values()), "its payload was erased, and no event says so", f"{seq}:{prev}")
    return Finding(seq, None, None, f"{seq}:{prev}")


def intact(event: Event) -> bool:
    """Whether the event by itself holds: its payload (unless redacted) and everything else in it are what its hash was made of."""
    return _altered(event) is None


def head_text(event: Event | None, identity: str) -> str:
    """`seq:hash` of the last event; `0:identity` where there is none."""
    return f"{event.seq}:{event.hash}" if event else f"0:{identity}"


def _wrong(event: Event, seq: int, prev: str) -> str | None:
    if event.seq != seq:
        return f"seq {seq} was expected: an event is missing or out of place"
    if event.prev != prev:
        return "prev is not the hash of the event before"
    return _altered(event)


def _altered(event: Event) -> str | None:
    if event.payload is None or event.salt is None:
        if event.payload is not event.salt:
            return "a redacted event has neither payload nor salt, this one has one of them"
    elif event.payload[:1] != "{" or "{" in event.salt:  # else the boundary between the two could be moved
        return "payload or salt do not have their form"
    elif commitment(event.salt, event.payload) != event.commitment:
        return "the payload is not the one that was committed to"
    return None if hash_event(event) == event.hash else "hash is not that of the event"
