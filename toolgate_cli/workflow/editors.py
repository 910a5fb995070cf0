"""The JSON Schemas of the two files, for editors that complete and check TOML: made of the declared shapes and of every plug-in's `Fields`.

They say what shape a file has. What its names refer to is for `workflow check` alone.
"""

from __future__ import annotations

from typing import Annotated

from ..core.conditions import OPERATORS, QUANTIFIERS
from ..core.config import PROBER
from ..core.fields import RESERVED_NAMES, Pointer
from ..core.subschemas import KEYWORDS
from ..core.types import Json
from ..core.values import NamedTuple
from . import shapes
from .exporting import GUARDS, Schema, about, closed, table_of
from .kinds import Kinds
from .names import NAME
from .servers import SECTION

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = ["array", "boolean", "integer", "null", "number", "object", "string"]
_SECTIONS = {"gate": shapes.Gate, "limits": shapes.Limits, "identity": shapes.Identity, "context": shapes.Context}


def workflow_schema(kinds: Kinds) -> Schema:
    """Of a workflow file."""
    name: Schema = {"type": "string", "pattern": NAME, "not": {"enum": list(RESERVED_NAMES)}}
    steps: Schema = {"type": "array", "items": {"$ref": "#/$defs/step"}}
    items: Schema = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/item"}}
    root = closed(
        shapes.Workflow,
        also={
            "id": name,
            "steps": {**steps, "minItems": 1},
            "inputs": table_of({"$ref": "#/$defs/fragment"}, name),
            "blocks": table_of(steps, name),
            "forms": table_of(items, name),
        },
    )
    defs: Schema = {f"step_{kind}": _step(kind, kinds, name) for kind in kinds.step_kinds()}
    step = _by("type", {kind: {"$ref": f"#/$defs/step_{kind}"} for kind in kinds.step_kinds()})
    item = closed(shapes.Item, also={"id": name})
    conditions: Schema = {"guard": _condition(_Guard), "condition": _condition(_Part)}
    return _document("A toolgate workflow", root, {"step": step, **defs, "item": item, "fragment": _FRAGMENT, **conditions})


def operator_schema(kinds: Kinds) -> Schema:
    """Of toolgate.toml."""
    name: Schema = {"pattern": NAME, "not": {"enum": list(RESERVED_NAMES)}}
    rules: Schema = {"type": "array", "items": closed(shapes.Rule, also={"when": {"type": "array", "items": _condition(shapes.When)}})}
    adapter = _by("adapter", {one: {"$ref": f"#/$defs/model_{one}"} for one in kinds.models()})
    sections: Schema = {section: closed(shape) for section, shape in _SECTIONS.items()}
    root = closed(
        shapes.Operator,
        also={
            **sections,
            "tools": table_of({"$ref": "#/$defs/tool"}),
            SECTION: table_of({**closed(kinds.serving(SECTION).Server), **_one_of("command", "url")}, name),
            "policy": closed(shapes.Policy, also={"rules": rules}),
            "models": table_of(adapter, name),
            "agents": table_of(_agent(), name),
        },
    )
    defs: Schema = {f"model_{one}": _model(one, kinds) for one in kinds.models()}
    defs |= {"tool": _tool(kinds), "fragment": _FRAGMENT, "condition": _condition(_Part)}
    unserved: Schema = {"if": {"not": {"required": [SECTION]}}, "then": {"properties": {"tools": table_of(_any_of(*_own(kinds)))}}}
    return _document("The operator's file of toolgate", {**root, **unserved}, defs)


def _agent() -> Schema:
    """Whoever wants a failing selector to open all says so twice."""
    open_: Schema = {"required": ["on_failure"], "properties": {"on_failure": {"const": "all"}}}
    said: Schema = {"required": ["accept_fail_open"], "properties": {"accept_fail_open": {"const": True}}}
    selection: Schema = {**closed(shapes.Selection), "if": open_, "then": said}
    return {**closed(shapes.Agent, also={"selection": selection}), **_one_of("prompt", "prompt_file")}


def _document(title: str, root: Schema, defs: Schema) -> Schema:
    return {"$schema": DIALECT, "title": title, **root, "$defs": defs}


def _by(key: str, kinds: Schema) -> Schema:
    """A table that is of the kind which a key of it names. `allOf` is what counts: a mistake is told in the words of that one kind; `anyOf`
    always holds, and is there for editors, which complete from it and do not look behind an `if`."""
    wanted: list[Json] = [{"if": {"required": [key], "properties": {key: {"const": one}}}, "then": held} for one, held in kinds.items()]
    known: Schema = {"type": "object", "required": [key], "properties": {key: {"enum": list(kinds)}}}
    return {**known, "allOf": wanted, "anyOf": [*kinds.values(), {}]}


def _step(kind: str, kinds: Kinds, name: Schema) -> Schema:
    found = kinds.step_kind(kind)
    also: Schema = {"id": name, "type": {"const": kind}, shapes.CONDITIONS: {**GUARDS, "minItems": 1}}
    return {**closed(shapes.Common, found.Fields, also=also), **about(found.__doc__)}


def _model(adapter: str, kinds: Kinds) -> Schema:
    found = kinds.model(adapter)
    return {**closed(shapes.Adapter, found.Fields, also={"adapter": {"const": adapter}}), **about(found.__doc__)}


def _own(kinds: Kinds) -> tuple[str, ...]:
    """The providers of which a tool may have a table."""
    return tuple(name for name in kinds.providers() if name != SECTION)


def _tool(kinds: Kinds) -> Schema:
    """One of a provider, or the operator's words on one of a server, whose schema is pinned."""
    providers = _own(kinds)
    fragment: Schema = {"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/fragment"}]}
    made = closed(
        shapes.Tool,
        also={
            "input_schema": {"anyOf": [{"const": shapes.ANY_OBJECT}, fragment]},
            "output_schema": fragment,
            "remote": {"type": "string", "description": "The name that the server has for it."},
            "fail_when": {"type": "array", "items": _condition(shapes.FailWhen)},
            **{one: {**closed(kinds.provider(one).Fields), **about(kinds.provider(one).__doc__)} for one in providers},
            **{one: closed(kinds.provider(PROBER).Fields) for one in shapes.PROBES},
        },
    )
    whole: list[Json] = [_one_of("input_schema", "input_schema_file"), _one_of(*providers), {"not": {"required": ["remote"]}}]
    both: Schema = {"required": ["input_schema", "input_schema_file"]}
    return {**made, "if": _any_of(*providers), "then": {"allOf": whole}, "else": {"not": both}}


class _Part(NamedTuple):
    """One of the conditions of `all` and `any`."""

    at: Annotated[str, Pointer()]


class _Guard(NamedTuple):
    """A condition on a context value, and there on the place `at`."""

    key: str
    at: Annotated[str, Pointer()] = ""


def _condition(shape: type) -> Schema:
    """A table in which one operator stands beside the keys of its shape."""
    operators: Schema = {op: {} for op in OPERATORS}
    for op in QUANTIFIERS:
        operators[op] = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/condition"}}
    return {**closed(shape, also=operators), **_one_of(*operators)}


def _any_of(*keys: str) -> Schema:
    return {"anyOf": [{"required": [key]} for key in keys]}


def _one_of(*keys: str) -> Schema:
    """Exactly one of these keys."""
    return {"oneOf": [{"required": [key]} for key in keys]}


_type_word: Schema = {"enum": list(_TYPES)}
# a JSON Schema inside the file: its keywords are known to whoever completes, what they hold is for the check
_FRAGMENT: Schema = {
    "type": "object",
    "properties": {
        **{word: {} for word in sorted(frozenset().union(*KEYWORDS.values()))},
        "type": {"anyOf": [_type_word, {"type": "array", "items": _type_word, "minItems": 1}]},
        "description": {"type": "string"},
        "title": {"type": "string"},
    },
    "additionalProperties": False,
}
