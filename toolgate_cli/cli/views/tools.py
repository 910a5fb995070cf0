"""The tools of the home: what a call of each may do, and how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ...core import durations
from ...core.config import ExitRules, FailWhen, Tool
from ...core.types import Json
from ..safe import Safe, show_json
from . import probes
from .shapes import Column, Field, Fields, Sheet, cell, field, members

SCHEMA: Final = "toolgate.tools/1"
TOOL_SCHEMA: Final = "toolgate.tool/1"
_NAMES: Final = ("capability", "safety", "effect", "provider", "timeout", "max_attempts", "enabled", "description")


def to_json(tool: Tool) -> dict[str, Json]:
    return {
        "capability": tool.capability,
        "description": tool.description,
        "title": tool.title,
        "safety": tool.safety,
        "effect": tool.effect,
        "timeout": tool.timeout,
        "max_attempts": tool.max_attempts,
        "permission": tool.permission,
        "enabled": tool.enabled,
        "provider": tool.provider,
        "schema_digest": tool.schema_digest,
    }


def one_json(tool: Tool) -> dict[str, Json]:
    return {"schema": TOOL_SCHEMA, "tool": {**to_json(tool), "input_schema": tool.schema, "declared": tool.declared}}


def sheet(tools: Iterable[Tool]) -> Sheet:
    columns = tuple(Column(name, name in ("capability", "timeout", "max_attempts", "enabled")) for name in _NAMES)
    return Sheet(columns, (tuple(_word(name, getattr(tool, name)) for name in _NAMES) for tool in tools))


def brief_sheet(tools: Iterable[Tool]) -> Sheet:
    """For a terminal: within 80 columns."""
    names = ("capability", "safety", "effect", "description")
    columns = (*(Column(name, True) for name in names[:3]), Column("description"))
    return Sheet(columns, (tuple(cell(getattr(tool, name)) for name in names) for tool in tools))


def fields(tool: Tool) -> Fields:
    """As toolgate.toml would say it; what a tool does not have is left out."""
    shown = [(name, value) for name, value in to_json(tool).items() if value is not None]
    said = (field(name.replace("_", " "), _word(name, value)) for name, value in shown)
    table = tool.declared.get("table") if isinstance(tool.declared, dict) else None
    started = members(tool.provider, table) if isinstance(table, dict) else ()  # what is started, as the file says it
    asked = probes.tables(tool.declared) if isinstance(tool.declared, dict) else ()
    return (*said, *_ends(tool), *started, *asked, field("input schema", show_json(tool.schema)))


def _ends(tool: Tool) -> Iterator[Field]:
    """What of a call's end is told from its exit code and its result, and whose its resource is."""
    if tool.tenant_of is not None:
        yield field("tenant of", tool.tenant_of)
    if tool.exit.confirm is not None:
        yield field("may confirm", Safe("true"))
    if exits := _exits(tool.exit):
        yield from members("exit", exits)
    yield from (field("fail when", show_json(_condition(fails))) for fails in tool.fail_when)
    if tool.output_schema is not None:
        yield field("output schema", show_json(tool.output_schema))


def _exits(rules: ExitRules) -> dict[str, Json]:
    business: Json = {str(code): word for code, word in rules.business.items()}
    said: dict[str, Json] = {
        "not_dispatched": list(rules.not_dispatched),
        "permanent": list(rules.permanent),
        "business": business,
        "confirm": rules.confirm,
    }
    return {name: value for name, value in said.items() if value not in (None, [], {})}


def _condition(fails: FailWhen) -> Json:
    at, op, value = fails.condition
    return {"at": at, op: value, "code": fails.code, "on_missing": fails.on_missing}


def _word(name: str, value: object) -> Safe:
    """A value as the file writes it: true, not True; 30s, not 30.0."""
    if isinstance(value, bool):
        return Safe("true" if value else "false")
    return cell(durations.show(value) if name == "timeout" and isinstance(value, float) else value)
