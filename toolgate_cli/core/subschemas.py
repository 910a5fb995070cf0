"""Which keywords of a JSON Schema hold schemas, and which of those look at the same value: from the two drafts' own vocabularies.

Sources: JSON Schema 2020-12 core and validation vocabularies; draft-07 sections 6 to 10.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from .types import Json
from .values import NamedTuple

Draft = Literal["2020-12", "draft-07"]

DIALECTS: Mapping[str, Draft] = {
    "https://json-schema.org/draft/2020-12/schema": "2020-12",
    "http://json-schema.org/draft-07/schema": "draft-07",
}

_SAME_ONE = ("not", "if", "then", "else")
_SAME_LIST = ("allOf", "anyOf", "oneOf")
_SAME_MAP = ("dependentSchemas", "dependencies")
_PART_ONE = (
    *("items", "additionalItems", "contains", "additionalProperties", "propertyNames"),
    *("unevaluatedItems", "unevaluatedProperties", "contentSchema"),
)
_PART_LIST = ("prefixItems", "items")
_PART_MAP = ("properties", "patternProperties")
_APART_MAP = ("$defs", "definitions")  # used only where a $ref names them

_BOTH = (
    *("$schema", "$id", "$ref", "$comment", "title", "description", "default", "examples", "readOnly", "writeOnly"),
    *("format", "contentEncoding", "contentMediaType", "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum"),
    *("minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern", "items", "maxItems", "minItems", "uniqueItems"),
    *("contains", "maxProperties", "minProperties", "required", "properties", "patternProperties", "additionalProperties"),
    *("propertyNames", "if", "then", "else", "allOf", "anyOf", "oneOf", "not", "definitions"),
)
_NEW = (
    *("$defs", "$anchor", "$dynamicRef", "$dynamicAnchor", "deprecated", "contentSchema", "prefixItems", "minContains"),
    *("maxContains", "dependentRequired"),
    *("dependentSchemas", "unevaluatedItems", "unevaluatedProperties"),
)
KEYWORDS: Mapping[Draft, frozenset[str]] = {
    "draft-07": frozenset((*_BOTH, "additionalItems", "dependencies")),
    "2020-12": frozenset((*_BOTH, *_NEW)),
}
FORMATS = frozenset(
    (
        *("date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname", "ipv4", "ipv6", "uri"),
        *("uri-reference", "iri", "iri-reference", "uuid", "uri-template", "json-pointer", "relative-json-pointer", "regex"),
    )
)


class Inner(NamedTuple):
    """A schema inside another. `same`: it judges the same value, not a part of it; `apart`: it judges nothing unless it is referred to."""

    path: tuple[str | int, ...]
    schema: Json
    same: bool
    apart: bool = False


def inner(schema: Mapping[str, Json]) -> Iterator[Inner]:
    """The schemas directly inside one."""
    for key, value in schema.items():
        yield from _of_keyword(key, value)


def _of_keyword(key: str, value: Json) -> Iterator[Inner]:
    if isinstance(value, dict) and key in (*_SAME_MAP, *_PART_MAP, *_APART_MAP):
        for name, held in value.items():
            if not isinstance(held, list):  # a list in `dependencies` names properties
                yield Inner((key, name), held, key in _SAME_MAP, key in _APART_MAP)
    elif isinstance(value, list) and key in (*_SAME_LIST, *_PART_LIST):
        for number, held in enumerate(value):
            yield Inner((key, number), held, key in _SAME_LIST)
    elif isinstance(value, (dict, bool)) and key in (*_SAME_ONE, *_PART_ONE):
        yield Inner((key,), value, key in _SAME_ONE)


def draft(schema: Json) -> Draft | None:
    """The draft that `$schema` names, 2020-12 where it names none; None for any other."""
    if not isinstance(schema, dict) or "$schema" not in schema:
        return "2020-12"
    named = schema["$schema"]
    return DIALECTS.get(named.removesuffix("#")) if isinstance(named, str) else None
