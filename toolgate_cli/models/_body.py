"""What a server sent, as JSON that nothing is hidden in: no name twice, no NaN, and arguments to the last digit."""

from __future__ import annotations

import json
from typing import NoReturn

from ..core import canonical, numerals
from ..core.errors import ToolgateError
from ..core.types import Json

_LONGEST_NAME = 200  # characters; those that are offered have 64 at most
_MOST_TOKENS = 10**9  # of one answer: a count that is out of all bounds is none


class Inexact(float):
    """A number that its double does not hold: in what nobody carries out it may stand."""


class _Malformed(ValueError):
    pass


def answer(data: bytes) -> dict[str, Json]:
    """The object; ToolgateError("failed") where it is none."""
    try:
        found = _DECODER.decode(data.decode("utf-8"))
    except _Malformed as error:
        malformed(str(error))
    except UnicodeDecodeError:
        malformed("it is not UTF-8")
    except json.JSONDecodeError as error:
        malformed(f"it is not JSON: line {error.lineno}, column {error.colno}" if data.strip() else "it is empty")
    except RecursionError:
        malformed("it is nested out of all bounds")
    if not isinstance(found, dict):
        malformed("it is not a JSON object")
    return found


def malformed(why: str) -> NoReturn:
    raise ToolgateError("failed", f"the model's answer is malformed: {why}")


def exact(value: Json) -> bool:
    """Whether every number of it is what was written."""
    if isinstance(value, dict):
        return all(map(exact, value.values()))
    if isinstance(value, list):
        return all(map(exact, value))
    return not isinstance(value, Inexact)


def text(value: Json, where: str) -> str:
    """A text that may be null."""
    if value is None:
        return ""
    if not isinstance(value, str):
        malformed(f"{where} is not a text")
    return value


def name(value: Json, where: str) -> str:
    """The name of a function, of a length that can be stored for ever."""
    if not isinstance(value, str) or len(value) > _LONGEST_NAME:
        malformed(f"{where} has no name that could be one")
    return value


def count(value: Json) -> int | None:
    """A number of tokens; None for anything else."""
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def complaint(data: bytes) -> str:
    """What an error says, in whichever of the usual places; its first words where it is no JSON."""
    plain = data.decode("utf-8", "replace")
    try:
        found = canonical.parse(plain)
    except ToolgateError:
        return plain
    for key in ("error", "message", "detail"):
        if isinstance(found, dict) and found.get(key):
            found = found[key]
    return found if isinstance(found, str) else plain


def seconds(text: str | None) -> float | None:
    """Of a Retry-After header: a number of seconds, or a date."""
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    try:
        when = parsedate_to_datetime(text)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError, OverflowError):
        return None


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Malformed("a name is there twice in one object")
    return found


def _integer(numeral: str) -> int:
    found = numerals.integer(numeral)
    if found is None:
        raise _Malformed("it has a number of more than 1,000 digits")
    return found


def _double(numeral: str) -> float:
    found = float(numeral)
    if found - found != 0.0:
        raise _Malformed("it has a number that is not finite")
    return found if numerals.is_exact(numeral, found) else Inexact(found)


def _constant(name: str) -> NoReturn:
    raise _Malformed(f"{name} is no number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_float=_double, parse_constant=_constant)
