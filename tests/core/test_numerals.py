"""Numerals are taken exactly or not at all."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core import numerals


@given(st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?", fullmatch=True))
def test_exact_means_the_decimal_value_of_the_shortest_spelling(text: str) -> None:
    value = float(text)
    assert numerals.is_exact(text, value) == (Decimal(text) == Decimal(repr(value)))


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["{!r}", "{:.17e}", "{:.30f}", "{:.1f}"]))
def test_exactness_of_other_spellings_of_a_double(value: float, form: str) -> None:
    text = form.format(value)
    assert numerals.is_exact(text, float(text)) == (Decimal(text) == Decimal(repr(float(text))))


@given(st.integers(-(10**999), 10**999))
def test_an_integer_of_any_length_is_read_and_spelled_exactly(value: int) -> None:
    assert numerals.integer(str(value)) == value
    assert numerals.spell(value) == str(value)


def test_the_seams_between_the_parts_of_long_integers_hold() -> None:
    for digits in (1, 599, 600, 601, 999, 1000):
        for text in ("1" + "0" * (digits - 1), "9" * digits, "-" + "9" * digits, "1" * (digits - 1) + "7"):
            value = numerals.integer(text)
            assert value is not None
            assert value == int(text)
            assert numerals.spell(value) == text
    assert numerals.integer("1" * 1001) is None
    assert numerals.integer("-" + "1" * 1001) is None
    assert numerals.spell(0) == "0"


# ---- counting ----
numbers = st.one_of(st.integers(-(10**40), 10**40), st.floats(allow_nan=False, allow_infinity=False))


def decimal(value: int | float) -> Fraction:
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


@given(st.lists(numbers, max_size=6))
def test_a_total_is_exactly_the_sum_of_the_decimal_values_or_none(values: list[int | float]) -> None:
    found, exact = numerals.total(values), sum(map(decimal, values), Fraction())
    if found is None:
        assert any(isinstance(value, float) for value in values)
        with contextlib.suppress(OverflowError):
            assert Fraction(repr(float(exact))) != exact
    else:
        assert decimal(found) == exact and isinstance(found, float) == any(isinstance(value, float) for value in values)


@given(st.lists(numbers, min_size=1, max_size=6))
def test_aligned_numbers_stand_to_each_other_as_the_values_do(values: list[int | float]) -> None:
    aligned, power = numerals.aligned(values)
    assert [Fraction(digits) * Fraction(10) ** power for digits in aligned] == list(map(decimal, values))


@pytest.mark.parametrize(
    ("values", "total"),
    [
        ([], 0),
        ([1, 2], 3),
        ([0.1, 0.2], 0.3),
        ([0.1] * 10, 1.0),
        ([19.99, 5], 24.99),
        ([10**20, 0.5], None),
        ([1e308, 1e308], None),
        ([1e23, 1], None),
        ([10**999, -1], 10**999 - 1),
        ([10**999 * 9, 10**999], None),
        ([-0.0], 0.0),
        ([5e-324, 1e308], None),
    ],
)
def test_totals_that_matter(values: list[int | float], total: int | float | None) -> None:
    found = numerals.total(values)
    assert found == total and type(found) is type(total)
