"""What a JSON Schema must be before anything is judged by it: known keywords, local references, bounded work (CASES G7, G8, G11, G16)."""

from __future__ import annotations

from collections.abc import Iterable

from ...core.localrefs import OLD_ANCHOR, REFERENCES, Local
from ...core.subschemas import FORMATS, KEYWORDS, Draft, draft, inner
from ...core.types import Json
from ..issues import Issues, meant, shorten
from ..linear import compiled
from ..positions import KeyPath

_SAID_ONLY = ("contentEncoding", "contentMediaType", "contentSchema")
_BESIDE_A_REFERENCE = frozenset(("$schema", "$ref", "$comment", "title", "description", "default", "examples", "definitions"))

_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
# What other languages call them.
_MEANT = {
    "text": "string",
    "str": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "list": "array",
    "dict": "object",
    "map": "object",
    "table": "object",
    "none": "null",
    "nil": "null",
}

MOST_WORK = 10_000  # schemas that one value may have to be judged by


def check_schema(schema: Json, path: KeyPath, issues: Issues) -> bool:
    """Adds what is wrong, and warns of what is not enforced; whether nothing was wrong."""
    before = len(issues.errors)
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict):
        issues.add(path, "must be a JSON Schema, a table")
        return False
    found = draft(schema)
    if found is None:
        issues.add((*path, "$schema"), "only the drafts 2020-12 and draft-07 are supported")
        return False
    _Walk(schema, found, path, issues).check()
    if len(issues.errors) == before:
        _check_against_draft(schema, found, path, issues)
    return len(issues.errors) == before


class _Walk:
    """One pass over every schema inside a schema."""

    def __init__(self, root: dict[str, Json], dialect: Draft, path: KeyPath, issues: Issues) -> None:
        self._root = root
        self._dialect = dialect
        self._known = KEYWORDS[dialect]
        self._path = path
        self._issues = issues
        self._edges: dict[int, list[Json]] = {}  # schema -> those that judge the same value
        self._references: list[tuple[KeyPath, dict[str, Json], str]] = []  # where one stands, in which schema, what it names
        self._tracked: dict[int, dict[str, Json]] = {}

    def check(self) -> None:
        self._visit(self._root, self._path)
        local = Local(self._root)
        for path, schema, reference in self._references:
            target = local.target(reference)
            if target is None:
                self._issues.add(path, f"nothing is at {shorten(reference)} in this schema")
            elif isinstance(target, dict):
                self._edges[id(schema)].append(target)
        if not self._issues.below(self._path):
            self._check_work()

    def _visit(self, schema: Json, path: KeyPath) -> None:
        if not isinstance(schema, dict):
            if not isinstance(schema, bool):
                self._issues.add(path, "must be a JSON Schema, a table")
            return
        self._tracked[id(schema)] = schema
        same = self._edges.setdefault(id(schema), [])
        for key, value in schema.items():
            self._check_keyword(schema, key, value, path)
        for held in inner(schema):
            self._visit(held.schema, path + held.path)
            if held.same:
                same.append(held.schema)

    def _check_keyword(self, schema: dict[str, Json], key: str, value: Json, path: KeyPath) -> None:
        where = (*path, key)
        if key not in self._known:
            self._issues.add(where, "unknown keyword", meant(key, self._known))
        elif key in ("$id", "$schema") and schema is not self._root and not self._is_anchor(key, value):
            self._issues.add(where, f"{key} stands at the top of a schema only")
        elif key in REFERENCES:
            self._check_reference(schema, value, where)
        elif key == "pattern":
            self._check_pattern(value, where)
        elif key == "patternProperties" and isinstance(value, dict):
            for pattern in value:
                self._check_pattern(pattern, (*where, pattern))
        elif key == "format":
            self._check_format(value, where)
        elif key in _SAID_ONLY:
            self._issues.warn(where, f"{key} is not enforced")
        elif any(isinstance(names, list) and not all(isinstance(name, str) for name in names) for names in _named(key, value)):
            # not left to the meta-schema, which holds each against each where they cannot be sorted
            self._issues.add(where, "not a value of this keyword (a name is text)")

    def _is_anchor(self, key: str, value: Json) -> bool:
        return key == "$id" and self._dialect == "draft-07" and isinstance(value, str) and value.startswith(OLD_ANCHOR)

    def _check_reference(self, schema: dict[str, Json], value: Json, where: KeyPath) -> None:
        if self._dialect == "draft-07" and set(schema) - _BESIDE_A_REFERENCE:
            self._issues.warn(where, "draft-07 ignores what stands beside $ref", "put both into allOf, or use 2020-12")
        if not isinstance(value, str) or not value.startswith("#"):
            self._issues.add(where, "only references inside this schema are followed", 'write "#/$defs/..."')
        else:
            self._references.append((where, schema, value))

    def _check_pattern(self, value: Json, where: KeyPath) -> None:
        if isinstance(value, str) and (refusal := compiled(value)[1]):
            self._issues.add(where, f"not a pattern that can be judged in linear time: {refusal}")

    def _check_format(self, value: Json, where: KeyPath) -> None:
        if not isinstance(value, str) or value not in FORMATS:
            self._issues.add(where, "unknown format", meant(value, FORMATS))
        else:
            self._issues.warn(where, f"the format {value} is not enforced", "say it with pattern")

    def _check_work(self) -> None:
        """Schemas that judge the same value must come to an end, and soon: neither circles nor doubled chains."""
        work: dict[int, int] = {}
        open_: set[int] = set()

        def cost(schema: Json) -> int:
            key = id(schema)
            if not isinstance(schema, dict):
                return 1
            if key in open_:
                raise _Endless
            if key not in work:
                open_.add(key)
                work[key] = min(1 + sum(cost(held) for held in self._edges[key]), MOST_WORK + 1)
                open_.discard(key)
            return work[key]

        try:
            if any(cost(schema) > MOST_WORK for schema in self._tracked.values()):
                self._issues.add(self._path, f"one value would be judged by more than {MOST_WORK} schemas")
        except (_Endless, RecursionError):
            hint = "a $ref may come back to itself only through properties or items"
            self._issues.add(self._path, "the schema refers to itself without end", hint)


def _named(key: str, value: Json) -> Iterable[Json]:
    """The lists of different names that the keyword may hold."""
    if key in ("type", "required"):
        return (value,)
    return value.values() if key in ("dependentRequired", "dependencies") and isinstance(value, dict) else ()


class _Endless(Exception):
    """A circle of schemas that all judge the same value."""


def _check_against_draft(schema: dict[str, Json], dialect: Draft, path: KeyPath, issues: Issues) -> None:
    """By the draft's own meta-schema: the values of the keywords."""
    from jsonschema import Draft7Validator, Draft202012Validator, FormatChecker

    judge: type[Draft202012Validator] | type[Draft7Validator] = Draft202012Validator if dialect == "2020-12" else Draft7Validator
    for error in judge(judge.META_SCHEMA, format_checker=FormatChecker(formats=())).iter_errors(schema):
        where = path + tuple(error.absolute_path)
        of_type = where[-1:] == ("type",) and error.validator == "anyOf"  # the keyword, and no member of that name
        if of_type and (wrong := _no_type(error.instance)):
            issues.add(where, f"{shorten(wrong)} is no type", f"did you mean {_MEANT[wrong]}?" if wrong in _MEANT else meant(wrong, _TYPES))
        else:
            issues.add(where, f"not a value of this keyword ({shorten(error.message)})")


def _no_type(named: object) -> str | None:
    """The first word of a `type` that names none."""
    words = named if isinstance(named, list) else [named]
    return next((word for word in words if isinstance(word, str) and word not in _TYPES), None)
