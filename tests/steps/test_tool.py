from __future__ import annotations

import pytest

from tests.steps.fake_view import FakeView, outcome
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.intents import Asked, CallTools, Done, Settled, Write
from toolgate_cli.core.records import Outcome
from toolgate_cli.steps.tool import Fields, plan

STEP = Fields("orders.lookup", {"order": "${inputs.order}", "deep": ["${inputs.order}"]}, "found")


def settle(settled: Outcome, step: Fields = STEP) -> Done:
    intent = plan(step, FakeView(Settled((settled,), ("orders.lookup",)), {"asked": True}))
    assert isinstance(intent, Done)
    return intent


def test_it_asks_for_one_call_with_its_references_filled() -> None:
    intent = plan(STEP, FakeView(values={"inputs.order": 17}))
    assert intent == CallTools((Asked("orders.lookup", {"order": 17, "deep": [17]}),), {"asked": True})


def test_a_reference_that_cannot_be_filled_is_an_error_before_the_call() -> None:
    with pytest.raises(ToolgateError, match=r"inputs\.order"):
        plan(STEP, FakeView())


@pytest.mark.parametrize("status", ["succeeded", "recorded"])
def test_a_result_is_written_by_its_call_and_is_the_output(status: str) -> None:
    done = settle(outcome(status, '{"id":1}', "c7"))
    assert done.output == {"id": 1}
    assert done.writes == (Write("tool.orders.lookup", None, "tool", "c7"), Write("found", None, "tool", "c7"))


@pytest.mark.parametrize("status", ["business_failed", "rejected", "continued", "cancelled"])
def test_everything_else_is_written_as_the_error_by_value_and_saves_nothing(status: str) -> None:
    done = settle(outcome(status, '{"code":"DECLINED","message":"no"}'))
    assert done.output is None
    assert done.writes == (Write("tool.orders.lookup.error", {"code": "DECLINED", "message": "no"}, "tool"),)


def test_an_error_without_words_is_still_there() -> None:
    assert settle(outcome("rejected", None)).writes[0].value == "rejected"
    assert settle(outcome("business_failed", None, code="DECLINED")).writes[0].value == "DECLINED"


def test_a_result_without_a_body_ends_the_step_as_well() -> None:
    assert settle(outcome("succeeded", None)).output is None


def test_without_save_as_only_the_tools_own_key_is_written() -> None:
    assert [write.key for write in settle(outcome(), Fields("orders.lookup")).writes] == ["tool.orders.lookup"]


def test_a_call_that_was_asked_for_is_never_asked_for_again() -> None:
    with pytest.raises(ToolgateError) as caught:
        plan(STEP, FakeView(None, {"asked": True}, {"inputs.order": 17}))
    assert caught.value.kind == "internal"
