"""toolgate.lock.toml: the definitions of servers' tools as somebody reviewed them, each under its digest (I3)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from typing import cast

from ..core import canonical, offered
from ..core.errors import ToolgateError
from ..core.types import Json
from ..core.values import NamedTuple

LOCK = "toolgate.lock.toml"  # as `outside` reads it
_TEXTS = {"title": "title", "description": "description"}
_DOCUMENTS = {"annotations": "annotations", "input_schema": "inputSchema", "output_schema": "outputSchema"}
_HEAD = """# Definitions of the tools of MCP servers as they were reviewed: written by `toolgate tools pin SERVER`, and best left to it.
# Nothing that is not in here can be called, and what differs from it is refused until it is pinned again.

"""


class Locked(NamedTuple):
    """What is pinned of one server. `server`: the fingerprint of its table; `tools`: name at the server -> definition."""

    server: str
    tools: Mapping[str, Mapping[str, Json]]


def read_lock(text: str) -> dict[str, Locked]:
    """By server. Raises ToolgateError("invalid") for what is not as it was written."""
    try:
        raw = cast("dict[str, Json]", tomllib.loads(text))
        if raw.get("schema") != 1:
            raise ToolgateError("invalid", "schema = 1 is missing")
        return {name: _locked(name, held) for name, held in _table(raw.get("mcp", {})).items()}
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise _refused(str(error)) from None
    except ToolgateError as error:
        raise _refused(error.message) from None


def _locked(name: str, raw: Json) -> Locked:
    held = _table(raw)
    tools = {tool: _definition(f"mcp.{name}.tools.{tool}", tool, _table(entry)) for tool, entry in _table(held.get("tools", {})).items()}
    return Locked(str(held.get("server")), tools)


def _definition(where: str, name: str, entry: Mapping[str, Json]) -> dict[str, Json]:
    made: dict[str, Json] = {"name": name}
    made |= {part: entry[key] for key, part in _TEXTS.items() if key in entry}
    made |= {part: canonical.parse(str(entry[key])) for key, part in _DOCUMENTS.items() if key in entry}
    if offered.listed([made])[0].fault is not None or offered.digest(made) != entry.get("digest"):
        raise ToolgateError("invalid", f"{where} is not what its digest was made of")
    return made


def _table(raw: Json) -> dict[str, Json]:
    if not isinstance(raw, dict):
        raise ToolgateError("invalid", "a table was expected")
    return raw


def _refused(why: str) -> ToolgateError:
    return ToolgateError("invalid", f"{LOCK}: {why}", "toolgate tools pin SERVER writes it again, once it is removed")


def write_lock(servers: Mapping[str, Locked]) -> str:
    """Sorted, so that what did not change stays where it was; it reads back as what was given."""
    import tomli_w

    raw: dict[str, object] = {"schema": 1, "mcp": {name: _server(servers[name]) for name in sorted(servers)}}
    # a text of several lines has the line ends of TOML, whichever it had: where one has others, every text stands on one line
    definitions = (definition for held in servers.values() for definition in held.tools.values())
    others = any("\r" in str(definition.get(part)) for definition in definitions for part in _TEXTS.values())
    return _HEAD + tomli_w.dumps(raw, multiline_strings=not others)


def _server(held: Locked) -> dict[str, object]:
    return {"server": held.server, "tools": {name: _entry(held.tools[name]) for name in sorted(held.tools)}}


def _entry(definition: Mapping[str, Json]) -> dict[str, object]:
    made: dict[str, object] = {"digest": offered.digest(definition)}
    made |= {key: definition[part] for key, part in _TEXTS.items() if part in definition}
    made |= {key: _spelled(definition[part]) for key, part in _DOCUMENTS.items() if part in definition}
    return made


def _spelled(document: Json) -> str:
    """JSON that a difference can be read in."""
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False)
