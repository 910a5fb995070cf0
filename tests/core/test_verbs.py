"""The table of verbs, cell by cell, in the layout of the design."""

from __future__ import annotations

from typing import get_args

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import CALL_ORIGINS, Origin, Status, Verb
from toolgate_cli.core.verbs import TABLE, Handler, State, Waits, command, first, handler, moves, name, state_of, use, works

VERBS: tuple[Verb, ...] = ("approve", "reject", "retry", "continue-tool", "answer", "review", "continue", "retry --step", "cancel")
DRAWN = """
APPROVAL_REQUIRED   start     refuse  -          -        -       -     -          -           cancel   approve | reject
EXPIRED             lapsed    refuse  ask_again  -        -       -     -          -           cancel   retry | reject
APPROVAL_IN_DOUBT   start     refuse  -          -        -       -     -          -           cancel   reject | approve --may-run-twice
CONFIRMATION_REQUIRED answer_yes answer_no - -    -       -     -          -           cancel   approve | reject
CONFIRMATION_IN_DOUBT answer_yes refuse - -       -       -     -          -           cancel   reject | approve --may-run-twice
UNANSWERED          lapsed    refuse  -          give_up  -       -     -          -           cancel   reject | continue-tool
EXECUTION_FAILED    -         refuse  replay     give_up  -       -     -          -           cancel   retry | reject | continue-tool
FAILED_IN_DOUBT     -         refuse  replay     give_up  -       -     -          -           cancel   continue-tool --outcome-file | retry --may-run-twice | reject
NOT_VALID           -         refuse  replay     give_up  -       -     -          -           cancel   continue-tool | reject | retry
NOT_RECEIVED        -         refuse  -          give_up  -       -     -          -           cancel   continue-tool | reject
OUTCOME_UNKNOWN     -         refuse  replay     give_up  -       -     -          -           cancel   continue-tool --outcome-file | retry --may-run-twice | reject
POLICY_DENIED       override  refuse  override   give_up  -       -     -          -           cancel   continue-tool | reject
STEP_APPROVAL       pass      fail    -          -        -       -     -          -           cancel   approve --step | reject --step
ESCALATION          pass      fail    -          -        -       -     -          -           cancel   approve --step | reject --step
REVIEW              -         -       -          -        -       pass  -          -           cancel   review
INPUT               -         -       -          -        answer  -     -          -           cancel   answer
RUNNING             -         -       -          -        -       -     take_over  -           cancel   continue | wait
DRIVEN              -         -       -          -        -       -     owned      -           cancel   wait
PAUSED              -         -       -          -        -       -     drive      reposition  cancel   continue | retry --step
FAILED              -         -       -          -        -       -     -          reposition  -        retry --step
FAILED_BY_DEFINITION -        -       -          -        -       -     -          reposition  -        start
FAILED_FOR_GOOD     -         -       -          -        -       -     -          reposition  -        start
COMPLETED           -         -       -          -        -       -     -          -           -        runs show
CANCELLED           -         -       -          -        -       -     -          -           nothing  runs show
CANCELLED_IN_DOUBT  -         -       -          settle   -       -     -          -           nothing  continue-tool --outcome-file
"""  # noqa: E501
ROWS = [line.split(None, 10) for line in DRAWN.strip().splitlines()]
ENDED = ("FAILED_FOR_GOOD", "FAILED_BY_DEFINITION", "COMPLETED", "CANCELLED")
CELLS = [(row[0], verb, cell) for row in ROWS for verb, cell in zip(VERBS, row[1:10], strict=True)]


@pytest.mark.parametrize(("state", "verb", "cell"), CELLS)
def test_a_cell_is_its_handler_or_a_refusal_that_says_what_works(state: State, verb: Verb, cell: str) -> None:
    if cell != "-":
        assert handler(state, verb) == cell
        return
    with pytest.raises(ToolgateError) as caught:
        handler(state, verb, "c7")
    assert caught.value.kind == "wrong_state"
    assert name(state) in caught.value.message and verb in caught.value.message
    advised = works(state).split(" | ")[0]
    assert use(state) in caught.value.message
    assert f"use {advised}" in use(state) or (state in ENDED and "new start" in use(state))
    words, _, flag = advised.partition(" --")
    assert caught.value.hint == f"toolgate {words} c7" + (f" --{flag}" if flag else "")


def test_the_table_has_every_state_and_nothing_else() -> None:
    assert {row[0] for row in ROWS} | {"UNKNOWN"} == set(TABLE) == set(get_args(State))
    assert {cell for _, _, cell in CELLS} - {"-"} == set(get_args(Handler))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_the_last_column_is_what_works(row: list[str]) -> None:
    assert works(row[0]) == row[10]  # type: ignore[arg-type]  # drawn above


def test_everything_unfinished_has_a_verb_that_moves_it() -> None:
    for state, row in TABLE.items():
        assert state in ("COMPLETED", "CANCELLED", "UNKNOWN") or set(row) - {"cancel"}


@pytest.mark.parametrize(("state", "verb", "cell"), CELLS)
def test_a_verb_moves_what_it_does_something_to_and_not_what_it_is_refused_by(state: State, verb: Verb, cell: str) -> None:
    assert moves(state, verb) is (cell not in ("-", "lapsed", "override"))


def test_what_works_is_in_the_table() -> None:
    for state in get_args(State):
        for verb in works(state).split(" | "):
            if verb not in ("runs show", "wait", "start"):
                assert verb in TABLE[state] or verb.split(" ")[0] in TABLE[state]


def test_a_refusal_reads_as_a_sentence() -> None:
    with pytest.raises(ToolgateError) as caught:
        handler("EXECUTION_FAILED", "approve", "c7")
    assert caught.value.message == "approve does not apply to EXECUTION_FAILED: use retry, reject or continue-tool"
    assert caught.value.hint == "toolgate retry c7"
    with pytest.raises(ToolgateError) as caught:
        handler("COMPLETED", "cancel")
    over = "nothing of it is left to be cancelled; it is over, and only a new start does all of it again"
    assert (caught.value.message, caught.value.hint) == (f"cancel does not apply to COMPLETED: {over}", "toolgate runs show")
    with pytest.raises(ToolgateError, match="retry does not apply to CANCELLED: it was ended for good, and only a new start"):
        handler("CANCELLED", "retry")


@pytest.mark.parametrize(("state", "verb", "written"), [
    ("EXECUTION_FAILED", None, "toolgate retry c7"),
    ("EXECUTION_FAILED", "reject", "toolgate reject c7"),
    ("EXECUTION_FAILED", "continue-tool", "toolgate continue-tool c7"),
    ("EXECUTION_FAILED", "approve", "toolgate retry c7"),  # does not work there
    ("OUTCOME_UNKNOWN", None, "toolgate continue-tool c7 --outcome-file x"),
    ("OUTCOME_UNKNOWN", "retry", "toolgate retry c7 --may-run-twice"),
    ("OUTCOME_UNKNOWN", "reject", "toolgate reject c7"),
    ("STEP_APPROVAL", "reject", "toolgate reject c7 --step x"),
])  # fmt: skip
def test_a_command_is_the_one_of_the_verb_where_that_works_and_else_the_first(state: State, verb: Verb | None, written: str) -> None:
    assert command(state, "c7", "x", verb) == written


@pytest.mark.parametrize(
    "origin",
    get_args(Origin),
)
def test_an_open_row_is_its_own_state_whatever_the_run_says(origin: Origin) -> None:
    for status in ("RUNNING", "AWAITING_TOOL_APPROVAL", "AWAITING_TOOL_DECISION"):
        assert state_of(status, Waits(origin)) == origin


@pytest.mark.parametrize("origin", ["OUTCOME_UNKNOWN", "POLICY_DENIED", "STEP_APPROVAL", "REVIEW", "INPUT", "APPROVAL_REQUIRED"])
def test_only_a_failed_call_can_be_one_that_was_not_received(origin: Origin) -> None:
    assert state_of("AWAITING_TOOL_DECISION", Waits("EXECUTION_FAILED", refused="RECEIVE")) == "NOT_RECEIVED"
    assert state_of("AWAITING_TOOL_DECISION", Waits("EXECUTION_FAILED", refused="VALIDATE")) == "NOT_VALID"
    assert state_of("AWAITING_TOOL_DECISION", Waits(origin, refused="RECEIVE")) == origin


def test_only_an_approval_and_a_question_expire() -> None:
    assert state_of("AWAITING_TOOL_APPROVAL", Waits("APPROVAL_REQUIRED", expired=True)) == "EXPIRED"
    assert state_of("AWAITING_TOOL_APPROVAL", Waits("CONFIRMATION_REQUIRED", expired=True)) == "UNANSWERED"
    for origin in set(CALL_ORIGINS) - {"APPROVAL_REQUIRED", "CONFIRMATION_REQUIRED"}:
        assert state_of("AWAITING_TOOL_DECISION", Waits(origin, expired=True)) == origin


def test_a_doubt_is_before_what_failed_and_behind_what_expired() -> None:
    assert state_of("AWAITING_TOOL_DECISION", Waits("EXECUTION_FAILED", doubt=True)) == "FAILED_IN_DOUBT"
    assert state_of("AWAITING_TOOL_DECISION", Waits("EXECUTION_FAILED", doubt=True, refused="VALIDATE")) == "FAILED_IN_DOUBT"
    assert state_of("AWAITING_TOOL_APPROVAL", Waits("APPROVAL_REQUIRED", doubt=True)) == "APPROVAL_IN_DOUBT"
    assert state_of("AWAITING_TOOL_APPROVAL", Waits("CONFIRMATION_REQUIRED", doubt=True)) == "CONFIRMATION_IN_DOUBT"
    assert state_of("AWAITING_TOOL_APPROVAL", Waits("CONFIRMATION_REQUIRED", expired=True, doubt=True)) == "UNANSWERED"
    assert state_of("AWAITING_TOOL_APPROVAL", Waits("APPROVAL_REQUIRED", doubt=True, expired=True)) == "EXPIRED"
    assert state_of("AWAITING_TOOL_DECISION", Waits("POLICY_DENIED", doubt=True)) == "POLICY_DENIED"


def test_only_a_run_without_a_row_is_driven() -> None:
    assert state_of("RUNNING", None, driven=True) == "DRIVEN" and state_of("PAUSED", None, driven=True) == "PAUSED"
    assert state_of("RUNNING", Waits("POLICY_DENIED"), driven=True) == "POLICY_DENIED"


def test_a_state_is_named_by_words_that_a_person_has_seen() -> None:
    shown = {*get_args(Origin), *get_args(Status)}
    for state in set(get_args(State)) - {"UNKNOWN"}:  # of which no message speaks
        assert name(state).split(" ")[0] in shown, state


def test_what_was_never_started_is_mended_and_refused_arguments_stay() -> None:
    assert first("EXECUTION_FAILED") == "mend the cause, then" and works("EXECUTION_FAILED").startswith("retry")
    assert all("arguments" in first(state) and works(state).startswith("continue-tool") for state in ("NOT_VALID", "NOT_RECEIVED"))


def test_a_cancelled_run_is_cancelled_and_a_row_of_it_is_a_doubt() -> None:
    assert state_of("CANCELLED", None) == "CANCELLED"
    assert state_of("CANCELLED", Waits("OUTCOME_UNKNOWN")) == "CANCELLED_IN_DOUBT"
    assert state_of("CANCELLED", Waits("OUTCOME_UNKNOWN", True, True, "RECEIVE")) == "CANCELLED_IN_DOUBT"


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("RUNNING", "RUNNING"),
        ("PAUSED", "PAUSED"),
        ("FAILED", "FAILED"),
        ("COMPLETED", "COMPLETED"),
        ("AWAITING_INPUT", "INPUT"),
        ("AWAITING_APPROVAL", "ESCALATION"),
        ("AWAITING_REVIEW", "REVIEW"),
        ("AWAITING_STEP_APPROVAL", "STEP_APPROVAL"),
        ("AWAITING_TOOL_APPROVAL", "APPROVAL_REQUIRED"),
        ("AWAITING_TOOL_DECISION", "EXECUTION_FAILED"),
    ],
)
def test_a_run_without_a_row_is_what_its_status_says(status: Status, state: State) -> None:
    assert state_of(status, None) == state


@pytest.mark.parametrize("origin", ["JUNK", ""])
def test_what_nothing_here_makes_can_be_cancelled_and_nothing_else(origin: str) -> None:
    state = state_of("AWAITING_TOOL_APPROVAL", Waits(origin))  # type: ignore[arg-type]  # by other hands
    assert state == "UNKNOWN" and handler(state, "cancel") == "cancel"
    for verb in ("approve", "reject", "retry", "continue-tool"):
        with pytest.raises(ToolgateError) as caught:
            handler(state, verb, "r1")  # type: ignore[arg-type]  # a verb
        assert (caught.value.kind, caught.value.hint) == ("storage", "toolgate cancel r1")
