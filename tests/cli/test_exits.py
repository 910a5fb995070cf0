"""One number for every way a command can end."""

from __future__ import annotations

from typing import get_args

import pytest

from toolgate_cli.cli import exits
from toolgate_cli.core.errors import Kind
from toolgate_cli.core.types import CALL_ORIGINS, Status

from .given import row, run


def test_every_kind_of_error_has_a_number():
    assert set(exits.OF_KIND) == set(get_args(Kind))
    assert {kind for kind, number in exits.OF_KIND.items() if number == 5} == {
        *("claim_lost", "wrong_state", "unknown_outcome", "ref_mismatch", "run_owned", "expired", "superseded")
    }


@pytest.mark.parametrize("status", get_args(Status))
@pytest.mark.parametrize("verb", ["start", "approve", "cancel"])
def test_a_run_without_rows_exits_by_its_status(status, verb):
    wanted = {"FAILED": 1, "CANCELLED": 0 if verb == "cancel" else 1}.get(status, 0)
    assert exits.after(verb, run(status), []) == wanted
    person = status not in ("RUNNING", "COMPLETED", "FAILED", "CANCELLED")
    assert exits.after(verb, run(status), [], exit_status=True) == (8 if person else wanted)


@pytest.mark.parametrize("origin", [*CALL_ORIGINS, "STEP_APPROVAL", "REVIEW", "ESCALATION", "INPUT"])
def test_an_open_row_exits_by_its_origin(origin):
    wanted = {"OUTCOME_UNKNOWN": 9, "POLICY_DENIED": 1, "EXECUTION_FAILED": 1}.get(origin, 0)
    assert exits.after("approve", run("AWAITING_TOOL_DECISION"), [row(origin)]) == wanted
    assert exits.after("approve", run("AWAITING_TOOL_DECISION"), [row(origin)], True) == (wanted or 8)


def test_doubt_is_told_before_failure():
    rows = [row("EXECUTION_FAILED"), row("OUTCOME_UNKNOWN"), row("POLICY_DENIED")]
    assert exits.after("approve", run("FAILED"), rows) == 9
