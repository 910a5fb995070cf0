"""What an end leaves on record, field by field: the event, what the row remembers of it, and what a cancel keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolgate_cli.core import canonical, digests
from toolgate_cli.core.results import ToolResult
from toolgate_cli.runtime import parking

from . import texts
from .fakes import DECLINED, FAILED, LOST, OK, Started
from .kit import Home, payload
from .test_told_exactly import TOOL

FACTS = {"size": 7, "output_digest": "ab" * 32, "truncated": True}
OUTPUT = ToolResult("answered", ok=True, code=0, output='"done"', size=7, digest="ab" * 32, truncated=True)


@pytest.mark.parametrize(("ok", "kind"), [(True, "COMPLETED"), (False, "FAILED")])
def test_an_end_holds_every_fact_about_its_output(home: Home, ok: bool, kind: str) -> None:
    home.tools.plan["free.send"] = [OUTPUT._replace(ok=ok, code=0 if ok else 1)]
    told = payload(home.events(home.start("free"), TOOL + kind)[0])
    assert {name: told[name] for name in FACTS} == FACTS and told["survivors"] == [] and told["dispatched"] == "yes"
    assert told["effect_applied"] == ("yes" if ok else "unknown") and "code" in told and "message" in told


def test_what_still_runs_is_named(home: Home) -> None:
    home.tools.plan["free.send"] = [LOST._replace(survivors=("7", "8"))]
    told = payload(home.events(home.start("free"), TOOL + "OUTCOME_UNKNOWN")[0])
    assert told["survivors"] == ["7", "8"] and (told["dispatched"], told["effect_applied"]) == ("unknown", "unknown")


@pytest.mark.parametrize("length", [3, 2000, 2001])
def test_a_row_remembers_the_end_before_it_and_the_beginning_of_its_output(home: Home, length: int) -> None:
    home.tools.plan["free.send"] = [FAILED._replace(output="x" * length)]
    row = home.row(home.start("free"))
    last = canonical.parse(row.last or "")
    assert isinstance(last, dict) and last["message"] == row.reason == "it failed" and "code" in last
    assert last["output"] == "x" * min(length, 2000)


def test_a_row_remembers_what_came_before_its_repetition(home: Home) -> None:
    seen: list[str | None] = []

    def look(_: Started) -> ToolResult:
        with home.store.read() as tx:
            seen.extend(attempt.row.last for attempt in tx.attempts(None))
        return OK

    home.tools.plan["idem.put"] = [LOST, look]
    home.start("idem")
    assert seen[0] is not None and "timed out after 1s" in seen[0]


def test_a_row_and_its_parking_event_name_each_other(home: Home) -> None:
    run = home.start("ask")
    row = home.row(run)
    event = home.events(run, TOOL + "APPROVAL_PENDING")[0]
    told = payload(event)
    assert (told["ref"], told["version"], told["origin"]) == (digests.ref(row), 1, "APPROVAL_REQUIRED")
    assert (row.parked_by, row.created_at, told["row"]) == (event.seq, event.at, parking.digest(row))


@pytest.mark.parametrize(("result", "origin"), [(FAILED, "EXECUTION_FAILED"), (LOST, "OUTCOME_UNKNOWN")])
def test_what_was_started_does_not_expire(home: Home, result: ToolResult, origin: str) -> None:
    home.tools.plan["gone.send"] = [result]
    run = home.start("gone")
    assert home.row(run).expires_at and home.row(run).on_expiry == "reject"
    home.decide("approve", run)
    row = home.row(run)
    assert (row.origin, row.expires_at, row.on_expiry) == (origin, None, None)


# ---- a cancel meanwhile ----
def cancelling(home: Home, then: ToolResult) -> Callable[[Started], ToolResult]:
    def act(_: Started) -> ToolResult:
        run = home.events(type="RUN_STARTED")[0].run_id
        assert run is not None
        home.desk().cancel(run, "enough")
        return then

    return act


@pytest.mark.parametrize(("result", "kind", "doubted"), [
    (OK, "success", False), (DECLINED, "business", False), (LOST, "uncertain", True), (FAILED, "answered", False),
])  # fmt: skip
def test_of_a_cancelled_run_only_a_doubt_is_left(home: Home, result: ToolResult, kind: str, doubted: bool) -> None:
    home.tools.plan["free.send"] = [cancelling(home, result)]
    run = home.start("free")
    late = payload(home.events(run, TOOL + "LATE_RESULT")[0])
    assert late["kind"] == kind and home.run(run).status == "CANCELLED" and len(home.rows(run)) == doubted
    left = [event for event in home.events(run) if event.type in (TOOL + "CANCELLED", TOOL + "OUTCOME_UNKNOWN")]
    assert [event.type for event in left] == (
        [] if kind in ("success", "business") else [TOOL + ("OUTCOME_UNKNOWN" if doubted else "CANCELLED")]
    )
    if doubted:
        row = home.row(run)
        assert (row.origin, row.reason, row.doubt) == ("OUTCOME_UNKNOWN", LOST.message, "unsafe")
        told = payload(left[0])
        assert (told["phase"], told["message"]) == ("INVOKE", LOST.message)
    elif left:
        assert payload(left[0])["reason"] == FAILED.message


# ---- a tool that changed between two attempts ----
def test_a_doubt_whose_tool_no_longer_permits_another_start_says_so(home: Home) -> None:
    home.tools.plan["idem.put"] = [LOST]
    changed = {"idem.put": texts.tool("idem.put", "unsafe", 3)}
    home.clock.while_asleep = lambda: home.write(texts.operator(changed))
    run = home.start("idem")
    row = home.row(run)
    why = "the tool changed before its next attempt and is not declared safe to repeat any more"
    assert (row.origin, row.version, row.starts, row.reason) == ("OUTCOME_UNKNOWN", 2, 1, why) and len(home.tools.starts) == 1
    told: dict[str, Any] = dict(payload(home.events(run, TOOL + "OUTCOME_UNKNOWN")[-1]))
    assert (told["phase"], told["code"], told["message"]) == ("INVOKE", "tool_changed", why)
