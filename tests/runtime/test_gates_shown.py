"""What a person sees of a step at its gate: what it completed with, or else what it has written."""

from __future__ import annotations

import pytest

from toolgate_cli.cli.views import card, pending

from . import texts
from .fakes import COMPLETE, OK, call
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


def test_a_gate_behind_an_agent_shows_the_calls_it_made_and_how_each_ended(home: Home) -> None:
    agent = texts.step("s", "agent", agent="clerk", writes=["*"], gate="approval")
    home.models.turns["s"] = [[call("free.send", n=1), call("ask.send", to="p\u0430y")], [COMPLETE]]
    home.write(held=texts.flow("held", agent, texts.AFTER))
    run = home.start("held")
    home.decide("reject", run, reason="not today")
    [waiting] = home.desk().pending(run, 10)[0]
    assert waiting.row.origin == "STEP_APPROVAL"
    made = [field for field in card.fields(waiting) if field.group == "calls"]
    assert [field.name for field in made] == [one.call.id for one in waiting.made]
    assert [field.value for field in made] == ['succeeded: free.send {"n":1}', 'rejected: ask.send {"to":"p\u0430y"}']
    [warning] = [field.value for field in card.fields(waiting) if field.name == "warning"]
    assert warning.startswith(f"{waiting.made[1].call.id}/to has ")
    assert "made" not in pending.to_json(waiting)


def test_a_gate_behind_an_assignment_shows_its_values_and_none_of_before(home: Home) -> None:
    first, second = texts.step("one", "assign", set={"a": "1"}), texts.step("two", "assign", set={"b": "2"}, gate="review")
    home.write(held=texts.flow("held", first, second))
    output, values = shown(home, home.start("held"))
    assert (output or values) == {"b": "2"}
