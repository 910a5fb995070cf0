from __future__ import annotations

from dataclasses import replace

import pytest

from tests.steps.fake_view import FakeView
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.intents import Done, Ended, Fail, Filled, FillInputs, Nest, Write
from toolgate_cli.steps.workflow import Fields, check, plan

STEP = Fields("refund", {"order": "${which}", "n": 1}, {"decision": "verdict", "why": "reason"})


def test_inputs_are_filled_here_checked_outside_and_handed_in() -> None:
    view = FakeView(values={"which": "A-17"})
    asked = plan(STEP, view)
    assert asked == FillInputs("refund", {"order": "A-17", "n": 1})
    assert plan(STEP, replace(view, arrived=Filled({"order": "A-17", "n": 1, "more": 2}))) == Nest(
        "refund", {"order": "A-17", "n": 1, "more": 2}
    )


def test_an_input_that_cannot_be_filled_names_the_reference() -> None:
    with pytest.raises(ToolgateError) as caught:
        plan(STEP, FakeView())
    assert "${which}" in caught.value.message


def test_outputs_are_taken_from_inside_with_their_provenance() -> None:
    view = FakeView(Ended(0), values={"verdict": "yes", "reason": 7}, provenances={"verdict": "model", "reason": "tool"})
    assert plan(STEP, view) == Done(writes=(Write("decision", "yes", "model"), Write("why", 7, "tool")))


def test_an_output_that_is_not_there_fails_the_step() -> None:
    intent = plan(STEP, FakeView(Ended(0), values={"verdict": "yes"}))
    assert isinstance(intent, Fail) and "nothing at reason" in intent.reason


def test_a_reserved_key_is_no_output() -> None:
    assert isinstance(plan(Fields("refund", outputs={"tool.x": "a"}), FakeView(Ended(0), values={"a": 1})), Fail)


def test_a_shared_context_needs_neither() -> None:
    assert plan(Fields("refund", share=True), FakeView()) == Nest("refund", shared=True)
    assert plan(Fields("refund", share=True), FakeView(Ended(0))) == Done()
    assert [d.path for d in check(Fields("refund", {"a": 1}, {"b": "c"}, True))] == [("inputs",), ("outputs",)]
    assert list(check(Fields("refund", {"a": 1}))) == list(check(Fields("refund", share=True))) == []
