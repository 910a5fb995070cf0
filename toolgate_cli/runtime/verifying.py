"""The log as evidence: followed event by event in constant memory, in the store or in a file that it was exported to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from ..core import chain, exported, sums
from ..core.errors import ToolgateError
from ..core.records import Event, EventQuery
from . import heads, sealing
from .answers import Verified

if TYPE_CHECKING:
    from .ports import Ports

Progress: TypeAlias = Callable[[int, int | None], None]  # how many were read, of how many (None: not known)
_OFTEN = 10_000  # events between two tellings


def verify(ports: Ports, known: chain.Head | None, since: chain.Head | None, progress: Progress | None) -> Verified:
    """Follows the whole chain, or with `since` from the event of that head on: then it is proved that the log goes on from that head,
    unchanged, while the events before it, which the head binds, are not read again. The log has to go on from `known`, and from the head
    that was kept outside the home, too. And the runs have to be what the log says of them."""
    sums.prefer_openssl()
    found = _of_log(ports, known, since, progress)
    with ports.store.read() as tx:
        changed = tuple(complaint.text for complaint in sealing.complaints(tx))
    return found._replace(ok=found.ok and not changed, changed=changed)


def _of_log(ports: Ports, known: chain.Head | None, since: chain.Head | None, progress: Progress | None) -> Verified:
    kept = heads.kept(ports)
    against = [head for head in (since, known, kept) if head is not None]
    with ports.store.read() as tx:
        last = tx.head()
        if since is None:
            found = chain.verify(_told(tx.events(EventQuery()), last.seq if last else 0, progress), tx.named(), 0, against)
            return _verified(found, None, against)
        try:
            first = tx.event(since[0])
        except ToolgateError as unread:
            return Verified(False, 0, since[0], unread.message, text(since), text(since))
        if first is None:
            end = last.seq if last else 0
            return _verified(chain.verify((), last.hash if last else tx.identity(), end, [since]), since, [since])
        rest = _told(tx.events(EventQuery(after=since[0] - 1)), last.seq - since[0] + 1 if last else 0, progress)
        found = chain.verify(rest, first.prev, since[0] - 1, against)
        return _verified(found._replace(events=max(0, found.events - 1)), since, against)  # those behind the head, as an export has them


def verify_lines(lines: Iterator[str], known: chain.Head | None, progress: Progress | None) -> Verified:
    """The same of an exported log. ToolgateError("invalid") for what is none, or does not reach back to `known`."""
    sums.prefer_openssl()
    begin, events = exported.read(lines)
    if known is not None and known[0] < begin.after:
        raise ToolgateError(
            "invalid", f"this log begins behind event {begin.after}: it cannot be held against {text(known)}", "export more"
        )
    against = [known] if known is not None else []
    found = chain.verify(_told(events, None, progress), begin.prev, begin.after, against)
    return _verified(found, (begin.after, begin.prev) if begin.after else None, against)


def export(ports: Ports, since: int, hash: str | None) -> Iterator[str]:
    """The log behind the event `since` (0: all of it) as lines, in one snapshot. `hash`: what that event's has to begin with."""
    with ports.store.read() as tx:
        first = tx.event(since) if since else None
        if since and first is None:
            raise ToolgateError("not_found", f"there is no event {since}: the log ends at {chain.head_text(tx.head(), tx.identity())}")
        if first is not None and hash is not None and not first.hash.startswith(hash):
            raise ToolgateError(
                "ref_mismatch", f"event {since} is not the one of {since}:{hash}", f"toolgate audit verify --since {since}:{hash}"
            )
        begin = exported.Begin(tx.identity(), since, first.hash if first else tx.identity())
        yield from exported.write(begin, tx.events(EventQuery(after=since)))


def text(head: chain.Head) -> str:
    return f"{head[0]}:{head[1]}"


def _verified(found: chain.Finding, since: chain.Head | None, against: Iterable[chain.Head]) -> Verified:
    return Verified(found.first_bad is None, *found, text(since) if since else None, tuple(dict.fromkeys(map(text, against))))


def _told(events: Iterable[Event], total: int | None, progress: Progress | None) -> Iterator[Event]:
    if progress is None:
        yield from events
        return
    for count, event in enumerate(events):
        if count and count % _OFTEN == 0:
            progress(count, total)
        yield event
