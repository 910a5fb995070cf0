"""The trusted context: what it grants is asked at every attempt, its limits hold, and its words are on the record."""

from __future__ import annotations

import pytest

from toolgate_cli.core.errors import ToolgateError

from . import texts
from .fakes import COMPLETE, FAILED, LOST, OK, call
from .kit import Home, payload

ACME = '[context]\ntenant = { issuer = "iam", id = "acme" }\nprincipal = { issuer = "iam" }\n'
PERMITTED = {"idem.put": texts.tool("idem.put", "idempotent", 3, more='permission = "p"')}


def contexts(home: Home, context: str, **tools: str) -> None:
    home.write(texts.operator({name.replace("_", "."): text for name, text in tools.items()}, more=context))


# ---- limits of a run ----
def test_the_smaller_of_two_limits_holds(home: Home) -> None:
    contexts(home, "[context]\nbudget = { calls = 1 }\n")
    home.write(both=texts.flow("both", texts.uses("a", "free.send"), texts.uses("b", "free.send")))
    run = home.start("both")
    assert len(home.tools.starts) == 1 and home.row(run).reason == "the run has made its 1 calls (context.budget.calls)"
    assert payload(home.events(run, "TOOL_INVOCATION_DENIED")[0])["code"] == "limit_exceeded"


def test_nothing_is_started_after_the_deadline_of_the_run_and_a_longer_one_lets_it_go_on(home: Home) -> None:
    contexts(home, '[context]\ndeadline = "1h"\n')
    run = home.start("ask")
    home.clock.pass_time(3600)
    home.decide("approve", run, actor="alice")
    assert home.tools.starts == [] and "deadline" in str(home.row(run).reason)
    contexts(home, '[context]\ndeadline = "2h"\n')
    home.decide("retry", run, actor="alice")
    assert home.tools.names() == ["ask.send"] and home.run(run).status == "COMPLETED"


def test_an_attempt_has_no_longer_than_the_run_has_left(home: Home) -> None:
    contexts(home, '[context]\ndeadline = "1h"\n')
    run = home.start("ask")
    home.clock.pass_time(3597)
    home.decide("approve", run, actor="alice")
    [started] = home.tools.starts
    assert 2 < started.limits.timeout < 3


@pytest.mark.parametrize("end", [FAILED, LOST])
def test_no_repetition_waits_beyond_the_deadline_or_starts_behind_it(home: Home, end: object) -> None:
    contexts(home, '[context]\ndeadline = "2s"\n')
    home.tools.plan["idem.put"] = [end, end, OK]
    run = home.start("idem")
    assert len(home.tools.starts) == 2 and sum(home.clock.slept) <= 2
    row = home.row(run)
    assert row.origin == "EXECUTION_FAILED" and "deadline" in str(row.reason) and (row.doubt is not None) == (end is LOST)


def test_behind_the_deadline_no_model_is_asked(home: Home) -> None:
    contexts(home, '[context]\ndeadline = "1h"\n')
    home.models.turns["s"] = [[call("ask.send"), {"type": "continue"}], [COMPLETE]]
    run = home.start("talk")
    home.clock.pass_time(3600)
    home.decide("reject", run, actor="alice")
    assert len(home.models.asked) == 1 and home.run(run).status == "FAILED" and "deadline" in str(home.run(run).error)


@pytest.mark.parametrize("inside", ["assign", "workflow"])
def test_a_loop_that_starts_nothing_does_not_go_on_behind_the_deadline(home: Home, inside: str) -> None:
    contexts(home, '[context]\ndeadline = "1h"\n')
    work = texts.step("a", "assign", set={"x": "y"}) if inside == "assign" else texts.step("a", "workflow", workflow="one")
    home.write(
        one=texts.flow("one", texts.AFTER),
        loop=texts.flow("loop", texts.step("l", "block", block="b", repeat={"until": "count", "max": 3000}), blocks={"b": [work]}),
    )
    read = home.clock.now

    def now() -> str:
        home.clock.pass_time(600)
        return read()

    home.clock.now = now  # type: ignore[method-assign]  # each transaction comes ten minutes after the one before
    run = home.start("loop")
    assert home.run(run).status == "FAILED" and "deadline" in str(home.run(run).error)
    assert len(home.events(run, "LOOP_ITERATION_STARTED")) < 3000
    [failed] = home.events(run, "STEP_FAILED")
    assert str(failed.step_id).startswith("l")


def test_while_the_clock_is_behind_the_log_nothing_that_has_a_deadline_is_started(home: Home) -> None:
    """One event of a clock that was far ahead: from then on no time passes that a deadline could be over by."""
    contexts(home, '[context]\ndeadline = "1h"\n')
    home.models.turns["s"] = [[COMPLETE]]
    home.clock.pass_time(86_400)
    home.start("fails")
    home.clock.behind = 86_400
    asks, free, talks = home.start("ask"), home.start("free"), home.start("talk")
    before = home.row(asks)
    with pytest.raises(ToolgateError) as caught:
        home.decide("approve", asks, actor="alice")
    assert caught.value.kind == "expired" and "clock" in caught.value.message and home.row(asks) == before
    assert "the clock is behind" in str(home.row(free).reason) and "the clock is behind" in str(home.run(talks).error)
    with pytest.raises(ToolgateError, match="the clock is behind"):
        home.decide("retry", free)
    assert home.tools.starts == [] and home.models.asked == []
    home.clock.behind = 0
    home.decide("approve", asks, actor="alice")
    home.decide("retry", free)
    assert home.tools.names() == ["ask.send", "free.send"]


def test_a_no_is_taken_whatever_the_clock_says_of_a_deadline(home: Home) -> None:
    contexts(home, '[context]\ndeadline = "1h"\n')
    home.clock.pass_time(86_400)
    home.start("fails")
    home.clock.behind = 86_400
    run = home.start("ask")
    assert home.decide("reject", run).effect == "rejected" and home.rows(run) == []


def test_a_clock_that_is_behind_keeps_nothing_that_has_no_deadline(home: Home) -> None:
    contexts(home, "[context]\nbudget = { calls = 5 }\n")
    home.clock.pass_time(86_400)
    home.start("fails")
    home.clock.behind = 86_400
    assert home.run(home.start("free")).status == "COMPLETED"


# ---- what it grants ----
def test_a_permission_that_is_revoked_between_two_attempts_stops_the_second(home: Home) -> None:
    contexts(home, '[context]\npermissions = { ann = ["p"] }\n', **PERMITTED)
    home.tools.plan["idem.put"] = [LOST, OK]
    home.clock.while_asleep = lambda: contexts(home, "[context]\npermissions = { ann = [] }\n", **PERMITTED)
    run = home.start("idem")
    row = home.row(run)
    assert len(home.tools.starts) == 1 and str(row.reason).startswith("auth_denied") and row.doubt == "idempotent"
    assert home.types(run).count("TOOL_INVOCATION_DENIED") == 1


def test_a_resource_of_another_tenant_is_not_touched(home: Home) -> None:
    tool = texts.tool("free.send", more='tenant_of = { arg = "/text" }')
    contexts(home, ACME, free_send=tool)
    run = home.start("free", text="other")
    assert home.tools.starts == [] and "tenant_mismatch" in str(home.row(run).reason)
    assert home.run(home.start("free", text="acme")).status == "COMPLETED"


def test_what_a_call_says_of_a_tenant_is_never_the_callers(home: Home) -> None:
    contexts(home, '[context]\npermissions = { "*" = [] }\n', free_send=texts.tool("free.send", more='tenant_of = { arg = "/text" }'))
    run = home.start("free", text="acme")
    assert home.tools.starts == [] and "names none" in str(home.row(run).reason)


# ---- what is on the record ----
def test_a_start_records_whose_run_it_is(home: Home) -> None:
    contexts(home, ACME)
    told = payload(home.events(home.start("free"), "RUN_STARTED")[0])
    assert told["principal"] == {"issuer": "iam", "id": "ann"} and told["tenant"] == {"issuer": "iam", "id": "acme"}


def test_every_event_of_a_run_has_its_correlation(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB", "job-17")
    contexts(home, '[context]\ncorrelation = "ci/${env.JOB}"\n')
    run = home.start("ask")
    monkeypatch.delenv("JOB")  # who decides has another environment
    home.decide("approve", run, actor="alice")
    told = [payload(event).get("correlation") for event in home.events(run)]
    assert len(told) > 6 and set(told) == {"ci/job-17"}


@pytest.mark.parametrize(("value", "said"), [(None, "${env.JOB}"), ("", "one line"), ("a\nb", "one line"), ("x" * 257, "one line")])
def test_a_correlation_that_is_none_starts_nothing(home: Home, value: str | None, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if value is not None:
        monkeypatch.setenv("JOB", value)
    contexts(home, '[context]\ncorrelation = "${env.JOB}"\n')
    with pytest.raises(ToolgateError) as refused:
        home.start("free")
    assert refused.value.kind == "invalid" and said in refused.value.message and home.events() == []
