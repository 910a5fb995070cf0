"""The kept head: a database that is behind it is refused, for what it shows as waiting may have been decided and run already (I2, I8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import chain
from ..core.errors import ToolgateError
from ..core.records import Attempt, Definition, Event
from ..core.values import NamedTuple

if TYPE_CHECKING:
    from .ports import Ports
    from .store import Reader


def behind(tx: Reader, head: tuple[int, str] | str | None) -> str | None:
    """Why the log does not go on from this head, or is not known to; None: it does, or there is none to compare with."""
    if head is None or isinstance(head, str):
        return head
    seq, hash = head
    event = tx.event(seq)
    if event is None:
        return f"the log ends at {chain.head_text(tx.head(), tx.identity())}, before its kept head {seq}:{hash}"
    return None if event.hash == hash else f"event {seq} of the log is not the one of the kept head {seq}:{hash}"


def kept(ports: Ports) -> tuple[int, str] | None:
    """The kept head. Read before the snapshot that it is held against: else whoever commits in between makes every log look old.
    ToolgateError("storage") where it cannot be read."""
    with ports.store.read() as tx:
        identity = tx.identity()
    head = ports.heads.kept(identity)
    if isinstance(head, str):
        raise ToolgateError("storage", head, "toolgate doctor")
    return head


def taken_back(ports: Ports) -> str | None:
    """Why the database is older than what was seen of it; None: it is not."""
    with ports.store.read() as tx:
        identity, last = tx.identity(), tx.head()
    return _compared(ports, identity, last)


def _compared(ports: Ports, identity: str, last: Event | None) -> str | None:
    head = ports.heads.kept(identity)
    if _is_last(head, last):
        return None
    with ports.store.read() as tx:  # somebody may have committed since: held against a log that is read after the head was
        return behind(tx, head)


def _is_last(head: tuple[int, str] | str | None, last: Event | None) -> bool:
    """Whether nothing later than the last event was kept."""
    return head is None or (last is not None and head == (last.seq, last.hash))


REASONS = "a restored copy, or has a copy of this home gone on elsewhere?"  # whoever reads it may be in either of the two


class Seen(NamedTuple):
    """What every verb looks at first, in one snapshot: id of the database, the last event, all attempts, and the pinned workflow of the run
    that it is about, if there is one."""

    identity: str
    last: Event | None
    attempts: tuple[Attempt, ...]
    definition: Definition | None


def look(tx: Reader, run: str | None = None) -> Seen:
    found = tx.run(run) if run is not None else None
    return Seen(tx.identity(), tx.head(), tx.attempts(None), tx.definition(found.definition) if found is not None else None)


def is_settled(ports: Ports, seen: Seen) -> bool:
    """Whether no more has to be looked at than was seen: nobody runs anything, and nothing later was kept."""
    return not seen.attempts and _is_last(ports.heads.kept(seen.identity), seen.last)


def refuse_rollback(ports: Ports, seen: Seen) -> None:
    """ToolgateError("storage") where the database is older than what was seen of it."""
    refuse(_compared(ports, seen.identity, seen.last))


def refuse(reason: str | None) -> None:
    """ToolgateError("storage") where there is a reason not to believe the database."""
    if reason is not None:
        raise ToolgateError("storage", f"{reason}: {REASONS}", "see what has happened since, then toolgate recover --accept-rollback")
