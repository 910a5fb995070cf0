"""Canonical JSON, the bytes that are digested, shown and given to a tool (I3): strict on the way in, one spelling on the way out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from json import encoder as _json_encoder
from typing import TYPE_CHECKING, NoReturn, TypeVar

from . import numerals
from .soundness import DEPTH, Bad, Bounds, fault, is_sound, is_text, refuse, refuse_first
from .types import Json

if TYPE_CHECKING:
    from .config import Limits

_ANY = Bounds()
_MANY = 16  # texts of which the value is remembered
_SHARED: dict[str, Json] = {}
_SPACE = " \t\n\r"
_Part = TypeVar("_Part")


# ---- reading ----
def parse(text: str | bytes) -> Json:
    """One strict JSON value. Raises ToolgateError("invalid") with "CODE at POINTER: why": INVALID_JSON, DUPLICATE_KEY, NON_FINITE,
    INEXACT_NUMBER, INTEGER_TOO_LONG, LONE_SURROGATE, TOO_DEEP."""
    try:
        plain = (text if isinstance(text, str) else text.decode("utf-8")).strip(_SPACE)
        if _is_plain(plain):
            found: tuple[Json, int] = _QUICK.raw_decode(plain)
            if found[1] == len(plain):
                return found[0]
    except (_Odd, ValueError, RecursionError):
        pass  # whatever it is, and where, is found out below
    value = _read(text)
    if not is_sound(value, _ANY.depth, _ANY.items, True):
        refuse_first(value, _ANY)
    return value


def _is_plain(text: str) -> bool:
    """Whether it is sound if it is JSON, so that nobody has to look at its value: too few brackets to be too deep, and nothing that half of
    a surrogate pair could come from."""
    return text.count("[") + text.count("{") <= DEPTH and "\\u" not in text and is_text(text)


def shared(text: str) -> Json:
    """As `parse`, for a text that several parts read one after the other: none of them changes the value."""
    value = _SHARED.get(text)
    return _share(text, parse(text)) if value is None else value


def _share(text: str, value: Json) -> Json:
    if len(_SHARED) >= _MANY:
        _SHARED.clear()
    _SHARED[text] = value
    return value


def _read(text: str | bytes) -> Json:
    """The parsed value, with a `Bad` at every place that is not acceptable."""
    value: Json
    try:
        value = _DECODER.decode(text if isinstance(text, str) else text.decode("utf-8"))
    except RecursionError:
        refuse("TOO_DEEP", "", f"nested more than {DEPTH} deep")
    except UnicodeDecodeError:
        refuse("INVALID_JSON", "", "not UTF-8")
    except json.JSONDecodeError as error:
        refuse("INVALID_JSON", "", f"line {error.lineno}, column {error.colno}")
    return value


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json] | Bad:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    seen: set[str] = set()
    return Bad("DUPLICATE_KEY", next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]  # None: it was new


def _integer(text: str) -> int | Bad:
    value = numerals.integer(text)
    return Bad("INTEGER_TOO_LONG") if value is None else value


def _double(text: str) -> float | Bad:
    value = float(text)
    if value - value != 0.0:
        return Bad("NON_FINITE")
    return value if numerals.is_exact(text, value) else Bad("INEXACT_NUMBER")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_double, parse_constant=lambda _name: Bad("NON_FINITE")
)


class _Odd(Exception):
    """There would be a `Bad` in it."""


def _surely(read: Callable[[_Part], Json | Bad]) -> Callable[[_Part], Json]:
    def surely(part: _Part) -> Json:
        value = read(part)
        if isinstance(value, Bad):
            raise _Odd
        return value

    return surely


def _single(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Odd
    return value


_QUICK = json.JSONDecoder(
    object_pairs_hook=_single,
    parse_int=_surely(_integer),
    parse_float=_surely(_double),
    parse_constant=_surely(lambda _name: Bad("NON_FINITE")),
)


# ---- writing ----
def encode(value: Json) -> str:
    """Canonical JSON text: keys by code point, no spaces, no escapes that JSON does not ask for. Raises ToolgateError("invalid") with
    "CODE at POINTER: why" where it is not JSON: INVALID_TYPE, INVALID_KEY, NON_FINITE, INTEGER_TOO_LONG, LONE_SURROGATE, TOO_DEEP."""
    return _encode(value, _ANY)


def flat(values: Sequence[str | int | None] | Mapping[str, str | int | None]) -> str:
    """What `encode` gives for a list or a table of texts, integers and nulls, without its check of every member. Raises TypeError or
    ValueError for what is none of them."""
    return "".join(_ENCODER(values, 0))


def _encode(value: Json, bounds: Bounds) -> str:
    if not is_sound(value, bounds.depth, bounds.items, False):
        refuse_first(value, bounds)
    try:
        text = "".join(_ENCODER(value, 0))
    except ValueError:  # a double that is not finite, or more digits than this interpreter was told to write
        if fault(value, bounds) is not None:
            refuse_first(value, bounds)
        text = _spell(value)
    if not is_text(text):
        refuse_first(value, bounds)
    return text


def _spell(value: Json) -> str:
    """The slow twin of the C encoder, which writes integers of any length."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_spell(key)}:{_spell(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_spell, value)) + "]"
    if isinstance(value, int) and not isinstance(value, bool):
        return numerals.spell(value)
    return "".join(_ENCODER(value, 0))


def _not_json(value: object) -> NoReturn:
    raise TypeError(f"{type(value).__name__} got past the check")


# json.JSONEncoder makes its C encoder anew for every value; this one is made once. It looks for no circles: the depth was bounded before.
_make_encoder = getattr(_json_encoder, "c_make_encoder")  # noqa: B009 - typeshed does not know it
_ENCODER: Callable[[object, int], tuple[str, ...]] = _make_encoder(
    None, _not_json, _json_encoder.encode_basestring, None, ":", ",", True, False, False
)


# ---- limits ----
def check_limits(value: Json, limits: Limits) -> str:
    """The canonical text of a value that keeps the limits; else ToolgateError("invalid"): TOO_DEEP, TOO_MANY_ITEMS, ARGS_TOO_LARGE, or what
    `encode` refuses. The size is of the canonical bytes; no value may be deeper than 200, whatever the limits say."""
    text = _encode(value, Bounds(min(limits.arguments_depth, DEPTH), limits.arguments_items))
    _check_size(text, limits)
    return text


def receive(arguments: Json, raw: bool, limits: Limits) -> str:
    """The canonical text of a call's arguments, one object. `raw`: `arguments` is JSON text; too long a text is refused unparsed.
    Raises ToolgateError("invalid"); the message begins with a stable code and a pointer, and holds no value."""
    value = arguments
    if raw:
        if not isinstance(arguments, str):
            refuse("INVALID_TYPE", "", "raw arguments are JSON text")
        _check_size(arguments, limits)
        value = _read(arguments)
    if type(value) is not dict and not isinstance(value, Bad):
        refuse("INVALID_TYPE", "", "arguments are one JSON object")
    text = check_limits(value, limits)
    if raw:  # nobody else has this value
        _share(text, _in_order(value))
    return text


def _in_order(value: Json) -> Json:
    """As the canonical text is read: what is said of several members comes in the same order now and in a later process."""
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    return list(map(_in_order, value)) if isinstance(value, list) else value


def _check_size(text: str, limits: Limits) -> None:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    if size > limits.arguments_bytes:
        refuse("ARGS_TOO_LARGE", "", f"more than {limits.arguments_bytes} bytes")
