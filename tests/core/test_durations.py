"""Durations and fixed-width times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolgate_cli.core.durations import between, later, parse, show

times = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_000))


def text(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").rjust(23, "0") + "Z"


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("250ms", 0.25), ("1ms", 0.001), ("30s", 30), ("5m", 300), ("4h", 14400), ("14d", 1209600), ("007s", 7), ("999999999s", 999999999)],
)
def test_a_duration_is_seconds(written: str, seconds: float) -> None:
    assert parse(written) == seconds


@pytest.mark.parametrize(
    "written",
    [
        "",
        "s",
        "30",
        "0s",
        "0ms",
        "-1s",
        "+1s",
        "1.5h",
        " 1s",
        "1s ",
        "1 s",
        "1S",
        "1sm",
        "1ss",
        "1hd",
        "1mm",
        "1w",
        "1s1s",
        "\u0663s",
        "\u00b2s",
        "1_0s",
        "1000000000s",
        "1e3s",
        "5msd",
    ],
)
def test_everything_else_is_no_duration(written: str) -> None:
    with pytest.raises(ValueError, match="whole number and a unit"):
        parse(written)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (0.25, "250ms"),
        (1, "1s"),
        (1.5, "1500ms"),
        (59, "59s"),
        (60, "1m"),
        (61, "61s"),
        (3600, "1h"),
        (86400, "1d"),
        (90000, "25h"),
        (1209600, "14d"),
    ],
)
def test_seconds_are_shown_in_the_largest_unit_that_fits(seconds: float, shown: str) -> None:
    assert show(seconds) == shown


@given(st.integers(1, 999_999_999))
def test_what_is_shown_reads_back(milliseconds: int) -> None:
    assert parse(show(milliseconds / 1000)) == milliseconds / 1000


@pytest.mark.parametrize(
    ("at", "seconds", "then"),
    [
        ("2026-01-31T12:00:00.000Z", 0, "2026-01-31T12:00:00.000Z"),
        ("2026-01-31T12:00:00.000Z", 14400, "2026-01-31T16:00:00.000Z"),
        ("2026-01-31T23:59:59.999Z", 0.001, "2026-02-01T00:00:00.000Z"),
        ("2024-02-28T23:59:59.000Z", 1, "2024-02-29T00:00:00.000Z"),
        ("2023-02-28T23:59:59.000Z", 1, "2023-03-01T00:00:00.000Z"),
        ("2000-02-29T00:00:00.000Z", 86400 * 366, "2001-03-01T00:00:00.000Z"),
        ("2000-02-28T00:00:00.000Z", 86400, "2000-02-29T00:00:00.000Z"),
        ("2400-02-29T12:00:00.000Z", 43200, "2400-03-01T00:00:00.000Z"),
        ("1900-02-28T00:00:00.000Z", 86400, "1900-03-01T00:00:00.000Z"),
        ("2026-03-01T00:00:00.000Z", -0.001, "2026-02-28T23:59:59.999Z"),
        ("9999-12-31T23:59:59.999Z", 0.001, "9999-12-31T23:59:59.999Z"),
        ("9999-12-31T23:59:59.998Z", 0.001, "9999-12-31T23:59:59.999Z"),
        ("2026-01-01T00:00:00.000Z", 1e18, "9999-12-31T23:59:59.999Z"),
        ("0001-01-01T00:00:00.000Z", -1, "0001-01-01T00:00:00.000Z"),
    ],
)
def test_a_later_time_has_the_same_form(at: str, seconds: float, then: str) -> None:
    assert later(at, seconds) == then


@given(times, st.integers(-(10**11), 10**11))
def test_time_is_added_as_the_calendar_does(moment: datetime, milliseconds: int) -> None:
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000, tzinfo=UTC)
    try:
        expected = (moment + timedelta(milliseconds=milliseconds)).replace(tzinfo=None)
    except OverflowError:
        return
    assert later(text(moment.replace(tzinfo=None)), milliseconds / 1000) == text(expected)


@given(times, st.floats(0, 1e8))
def test_later_is_never_earlier_as_text(moment: datetime, seconds: float) -> None:
    assert later(text(moment), seconds) >= text(moment)


@pytest.mark.parametrize(
    "at",
    ["", "2026-01-31", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.000+00:00", "2026-01-31 12:00:00.000Z", "xxxx-01-31T12:00:00.000Z"],
)
def test_a_time_of_another_form_is_refused(at: str) -> None:
    with pytest.raises(ValueError):
        later(at, 1)


@given(times, times)
def test_between_two_times_are_their_seconds(start: datetime, end: datetime) -> None:
    start, end = (moment.replace(microsecond=moment.microsecond // 1000 * 1000) for moment in (start, end))
    assert between(text(start), text(end)) == pytest.approx((end - start) / timedelta(seconds=1), abs=1e-6)
