"""What a person sees of a step at its gate: what it completed with, or else what it has written."""

from __future__ import annotations

import pytest

from . import texts
from .fakes import OK
from .kit import Home


def shown(home: Home, run: str) -> tuple[object, object]:
    [waiting] = home.desk().pending(run, 10)[0]
    return waiting.output, waiting.values


def test_a_gate_behind_a_tool_shows_its_result(home: Home) -> None:
    home.tools.plan["free.send"] = [OK._replace(output=b'{"sent": 7}')]
    assert shown(home, home.start("gate")) == ({"sent": 7}, None)


@pytest.mark.parametrize("verb", ["reject", "continue_tool"])
def test_a_gate_behind_a_call_without_a_result_shows_what_became_of_it(home: Home, verb: str) -> None:
    tool = "ask.send" if verb == "reject" else "deny.send"
    home.write(held=texts.flow("held", texts.uses("s", tool, gate="approval"), texts.AFTER))
    run = home.start("held")
    home.decide(verb, run, reason="not today")
    output, values = shown(home, run)
    assert output is None and values == {f"tool.{tool}.error": "not today" if verb == "reject" else "by hand only"}


def test_a_gate_behind_an_assignment_shows_its_values_and_none_of_before(home: Home) -> None:
    first, second = texts.step("one", "assign", set={"a": "1"}), texts.step("two", "assign", set={"b": "2"}, gate="review")
    home.write(held=texts.flow("held", first, second))
    output, values = shown(home, home.start("held"))
    assert (output or values) == {"b": "2"}
