"""What each event of a decision holds, and that words which somebody forged are none."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core import chain, digests
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Accepted, Attempt, Vote
from toolgate_cli.core.results import ToolResult
from toolgate_cli.runtime import parking

from . import texts
from .fakes import FAILED, OK, Started
from .kit import Home, payload
from .test_told_exactly import TOOL, attempts


# ---- what each event holds ----
def test_a_start_and_a_parking_say_what_they_rest_on(home: Home) -> None:
    home.tools.plan["two.send"] = [FAILED]
    run = home.start("two")
    asks = payload(home.events(run, TOOL + "APPROVAL_PENDING")[0])
    assert (asks["rule"], asks["reason"], asks["code"]) == ("two-all-require-approval", "policy rule two-all-require-approval", None)
    for actor in ("alice", "bob"):
        home.decide("approve", run, actor=actor)
    start = payload(home.events(run, TOOL + "STARTED")[0])
    digest = home.desk()._load().config.digest
    told = (start["config"], start["rule"], start["cleared"], start["version"], start["effect"])
    assert told == (digest, "two-all-require-approval", "approval", 1, "unsafe")
    assert home.run(run).started == 1
    home.decide("retry", run, actor="bob")
    assert home.run(run).started == 2 and payload(home.events(run, TOOL + "STARTED")[1])["version"] == 2


def test_a_call_that_is_parked_again_is_the_next_version_and_says_why(home: Home) -> None:
    home.tools.plan["free.send"] = [FAILED]
    run = home.start("free")
    was = home.row(run)
    home.write(texts.operator({"free.send": texts.tool("free.send", more="enabled = false")}))
    home.decide("retry", run)
    row = home.row(run)
    told = payload(home.events(run, TOOL + "FAILED")[-1])
    assert row.version == was.version + 1 and row.reason == "the tool free.send is disabled"
    assert (told["phase"], told["code"], told["message"]) == ("RESOLVE", "disabled", row.reason)


def test_what_was_found_valid_is_remembered_with_the_row_that_waits(home: Home) -> None:
    schema = '{ type = "object", properties = { text = { type = "string" } } }'
    home.write(texts.operator({"ask.send": texts.tool("ask.send", schema=schema)}))
    run = home.start("ask")
    world = home.desk()._load()
    with home.store.read() as tx:
        call = tx.call(tx.find_by_run(run)[0].id)[0]
        seen = digests.sha256(f"{world.config.tools['ask.send'].schema_digest}:{call.arguments_digest}")
        assert tx.accepted(Accepted(seen, parking.ARGUMENTS))


def test_a_refusal_says_what_was_refused(home: Home) -> None:
    run = home.start("two")
    with pytest.raises(ToolgateError):
        home.decide("approve", run, actor="mallory")
    told = payload(home.events(run, "DECISION_REFUSED")[0])
    assert (told["verb"], told["kind"]) == ("approve", "scope")
    other = home.start("ask")
    home.write(texts.operator({"ask.send": texts.tool("ask.send", more="enabled = false")}))
    home.decide("approve", other)
    told = payload(home.events(other, "DECISION_REFUSED")[0])
    assert (told["verb"], told["kind"], told["may_run_twice"]) == ("approve", "disabled", False)


def test_a_call_that_was_superseded_says_by_what(home: Home) -> None:
    run = home.start("ask")
    home.write(texts.operator({"ask.send": texts.tool("ask.send", about="new")}))
    with pytest.raises(ToolgateError):
        home.decide("approve", run)
    assert payload(home.events(run, TOOL + "SUPERSEDED")[0])["digest"] == home.row(run).call_digest


def test_who_asks_again_about_what_expired_asks_about_the_tool_as_it_is(home: Home) -> None:
    run = home.start("late")
    home.clock.pass_time(3601)
    home.write(texts.operator({"late.send": texts.tool("late.send", about="new")}))
    assert home.decide("retry", run).effect == "retried"
    assert TOOL + "SUPERSEDED" not in home.types(run) and home.row(run).version == 2


@pytest.mark.parametrize("error", [ToolgateError("failed", "no such host"), LookupError("secret")])
def test_a_provider_that_breaks_leaves_a_doubt(home: Home, error: Exception) -> None:
    def breaks(_: Started) -> ToolResult:
        raise error

    home.tools.plan["free.send"] = [breaks]
    run = home.start("free")
    row = home.row(run)
    told = "no such host" if isinstance(error, ToolgateError) else "the provider failed: LookupError"
    assert (row.origin, row.reason, row.doubt) == ("OUTCOME_UNKNOWN", told, "unsafe")


def test_a_store_that_cannot_be_read_stops_no_tool(home: Home) -> None:
    told: list[bool] = []

    def look(started: Started) -> ToolResult:
        with home.store.read():  # so that another transaction is refused
            told.append(started.limits.stop())
        return OK

    home.tools.plan["free.send"] = [look]
    assert home.run(home.start("free")).status == "COMPLETED" and told == [False]


# ---- forged words ----
def forged(home: Home, event: chain.Draft, wrong: bool) -> None:
    """Somebody appends an event; `wrong`: it is not what its hash was made of."""
    with home.store.write() as tx:
        made = chain.extend(tx.head(), tx.identity(), event, "ab" * 16)
        tx.append([made._replace(step_id="else") if wrong else made])
    if event.run_id is not None:
        home.vouch(event.run_id)


@pytest.mark.parametrize("wrong", ["nothing", "hash", "call_digest", "version"])
def test_a_vote_counts_if_an_intact_event_tells_of_exactly_this_row(home: Home, wrong: str) -> None:
    run = home.start("two")
    row = home.row(run)
    digest = "0" * 64 if wrong == "call_digest" else row.call_digest
    told = {"version": row.version + (wrong == "version")}
    forged(home, chain.Draft(row.created_at, run, "s", row.id, "two.send", digest, None, TOOL + "VOTED", "bob", told), wrong == "hash")
    with home.store.write() as tx:
        tx.add([Vote(row.id, digests.ref(row), "bob", row.created_at)])
    effect = home.decide("approve", run, actor="alice").effect
    assert effect == ("approved" if wrong == "nothing" else "voted") and bool(home.tools.starts) == (wrong == "nothing")


@pytest.mark.parametrize("wrong", [False, True])
def test_an_attempt_is_one_that_an_intact_event_tells_of(home: Home, wrong: bool) -> None:
    seen: list[Attempt] = []
    home.tools.plan["free.send"] = [lambda started: seen.extend(attempts(home)) or OK]  # type: ignore[list-item]  # a result
    run = home.start("free")
    [attempt] = seen
    other = attempt._replace(row=attempt.row._replace(cleared="approval"))
    with home.store.read() as tx:
        assert parking.is_started(tx, attempt) and not parking.is_started(tx, other)
    row = attempt.row
    told: dict[str, Any] = {"attempt_row": parking.digest(other.row)}
    at = home.events(run)[-1].at
    forged(home, chain.Draft(at, run, "s", row.id, "free.send", row.call_digest, 2, TOOL + "STARTED", "bob", told), wrong)
    with home.store.read() as tx:
        assert parking.is_started(tx, other) is not wrong
