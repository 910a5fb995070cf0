"""A result is held to the output schema of its tool, and counts whatever comes of that: the tool has done what it did (I8)."""

from __future__ import annotations

import pytest

from toolgate_cli.core.results import ToolResult
from toolgate_cli.workflow.files import HomeFiles

from . import texts
from .fakes import FAILED, LOST, OK
from .kit import Home, payload

SCHEMA = 'output_schema = { type = "object", properties = { id = { type = "integer" } } }\n'


def ends(home: Home, result: ToolResult) -> tuple[str, object, str]:
    """Type, code and message of the event that says how it ended."""
    home.write(texts.operator({"free.send": texts.tool("free.send", more=SCHEMA)}))
    home.tools.plan["free.send"] = [result]
    run = home.start("free")
    [event] = [event for event in home.events(run) if "code" in payload(event) and event.type != "TOOL_INVOCATION_STARTED"]
    told = payload(event)
    return event.type.removeprefix("TOOL_INVOCATION_"), told["code"], str(told["message"])


def test_a_result_that_keeps_it_is_a_success_without_a_word(home: Home) -> None:
    assert ends(home, OK._replace(output='{"id":7}')) == ("COMPLETED", None, "")


@pytest.mark.parametrize(("output", "why"), [('{"id":"7"}', "at /id"), ("[]", "INVALID_TYPE"), ("no JSON", "it is not JSON")])
def test_a_result_that_does_not_keep_it_is_a_success_that_says_so(home: Home, output: str, why: str) -> None:
    type, code, message = ends(home, OK._replace(output=output))
    assert (type, code) == ("COMPLETED", "OUTPUT_MISMATCH")
    assert message.startswith("the result does not keep the output schema: ") and why in message


def test_a_result_that_cannot_be_judged_is_a_success_that_says_so(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(HomeFiles, "misfits", breaks)
    type, code, message = ends(home, OK._replace(output='{"id":7}'))
    assert (type, code) == ("COMPLETED", "OUTPUT_MISMATCH") and message.endswith(": it could not be judged")


@pytest.mark.parametrize(
    ("result", "type", "code", "message"),
    [
        (FAILED, "FAILED", "EXIT_1", "it failed"),
        (LOST._replace(ok=True), "OUTCOME_UNKNOWN", "NO_ANSWER", "timed out after 1s"),
        (OK._replace(mark="INEXACT_RESULT", message="kept as it came"), "COMPLETED", "INEXACT_RESULT", "kept as it came"),
    ],
    ids=["a failure", "no end", "a result that has a mark"],
)
def test_what_is_no_plain_success_is_told_of_in_its_own_words(home: Home, result: ToolResult, type: str, code: str, message: str) -> None:
    assert ends(home, result) == (type, code, message)
