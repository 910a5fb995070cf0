"""Numerals are taken exactly or not at all."""

from __future__ import annotations

from decimal import Decimal

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
