"""Numbers of JSON text, exactly or not at all: what a person is shown is what the tool gets (I3)."""

from __future__ import annotations

from collections.abc import Sequence

DIGITS = 1000  # an integer may have as many
BOUND = 10**DIGITS
_SAFE_DIGITS = 600  # below the lowest limit that PYTHONINTMAXSTRDIGITS can set (640)


def integer(text: str) -> int | None:
    """The integer of a JSON numeral; None where it has over 1,000 digits."""
    if len(text) <= _SAFE_DIGITS:
        return int(text)
    digits = text.lstrip("-")
    if len(digits) > DIGITS:
        return None
    value = 0
    for start in range(0, len(digits), _SAFE_DIGITS):
        part = digits[start : start + _SAFE_DIGITS]
        value = value * 10 ** len(part) + int(part)
    return -value if text[0] == "-" else value


def spell(value: int) -> str:
    """All digits of an integer below BOUND, whatever limit the interpreter was started with."""
    if value < 0:
        return "-" + spell(-value)
    unit = 10**_SAFE_DIGITS
    if value < unit:
        return str(value)
    return spell(value // unit) + str(value % unit).zfill(_SAFE_DIGITS)


def is_exact(text: str, value: float) -> bool:
    """Whether a JSON numeral has the decimal value of the shortest spelling of its finite double."""
    shortest = repr(value)
    return text == shortest or _decimal(text) == _decimal(shortest)


def _decimal(text: str) -> tuple[str, str | int]:
    """Significant digits and power of ten; equal exactly where two numerals of one sign have the same decimal value."""
    mantissa, _, power = text.lower().lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "", 0
    if len(power.lstrip("+-0")) > 18:  # far outside every double, and int() of many digits is slow
        return significant, power
    return significant, int(power or "0") - len(fraction) + len(digits) - len(significant)


# ---- counting with them: by decimal value, as they are spelled ----
def total(values: Sequence[int | float]) -> int | float | None:
    """The sum; whole numbers stay whole. None where JSON cannot hold it exactly: over 1,000 digits, or no double has that decimal value."""
    parts, power = aligned(values)
    digits = sum(parts)
    if abs(digits) >= BOUND:
        return None
    if not any(isinstance(value, float) for value in values):
        return digits
    text = f"{spell(digits)}e{power}"
    value = float(text)
    return value if value - value == 0.0 and is_exact(text, value) else None


def aligned(values: Sequence[int | float]) -> tuple[list[int], int]:
    """Whole numbers that stand to each other as the values do, and the power of ten that makes the values of them."""
    scaled = [_scaled(value) for value in values]
    power = min((power for _, power in scaled), default=0)
    return [digits * 10 ** (own - power) for digits, own in scaled], power


def _scaled(value: int | float) -> tuple[int, int]:
    """Digits and power of ten of a finite number."""
    if isinstance(value, int):
        return value, 0
    mantissa, _, power = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    return int(whole + fraction), int(power or "0") - len(fraction)
