"""Numbers of JSON text, exactly or not at all: what a person is shown is what the tool gets (I3)."""

from __future__ import annotations

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
