"""Judges arguments by a JSON Schema without network, without values in its words, and within bounded work; any fault is a refusal (I5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from jsonschema import Draft7Validator, Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend
from referencing import Registry

from ..core.localrefs import Local
from ..core.pointer import escape
from ..core.subschemas import draft
from ..core.types import Json
from ..core.world import Check, Problem
from .alike import spelled
from .linear import found

MOST_PROBLEMS = 20
MOST_SAID = 60  # characters of a bound
MOST_STEPS = 200_000  # keywords that one check may look at
_FREE = 16  # members of a keyword, or characters of an item that is held against others, that are looked at in one step
_PAIRS = 1000  # of items of an array, that the library compares in about the time of a step

Keyword = Callable[[Any, Any, Any, Any], "Iterator[ValidationError] | None"]

_CODES: Mapping[str, str] = {
    "type": "INVALID_TYPE",
    "required": "REQUIRED_MISSING",
    "dependentRequired": "REQUIRED_MISSING",
    "additionalProperties": "ADDITIONAL_PROPERTY",
    "unevaluatedProperties": "ADDITIONAL_PROPERTY",
    "minimum": "RANGE_VIOLATION",
    "maximum": "RANGE_VIOLATION",
    "exclusiveMinimum": "RANGE_VIOLATION",
    "exclusiveMaximum": "RANGE_VIOLATION",
    "multipleOf": "RANGE_VIOLATION",
    "enum": "ENUM_MISMATCH",
    "const": "CONST_MISMATCH",
    "pattern": "PATTERN_MISMATCH",
    "minLength": "LENGTH_VIOLATION",
    "maxLength": "LENGTH_VIOLATION",
    "minItems": "ITEMS_VIOLATION",
    "maxItems": "ITEMS_VIOLATION",
    "additionalItems": "ITEMS_VIOLATION",
    "unevaluatedItems": "ITEMS_VIOLATION",
    "contains": "ITEMS_VIOLATION",
    "uniqueItems": "UNIQUE_VIOLATION",
}
_BOUNDS: Mapping[str, str] = {
    "type": "not of type {}",
    "minimum": "less than the minimum {}",
    "maximum": "more than the maximum {}",
    "exclusiveMinimum": "not more than {}",
    "exclusiveMaximum": "not less than {}",
    "multipleOf": "not a multiple of {}",
    "minLength": "shorter than {}",
    "maxLength": "longer than {}",
    "minItems": "fewer than {} items",
    "maxItems": "more than {} items",
    "pattern": "does not match {}",
}
_FOREIGN = {key: said for key, said in _BOUNDS.items() if key != "pattern"}  # free text, and not of this home where a server wrote it


def load(schema: Json, *, foreign: bool = False) -> Check:
    """The check of a schema that was accepted; `draft` has found its dialect. `foreign`: nobody of this home wrote it, and no text of it
    stands in what is said."""
    bounds = _FOREIGN if foreign else _BOUNDS
    budget = _Budget()
    kind: Any = extend(  # type: ignore[no-untyped-call]  # the library declares no types for it
        _DIALECTS[draft(schema) or "2020-12"], {name: budget.counted(rule) for name, rule in _rules(schema, budget).items()}
    )
    # without "$schema": the library would go on with its own class for that dialect wherever a $ref comes back to the top
    bare: Any = {key: value for key, value in schema.items() if key != "$schema"} if isinstance(schema, dict) else schema
    validator = kind(bare, registry=Registry())

    def check(value: Json) -> tuple[Problem, ...]:
        budget.left = MOST_STEPS
        problems: dict[Problem, None] = {}
        try:
            for error in validator.iter_errors(value):
                problems.update(dict.fromkeys(_problems(error, bounds)))
                if len(problems) >= MOST_PROBLEMS:
                    break
        except Exception:  # noqa: BLE001  # whatever a value does to the validator: it was not found valid
            return (Problem("UNJUDGEABLE", ""),)
        return tuple(problems)[:MOST_PROBLEMS]

    return check


class _Budget:
    """Counts the keywords that are looked at, a long one as several; a schema that multiplies work with the value's size is stopped."""

    def __init__(self) -> None:
        self.left = MOST_STEPS

    def counted(self, rule: Keyword) -> Keyword:
        def judge(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError] | None:
            self.left -= 1 if wanted.__class__ not in _LONG else 1 + len(wanted) // _FREE
            if self.left < 0:
                raise _TooMuchWork
            return rule(validator, wanted, value, schema)

        return judge

    def take(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise _TooMuchWork

    def unique_items(self, validator: Any, wanted: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
        """By one look at each item: the library holds each against each where they cannot be sorted, and misses some where they can."""
        if wanted and validator.is_type(value, "array"):
            items = list(map(spelled, value))
            self.take(sum(map(len, items)) // _FREE)
            if len(set(items)) < len(items):
                yield ValidationError("not unique")

    def unevaluated_items(self, validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError] | None:
        """By the library, which looks for each item in a list of those that were judged."""
        if validator.is_type(value, "array"):
            self.take(len(value) ** 2 // _PAIRS)
        return _LIBRARY_UNEVALUATED(validator, wanted, value, schema)


class _TooMuchWork(Exception):
    """More keywords were looked at than one check may."""


# ---- keywords that are judged otherwise than by the library ----
def _pattern(validator: Any, wanted: str, value: Any, _schema: Any) -> Iterator[ValidationError] | None:
    if validator.is_type(value, "string") and not found(wanted, value):
        return iter((ValidationError("does not match"),))
    return None


def _type(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError] | None:
    """By the library, which is not asked where the value plainly is of the one type that is wanted."""
    return None if _PLAINLY.get(type(value)) == wanted else _LIBRARY_TYPE(validator, wanted, value, schema)


def _required(validator: Any, wanted: list[str], value: Any, _schema: Any) -> Iterator[ValidationError] | None:
    """Once, where the library says it of each that is missing: `_problems` names them."""
    if validator.is_type(value, "object") and any(key not in value for key in wanted):
        return iter((ValidationError("missing"),))
    return None


class _Properties:
    """`properties`, without a validator made anew for each member of each value: all references of an accepted schema lead into the schema
    itself and no schema inside has a base of its own, so a validator of one inside is the same wherever it is reached from."""

    def __init__(self) -> None:
        self._ready: dict[int, Any] = {}  # id of a schema that the whole one holds, and so stays -> its validator

    def judge(self, validator: Any, wanted: Mapping[str, Any], value: Any, _schema: Any) -> Iterator[ValidationError]:
        if not validator.is_type(value, "object"):
            return
        for key, inside in wanted.items():
            if key in value:
                ready = self._ready.get(id(inside))
                if ready is None:
                    ready = self._ready[id(inside)] = validator.evolve(schema=inside)
                for error in ready.iter_errors(value[key]):
                    error.path.appendleft(key)
                    yield error


def _pattern_properties(validator: Any, wanted: Mapping[str, Any], value: Any, _schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(value, "object"):
        for pattern, inside in wanted.items():
            for key, item in value.items():
                if found(pattern, key):
                    yield from validator.descend(item, inside, path=key, schema_path=pattern)


def _additional_properties(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError] | None:
    extras = _extras(value, schema) if validator.is_type(value, "object") else ()
    if not extras:
        return None
    if validator.is_type(wanted, "object"):
        return (error for key in extras for error in validator.descend(value[key], wanted, path=key))
    return iter((ValidationError("additional properties"),)) if wanted is False else None


def _extras(value: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    declared, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [key for key in value if key not in declared and not any(found(pattern, key) for pattern in patterns)]


def _multiple_of(validator: Any, wanted: Any, value: Any, _schema: Any) -> Iterator[ValidationError]:
    """By decimal value: 19.99 is a multiple of 0.01, whatever doubles say."""
    if validator.is_type(value, "number") and _decimal(value) % _decimal(wanted):
        yield ValidationError("not a multiple")


def _decimal(number: Any) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


class _Unevaluated:
    """`unevaluatedProperties`: the library's own would match patterns in other than linear time."""

    def __init__(self, local: Local) -> None:
        self._local = local

    def judge(self, validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        if not validator.is_type(value, "object"):
            return
        evaluated = self._of({key: held for key, held in schema.items() if key != "unevaluatedProperties"}, validator, value)
        for key in value:
            if key in evaluated:
                continue
            if wanted is False:
                yield ValidationError("unevaluated", path=(key,))
            else:
                yield from validator.descend(value[key], wanted, path=key)

    def _of(self, schema: Any, validator: Any, value: Mapping[str, Any]) -> set[str]:
        """Members that a schema which the value fulfils has judged."""
        if not isinstance(schema, dict):
            return set()
        if "additionalProperties" in schema or "unevaluatedProperties" in schema:
            return set(value)
        judged = set(value) - set(_extras(value, schema))
        for other in (*self._local.targets(schema), *self._fulfilled(schema, validator, value)):
            judged |= self._of(other, validator, value)
        return judged

    def _fulfilled(self, schema: Mapping[str, Any], validator: Any, value: Mapping[str, Any]) -> Iterator[Any]:
        """The schemas inside one that judge the same value, those whose judgement counts."""

        def fulfils(other: Any) -> bool:
            return next(iter(validator.descend(value, other)), None) is None

        yield from (other for word in ("allOf", "anyOf", "oneOf") for other in schema.get(word, ()) if fulfils(other))
        yield from (other for key, other in schema.get("dependentSchemas", {}).items() if key in value)
        if "if" in schema:
            holds = fulfils(schema["if"])
            yield from (schema["if"], schema.get("then")) if holds else (schema.get("else"),)


_PLAINLY: Mapping[type, str] = {str: "string", int: "integer", bool: "boolean", dict: "object", list: "array", type(None): "null"}
_LONG = frozenset((list, dict))
_LIBRARY_UNEVALUATED: Keyword = Draft202012Validator.VALIDATORS["unevaluatedItems"]
_LIBRARY_TYPE: Keyword = Draft202012Validator.VALIDATORS["type"]  # of draft-07 too
_OWN: Mapping[str, Keyword] = {
    "type": _type,
    "required": _required,
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
    "multipleOf": _multiple_of,
}
_DIALECTS: Mapping[str, Any] = {"2020-12": Draft202012Validator, "draft-07": Draft7Validator}


def _rules(schema: Json, budget: _Budget) -> dict[str, Keyword]:
    library = _DIALECTS[draft(schema) or "2020-12"].VALIDATORS
    own = {
        **_OWN,
        "unevaluatedProperties": _Unevaluated(Local(schema)).judge,
        "properties": _Properties().judge,
        "uniqueItems": budget.unique_items,
        "unevaluatedItems": budget.unevaluated_items,
    }
    return {name: own.get(name, rule) for name, rule in library.items() if name != "format"}


# ---- problems ----
def _problems(error: ValidationError, bounds: Mapping[str, str]) -> Iterator[Problem]:
    """Codes and pointers; what is missing or too much is named by the pointer itself."""
    place = "".join(f"/{escape(str(part))}" for part in error.absolute_path)
    keyword = str(error.validator)
    code = _CODES.get(keyword, "SCHEMA_VIOLATION")
    named: list[str] = []
    value: Any = error.instance
    wanted: Any = error.validator_value
    if isinstance(value, dict):
        if keyword == "required":
            named = [key for key in wanted if key not in value]
        elif keyword == "dependentRequired":
            named = [key for given, needed in wanted.items() if given in value for key in needed if key not in value]
        elif keyword == "additionalProperties" and isinstance(error.schema, dict):
            named = _extras(value, error.schema)
    if named:
        yield from (Problem(code, f"{place}/{escape(key)}") for key in named)
    else:
        yield Problem(code, place, _bound(keyword, wanted, bounds))


def _bound(keyword: str, wanted: Any, bounds: Mapping[str, str]) -> str:
    """What the schema says, which is the operator's word and no value."""
    said = " or ".join(map(str, wanted)) if isinstance(wanted, list) else str(wanted)
    return bounds[keyword].format(said) if keyword in bounds and len(said) <= MOST_SAID and said.isprintable() else ""
