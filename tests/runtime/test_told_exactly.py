"""What the log says of each start and of each end, field by field, and what is left where the attempt was taken away meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core import chain, digests, durations
from toolgate_cli.core.digests import ref
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Accepted, Attempt
from toolgate_cli.core.results import ToolResult
from toolgate_cli.runtime import gate, parking

from . import texts
from .fakes import DECLINED, FAILED, LOST, OK, UNSENT, Started
from .kit import Home, payload
from .test_parking_digests import by_hand, refused
from .watch import changed

TOOL = "TOOL_INVOCATION_"


def attempts(home: Home) -> tuple[Attempt, ...]:
    with home.store.read() as tx:
        found: tuple[Attempt, ...] = tx.attempts(None)
    return found


def taken_away(home: Home, then: ToolResult, stops: list[bool]) -> Any:
    """A tool whose process is taken for dead while it runs; `stops`: what it was told before its attempt was taken back, and after."""

    def act(started: Started) -> ToolResult:
        stops.append(started.limits.stop())
        home.host.living.discard(started.process.owner.name)
        home.desk().recover(None, None)
        assert attempts(home) == ()
        home.host.living.add(started.process.owner.name)
        stops.append(started.limits.stop())
        return then

    return act


@pytest.mark.parametrize("then", [OK, DECLINED, FAILED, LOST, UNSENT])
def test_the_end_of_an_attempt_that_was_taken_away_is_an_event_and_changes_nothing(home: Home, then: ToolResult) -> None:
    stops: list[bool] = []
    home.tools.plan["ask.send"] = [taken_away(home, then, stops)]
    run = home.start("ask")
    row = home.row(run)
    home.decide("approve", run)
    assert stops == [False, True]  # a tool whose attempt is gone is told to stop
    [late] = home.events(run, TOOL + "LATE_RESULT")
    assert (late.call_id, late.attempt, late.call_digest) == (row.id, 1, row.call_digest)
    left = home.row(run)
    assert (left.origin, left.version, left.doubt) == ("OUTCOME_UNKNOWN", 2, "unsafe") and home.outcome(row.id) is None


# ---- starts ----
def test_an_attempt_says_who_made_it_for_what_and_until_when(home: Home) -> None:
    seen: list[Attempt] = []

    def look(started: Started) -> ToolResult:
        seen.extend(attempts(home))
        return OK

    home.tools.plan["free.send"] = [look]
    run = home.start("free")
    [attempt], [started] = seen, home.tools.starts
    with home.store.read() as tx:
        stored = tx.call(started.call)[0]
    [event] = home.events(run, TOOL + "STARTED")
    row = attempt.row
    assert (row.id, row.version, row.run_id, row.step, row.origin, row.revision) == (stored.id, 1, run, "s", "APPROVAL_REQUIRED", 1)
    assert (row.cleared, row.starts, row.call_digest) == ("policy", 0, event.call_digest)
    assert row.left_behind and row.left_behind.startswith("f") and len(row.left_behind) == 14
    assert (attempt.number, attempt.state, attempt.owner) == (1, "running", started.process.owner.name)
    assert attempt.deadline == durations.later(event.at, 5 + 2)  # its timeout, and what it takes to kill it
    assert payload(event)["attempt_row"] == parking.digest(row) and payload(event)["effect"] == "unsafe"
    claim = gate.Claim(attempt, stored, home.desk()._load().config.tools["free.send"], None, 5.0)
    assert (claim.call_id, claim.run_id, claim.key) == (stored.id, run, stored.idempotency_key) and started.key == claim.key
    assert (claim.fence, claim.arguments) == (row.left_behind, stored.arguments)


def test_a_start_names_the_rule_that_let_it_run_or_the_one_that_asked(home: Home) -> None:
    seen: list[str | None] = []

    def look(_: Started) -> ToolResult:
        seen.extend(attempt.row.rule for attempt in attempts(home))
        return OK

    home.tools.plan = {"free.send": [look], "two.send": [look], "ask.send": [look]}
    home.start("free")
    run = home.start("two")
    home.decide("approve", run, actor="alice")
    renamed = texts.rule("two.*", "require_approval", 'approver_scope = "desk"\napprovals = 2').replace("two-all", "other")
    home.write(texts.operator(rules={"two": renamed}))
    home.decide("approve", run, actor="bob")
    home.decide("approve", home.start("ask"))
    assert seen == ["free-all-allow", "two-all-require-approval", None]


def test_what_was_found_valid_is_remembered_with_the_start(home: Home) -> None:
    schema = '{ type = "object", properties = { text = { type = "string" } } }'
    home.write(texts.operator({"free.send": texts.tool("free.send", schema=schema)}))
    home.start("free")
    world = home.desk()._load()
    with home.store.read() as tx:
        call = tx.call(home.tools.starts[0].call)[0]
        seen = digests.sha256(f"{world.config.tools['free.send'].schema_digest}:{call.arguments_digest}")
        assert tx.accepted(Accepted(seen, parking.ARGUMENTS))


def test_the_log_counts_starts_from_one_and_before_the_first_there_is_none(home: Home) -> None:
    home.tools.plan["ask.send"] = [FAILED, FAILED]
    run = home.start("ask")
    home.decide("approve", run)
    home.decide("retry", run)
    told = [(event.type.removeprefix(TOOL), event.attempt) for event in home.events(run) if event.type.startswith(TOOL)]
    assert told == [
        ("REQUESTED", None), ("APPROVAL_PENDING", None), ("APPROVED", None), ("STARTED", 1), ("FAILED", 1), ("RETRIED", 1), ("STARTED", 2),
        ("FAILED", 2),
    ]  # fmt: skip
    home.decide("reject", run)
    assert home.events(run, TOOL + "REJECTED")[0].attempt == 2


# ---- ends ----
@pytest.mark.parametrize(("result", "type", "origin"), [
    (FAILED, "FAILED", "EXECUTION_FAILED"), (LOST, "OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"), (UNSENT, "FAILED", "EXECUTION_FAILED"),
])  # fmt: skip
def test_an_end_is_the_event_that_it_is(home: Home, result: ToolResult, type: str, origin: str) -> None:
    home.tools.plan["free.send"] = [result]
    run = home.start("free")
    [event] = [event for event in home.events(run) if event.type in (TOOL + "FAILED", TOOL + "OUTCOME_UNKNOWN")]
    assert (event.type, home.row(run).origin) == (TOOL + type, origin)
    assert payload(event)["phase"] == "INVOKE" and payload(event)["message"] == result.message == home.row(run).reason


@pytest.mark.parametrize(("result", "type"), [(FAILED, "FAILED"), (LOST, "OUTCOME_UNKNOWN")])
def test_an_attempt_that_is_followed_by_another_says_so(home: Home, result: ToolResult, type: str) -> None:
    home.tools.plan["idem.put"] = [result]
    run = home.start("idem")
    [event] = [event for event in home.events(run) if event.type in (TOOL + "FAILED", TOOL + "OUTCOME_UNKNOWN")]
    assert event.type == TOOL + type and payload(event)["repeats"] is True and payload(event)["phase"] == "INVOKE"
    assert len(home.tools.starts) == 2 and home.run(run).status == "COMPLETED"


@pytest.mark.parametrize("left", [{"survivors": ("7",)}, {"left_behind": "f1"}], ids=str)
def test_nothing_is_repeated_while_something_of_it_may_still_run(home: Home, left: dict[str, Any]) -> None:
    home.tools.plan["idem.put"] = [LOST._replace(**left)]
    run = home.start("idem")
    assert len(home.tools.starts) == 1 and home.row(run).origin == "OUTCOME_UNKNOWN"


@pytest.mark.parametrize("digest", ["", "ab" * 32])
def test_the_digest_of_an_output_is_on_record_where_there_is_one(home: Home, digest: str) -> None:
    home.tools.plan["free.send"] = [OK._replace(digest=digest)]
    told = payload(home.events(home.start("free"), TOOL + "COMPLETED")[0])
    assert told["output_digest"] == (digest or None) and (told["size"], told["outcome"]) == (6, "succeeded")


@pytest.mark.parametrize("starts", [0, 1])
def test_what_a_cancel_leaves_without_a_doubt_is_an_event_with_its_last_start(home: Home, starts: int) -> None:
    home.write(read=texts.FLOWS["read"])
    home.write(texts.operator(rules={"read": texts.rule("read.*", "allow" if starts else "require_approval")}))

    def cancelled(started: Started) -> ToolResult:
        home.desk().cancel(home.events(type="RUN_STARTED")[0].run_id, None)  # type: ignore[arg-type]  # it has one
        return LOST

    home.tools.plan["read.it"] = [cancelled]
    run = home.start("read")
    if not starts:
        home.desk().cancel(run, "enough")
    told = [(event.type.removeprefix(TOOL), event.attempt) for event in home.events(run) if event.type.startswith(TOOL)]
    assert told[-1] == ("CANCELLED", starts or None) and home.rows(run) == []


# ---- a tool that changed ----
def test_what_changed_of_a_tool_is_named(home: Home) -> None:
    run = home.start("ask")
    home.write(texts.operator({"ask.send": texts.tool("ask.send", "idempotent", about="new")}))
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", run)
    reason = home.row(run).reason
    assert reason and "(changed since it was asked for: " in reason and "description" in reason and "effect" in reason
    assert caught.value.message == f"{home.row(run).id} waits for approval: its tool changed after it was parked: {reason}"


def test_a_retry_that_the_policy_now_asks_about_says_that_the_policy_does(home: Home) -> None:
    home.write(texts.operator({"free.send": texts.tool("free.send", more='permission = "mail:send"')}))
    run = home.start("free")
    home.write(texts.operator(rules={"free": texts.rule("free.*", "require_approval")}))
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run)
    row = home.row(run)
    assert row.origin == "APPROVAL_REQUIRED" and caught.value.choices[1].command == f"toolgate approve {ref(row)}"
    assert ("the policy asks for it" in caught.value.message) != ("its tool changed" in caught.value.message)


def test_a_doubt_whose_tool_is_gone_is_still_a_doubt(home: Home) -> None:
    home.tools.plan["unsafe.put"] = [LOST]
    run = home.start("unsafe")
    home.write(texts.operator({"unsafe.put": ""}, {"unsafe": ""}))
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run)
    assert caught.value.kind == "unknown_outcome" and "--may-run-twice" in caught.value.hint, caught.value.message


# ---- other hands ----
def test_a_row_that_was_changed_by_hand_can_be_closed_and_is_given_no_outcome(home: Home) -> None:
    home.tools.plan["free.send"] = [LOST]
    run = home.start("free")
    by_hand(home, home.row(run), reason="harmless")
    refused(home, "continue_tool", run, "ann", outcome={"applied": True, "result": 1})
    home.decide("continue_tool", run)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 1


@pytest.mark.parametrize("wrong", ["call_id", "call_digest", "hash", "payload"])
def test_an_event_that_tells_of_the_row_and_is_of_something_else_parks_nothing(home: Home, wrong: str) -> None:
    """Its payload names exactly this row, but the event itself is another call's, or is not what its hash was made of."""
    run, other = home.start("ask"), home.start("ask")
    row, another = home.row(run), home.row(other).id
    with home.store.write() as tx:
        head = tx.head()
        edited = row._replace(parked_by=head.seq + 1)
        call_id = another if wrong == "call_id" else row.id
        digest = "0" * 64 if wrong == "call_digest" else row.call_digest
        told = {"row": parking.digest(edited)}
        draft = chain.Draft(head.at, run, row.step, call_id, "ask.send", digest, None, TOOL + "APPROVAL_PENDING", "mallory", told)
        event = chain.extend(head, tx.identity(), draft, "ab" * 16)
        if wrong == "hash":
            event = event._replace(actor="ann")
        if wrong == "payload":
            event = event._replace(salt="cd" * 16)
        tx.append([event])
    by_hand(home, row, parked_by=edited.parked_by)
    home.vouch(run)
    before = home.dump()
    with pytest.raises(ToolgateError, match="no event of the log parked"):
        home.decide("approve", run)
    assert set(changed(before, home.dump())) <= {"checked"} and home.tools.starts == []
