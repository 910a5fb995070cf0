from __future__ import annotations

import pytest

from tests.steps.fake_view import FakeView
from toolgate_cli.core.intents import Answered, AskPerson, Done, Fail, Write
from toolgate_cli.steps.input import Fields, plan

FORM = [{"id": "street", "type": "TEXT", "label": "Street", "required": True}]


def test_it_asks_for_its_form() -> None:
    assert plan(Fields("address"), FakeView(forms={"address": FORM})) == AskPerson(FORM, 'answers to the form "address" are asked for')


def test_answers_are_the_persons_and_bare_only_where_the_step_says_so() -> None:
    intent = plan(Fields("address", ("street",)), FakeView(Answered({"street": "Elm", "floor": 3})))
    assert intent == Done(
        {"street": "Elm", "floor": 3},
        (Write("address.street", "Elm", "user"), Write("street", "Elm", "user"), Write("address.floor", 3, "user")),
    )


@pytest.mark.parametrize("step", [Fields("user"), Fields("tool"), Fields("address", ("tool.x",))])
def test_a_form_that_would_write_reserved_keys_is_refused_before_a_person_is_asked(step: Fields) -> None:
    assert isinstance(plan(step, FakeView(forms={step.form: FORM})), Fail)
