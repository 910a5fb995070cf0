"""What a server says of its tools, and how far it is believed: a definition is pinned whole, its hints only raise the risk (I3)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import cast

from . import canonical
from .digests import sha256
from .errors import ToolgateError
from .references import SECRET
from .types import Effect, Json, Safety
from .values import NamedTuple

# Model Context Protocol, 2025-11-25 and 2026-07-28: `Tool`. What else a server says of a tool decides nothing here.
PARTS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
MOST_BYTES = 262_144  # of one definition
_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}\Z")
_SHOWN = 60


class Offer(NamedTuple):
    """One tool of a listing. `name`: as the server has it, however it looks; `definition`: its parts; `fault`: why it cannot be used."""

    name: str
    definition: Mapping[str, Json]
    digest: str
    fault: str | None = None


def listed(tools: Sequence[Json]) -> tuple[Offer, ...]:
    """The tools of a whole listing, in its order. One that is no good hides none of the others; of a name that is there twice nobody can
    say which is called, so it is no good at all."""
    offers = [_offer(tool, number) for number, tool in enumerate(tools)]
    times = Counter(offer.name for offer in offers)
    twice = "the server lists several tools of this name"
    found = {offer.name: offer if times[offer.name] == 1 else offer._replace(fault=twice) for offer in offers}
    return tuple(found.values())


def _offer(tool: Json, number: int) -> Offer:
    name = tool.get("name") if isinstance(tool, dict) else None
    if not isinstance(tool, dict) or not isinstance(name, str):
        return Offer(f"(number {number + 1})", {}, "", "it has no name")
    parts = {part: tool[part] for part in PARTS if tool.get(part) is not None}
    try:
        text = canonical.encode(parts)
    except ToolgateError as error:
        return Offer(name, {}, "", error.message)
    return Offer(name, parts, sha256(text), _fault(parts, text))


def _fault(parts: Mapping[str, Json], text: str) -> str | None:
    if not _NAME.match(cast(str, parts["name"])):
        return "its name is none: letters, digits, _ - . and / (128 at most)"
    if len(text) > MOST_BYTES:
        return f"its definition has more than {MOST_BYTES} characters"
    if SECRET in text or "\\u0000" in text:
        return "its definition holds a NUL character or the reference to a secret"
    for part, kind in (("title", str), ("description", str), ("inputSchema", dict), ("outputSchema", dict), ("annotations", dict)):
        if part in parts and not isinstance(parts[part], kind):
            return f"its {part} is of a wrong kind"
    if parts.get("inputSchema") is None:
        return "it has no inputSchema"
    return None


def digest(definition: Mapping[str, Json]) -> str:
    """Of the parts of a definition. Raises ToolgateError("invalid") for what is no JSON."""
    return sha256(canonical.encode(dict(definition)))


def fingerprint(table: Mapping[str, Json], files: Json) -> str:
    """Of a server as toolgate.toml has it, and of the content of its files in the home: {relative path: sha256}."""
    return sha256(canonical.encode({"table": dict(table), "files": files}))


def raised(safety: Safety, effect: Effect, annotations: Json) -> tuple[Safety, Effect]:
    """The operator's word, or more than that where the server itself says that the tool does more; what it does not say counts for
    nothing."""
    hints = annotations if isinstance(annotations, dict) else {}
    if hints.get("destructiveHint") is True:
        return "destructive", "unsafe"
    if hints.get("readOnlyHint") is False:
        again: Effect = "idempotent" if hints.get("idempotentHint") is True else "unsafe"
        safety = "write" if safety == "read_only" else safety
        effect = again if effect == "read_only" else effect
    if hints.get("idempotentHint") is False and hints.get("readOnlyHint") is not True and effect == "idempotent":
        effect = "unsafe"
    return safety, effect
