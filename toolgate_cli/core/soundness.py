"""What is a JSON value and what is not, and where the first thing stands that is not: code, pointer, why, never a value."""

from __future__ import annotations

from typing import Any, NoReturn

from .errors import ToolgateError
from .numerals import BOUND, DIGITS
from .pointer import escape
from .values import NamedTuple

DEPTH = 200  # of any value: fixed, so that what is refused does not depend on how deep the stack is
UNBOUNDED = 1 << 62
_PLAIN = frozenset({str, bool, type(None)})
_POINTER_SHOWN = 200
_WHY = {
    "DUPLICATE_KEY": "the key is there twice",
    "NON_FINITE": "not a finite number",
    "INEXACT_NUMBER": "a double cannot hold this number exactly",
    "INTEGER_TOO_LONG": f"more than {DIGITS} digits",
    "LONE_SURROGATE": "half of a surrogate pair",
    "INVALID_KEY": "a key that is not text",
    "INVALID_TYPE": "not a JSON value",
    "TOO_DEEP": "nested too deep",
}


class Bad:
    """Stands in a parsed value where the text was not acceptable, so that the place can be named afterwards."""

    __slots__ = ("code", "key")

    def __init__(self, code: str, key: str | None = None) -> None:
        self.code = code
        self.key = key


class Bounds(NamedTuple):
    """How deep containers may nest (the outermost is 1), and how many entries each may have."""

    depth: int = DEPTH
    items: int = UNBOUNDED


def clean(text: str) -> str:
    """Text that UTF-8 can carry: half of a surrogate pair becomes its visible escape."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def is_text(text: str) -> bool:
    """Whether UTF-8 can carry it: no lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def is_sound(value: Any, depth: int, items: int, strings: bool) -> bool:
    """The quick yes: the tests of `fault` without a place, and without those that the encoder makes anyway (finite doubles, and unless
    `strings` is set surrogates)."""
    kind = type(value)
    if kind is dict:
        for key in value:
            if type(key) is not str or (strings and not is_text(key)):
                return False
        members = value.values()
    elif kind is list:
        members = value
    elif kind is int:
        return bool(-BOUND < value < BOUND)
    elif kind is str:
        return not strings or is_text(value)
    else:
        return kind is float or kind in _PLAIN
    if depth < 1 or len(value) > items:
        return False
    for member in members:
        kind = type(member)
        if kind in _PLAIN:
            if strings and kind is str and not is_text(member):
                return False
        elif kind is int:
            if not -BOUND < member < BOUND:
                return False
        elif not is_sound(member, depth - 1, items, strings):
            return False
    return True


def fault(value: Any, bounds: Bounds, pointer: str = "") -> tuple[str, str, str] | None:
    """The first thing that is wrong, in the order of the value: code, pointer, why."""
    if isinstance(value, Bad):
        return value.code, pointer if value.key is None else f"{pointer}/{escape(value.key)}", _WHY[value.code]
    kind = type(value)
    code = None
    if kind is dict or kind is list:
        return _fault_of_collection(value, bounds, pointer)
    if kind is int:
        code = None if -BOUND < value < BOUND else "INTEGER_TOO_LONG"
    elif kind is float:
        code = None if value - value == 0.0 else "NON_FINITE"
    elif kind is str:
        code = None if is_text(value) else "LONE_SURROGATE"
    elif kind not in _PLAIN:
        code = "INVALID_TYPE"
    return None if code is None else (code, pointer, _WHY[code])


def _fault_of_collection(value: Any, bounds: Bounds, pointer: str) -> tuple[str, str, str] | None:
    code = None
    if bounds.depth < 1:
        code = "TOO_DEEP"
    elif len(value) > bounds.items:
        return "TOO_MANY_ITEMS", pointer, f"more than {bounds.items} entries"
    elif type(value) is dict:
        if not all(type(key) is str for key in value):
            code = "INVALID_KEY"
        elif not all(map(is_text, value)):
            code = "LONE_SURROGATE"
    if code is not None:
        return code, pointer, _WHY[code]
    inner = bounds._replace(depth=bounds.depth - 1)
    pairs = value.items() if type(value) is dict else ((str(index), item) for index, item in enumerate(value))
    return next(filter(None, (fault(item, inner, f"{pointer}/{escape(key)}") for key, item in pairs)), None)


def refuse_first(value: Any, bounds: Bounds) -> NoReturn:
    """Refuses a value that is not sound, for the first thing that is wrong with it."""
    found = fault(value, bounds)
    if found is None:
        raise ToolgateError("internal", "a value was refused, yet nothing is wrong with it")
    refuse(*found)


def refuse(code: str, pointer: str, why: str) -> NoReturn:
    """Raises ToolgateError("invalid") with "CODE at POINTER: why"; a long pointer is cut."""
    shown = pointer if len(pointer) <= _POINTER_SHOWN else pointer[:_POINTER_SHOWN] + "..."
    raise ToolgateError("invalid", f"{code} at {clean(shown) or repr(shown)}: {why}")
