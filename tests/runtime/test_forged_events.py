"""A row waits only by the event that parked it, or that asked for it: none that other hands put in or altered speaks for it (I3)."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core import canonical, chain
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Row
from toolgate_cli.runtime import parking

from .edits import stored
from .kit import Home, payload
from .test_parking_digests import raw


def appended(home: Home, row: Row, call: str | None, usual: str, told: dict[str, Any], **others: Any) -> None:
    """Somebody appends an event of that row, whatever else is true of it; `others`: parts of the event."""
    with home.store.write() as tx:
        head = tx.head()
        assert head is not None
        draft = chain.Draft(head.at, row.run_id, row.step, call, None, row.call_digest, None, usual, "mallory", told)
        tx.append([chain.extend(head, tx.identity(), draft._replace(**others), "ab" * 16)])


def altered(home: Home, seq: int, **told: Any) -> None:
    """Somebody lets the payload of an event tell something else."""
    [event] = [event for event in home.events() if event.seq == seq]
    text = canonical.encode({**payload(event), **told})
    if home.kind == "memory":
        tables = home.store._tables.fork()
        home.store._tables = tables
        tables.events = [event._replace(payload=text) if event.seq == seq else event for event in tables.events]
        return
    with raw(home) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'events'").fetchall():
            db.execute(f"DROP TRIGGER {name}")
        db.execute("UPDATE events SET payload = ? WHERE seq = ?", (text, seq))
        db.commit()


def next_seq(home: Home) -> int:
    return home.events()[-1].seq + 1


# what is forged -> parts of the row, of the event, of what that tells; and whether the row then waits
CALLS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], bool]] = {
    "nothing": ({}, {}, {}, True),
    "a revision that is not there": ({"revision": 2}, {}, {}, False),
    "an event elsewhere": ({"parked_by": 1}, {}, {}, False),
    "the type": ({}, {"type": "TOOL_INVOCATION_STARTED"}, {}, False),
    "the digest": ({}, {"call_digest": "ab" * 32}, {}, False),
    "the row": ({}, {}, {"row": "ab" * 32}, False),
    "the call": ({}, {}, {"call": "ab" * 32}, False),
}


@pytest.mark.parametrize("forged", CALLS)
def test_a_call_waits_by_an_event_that_tells_of_it_in_every_part(home: Home, forged: str) -> None:
    of_row, of_event, of_told, waits = CALLS[forged]
    row = home.row(home.start("ask"))
    call = parking.digest(stored(home, row))
    row = row._replace(**{"parked_by": next_seq(home), **of_row})
    told = {"row": parking.digest(row), "call": call, **of_told}
    appended(home, row, row.id, "TOOL_INVOCATION_APPROVAL_PENDING", told, **of_event)
    with home.store.read() as tx:
        assert parking.is_parked(tx, row) is waits


def test_a_call_of_which_the_log_says_nothing_does_not_wait(home: Home) -> None:
    row = home.row(home.start("ask"))
    other = stored(home, row)._replace(id="c" + "a" * 13)
    with home.store.write() as tx:
        tx.add([other])
    with home.store.read() as tx:
        assert parking.is_parked(tx, row) and not parking.is_parked(tx, row._replace(id=other.id))


def test_an_event_that_was_altered_parks_no_call(home: Home) -> None:
    row = home.row(home.start("ask"))
    mild = row._replace(reason="harmless")
    altered(home, row.parked_by, row=parking.digest(mild))
    with home.store.read() as tx:
        assert not parking.is_parked(tx, mild)


STEPS: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any], bool]] = {
    "nothing": ({}, {}, {}, True),
    "no event": ({"parked_by": 0}, {}, {}, False),
    "an event before the first": ({"parked_by": -1}, {}, {}, False),
    "an event that is not there": ({"parked_by": 10_000}, {}, {}, False),
    "the type": ({}, {"type": "STEP_AWAITING_REVIEW"}, {}, False),
    "the run": ({}, {"run_id": "r" + "a" * 13}, {}, False),
    "the step": ({}, {"step_id": "after"}, {}, False),
    "the row": ({}, {}, {"row": "w" + "a" * 13}, False),
    "what is asked": ({}, {}, {"asks": "ab" * 32}, False),
}


def asked(home: Home, row: Row) -> bool:
    try:
        with home.desk()._engine().write() as unit:
            parking.asked_by_the_chain(unit, row)
    except ToolgateError as error:
        assert error.kind == "storage" and "no event of the log parked" in error.message
        return False
    return True


@pytest.mark.parametrize("forged", STEPS)
def test_a_step_waits_by_an_event_that_tells_of_it_in_every_part(home: Home, forged: str) -> None:
    of_row, of_event, of_told, waits = STEPS[forged]
    row = home.row(home.start("gate"))
    row = row._replace(**{"parked_by": next_seq(home), **of_row})
    told = {"row": row.id, "asks": parking.digest(row), **of_told}
    appended(home, row, None, "STEP_AWAITING_APPROVAL", told, **of_event)
    assert asked(home, row) is waits


def test_an_event_that_was_altered_asks_nothing(home: Home) -> None:
    row = home.row(home.start("gate"))
    mild = row._replace(reason="harmless")
    altered(home, row.parked_by, asks=parking.digest(mild))
    assert not asked(home, mild)
