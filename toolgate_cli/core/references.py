"""References in templates, `${name}` and `${name#/pointer}`, filled in one pass: what a value brings in is never a reference."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from . import canonical, pointer
from .errors import ToolgateError
from .types import Json
from .values import NamedTuple

SECRET = "${secret."


class Reference(NamedTuple):
    """`${name}` (pointer "") or `${name#/pointer}`."""

    name: str
    pointer: str

    def __str__(self) -> str:
        return "${" + self.name + ("#" + self.pointer if self.pointer else "") + "}"


def fill(template: Json, lookup: Callable[[str], Json]) -> Json:
    """The template with every reference in its values filled; keys are left alone. A string that is exactly one reference becomes the value
    with its type; elsewhere strings go in as they are and other values as canonical JSON. `lookup(name)` raises KeyError where there is
    none. Raises ToolgateError("invalid") naming the reference that cannot be filled."""
    if isinstance(template, str):
        return _fill_text(template, lookup) if "${" in template else template
    if isinstance(template, dict):
        return {key: fill(value, lookup) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, lookup) for value in template]
    return template


def names(template: Json) -> tuple[str, ...]:
    """The name of every reference in the template's values, each once, in order. Raises ToolgateError("invalid") for a broken one."""
    found: dict[str, None] = {}
    _collect(template, found)
    return tuple(found)


def secrets(template: Json) -> tuple[str, ...]:
    """The NAME of every `${secret.NAME}` in the template's values, each once. What is no proper template has none."""
    if isinstance(template, str):
        return _secrets_of(template) if SECRET in template else ()
    parts = template.values() if isinstance(template, dict) else template if isinstance(template, list) else ()
    return tuple(dict.fromkeys(name for part in parts for name in secrets(part)))


def _secrets_of(text: str) -> tuple[str, ...]:
    try:
        found = split(text)
    except ToolgateError:
        return ()
    return tuple(part.name.removeprefix("secret.") for part in found if isinstance(part, Reference) and part.name.startswith("secret."))


@lru_cache(maxsize=256)  # a template is filled for every call
def split(text: str) -> tuple[str | Reference, ...]:
    """Literal text and references, in order; `$${` is already `${` in the literals. Raises ToolgateError("invalid") for a broken one."""
    parts: list[str | Reference] = []
    literal = ""
    start = 0
    while (opening := text.find("${", start)) >= 0:
        if opening > start and text[opening - 1] == "$":
            literal += text[start : opening - 1] + "${"
            start = opening + 2
            continue
        literal += text[start:opening]
        closing = text.find("}", opening)
        if closing < 0:
            raise ToolgateError("invalid", 'a reference is not closed: "${" without "}"', 'write "$${" for a literal "${"')
        if literal:
            parts.append(literal)
            literal = ""
        parts.append(_reference(text[opening + 2 : closing]))
        start = closing + 1
    literal += text[start:]
    return (*parts, literal) if literal else tuple(parts)


def _reference(inside: str) -> Reference:
    name, has_pointer, place = inside.partition("#")
    if not name or any(character in "${" or character.isspace() for character in name):
        raise ToolgateError("invalid", "a reference without a proper name: ${" + inside + "}", 'write "$${" for a literal "${"')
    try:
        if has_pointer and not pointer.tokens(place):
            raise ValueError('a JSON pointer after "#" begins with "/"')
    except ValueError as error:
        raise ToolgateError("invalid", "the reference ${" + inside + "} has no proper JSON pointer: " + str(error)) from None
    return Reference(name, place)


def _fill_text(text: str, lookup: Callable[[str], Json]) -> Json:
    parts = split(text)
    if len(parts) == 1 and isinstance(parts[0], Reference):
        return value(parts[0], lookup)
    return "".join(part if isinstance(part, str) else _embed(value(part, lookup)) for part in parts)


def value(reference: Reference, lookup: Callable[[str], Json]) -> Json:
    """What one reference stands for. Raises ToolgateError("invalid") where it cannot be filled."""
    try:
        return pointer.resolve(lookup(reference.name), reference.pointer)
    except KeyError:
        raise ToolgateError("invalid", f"{reference} cannot be filled: there is no such value") from None


def _embed(value: Json) -> str:
    return value if isinstance(value, str) else canonical.encode(value)


def _collect(template: Json, found: dict[str, None]) -> None:
    if isinstance(template, str):
        for part in split(template) if "${" in template else ():
            if isinstance(part, Reference):
                found[part.name] = None
    elif isinstance(template, dict):
        for value in template.values():
            _collect(value, found)
    elif isinstance(template, list):
        for value in template:
            _collect(value, found)
