"""The chain: every change, cut and insertion shows."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.chain import Draft, Finding, Head, commitment, extend, hash_event, head_text, intact, verify
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Event
from toolgate_cli.core.types import Json

IDENTITY = "db-1"
DRAFT = Draft("2026-01-31T12:00:00.000Z", "r1", "s", "c1", "a.b", "d" * 64, 1, "TOOL_INVOCATION_STARTED", "alice", {"n": 1})


def chain(length: int) -> list[Event]:
    events: list[Event] = []
    for number in range(length):
        draft = DRAFT._replace(attempt=number or None, payload={"n": number})
        events.append(extend(events[-1] if events else None, IDENTITY, draft, f"{number:032x}"))
    return events


def test_the_hash_is_that_of_the_canonical_list_of_everything_but_payload_and_salt() -> None:
    event = extend(None, IDENTITY, DRAFT._replace(actor='bö"b\n', run_id=None), "0" * 32)
    assert event.payload == '{"n":1}'
    assert event.commitment == hashlib.sha256(("0" * 32 + '{"n":1}').encode()).hexdigest()
    fields = [1, event.at, None, "s", "c1", "a.b", "d" * 64, 1, event.type, 'bö"b\n', event.commitment, IDENTITY]
    assert event.hash == hashlib.sha256(json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
    assert hash_event(event) == event.hash


def test_events_are_dense_and_each_names_the_one_before() -> None:
    events = chain(3)
    assert [event.seq for event in events] == [1, 2, 3]
    assert [event.prev for event in events] == [IDENTITY, events[0].hash, events[1].hash]


def test_a_sound_chain_verifies_from_the_first_event_to_the_head() -> None:
    events = chain(5)
    assert verify(events, IDENTITY) == Finding(5, None, None, f"5:{events[4].hash}")
    assert verify([], IDENTITY) == Finding(0, None, None, f"0:{IDENTITY}")


CHANGES: dict[str, object] = {
    "seq": 9,
    "at": "2026-01-31T12:00:00.001Z",
    "run_id": None,
    "step_id": "t",
    "call_id": "c2",
    "capability": "a.c",
    "call_digest": "e" * 64,
    "attempt": 7,
    "type": "TOOL_INVOCATION_DENIED",
    "actor": "mallory",
    "payload": '{"n":99}',
    "salt": "f" * 32,
    "commitment": "0" * 64,
    "prev": "0" * 64,
    "hash": "0" * 64,
}


@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.parametrize("field", Event._fields)
def test_a_change_of_any_field_of_any_event_shows(field: str, place: int) -> None:
    events = chain(5)
    events[place] = events[place]._replace(**{field: CHANGES[field]})  # type: ignore[arg-type]  # one field each
    finding = verify(events, IDENTITY)
    assert finding.events == place
    assert finding.first_bad == events[place].seq
    assert finding.reason
    assert finding.head == (f"{place}:{events[place - 1].hash}" if place else f"0:{IDENTITY}")
    assert verify(events, IDENTITY, 0, heads(chain(5))) == finding  # a head that was kept vouches for nothing but itself
    assert intact(events[place]) is False


def test_an_attempt_of_another_type_or_none_is_another_event() -> None:
    event = chain(2)[1]
    for attempt in (None, True, "1", 1.0):
        assert not intact(event._replace(attempt=attempt))  # type: ignore[arg-type]  # not what the type says
    assert intact(event)


@pytest.mark.parametrize("place", range(4))
def test_an_event_that_is_missing_swapped_or_twice_shows(place: int) -> None:
    events = chain(5)
    assert verify(events[:place] + events[place + 1 :], IDENTITY).first_bad == place + 2
    assert verify(events[: place + 1] + events[place:], IDENTITY).first_bad == place + 1
    assert verify([*events[:place], events[place + 1], events[place], *events[place + 2 :]], IDENTITY).first_bad == place + 2


def test_a_rewritten_tail_shows_where_it_was_joined_and_a_cut_one_in_the_head() -> None:
    events = chain(5)
    other = extend(events[1], IDENTITY, DRAFT._replace(actor="mallory"), "0" * 32)
    assert verify([*events[:2], other, *events[3:]], IDENTITY) == Finding(
        3, 4, "prev is not the hash of the event before", f"3:{other.hash}"
    )
    assert verify(events[:4], IDENTITY).head != head_text(events[4], IDENTITY)


def test_a_chain_of_another_database_shows_at_once() -> None:
    finding = verify(chain(3), "db-2")
    assert finding == (0, 1, "prev is not the id of the database", "0:db-2")


def test_a_redacted_payload_keeps_the_chain_and_half_a_redaction_does_not() -> None:
    events = chain(3)
    whole = events[1]
    events[1] = whole._replace(payload=None, salt=None)
    said = said_of(events, 2)[-1]
    assert verify([*events, said], IDENTITY) == Finding(4, None, None, f"4:{said.hash}")
    assert intact(events[1])
    of_another = said_of(events, 1, 3)[-1]
    for unsaid in (events, [*events, of_another]):
        assert verify(unsaid, IDENTITY).first_bad == 2  # a payload that was erased by hand
    for half in (whole._replace(payload=None), whole._replace(salt=None)):
        assert not intact(half)
        found = verify([events[0], half, events[2]], IDENTITY)
        assert (found.first_bad, found.reason) == (2, "a redacted event has neither payload nor salt, this one has one of them")


def said_of(events: list[Event], *seqs: int, payload: dict[str, Json] | None = None) -> list[Event]:
    """The chain with one more event, which says of which events the payloads were erased."""
    told: dict[str, Json] = payload or {"events": list(seqs)}
    return [*events, extend(events[-1], IDENTITY, DRAFT._replace(type="REDACTED", payload=told), "ab")]


def erased(events: list[Event], *places: int) -> list[Event]:
    return [event._replace(payload=None, salt=None) if place in places else event for place, event in enumerate(events)]


def test_an_erased_payload_holds_only_with_a_later_event_that_says_so() -> None:
    events = chain(4)
    assert verify(said_of(erased(events, 0, 2), 1, 3), IDENTITY).first_bad is None
    assert verify(said_of(erased(events, 0, 2), 1), IDENTITY).first_bad == 3  # no more than what it names
    assert verify(erased(events, 2), IDENTITY).first_bad == 3
    assert verify(erased(events, 1, 3), IDENTITY).first_bad == 2  # the first of several
    assert verify(erased(events, 3), IDENTITY).events == 4  # everything else of the chain holds
    early = said_of(events[:1], 1, 3)
    after = [*early, extend(early[-1], IDENTITY, DRAFT, "cd")._replace(payload=None, salt=None)]
    assert verify(after, IDENTITY).first_bad == 3  # said before it was there
    assert verify(said_of(after, 3), IDENTITY).first_bad is None


@pytest.mark.parametrize("payload", [{"n": 1}, {"events": 1}, {"events": ["1"]}, {"events": [[1]]}, {"events": {"1": 1}}])
def test_an_event_that_names_no_seqs_lets_nothing_pass(payload: dict[str, Json]) -> None:
    assert verify(said_of(erased(chain(2), 0), payload=payload), IDENTITY).first_bad == 1
    other = extend(chain(2)[1], IDENTITY, DRAFT._replace(payload={"events": [1]}), "ab")
    assert verify([*erased(chain(2), 0), other], IDENTITY).first_bad == 1  # nor one of another type


def test_what_says_so_does_not_count_once_it_is_erased_itself() -> None:
    whole = said_of(erased(chain(2), 0), 1)
    assert verify(erased(whole, 0, 2), IDENTITY).first_bad == 1
    assert verify(said_of(erased(whole, 0, 2), 1), IDENTITY).first_bad == 3
    assert verify(said_of(erased(whole, 0, 2), 1, 3), IDENTITY).first_bad is None


# ---- from a head on, and against heads ----
def heads(events: list[Event]) -> list[Head]:
    return [(0, IDENTITY), *((event.seq, event.hash) for event in events)]


def test_every_older_head_is_the_beginning_of_the_log() -> None:
    events = chain(12)
    for seq, hash in heads(events):
        assert verify(events[seq:], hash, seq, heads(events)) == Finding(12 - seq, None, None, f"12:{events[11].hash}")


@pytest.mark.parametrize("place", range(5))
def test_a_head_that_is_not_on_the_way_shows_at_its_seq(place: int) -> None:
    events = chain(5)
    found = verify(events, IDENTITY, 0, [(5, events[4].hash), (place + 1, "0" * 64)])
    assert (found.first_bad, found.events, found.head) == (place + 1, place, head_text(events[place - 1] if place else None, IDENTITY))
    assert found.reason and "kept head" in found.reason
    assert verify(events[place:], "0" * 64, place, heads(events))[:2] == (0, place)
    cut = verify(events[: place + 1], IDENTITY, 0, [(place + 1, events[place].hash), (9, "0" * 64)])
    assert (cut.first_bad, cut.events) == (place + 2, place + 1) and cut.reason and "before its kept head 9:" in cut.reason


def test_two_heads_of_one_seq_cannot_both_be_right() -> None:
    events = chain(3)
    assert verify(events, IDENTITY, 0, [(2, events[1].hash), (2, "0" * 64)]).first_bad == 2


def test_from_a_head_on_nothing_before_it_is_asked_about_and_all_behind_it_is() -> None:
    events = chain(6)
    assert verify(events[3:], events[2].hash, 3, [(1, "0" * 64)]).first_bad is None
    for place in (3, 4, 5):
        events[place] = events[place]._replace(actor="mallory")
        assert verify(events[3:], events[2].hash, 3).first_bad == place + 1
        events = chain(6)
    assert verify(events[4:], events[2].hash, 3).first_bad == 5


def test_from_a_head_on_only_what_was_read_is_counted() -> None:
    events = chain(6)
    changed = [*events[3:5], events[5]._replace(actor="mallory")]
    assert verify(changed, events[2].hash, 3)[:2] == (2, 6)
    assert verify(erased(events, 4)[3:], events[2].hash, 3)[:2] == (3, 5)
    assert verify(events[3:], events[2].hash, 3, [(9, "0" * 64)])[:2] == (3, 7)
    assert verify(torn(events[3:5]), events[2].hash, 3)[:2] == (2, 6)


def torn(events: list[Event]) -> Iterator[Event]:
    yield from events
    raise ToolgateError("storage", "it is damaged")


def test_what_cannot_be_read_does_not_hold() -> None:
    assert verify(torn(chain(2)), IDENTITY)[:3] == (2, 3, "it is damaged")


@pytest.mark.parametrize("field", Event._fields)
def test_a_value_of_a_kind_that_no_event_has_does_not_hold(field: str) -> None:
    for value in (b"\xff", 1.5, "\ud800", [1], float("nan"), 10**5000, "", {"a": 1}):
        events = chain(3)
        events[1] = events[1]._replace(**{field: value})  # type: ignore[arg-type]  # one field each
        assert verify(events, IDENTITY).events == 1 and not intact(events[1]), value


def test_the_boundary_between_salt_and_payload_cannot_be_moved() -> None:
    event = extend(None, IDENTITY, DRAFT._replace(payload={"a": {"b": 1}}), "ab")
    assert event.payload == '{"a":{"b":1}}'
    for salt, payload in (("a", 'b{"a":{"b":1}}'), ('ab{"a":', '{"b":1}}'), ("", 'ab{"a":{"b":1}}')):
        assert commitment(salt, payload) == event.commitment
        assert not intact(event._replace(salt=salt, payload=payload))


def test_a_payload_that_is_not_json_makes_no_event() -> None:
    with pytest.raises(ToolgateError):
        extend(None, IDENTITY, DRAFT._replace(payload={"n": float("nan")}), "0" * 32)


def test_the_head_is_seq_and_hash() -> None:
    event = chain(2)[1]
    assert head_text(event, IDENTITY) == f"2:{event.hash}"
    assert head_text(None, IDENTITY) == "0:db-1"


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"])),
            st.none() | st.text(st.characters(exclude_categories=["Cs"])),
            st.none() | st.integers(0),
        ),
        max_size=6,
    )
)
def test_whatever_the_fields_hold_the_chain_verifies(rows: list[tuple[str, str | None, int | None]]) -> None:
    events: list[Event] = []
    for actor, step, attempt in rows:
        draft = DRAFT._replace(actor=actor, step_id=step, attempt=attempt, payload={actor: step})
        events.append(extend(events[-1] if events else None, IDENTITY, draft, "0" * 32))
    assert verify(iter(events), IDENTITY).events == len(rows)


def test_verifying_takes_constant_memory() -> None:
    def stream(length: int) -> Iterator[Event]:
        head: Event | None = None
        for _ in range(length):
            head = extend(head, IDENTITY, DRAFT, "0" * 32)
            yield head

    verify(stream(100), IDENTITY)
    tracemalloc.start()
    assert verify(stream(20_000), IDENTITY).events == 20_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000  # the events themselves are about 20 MB


@pytest.mark.parametrize(("seq", "prev", "reason"), [
    (3, True, "seq 2 was expected: an event is missing or out of place"),
    (2, False, "prev is not the hash of the event before"),
    (2, True, None),
])  # fmt: skip
def test_what_does_not_hold_is_named(seq: int, prev: bool, reason: str | None) -> None:
    first, second = chain(2)
    moved = second._replace(seq=seq, prev=first.hash if prev else "0" * 64)
    found = verify([first, moved._replace(hash=hash_event(moved))], first.prev)
    assert (found.reason, found.first_bad) == (reason, None if reason is None else seq)
