"""What a server offers beside what is pinned of it: every part of a definition that pinning would change, nothing hidden (I11)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ...core import changes, offered
from ...core.types import Json
from ...runtime.answers import Offering, Pinnable
from ..safe import Safe, fill, show_json
from .shapes import Column, Field, Fields, Sheet, cell, field

SCHEMA: Final = "toolgate.pins/1"
_COLUMNS: Final = (Column("change", True), Column("tool"), Column("capability"), Column("reason"))
_PARTS: Final = tuple(part for part in offered.PARTS if part != "name")


def to_json(server: str, tool: Pinnable) -> dict[str, Json]:
    return {
        "server": server,
        "tool": tool.remote,
        "capabilities": list(tool.capabilities),
        "change": tool.change,
        "digest": None if tool.now is None or tool.fault is not None else offered.digest(tool.now),
        "pinned": None if tool.before is None else offered.digest(tool.before),
        "reason": tool.fault,
    }


def sheet(tools: Iterable[Pinnable]) -> Sheet:
    return Sheet(_COLUMNS, ((cell(tool.change), cell(tool.remote), cell(", ".join(tool.capabilities)), cell(tool.fault)) for tool in tools))


def review(offering: Offering) -> Fields:
    """What a person is asked about: all of what is new, and of what changed both."""
    return tuple(_review(offering))


def _review(offering: Offering) -> Iterator[Field]:
    yield field("server", offering.server)
    if offering.before != offering.fingerprint:
        known = offering.before is not None
        yield field("the server itself", "not as it was: its table, or a file of it in the home, changed" if known else "not pinned yet")
    for change in ("added", "changed", "removed", "left out"):
        for tool in offering.tools:
            if tool.change == change:
                yield from _tool(tool, change)


def _tool(tool: Pinnable, change: str) -> Iterator[Field]:
    def told(what: str, value: object) -> Field:
        return Field(fill("{} {}", tool.remote, what), value if isinstance(value, Safe) else cell(value), change)

    if tool.fault is not None:
        yield told("cannot be used", tool.fault)
    if change == "removed":
        yield told("is pinned, and", "not offered any more" if tool.now is None else "cannot be used as it is now")
    if change not in ("added", "changed"):
        return
    yield told("capability", ", ".join(tool.capabilities) or "none: its name does not fit")
    before, now = tool.before or {}, tool.now or {}
    for part in _PARTS:
        if before.get(part) == now.get(part):
            continue
        if change == "added":
            yield told(part, _value(now[part]))
            continue
        yield told(f"{part} was", _value(before.get(part)))
        yield told(f"{part} is", _value(now.get(part)))
        if isinstance(before.get(part), dict) and isinstance(now.get(part), dict):
            yield told(f"{part} differs at", ", ".join(changes.places(before[part], now[part])))


def _value(value: Json) -> Safe:
    return cell("not there") if value is None else show_json(value)
