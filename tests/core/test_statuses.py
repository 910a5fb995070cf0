"""The status of a run that waits."""

from __future__ import annotations

from itertools import permutations

import pytest

from toolgate_cli.core.records import Row
from toolgate_cli.core.statuses import waiting_status
from toolgate_cli.core.types import Origin, Status


def row(origin: Origin) -> Row:
    return Row("c1", 1, "r1", "s", origin)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("APPROVAL_REQUIRED", "AWAITING_TOOL_APPROVAL"),
        ("CONFIRMATION_REQUIRED", "AWAITING_TOOL_APPROVAL"),
        ("EXECUTION_FAILED", "AWAITING_TOOL_DECISION"),
        ("OUTCOME_UNKNOWN", "AWAITING_TOOL_DECISION"),
        ("POLICY_DENIED", "AWAITING_TOOL_DECISION"),
        ("STEP_APPROVAL", "AWAITING_STEP_APPROVAL"),
        ("REVIEW", "AWAITING_REVIEW"),
        ("ESCALATION", "AWAITING_APPROVAL"),
        ("INPUT", "AWAITING_INPUT"),
    ],
)
def test_one_row_gives_its_status(origin: Origin, status: Status) -> None:
    assert waiting_status([row(origin)]) == status
    assert waiting_status([row(origin)] * 2) == status


def test_an_approval_comes_before_a_decision_in_every_order() -> None:
    origins: tuple[Origin, ...] = ("EXECUTION_FAILED", "POLICY_DENIED", "APPROVAL_REQUIRED")
    for order in permutations(origins):
        assert waiting_status([row(origin) for origin in order]) == "AWAITING_TOOL_APPROVAL"
    assert waiting_status([row("EXECUTION_FAILED"), row("OUTCOME_UNKNOWN"), row("INPUT")]) == "AWAITING_TOOL_DECISION"


def test_without_a_row_nothing_waits() -> None:
    assert waiting_status([]) == "RUNNING"
