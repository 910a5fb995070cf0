"""The names that the files of a home give, for whoever types one: as they are written, nothing is checked."""

from __future__ import annotations

from .flows import Flows
from .loading import FILE
from .outside import Outside
from .reading import parse, read
from .servers import SECTION, expand


def workflows(home: str) -> tuple[str, ...]:
    """The ids of the workflows. Raises ToolgateError("invalid") or ValueError where toolgate.toml cannot be read."""
    found = (flow.id for flow in Flows(home).all(parse(read(home, FILE))))
    return tuple(id for id in found if id is not None)


def capabilities(home: str) -> tuple[str, ...]:
    """The tools of toolgate.toml and those that are pinned. Raises as `workflows`."""
    raw = parse(read(home, FILE))
    tools = expand(raw, Outside(home, raw).locked(), ()).get("tools")
    return tuple(tools) if isinstance(tools, dict) else ()


def servers(home: str) -> tuple[str, ...]:
    """The servers of toolgate.toml. Raises as `workflows`."""
    found = parse(read(home, FILE)).get(SECTION)
    return tuple(found) if isinstance(found, dict) else ()


def inputs(home: str, id: str) -> tuple[str, ...]:
    """The inputs of one workflow. Raises as `workflows`."""
    raw = next((flow.raw for flow in Flows(home).all(parse(read(home, FILE))) if flow.id == id), None)
    named = raw.get("inputs") if raw is not None else None
    return tuple(named) if isinstance(named, dict) else ()
