from __future__ import annotations

import pytest

from tests.steps.fake_view import FakeView
from toolgate_cli.core.intents import Done, Fail, Finding, Look, Observe, Observed, Write
from toolgate_cli.steps.resource import Fields, plan


@pytest.mark.parametrize(("file", "want"), [("notes/terms.md", "text"), ("rates.json", "json"), ("rates.json.txt", "text"), ("x", "text")])
def test_a_json_file_is_asked_for_as_its_value_any_other_as_text(file: str, want: str) -> None:
    assert plan(Fields(file, "terms"), FakeView()) == Observe((Look(file, want),))  # type: ignore[arg-type]  # one of the words


def test_what_was_found_is_written_as_the_systems() -> None:
    intent = plan(Fields("rates.json", "rates"), FakeView(Observed((Finding({"eur": 1}),))))
    assert intent == Done(writes=(Write("rates", {"eur": 1}, "system"),))


def test_a_file_that_could_not_be_read_fails_the_step_by_its_name() -> None:
    intent = plan(Fields("terms.md", "terms"), FakeView(Observed((Finding(error="no file terms.md"),))))
    assert intent == Fail("terms.md was not loaded: no file terms.md")


def test_a_reserved_key_is_refused_before_anything_is_read() -> None:
    assert isinstance(plan(Fields("terms.md", "tool.x"), FakeView()), Fail)
