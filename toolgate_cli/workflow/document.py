"""From the bytes of a TOML file to JSON values; what JSON cannot carry is refused with its line, before anything is made of it (I5)."""

from __future__ import annotations

import math
import re
import tomllib
from typing import TYPE_CHECKING, cast

from ..core import dotted, numerals
from ..core.errors import ToolgateError
from .reading import Source, Table

# `issues` and `syntax` are imported where there is something to refuse
if TYPE_CHECKING:
    from .issues import Issues
    from .positions import KeyPath

DEEPEST = 64  # nesting of tables and lists

_PLACE = r" \(at line (\d+), column (\d+)\)\Z"
_END = r" \(at end of document\)\Z"
_DIGITS = r"[0-9][0-9_]{4000,}"


def parse_strictly(source: Source) -> Table:
    """The tables of a file that nobody has looked at yet; every fault is ToolgateError("invalid") with file:line."""
    text = decode(source)
    if (line := dotted.too_long(text)) is not None:
        raise _refused(source, line, f"a key has more than {dotted.MOST} parts", "a key is a name, or a few names with dots between them")
    try:
        return cast(Table, tomllib.loads(text, parse_float=_exact))
    except tomllib.TOMLDecodeError as error:
        message, line, hint = _placed(str(error), text)
        raise _refused(source, line, message, hint) from error
    except RecursionError as error:
        raise _refused(source, _deepest_line(text), f"nested too deeply (at most {DEEPEST} levels)") from error
    except _Inexact as error:
        word = str(error)
        line = next((n for n, part in enumerate(text.split("\n"), 1) if word in part), 1)
        raise _refused(source, line, f"{word[:40]} cannot be kept exactly", "give fewer digits, or a text") from error
    except ValueError as error:
        line = next((n for n, part in enumerate(text.split("\n"), 1) if re.search(_DIGITS, part)), 1)
        raise _refused(source, line, "a number is too long (at most 1,000 digits)") from error


def decode(source: Source) -> str:
    """Its text: UTF-8 without a byte order mark."""
    if source.data.startswith(b"\xef\xbb\xbf"):
        raise _refused(source, 1, "the file begins with a byte order mark", "save it as UTF-8 without one")
    try:
        return source.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = source.data.count(b"\n", 0, error.start) + 1
        raise _refused(source, line, "the file is not UTF-8", "save it as UTF-8") from error


def check_values(raw: Table, issues: Issues) -> None:
    """Refuses what JSON cannot carry: dates and times, NaN and infinities, over-long integers, deep nesting, NUL characters."""
    _check_value(raw, (), issues)


def _check_value(value: object, path: KeyPath, issues: Issues) -> None:
    if len(path) > DEEPEST:
        issues.add(path[:6], f"nested too deeply (at most {DEEPEST} levels)")
    elif isinstance(value, dict):
        for key, inner in value.items():
            _check_value(key, path, issues)
            _check_value(inner, (*path, key), issues)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check_value(inner, (*path, number), issues)
    elif isinstance(value, str):
        if "\0" in value:
            issues.add(path, "a NUL character cannot be used")
    elif isinstance(value, float):
        if not math.isfinite(value):
            issues.add(path, "NaN and infinities cannot be used")
    elif isinstance(value, int):
        if not -numerals.BOUND < value < numerals.BOUND:
            issues.add(path, "a number is too long (at most 1,000 digits)")
    elif value is not None:  # TOML has none; a schema from elsewhere may
        issues.add(path, "dates and times cannot be used", "put it in quotes")


class _Inexact(ValueError):
    """A number that is not what its nearest double is."""


def _exact(text: str) -> float:
    """A float, if its shortest writing has the same decimal value; else what is shown would not be what is written."""
    value = float(text)
    if math.isfinite(value):
        if not numerals.is_exact(text.replace("_", "").lstrip("+"), value):
            raise _Inexact(text)
    elif "inf" not in text and "nan" not in text:
        raise _Inexact(text)
    return value


def _placed(message: str, text: str) -> tuple[str, int, str]:
    """What is wrong, its line from 1, and what to write."""
    from .syntax import explain

    lines = text.split("\n")
    place = re.search(_PLACE, message)
    if place is not None:
        line, column = int(place[1]), int(place[2])
        said, hint = explain(re.sub(_PLACE, "", message), lines[line - 1], column)
        return said, line, hint
    lines = text.rstrip("\n").split("\n")
    said, hint = explain(re.sub(_END, "", message), lines[-1], len(lines[-1]) + 1)
    return f"{said} at the end of the file", len(lines), hint


def _deepest_line(text: str) -> int:
    """About where the nesting is deepest; brackets in texts are counted too."""
    depth = best = 0
    where = 1
    for number, part in enumerate(text.split("\n"), 1):
        depth += part.count("[") + part.count("{")
        if depth > best:
            best, where = depth, number
        depth -= part.count("]") + part.count("}")
    return where


def _refused(source: Source, line: int, message: str, hint: str | None = None) -> ToolgateError:
    from .issues import MEND

    return ToolgateError("invalid", f"{source.name}:{line}: {message}", MEND if hint is None else hint)
