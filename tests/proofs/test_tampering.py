"""Whatever is changed in a log is found, and the first event that does not hold is named: every bit of every stored column of every event,
records that are edited, put in, taken out, exchanged, cut off and hashed anew, and bits of the database file.

Short: a log of 24 events; `--long`: of 100, and 20,000 edits of a log of 300.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from toolgate_cli.core import chain
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Event, EventQuery
from toolgate_cli.host.mint import RandomMint
from toolgate_cli.stores.sqlite import SqliteStore

IDENTITY = "d0123456789abc"
AT = "2026-01-31T12:00:00.000Z"
LEAST = 48_540  # bits
Tally = Callable[[str, float], None]


def log(length: int, seed: int = 0) -> list[Event]:
    """A log with calls, runs, absent columns, text beyond ASCII, and one call that was redacted."""
    dice = random.Random(seed)
    events: list[Event] = []
    erased = range(2, 5)
    for number in range(length):
        of_call = number % 4 != 0
        payload: dict[str, Any] = {"n": number, "why": "für Anna\n"}
        if number == 6:
            payload = {"events": list(erased)}
        draft = chain.Draft(
            AT, f"r{number // 9:013d}", f"loop/{number}" if of_call else None, f"c{number // 4:013d}" if of_call else None,
            "ledger.pay" if of_call else None, f"{number:064x}" if of_call else None, number if number % 4 == 2 else None,
            "REDACTED" if number == 6 else "TOOL_INVOCATION_STARTED", "märi", payload,
        )  # fmt: skip
        events.append(chain.extend(events[-1] if events else None, IDENTITY, draft, f"{dice.getrandbits(128):032x}"))
    return [event._replace(payload=None, salt=None) if event.seq in erased and length > 6 else event for event in events]


def head(events: list[Event]) -> chain.Head:
    return (events[-1].seq, events[-1].hash) if events else (0, IDENTITY)


def named(mutant: list[Event], kept: chain.Head) -> int | None:
    """The seq that a verification against the kept head names; the store gives events by seq."""
    return chain.verify(mutant, IDENTITY, 0, [kept]).first_bad


# ---- every bit ----
def flips(event: Event) -> Iterator[tuple[str, Any]]:
    """Every stored column with one bit of it turned: text as SQLite keeps it, in UTF-8, numbers in 64 bits."""
    for field, value in event._asdict().items():
        if isinstance(value, int):
            for bit in range(64):
                yield field, _signed(value ^ (1 << bit))
        elif value is not None:
            stored = value.encode()
            for bit in range(len(stored) * 8):
                turned = bytearray(stored)
                turned[bit // 8] ^= 1 << (bit % 8)
                yield field, _text(bytes(turned))


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _text(stored: bytes) -> str | None:
    """None: it is no text any more. The store names the event that holds it, as `test_a_text_that_is_none_is_named_by_the_store` shows."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return None


UNREADABLE = ToolgateError("storage", "text that is not valid unicode")


def _reading(events: list[Event], torn: int | None) -> Iterator[Event]:
    """As the store gives them: by seq, only those behind 0, up to one that cannot be read."""
    for event in sorted((event for event in events if event.seq > 0), key=lambda event: event.seq):
        if event.seq == torn:
            raise UNREADABLE
        yield event


@pytest.mark.timeout(3600)
def test_every_bit_of_every_column_of_every_event(long: bool, tally: Tally) -> None:
    events = log(100 if long else 24)
    kept = head(events)
    assert named(events, kept) is None
    for place, event in enumerate(events):
        for field, value in flips(event):
            mutant = list(events)
            torn = event.seq if value is None else None
            mutant[place] = event if value is None else event._replace(**{field: value})
            found = chain.verify(_reading(mutant, torn), IDENTITY, 0, [kept])
            if field != "seq":
                assert found.first_bad == event.seq, (event.seq, field, value)
            else:  # it stands elsewhere now: what is wrong first is where it is, or what stands where it was
                assert found.first_bad in _places(event.seq, value, kept[0]), (event.seq, value)
            tally("bits turned", 1)
    total = sum(1 for event in events for _ in flips(event))
    assert total >= LEAST


def _places(was: int, now: Any, last: int) -> set[int]:
    """Where an event that got another seq may be missed first: the one after it, or where it stands now."""
    return {now, now + 1} if 0 < now < was else {was + 1, now} if was < last else {was, now}


# ---- edits ----
def edit(dice: random.Random, events: list[Event]) -> tuple[str, list[Event], set[int]]:
    """One change as a person with a SQL shell makes it: what was done, the log after it, and which seqs may be named."""
    place = dice.randrange(len(events))
    what = dice.choice(("column", "null", "delete", "swap", "copy", "insert", "cut", "hashed", "payload", "erased", "said", "other"))
    event, last = events[place], events[-1].seq
    return what, *_EDITS[what](dice, events, place, event, last)


def _changed(dice: random.Random, event: Event, field: str) -> Event:
    value = getattr(event, field)
    texts = ("", "x", f"{value} ", str(value)[1:], "ab" * 32)
    new: Any = dice.choice((0, -1, 1 << 40, 7)) if isinstance(value, int) else "x" if value is None else dice.choice(texts)
    return event._replace(**{field: new if new != value else None})


def _of_column(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    field = dice.choice([name for name in Event._fields if name != "seq"])
    return [*events[:place], _changed(dice, event, field), *events[place + 1 :]], {event.seq}


def _null(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    field = dice.choice([name for name in Event._fields if name != "seq" and getattr(event, name) is not None])
    return [*events[:place], event._replace(**{field: None}), *events[place + 1 :]], {event.seq}


def _delete(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    count = dice.choice((1, 1, 2, 50))
    return events[:place] + events[place + count :], {min(event.seq + count, last + 1) if place + count < last else event.seq}


def _swap(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    """Two events exchange everything but their seqs, as an UPDATE would do it."""
    other = dice.choice([at for at in (place - 1, place + 1, dice.randrange(last)) if 0 <= at < last and at != place])
    mutant = list(events)
    mutant[place], mutant[other] = events[other]._replace(seq=event.seq), event._replace(seq=events[other].seq)
    return mutant, {min(event.seq, events[other].seq)}


def _copy(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    """An event put in a second time, and all behind it moved on by one."""
    moved = [later._replace(seq=later.seq + 1) for later in events[place:]]
    return [*events[: place + 1], *moved], {event.seq + 1}


def _insert(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    """An event of somebody else, well made and chained to the one before."""
    made = _forged(events[place - 1] if place else None)
    return [*events[:place], made, *(later._replace(seq=later.seq + 1) for later in events[place:])], {min(event.seq + 1, last)}


def _forged(before: Event | None) -> Event:
    draft = chain.Draft(AT, "r", None, "c", "ledger.pay", None, 1, "TOOL_INVOCATION_APPROVED", "mallory", {"n": 1})
    return chain.extend(before, IDENTITY, draft, "00" * 16)


def _cut(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    """The end is cut off, and perhaps others are put in its place, as many or fewer or more."""
    mutant = events[:place]
    for _ in range(dice.choice((0, 0, 1, last - place, last - place + 3))):
        mutant.append(_forged(mutant[-1] if mutant else None))
    erased = {kept.seq for kept in events[:place] if kept.payload is None and place < 7}  # what spoke of them may be cut off
    return mutant, {min(len(mutant) + 1, last), place + 1, *erased}


def _hashed(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    """An event is changed, and the log is hashed anew from there to its end: only a kept head tells, and it is what is named."""
    field = dice.choice(("at", "run_id", "call_id", "capability", "call_digest", "attempt", "type", "actor", "payload"))
    payload = '{"n":"other"}' if field == "payload" or event.payload is None else event.payload
    changed = event if field == "payload" else event._replace(**{field: 99 if field == "attempt" else "other"})
    mutant, prev = events[:place], events[place - 1].hash if place else IDENTITY
    for later in [changed._replace(payload=payload, salt="00"), *events[place + 1 :]]:
        bound = later.commitment if later.payload is None or later.salt is None else chain.commitment(later.salt, later.payload)
        later = later._replace(prev=prev, commitment=bound)
        mutant.append(later._replace(hash=chain.hash_event(later)))
        prev = mutant[-1].hash
    erased = {later.seq for later in events if later.payload is None}
    return mutant, {last, *erased}  # where the event that spoke of a redaction was changed, what it spoke of shows too


def _payload(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    """Another payload with a commitment that fits it, or the boundary of salt and payload moved."""
    text = event.payload or '{"n":1}'
    if dice.random() < 0.5 and event.salt:
        moved = event._replace(salt=event.salt[:-1], payload=event.salt[-1] + text)
        return [*events[:place], moved, *events[place + 1 :]], {event.seq}
    other = event._replace(payload='{"n":"other"}', salt="00", commitment=chain.commitment("00", '{"n":"other"}'))
    return [*events[:place], other, *events[place + 1 :]], {event.seq}


def _erased(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    """A payload erased by hand: the chain holds, and no event says so."""
    if event.payload is None:
        return _payload(dice, events, place, event, last)
    named = {earlier.seq for earlier in events if earlier.payload is None}
    return [*events[:place], event._replace(payload=None, salt=None), *events[place + 1 :]], {event.seq, *named}


def _said(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    """An event is changed, and a well-made one behind the kept head says that its payload was erased: that covers no change."""
    changed = events[place]._replace(actor="mallory")
    told = chain.Draft(AT, None, None, None, None, None, None, "REDACTED", "mallory", {"events": [event.seq]})
    return [*events[:place], changed, *events[place + 1 :], chain.extend(events[-1], IDENTITY, told, "00")], {event.seq}


def _other(dice: random.Random, events: list[Event], place: int, event: Event, last: int) -> tuple[list[Event], set[int]]:
    """A whole log of another history, as long as this one, over the same database."""
    return _history(last), {last}


@cache
def _history(length: int) -> list[Event]:
    made: list[Event] = []
    for _ in range(length):
        made.append(_forged(made[-1] if made else None))
    return made


_EDITS = {
    "column": _of_column, "null": _null, "delete": _delete, "swap": _swap, "copy": _copy, "insert": _insert, "cut": _cut,
    "hashed": _hashed, "payload": _payload, "erased": _erased, "said": _said, "other": _other,
}  # fmt: skip


@pytest.mark.timeout(7200)
def test_edits_by_hand(long: bool, tally: Tally) -> None:
    seed = int(os.environ.get("TAMPERING_SEED", "1"))
    rounds, length = (20_000, 300) if long else (2_000, 60)
    dice = random.Random(seed)
    events = log(length, seed)
    kept = head(events)
    for number in range(rounds):
        what, mutant, allowed = edit(dice, events)
        found = named(mutant, kept)
        assert found in allowed, f"seed {seed}, edit {number}: {what}: event {found} is named, not one of {sorted(allowed)[:5]}"
        tally("edits", 1)
        tally(what, 1)


# ---- heads ----
@pytest.mark.timeout(3600)
def test_every_older_head_is_a_prefix_and_none_of_a_fork(long: bool, tally: Tally) -> None:
    length = 512 if long else 64
    events = log(length)
    heads = [(0, IDENTITY), *((event.seq, event.hash) for event in events)]
    for seq, hash in heads:
        later = heads[seq + 1 :]
        assert chain.verify(events[seq:], hash, seq, later).first_bad is None
        tally("pairs of heads", len(later))
    dice = random.Random(2)
    for _ in range(10_000 if long else 200):
        place = dice.randrange(length)
        fork, _ = _hashed(dice, events, place, events[place], length)
        known = events[dice.randrange(place, length)]
        assert chain.verify(fork[known.seq :], fork[known.seq - 1].hash, known.seq, [(known.seq, known.hash)]).first_bad == known.seq
        tally("forks", 1)


# ---- the store ----
@pytest.fixture
def store_of(tmp_path: Path) -> Callable[[list[Event]], Path]:
    """A database that holds a log, without its triggers: whoever changes it by hand drops them."""

    def make(events: list[Event]) -> Path:
        path = tmp_path / "store.db"
        store = SqliteStore(str(path), RandomMint())
        with store.write():
            pass
        store.close()
        with closing(sqlite3.connect(path)) as connection:
            for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
                connection.execute(f"DROP TRIGGER {name}")
            connection.execute("UPDATE identity SET id = ?", (IDENTITY,))
            connection.executemany(f"INSERT INTO events VALUES ({','.join('?' * len(Event._fields))})", events)
            connection.commit()
            connection.execute("PRAGMA journal_mode = DELETE")
        return path

    return make


def read_back(path: Path, kept: chain.Head) -> tuple[chain.Finding | None, list[Event]]:
    """What a verification says, None for a file that is refused as a whole; and the events as the store gives them then."""
    store = SqliteStore(str(path), RandomMint(), readonly=True)
    try:
        with store.read() as reader:
            found = chain.verify(reader.events(EventQuery()), reader.identity(), 0, [kept])
            return found, list(reader.events(EventQuery())) if found.first_bad is None else []
    except ToolgateError as refused:
        assert refused.kind == "storage"
        return None, []
    finally:
        store.close()


def test_a_text_that_is_none_is_named_by_the_store(store_of: Callable[[list[Event]], Path], tally: Tally) -> None:
    """SQLite keeps bytes that are no UTF-8 as text; what reads them names the event."""
    events = log(1200)
    path, kept = store_of(events), head(events)
    found, back = read_back(path, kept)
    assert found is not None and found.first_bad is None and back == events
    fields = [field for field in Event._fields if field not in ("seq", "attempt")]
    for number, field in enumerate(fields):
        seq = (1, 1001, 1200, 8, 999)[number % 5]
        with closing(sqlite3.connect(path)) as connection:
            was = connection.execute(f"SELECT CAST({field} AS BLOB) FROM events WHERE seq = ?", (seq,)).fetchone()[0]
            connection.execute(f"UPDATE events SET {field} = CAST(? AS TEXT) WHERE seq = ?", (b"\xc3" + (was or b""), seq))
            connection.commit()
            found, _ = read_back(path, kept)
            assert found is not None and (found.first_bad, found.events) == (seq, seq - 1), field
            connection.execute(f"UPDATE events SET {field} = CAST(? AS TEXT) WHERE seq = ?", (was, seq))
            connection.commit()
        tally("texts that are none", 1)


@pytest.mark.timeout(3600)
def test_bits_of_the_file_itself(store_of: Callable[[list[Event]], Path], tmp_path: Path, long: bool, tally: Tally) -> None:
    """A file that verifies gives exactly the events that were written: any other is named, or refused as a whole."""
    events = log(60)
    path, kept = store_of(events), head(events)
    content, dice = path.read_bytes(), random.Random(3)
    mutant = tmp_path / "mutant.db"
    shutil.copy(path, mutant)
    for _ in range(20_000 if long else 600):
        place, bit = dice.randrange(len(content)), dice.randrange(8)
        turned = bytearray(content)
        turned[place] ^= 1 << bit
        mutant.write_bytes(bytes(turned))
        found, back = read_back(mutant, kept)
        if found is None:
            tally("files refused", 1)
        elif found.first_bad is not None:
            assert 0 < found.first_bad <= len(events) + 1
            tally("files with a bad event", 1)
        else:
            assert back == events, f"byte {place}, bit {bit}"
            tally("files with the same events", 1)
