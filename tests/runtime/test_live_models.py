"""What is kept of a model's answer beside its commands: who gave it, how long it took, what it counted; and why nothing of it was done."""

from __future__ import annotations

from typing import Any

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.turns import Completion

from . import texts
from .fakes import COMPLETE, call
from .kit import Home, payload
from .test_turns import talk

COUNTED = Completion([call("free.send")], tokens_in=30, tokens_out=12, answered_by="model-1")


def test_an_answer_is_told_with_its_model_its_time_and_its_tokens(home: Home) -> None:
    def slow(_request: Any) -> Completion:
        home.clock.sleep(1.25)
        return COUNTED

    run = talk(home, slow, [COMPLETE])
    first, second = map(payload, home.events(run, "LLM_CALL_COMPLETED"))
    assert first["model"] == "default" and first["answered_by"] == "model-1" and first["duration_ms"] == 1250
    assert (first["tokens_in"], first["tokens_out"], first["tokens"]) == (30, 12, 42)
    assert second["tokens"] is None and second["answered_by"] is None and second["duration_ms"] == 0


def test_the_tokens_of_a_run_are_the_sum_of_what_was_counted(home: Home) -> None:
    run = talk(home, COUNTED, COUNTED._replace(tokens_total=50), COUNTED._replace(tokens_out=None), [COMPLETE])
    assert home.run(run).tokens == 42 + 50 + 30


def test_an_answer_at_fault_is_counted_and_nothing_of_it_is_done(home: Home) -> None:
    run = talk(home, COUNTED._replace(fault="the model's answer was cut off"))
    assert home.run(run).status == "FAILED" and "cut off" in (home.run(run).error or "") and home.tools.starts == []
    assert home.run(run).tokens == 42 and home.types(run).count("LLM_CALL_COMPLETED") == 1 == home.types(run).count("STEP_FAILED")
    with home.store.read() as tx:
        assert tx.turns(run, "s") == ()


def test_a_model_is_told_which_keys_it_may_write_and_where_it_stands(home: Home) -> None:
    talk(home, [COMPLETE])
    [asked] = home.models.asked
    assert asked.path == asked.step == "s" and asked.keys


def test_a_model_that_could_not_be_asked_for_want_of_something_leaves_the_run_where_it_is(home: Home) -> None:
    def lacking(_request: Any) -> Completion:
        raise ToolgateError("invalid", "api_key: the secret KEY has no value", retryable=True)

    home.write(talk=texts.FLOWS["talk"])
    home.models.turns["s"] = [lacking]
    process = home.process()
    answer = process.desk.start("talk", {}, {})
    run = answer.run.run.id
    assert (
        answer.fault is not None
        and answer.fault.message == "api_key: the secret KEY has no value"
        and answer.fault.hint == f"toolgate continue {run}"
    )
    assert home.run(run).status == "RUNNING" and "STEP_FAILED" not in home.types(run)
    home.killed(process.die)
    home.models.turns["s"] = [[COMPLETE]]
    home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED"
