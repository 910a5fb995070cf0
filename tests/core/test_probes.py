"""What the answer of a read-only command means: nothing good, unless it says so plainly."""

from __future__ import annotations

import pytest

from toolgate_cli.core import probes
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.types import Json

LOST = ToolResult("uncertain", message="timed out after 1s")
UNSENT = ToolResult("not_dispatched", message="could not be started")
LEFT = ToolResult("answered", ok=True, code=0, output='{"applied":false}', survivors=("42 sleep",))
HELD = ToolResult("answered", ok=True, code=0, output='{"applied":false}', left_behind="f1")


def said(output: str, code: int = 0, message: str = "", *, truncated: bool = False) -> ToolResult:
    return ToolResult(
        "answered", ok=code == 0, code=code, output=output, message=message or (f"exit code {code}" if code else ""), truncated=truncated
    )


@pytest.mark.parametrize("answer", [said(""), said("all well"), said('{"ok": false}')])
def test_a_precheck_that_exits_with_0_lets_the_call_through(answer: ToolResult) -> None:
    assert probes.refusal(answer) is None


REFUSED = [
    (said("", 1), "precheck_refused", "exit code 1"),
    (said("no stock\n", 1), "precheck_refused", "no stock"),
    (said("no stock", 1, "only 2 are left"), "precheck_refused", "only 2 are left"),
    (LOST, "precheck_unavailable", "timed out"),
    (UNSENT, "precheck_unavailable", "could not be started"),
    (LEFT, "precheck_unavailable", "still runs"),
    (HELD, "precheck_unavailable", "still runs"),
]


@pytest.mark.parametrize(("answer", "code", "reason"), REFUSED)
def test_a_precheck_that_refuses_or_gives_no_answer_is_a_no(answer: ToolResult, code: str, reason: str) -> None:
    found = probes.refusal(answer)
    assert found is not None and found[0] == code and reason in found[1]


def test_of_what_a_precheck_printed_the_beginning_is_the_reason() -> None:
    assert probes.refusal(said("".join(map(chr, range(0x4E00, 0x4E00 + 300))), 1)) == (
        "precheck_refused", "the precheck refused: " + "".join(map(chr, range(0x4E00, 0x4E00 + 200))),
    )  # fmt: skip


VALUES: list[tuple[ToolResult, Json]] = [
    (said('"acme"\n'), "acme"),
    (said('{"issuer": "i", "id": "acme"}'), {"issuer": "i", "id": "acme"}),
    (said("acme\n"), "acme"),
    (said("a\nb"), None),
    (said('"acme'), None),
    (said('{"id":1,"id":2}'), None),
    (said(""), None),
    (said('"acme"', 1), None),
    (said('"acme"', truncated=True), None),
    (LOST, None),
    (UNSENT, None),
    (LEFT, None),
    (HELD, None),
]


@pytest.mark.parametrize(("answer", "value"), VALUES)
def test_what_a_command_printed_counts_only_where_it_is_one_value_and_all_went_well(answer: ToolResult, value: Json) -> None:
    assert probes.value(answer) == value


RECONCILED = [
    (said('{"applied": true, "result": {"id": 7}}'), "applied", {"id": 7}),
    (said('{"applied": true}'), "applied", None),
    (said('{"applied": false}'), "not_applied", None),
    (said('{"applied": false, "result": 1}'), "not_applied", None),
    (said('{"applied": "unknown"}'), "unknown", None),
    (said('{"applied": "yes"}'), "unknown", None),
    (said('{"applied": 1}'), "unknown", None),
    (said('{"applied": 0}'), "unknown", None),
    (said('{"applied": null}'), "unknown", None),
    (said('{"aplied": false}'), "unknown", None),
    (said('{"result": 1}'), "unknown", None),
    (said("{}"), "unknown", None),
    (said('{"applied": false, "applied": true}'), "unknown", None),
    (said('{"applied": false, "sure": "no"}'), "unknown", None),
    (said('{"applied": false} {"applied": true}'), "unknown", None),
    (said("false"), "unknown", None),
    (said(""), "unknown", None),
    (said('{"applied": false}', 1), "unknown", None),
    (said('{"applied": false}', truncated=True), "unknown", None),
    (LOST, "unknown", None),
    (UNSENT, "unknown", None),
    (LEFT, "unknown", None),
    (HELD, "unknown", None),
]


@pytest.mark.parametrize(("answer", "verdict", "result"), RECONCILED)
def test_a_reconciler_that_does_not_say_it_plainly_does_not_know(answer: ToolResult, verdict: str, result: Json) -> None:
    found = probes.reconciled(answer)
    assert (found.verdict, found.result) == (verdict, result) and (verdict != "unknown" or found.message)
