"""Inputs of a run: every name known, every value of its type, nothing missing, and all that is wrong told at once, before a run exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..core import canonical
from ..core.conditions import equal
from ..core.errors import ToolgateError
from ..core.types import Json
from .issues import meant

_BY_HAND = frozenset({"type", "default", "title", "description", "enum", "examples"})


def fill_inputs(inputs: Mapping[str, Json], given: Mapping[str, Json], texts: Mapping[str, str]) -> dict[str, Json]:
    """The inputs by name, defaults included. `texts` are as they were typed: text where the schema says string, else strict JSON.

    Raises ToolgateError("invalid") listing everything that is wrong.
    """
    problems: list[str] = []
    hints: list[str] = []
    for name in dict.fromkeys([*given, *texts]):
        if name not in inputs:
            problems.append(f"there is no input {name}")
            hints.append(meant(name, inputs))
        elif name in given and name in texts:
            problems.append(f"{name}: given twice")
    filled: dict[str, Json] = {}
    for name, schema in inputs.items():
        try:
            filled[name] = _value(name, schema, given, texts)
        except ToolgateError as error:
            problems.append(f"{name}: {error.message}")
            hints.append(error.hint)
    if problems:
        raise ToolgateError("invalid", "; ".join(problems), "; ".join(dict.fromkeys(filter(None, hints))) or _listed(inputs))
    return filled


def _listed(inputs: Mapping[str, Json]) -> str:
    """What there is to give, as far as that is short."""
    kinds = {name: schema.get("type") if isinstance(schema, dict) else None for name, schema in inputs.items()}
    return "inputs: " + ", ".join(f"{name} ({kind})" if isinstance(kind, str) else name for name, kind in [*kinds.items()][:20])


def _value(name: str, schema: Json, given: Mapping[str, Json], texts: Mapping[str, str]) -> Json:
    if name in texts:
        value: Json = texts[name] if _is_text(schema) else _parsed(texts[name], schema)
    elif name in given:
        value = given[name]
    elif isinstance(schema, dict) and "default" in schema:
        return schema["default"]
    else:
        raise ToolgateError("invalid", "this input is required", f"-i {name}=VALUE")
    canonical.encode(value)
    _check(schema, value)
    return value


def _parsed(text: str, schema: Json) -> Json:
    try:
        return canonical.parse(text)
    except ToolgateError as error:
        kind = schema.get("type") if isinstance(schema, dict) else None
        if kind in ("integer", "number", "boolean") and "INVALID_JSON" in error.message:
            raise ToolgateError("invalid", _of_type([kind])) from error
        raise ToolgateError("invalid", f"not JSON ({error.message})", "texts are quoted where the schema is not of a string") from error


def _is_text(schema: Json) -> bool:
    """Whether what was typed is the text itself."""
    if not isinstance(schema, dict):
        return False
    kinds, words = schema.get("type"), schema.get("enum")
    if kinds is None and isinstance(words, list):
        return all(isinstance(word, str) for word in words)
    return kinds == "string" or (isinstance(kinds, list) and "string" in kinds)


def _check(schema: Json, value: Json) -> None:
    if not isinstance(schema, dict) or not schema.keys() <= _BY_HAND:
        from .validators import load

        problems = load(schema)(value)
        if problems:
            told = ", ".join(problem.told("") for problem in problems)
            raise ToolgateError("invalid", f"does not validate: {told}")
        return
    kinds = schema.get("type")
    wanted = [str(kind) for kind in kinds] if isinstance(kinds, list) else [] if kinds is None else [str(kinds)]
    if wanted and not any(_is_of(kind, value) for kind in wanted):
        raise ToolgateError("invalid", _of_type(wanted))
    words = schema.get("enum")
    if isinstance(words, list) and not any(equal(word, value) for word in words):
        raise ToolgateError("invalid", "not one of the accepted values", f"one of {canonical.encode(words)[:200]}")


def _of_type(kinds: Sequence[str]) -> str:
    """A shell has many words for yes, and JSON has one."""
    return f"must be of type {' or '.join(kinds)}" + (": true or false" if "boolean" in kinds else "")


def _is_of(kind: str, value: Json) -> bool:
    """Types as JSON Schema has them: true is no number, 3.0 is an integer."""
    if isinstance(value, bool):
        return kind == "boolean"
    if isinstance(value, (int, float)):
        return kind == "number" or (kind == "integer" and (isinstance(value, int) or value.is_integer()))
    return kind == {str: "string", list: "array", dict: "object", type(None): "null"}[type(value)]
