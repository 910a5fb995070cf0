"""Durations of the files ("30s", "14d") and times as fixed-width UTC text, whose order as text is their order in time."""

from __future__ import annotations

from functools import lru_cache

_MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DAY = _MILLISECONDS["d"]
_LAST_DAY = 3_652_058  # 9999-12-31, counted from 0001-01-01 = 0


def parse(text: str) -> float:
    """Seconds of "250ms", "30s", "5m", "4h" or "14d": a whole number over 0, of at most 9 digits, and a unit. Else ValueError."""
    digits = text.rstrip("mshd")
    unit = _MILLISECONDS.get(text[len(digits) :])
    if unit is None or not digits.isascii() or not digits.isdigit() or len(digits) > 9 or not int(digits):
        raise ValueError('a duration is a whole number and a unit: "250ms", "30s", "5m", "4h" or "14d"')
    return int(digits) * unit / 1000


def show(seconds: float) -> str:
    """Seconds as the files write them, in the largest unit that fits exactly, to the millisecond; no time at all is "0s"."""
    total = round(seconds * 1000)
    if not total:
        return "0s"
    for unit in ("d", "h", "m", "s"):
        if total % _MILLISECONDS[unit] == 0:
            return f"{total // _MILLISECONDS[unit]}{unit}"
    return f"{total}ms"


def later(at: str, seconds: float) -> str:
    """`seconds` after "2026-01-31T12:00:00.000Z" (before it where negative), in the same form, to the millisecond; held within the years
    1 to 9999. Raises ValueError where `at` has another form."""
    total = _milliseconds(at) + round(seconds * 1000)
    return _text(min(max(total, 0), (_LAST_DAY + 1) * _DAY - 1))


def between(start: str, end: str) -> float:
    """Seconds from one time to another, negative where it came before. Raises ValueError as `later`."""
    return (_milliseconds(end) - _milliseconds(start)) / 1000


def _milliseconds(at: str) -> int:
    if len(at) != 24 or at[4] + at[7] + at[10] + at[13] + at[16] + at[19] + at[23] != "--T::.Z":
        raise ValueError("a time is written 2026-01-31T12:00:00.000Z")
    year, month, day = int(at[0:4]), int(at[5:7]), int(at[8:10])
    return _days(year, month, day) * _DAY + int(at[11:13]) * 3_600_000 + int(at[14:16]) * 60_000 + int(at[17:19]) * 1000 + int(at[20:23])


def _text(total: int) -> str:
    days, moment = divmod(total, _DAY)
    year, month, day = _date(days)
    seconds, milliseconds = divmod(moment, 1000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z"


# The calendar by hand: importing datetime costs more than everything else that an approve does with times.
# Years begin in March here, so the leap day is the last day of its year (Howard Hinnant, chrono-compatible low-level date algorithms).
@lru_cache(maxsize=16)
def _days(year: int, month: int, day: int) -> int:
    """Days since 0001-01-01 in the proleptic Gregorian calendar."""
    march_year = year - (month < 3)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return march_year * 365 + march_year // 4 - march_year // 100 + march_year // 400 + day_of_year - 306


@lru_cache(maxsize=16)
def _date(days: int) -> tuple[int, int, int]:
    """Year, month and day of `days` since 0001-01-01."""
    era, day_of_era = divmod(days + 306, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = (shifted + 2) % 12 + 1
    return era * 400 + year_of_era + (month < 3), month, day_of_year - (153 * shifted + 2) // 5 + 1
