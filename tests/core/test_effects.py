"""The table of repetition, cell by cell, written out a second time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.effects import Kind, Next, Reconciliation, after, after_reconciling, backoff, doubtful, repeatable, stricter
from toolgate_cli.core.types import Effect

CELLS: list[tuple[Kind, Effect, Next, Next]] = [
    ("success", "read_only", "settle", "settle"),
    ("success", "idempotent", "settle", "settle"),
    ("success", "reconcilable", "settle", "settle"),
    ("success", "unsafe", "settle", "settle"),
    ("business", "read_only", "settle", "settle"),
    ("business", "idempotent", "settle", "settle"),
    ("business", "reconcilable", "settle", "settle"),
    ("business", "unsafe", "settle", "settle"),
    ("confirm", "read_only", "CONFIRMATION_REQUIRED", "CONFIRMATION_REQUIRED"),
    ("confirm", "idempotent", "CONFIRMATION_REQUIRED", "CONFIRMATION_REQUIRED"),
    ("confirm", "reconcilable", "CONFIRMATION_REQUIRED", "CONFIRMATION_REQUIRED"),
    ("confirm", "unsafe", "CONFIRMATION_REQUIRED", "CONFIRMATION_REQUIRED"),
    ("permanent", "read_only", "EXECUTION_FAILED", "EXECUTION_FAILED"),
    ("permanent", "idempotent", "EXECUTION_FAILED", "EXECUTION_FAILED"),
    ("permanent", "reconcilable", "EXECUTION_FAILED", "EXECUTION_FAILED"),
    ("permanent", "unsafe", "EXECUTION_FAILED", "EXECUTION_FAILED"),
    ("not_dispatched", "read_only", "repeat", "EXECUTION_FAILED"),
    ("not_dispatched", "idempotent", "repeat", "EXECUTION_FAILED"),
    ("not_dispatched", "reconcilable", "repeat", "EXECUTION_FAILED"),
    ("not_dispatched", "unsafe", "repeat", "EXECUTION_FAILED"),
    ("answered", "read_only", "repeat", "EXECUTION_FAILED"),
    ("answered", "idempotent", "repeat", "EXECUTION_FAILED"),
    ("answered", "reconcilable", "reconcile", "reconcile"),
    ("answered", "unsafe", "EXECUTION_FAILED", "EXECUTION_FAILED"),
    ("uncertain", "read_only", "repeat", "EXECUTION_FAILED"),
    ("uncertain", "idempotent", "repeat", "OUTCOME_UNKNOWN"),
    ("uncertain", "reconcilable", "reconcile", "reconcile"),
    ("uncertain", "unsafe", "OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"),
]


@pytest.mark.parametrize(("kind", "effect", "left", "used_up"), CELLS)
def test_a_cell_says_what_follows(kind: Kind, effect: Effect, left: Next, used_up: Next) -> None:
    assert after(kind, effect, True) == left
    assert after(kind, effect, False) == used_up


RECONCILED: list[tuple[Reconciliation, Next, Next]] = [
    ("applied", "settle", "settle"),
    ("not_applied", "repeat", "EXECUTION_FAILED"),
    ("unknown", "OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"),
]


@pytest.mark.parametrize(("verdict", "left", "used_up"), RECONCILED)
def test_what_follows_the_word_of_a_reconciler(verdict: Reconciliation, left: Next, used_up: Next) -> None:
    assert (after_reconciling(verdict, True), after_reconciling(verdict, False)) == (left, used_up)


def test_what_nobody_knows_is_in_doubt_and_of_a_reconcilable_tool_its_own_word_too() -> None:
    kinds = {cell[0] for cell in CELLS}
    assert {(kind, effect) for kind in kinds for effect in ORDER if doubtful(kind, effect)} == {
        *(("uncertain", effect) for effect in ORDER),
        ("answered", "reconcilable"),
    }


def test_nothing_is_repeated_once_the_attempts_are_used_up() -> None:
    assert not [cell for cell in CELLS if after(cell[0], cell[1], False) == "repeat"]


ORDER: list[Effect] = ["read_only", "idempotent", "reconcilable", "unsafe"]


def test_the_stricter_class_permits_less() -> None:
    for i, a in enumerate(ORDER):
        for j, b in enumerate(ORDER):
            assert stricter(a, b) == ORDER[max(i, j)]


def test_reading_and_idempotent_calls_alone_may_be_repeated_unasked() -> None:
    assert [doubt for doubt in (None, *ORDER) if repeatable(doubt)] == [None, "read_only", "idempotent"]


def test_the_wait_doubles_from_one_second_and_is_never_over_sixty() -> None:
    assert [backoff(n, 0.0) for n in range(1, 10)] == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert backoff(1, 0.5) == 1.5
    assert backoff(6, 0.875) == 60
    assert backoff(6, 0.874) == 32 * 1.874
    assert backoff(10**9, 0.0) == 60


@given(st.integers(1, 100), st.floats(0, 1, exclude_max=True))
def test_the_wait_is_bounded_whatever_the_jitter(number: int, jitter: float) -> None:
    assert min(60, 2 ** (number - 1)) <= backoff(number, jitter) <= min(60, 2**number)
