"""pydantic models from declared tables, and their errors as issues; imported only to validate a file, never for one that is remembered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails, PydanticCustomError

from ..core.fields import Between, Duration
from ..core.tables import defaults, hints, is_fields, is_json, is_union, without_markers
from ..core.types import Json
from ..core.values import NamedTuple
from .issues import Issues, meant, shorten
from .positions import KeyPath


class Fit(NamedTuple):
    """What a table is checked against: declared shapes that stand side by side, and further keys of any value."""

    shapes: tuple[type, ...]
    extra: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def model(fit: Fit) -> type[BaseModel]:
    """Strict, and closed: an unknown key is an error."""
    fields: dict[str, Any] = {f"extra_{number}": (Any, Field(None, alias=name)) for number, name in enumerate(fit.extra)}
    for shape in fit.shapes:
        preset = defaults(shape)
        for name, hint in hints(shape).items():
            fields[f"field_{name}"] = (_type(hint), Field(preset.get(name, ...), alias=name))
    name = "_".join(shape.__name__ for shape in fit.shapes)
    made: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid", strict=True, defer_build=False), **fields)
    return made


def check(fit: Fit, raw: Json, path: KeyPath, issues: Issues) -> bool:
    """Adds what is wrong with a table; whether nothing was."""
    try:
        model(fit).model_validate(raw)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_context=True, include_input=True):
            _add(fit, raw, detail, path, issues)
        return False
    return True


def names(shape: type) -> tuple[str, ...]:
    """The keys of a declared table."""
    return tuple(hints(shape))


def _type(hint: Any) -> Any:
    """The pydantic type of a declared one: lists for tuples, texts for durations, closed models for tables."""
    bare, markers = without_markers(hint)
    if any(isinstance(marker, Duration) for marker in markers):
        return str
    between = next((marker for marker in markers if isinstance(marker, Between)), None)
    made = _bare_type(bare)
    if between is None:
        return made
    if bare in (int, float):
        return Annotated[made, Field(ge=between.least, le=between.most)]
    least, most = (None if bound is None else int(bound) for bound in between)
    return Annotated[made, Field(min_length=least, max_length=most)]


def _bare_type(bare: Any) -> Any:
    if is_json(bare):
        return Any
    if is_fields(bare):
        return model(Fit((bare,)))
    if is_union(bare):
        made = _type(get_args(bare)[0])
        for part in get_args(bare)[1:]:
            made = made | (None if part is type(None) else _type(part))
        return made
    origin, inner = get_origin(bare), get_args(bare)
    if origin is Literal:
        return Annotated[bare, BeforeValidator(partial(_of_one_type, {type(word) for word in inner}))]
    if origin in (tuple, list):
        return list[_type(inner[0])]  # type: ignore[misc]  # a type made at run time
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[str, _type(inner[1])]  # type: ignore[misc]  # a type made at run time
    return bare


def _of_one_type(types: set[type], value: Any) -> Any:
    """Words are compared by equality, and `true` equals 1."""
    if type(value) not in types:
        raise PydanticCustomError("literal_error", "another type")
    return value


def _add(fit: Fit, raw: Json, detail: ErrorDetails, path: KeyPath, issues: Issues) -> None:
    inside = _real(raw, detail["loc"])
    where = path + inside
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "extra_forbidden":
        issues.add(where, "unknown key", meant(inside[-1], _known(fit, inside[:-1])))
    elif kind == "missing":
        issues.add((*where, str(detail["loc"][-1])), "required key is missing")  # one that is misspelt is told where it stands
    elif kind == "literal_error":
        accepted = _accepted(fit, inside)
        text = f"{_quoted(detail['input'])} is not one of {', '.join(accepted)}" if accepted else "not an accepted value"
        issues.add(where, text, _near(detail["input"], accepted))
    else:
        example = {"string_type": _in_quotes, "list_type": _in_brackets}.get(kind)
        hint = example(fit, inside, detail["input"]) if example is not None else ""
        issues.add(where, _WORDS.get(kind, "not an accepted value").format(**context), hint)


def _in_quotes(fit: Fit, path: KeyPath, value: object) -> str:
    """What to write where a number stands in the place of a text."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return ""
    key = str(path[-1]) if path else ""
    seconds = any(_is_duration(hints(shape)[key]) for shape in _shape_at(fit, path[:-1]) if key in hints(shape))
    return f'write it with its unit: "{shorten(value)}s"' if seconds else "put it in quotes"


def _in_brackets(fit: Fit, path: KeyPath, value: object) -> str:
    """What to write where one text stands in the place of a list of them."""
    key = str(path[-1]) if path else ""
    of_texts = any(_is_list_of_texts(hints(shape)[key]) for shape in _shape_at(fit, path[:-1]) if key in hints(shape))
    if not isinstance(value, str) or not of_texts:
        return ""
    words = value.replace(",", " ").split() if not set(value) & set("\"'\\") else []
    return f"write [{', '.join(map(_quoted, words or ['one', 'two']))}]"


def _is_list_of_texts(hint: Any) -> bool:
    bare, _ = without_markers(hint)
    inner = get_args(bare)
    if get_origin(bare) in (tuple, list):
        return without_markers(inner[0])[0] is str
    return is_union(bare) and any(map(_is_list_of_texts, inner))


def _is_duration(hint: Any) -> bool:
    bare, markers = without_markers(hint)
    return any(isinstance(marker, Duration) for marker in markers) or any(_is_duration(part) for part in get_args(bare))


def _near(word: object, choices: list[str]) -> str:
    hint = meant(word, choices)
    return hint if hint.startswith("did you mean") else ""


_WORDS = {
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "none_required": "cannot be given",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must not be empty",
    "too_short": "must have at least {min_length} entries",
    "string_too_long": "must have at most {max_length} characters",
    "too_long": "must have at most {max_length} entries",
}


def _quoted(value: object) -> str:
    """An input in a message."""
    if isinstance(value, str):
        return f'"{shorten(value)}"'
    if isinstance(value, (int, float)):
        return shorten(str(value).lower())
    return "a list" if isinstance(value, list) else "a table"


def _real(raw: Json, location: Iterable[int | str]) -> KeyPath:
    """The part of a location that is a path in the file: pydantic also names the member of a union."""
    path: list[int | str] = []
    here: Any = raw
    for part in location:
        held = isinstance(part, int) and part < len(here) if isinstance(here, list) else isinstance(here, dict) and part in here
        if held:
            here = here[part]
            path.append(part)
    return tuple(path)


def _shape_at(fit: Fit, path: KeyPath) -> tuple[type, ...]:
    """The declared tables at a path inside the checked one."""
    shapes: tuple[type, ...] = fit.shapes
    for part in path:
        found = [hints(shape)[part] for shape in shapes if part in hints(shape)] if isinstance(part, str) else list(shapes)
        shapes = tuple(inner for hint in found for inner in _tables(hint))
    return shapes


def _tables(hint: Any) -> list[Any]:
    bare, _ = without_markers(hint)
    if is_fields(bare):
        return [bare]
    return [found for part in get_args(bare) for found in _tables(part)] if not is_json(bare) else []


def _known(fit: Fit, path: KeyPath) -> list[str]:
    names = [name for shape in _shape_at(fit, path) for name in hints(shape)]
    return names if path else [*names, *fit.extra]


def _accepted(fit: Fit, path: KeyPath) -> list[str]:
    """The words of the literal at a path."""
    keys = [part for part in path if isinstance(part, str)]
    if not keys:
        return []
    for depth in range(len(keys) - 1, -1, -1):
        parent = path[: [i for i, part in enumerate(path) if isinstance(part, str)][depth]]
        for shape in _shape_at(fit, parent):
            if keys[depth] in hints(shape):
                return [str(word) for word in _words(hints(shape)[keys[depth]])]
    return []


def _words(hint: Any) -> list[object]:
    bare, _ = without_markers(hint)
    if get_origin(bare) is Literal:
        return list(get_args(bare))
    return [word for part in get_args(bare) for word in _words(part)] if not is_json(bare) else []
