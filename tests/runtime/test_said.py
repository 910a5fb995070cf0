"""What a refusal says, and when somebody who waits is told: small promises of the command line, kept by the use cases."""

from __future__ import annotations

import pytest

from toolgate_cli.core.errors import ToolgateError

from . import texts
from .kit import Home, payload


def test_arguments_that_were_not_taken_say_why_and_never_what(home: Home) -> None:
    home.write(big=texts.flow("big", texts.uses("s", "free.send")))
    run = home.desk().start("big", {"text": "secret" * 400}, {}).run.run.id
    row = home.row(run)
    [failed] = home.events(run, "TOOL_INVOCATION_FAILED")
    told = payload(failed)
    assert (told["phase"], told["code"]) == ("RECEIVE", "ARGS_TOO_LARGE")
    assert "ARGS_TOO_LARGE" in (row.reason or "") and "secret" not in (row.reason or "") + str(told)


def test_the_beginning_of_an_id_that_is_settled_is_a_lost_claim(home: Home) -> None:
    run = home.start("ask")
    call = home.row(run).id
    home.decide("approve", run)
    for word in (call, call[:8], call[:13]):
        with pytest.raises(ToolgateError) as caught:
            home.desk().select([word], "approve")
        assert caught.value.kind == "claim_lost"
    with pytest.raises(ToolgateError) as caught:
        home.desk().select([call[:7]], "approve")
    assert caught.value.kind == "not_found"


def test_where_only_the_os_user_counts_a_cancel_says_no_other_name(home: Home) -> None:
    run = home.start("ask")
    home.write(texts.operator(more='[identity]\nmode = "os"\n'))
    with pytest.raises(ToolgateError) as caught:
        home.desk("mallory").cancel(run, None)
    assert caught.value.kind == "not_authorised" and home.run(run).status == "AWAITING_TOOL_APPROVAL"
    home.write("broken [")
    home.desk("mallory").cancel(run, None)
    [cancelled] = home.events(run, "RUN_CANCELLED")
    assert cancelled.actor == "os-mallory"  # while the files cannot be read, the operating system's word alone counts


def test_who_waits_for_the_end_is_told_that_a_person_is_needed(home: Home) -> None:
    run = home.start("ask")
    _, rows, _, reached = home.desk().wait(run, "done", None)
    assert not reached and len(rows) == 1
    assert home.desk().wait(run, "approval", None)[3]
    home.decide("approve", run)
    assert home.desk().wait(run, "done", None)[3] and home.desk().wait(run, "decided", None)[3]


def test_what_expired_is_found_even_if_the_clock_goes_back(home: Home) -> None:
    run = home.start("gone")
    home.clock.pass_time(7200)
    home.start("free")  # an event that tells the time
    home.clock.behind = 7100
    home.desk().recover(None, None)
    assert home.rows(run) == [] and home.run(run).status == "COMPLETED"


def test_a_retry_of_a_step_keeps_the_reason(home: Home) -> None:
    run = home.start("fails")
    home.desk().retry_step(run, "s", "the other one was a test")
    assert payload(home.events(run, "STEP_RETRIED")[0])["reason"] == "the other one was a test"


def test_a_listing_of_runs_has_their_outputs(home: Home) -> None:
    run = home.start("free")
    [view] = home.desk().runs(None, 9)[0]
    assert view.run.id == run and view.outputs == {"s": "done"}
