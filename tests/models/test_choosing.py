"""A selector is a model like any other: it is asked with the one function `complete`, for a list of names, and answers with a turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolgate_cli.core import selection
from toolgate_cli.core.selection import Choice
from toolgate_cli.core.turns import Offer
from toolgate_cli.models import scripted
from toolgate_cli.models._offering import functions, meanings, spelled
from toolgate_cli.runtime.asking import commands

from .asking import ADAPTERS, MEANS, REQUEST, called, fields
from .wire import Wire, reply

CHOICE = Choice(0, ("orders.lookup", "orders.close", "refunds.issue"), (), 2, "throw")
ASKED = REQUEST._replace(step="decide.tools", path="pay/decide.tools", tools=(), commands=("complete",), keys=(), output=CHOICE.schema)


def test_it_is_offered_one_function_whose_schema_is_the_answer() -> None:
    [function] = functions(ASKED)
    assert function.name == "complete"
    assert function.schema == {
        "type": "object",
        "properties": {"output": CHOICE.schema},
        "required": ["output"],
        "additionalProperties": False,
    }
    [other] = functions(ASKED._replace(output=None))
    assert "required" in other.schema and other.schema["required"] == []  # type: ignore[operator, call-overload, index]  # an object


def arguments(adapter: str, text: str) -> Any:
    import json

    return text if adapter == "openai" else json.loads(text)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_live_one_is_asked_with_that_function_and_its_call_is_the_choice(adapter: str, wire: Wire, tmp_path: Path) -> None:
    output = arguments(adapter, '{"output": ["refunds.issue", "orders.lookup"]}')
    wire.answers = [reply(called(adapter, ("complete", output), text="I choose these."))]
    said = ADAPTERS[adapter].complete(fields(adapter, wire.url, record="live.toml"), str(tmp_path), ASKED, MEANS)
    found = selection.judge(CHOICE, commands(said))
    assert (found.action, found.tools) == ("selected", ("orders.lookup", "refunds.issue"))
    [body] = wire.bodies()
    [tool] = body["tools"]
    shown = tool["function"]["parameters"] if adapter == "openai" else tool["input_schema"]
    assert shown["properties"]["output"] == CHOICE.schema
    # what was recorded is replayed, and only to the selector's question
    replayed = scripted.complete(scripted.Fields("live.toml"), str(tmp_path), ASKED)
    assert selection.judge(CHOICE, commands(replayed)) == found
    with pytest.raises(Exception, match="no turn for"):
        scripted.complete(scripted.Fields("live.toml"), str(tmp_path), ASKED._replace(step="decide", path="pay/decide"))


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize(
    "text, code",
    [
        ('["orders.lookup"]', "chosen"),
        ("[]", "chosen"),
        ("orders.lookup", "not_json"),
        ("", "not_json"),
        ('{"output": []}', "not_names"),
        ('[{"type": "say", "message": "x"}]', "not_names"),
        ('[{"type": "complete", "output": ["orders.close"]}]', "chosen"),
        ('["orders__lookup"]', "unknown_names"),
    ],
)
def test_words_of_a_live_one_are_judged_as_they_are(adapter: str, text: str, code: str, wire: Wire) -> None:
    wire.answers = [reply(called(adapter, text=text))]
    said = ADAPTERS[adapter].complete(fields(adapter, wire.url), "/", ASKED, MEANS)
    assert selection.judge(CHOICE, commands(said)).code == code


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize(
    "calls",
    [
        [("complete", '{"output": []}'), ("complete", '{"output": ["orders.lookup"]}')],
        [("complete", '{"output": "orders.lookup"}')],
        [("complete", "{}")],
        [("orders__lookup", '{"output": ["orders.lookup"]}')],
        [("select", '{"output": ["orders.lookup"]}')],
    ],
)
def test_calls_that_are_no_one_list_of_names_are_no_choice(adapter: str, calls: list[tuple[str, str]], wire: Wire) -> None:
    wire.answers = [reply(called(adapter, *((name, arguments(adapter, text)) for name, text in calls)))]
    said = ADAPTERS[adapter].complete(fields(adapter, wire.url), "/", ASKED, MEANS)
    assert selection.judge(CHOICE, commands(said)).code == "not_names"


@pytest.mark.parametrize("answer", ["commands = [{ type = 'complete', output = ['orders.close'] }]", "text = '[\"orders.close\"]'"])
def test_a_script_plays_one_by_the_step_it_is_asked_under(answer: str, tmp_path: Path) -> None:
    other = "[[turns]]\nstep = 'decide'\ncommands = [{ type = 'complete' }]\n"
    (tmp_path / "script.toml").write_text(f"schema = 1\n{other}[[turns]]\nstep = 'decide.tools'\n{answer}\n")
    said = scripted.complete(scripted.Fields("script.toml"), str(tmp_path), ASKED)
    assert selection.judge(CHOICE, commands(said)).tools == ("orders.close",)


@pytest.mark.parametrize("capability", ["orders.close", "a__b", "x" * 100])
def test_a_call_of_what_is_not_shown_is_still_of_that_capability(capability: str, wire: Wire) -> None:
    request = REQUEST._replace(tools=(Offer("orders.lookup", "", True),), also=(capability,))
    assert meanings(request)[spelled(capability)] == capability
    assert spelled(capability) not in [function.name for function in functions(request)]
    wire.answers = [reply(called("openai", (spelled(capability), "{}")))]
    said = ADAPTERS["openai"].complete(fields("openai", wire.url), "/", request, MEANS)
    assert commands(said)[0]["capability"] == capability  # type: ignore[index, call-overload]  # a list of commands
