"""Pins the tools of a server: what it offers now beside what is pinned, and the lock file written anew once a person agreed (I3)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from ..core.errors import ToolgateError
from ..core.offered import Offer
from ..core.secrets import Secrets
from ..core.tables import table
from ..core.types import Json
from ..runtime.answers import Offering, Pinnable
from ..runtime.plugs import InvokeLimits, Offered
from .checks.tools import Tools
from .document import check_values
from .issues import Issues, field, meant
from .kinds import Kinds
from .loading import FILE, Served
from .locking import LOCK, Locked, read_lock, write_lock
from .names import is_capability
from .outside import Outside
from .reading import Table, read_inside
from .secrets import resolve
from .servers import SECTION, operators, tool_of


def offering(name: str, served: Served, home: str, kinds: Kinds) -> Offering:
    """Starts the server, or asks it where it is, and ends it again, within `gate.timeout`.

    ToolgateError("not_found") for a server that there is not, "failed" for one that does not say what it has."""
    raw = served.raw
    secrets, _ = resolve(served.secrets, home)
    secrets.refuse(FILE, served.data.decode(), raw)
    servers = raw.get(SECTION)
    known: Mapping[str, Json] = servers if isinstance(servers, dict) else {}
    server = known.get(name)
    if not isinstance(server, dict):
        near = meant(name, known) or f"write [{SECTION}.{name}] with its command or its url"
        raise ToolgateError("not_found", f"no server {name} in toolgate.toml", near)
    provider = kinds.serving(SECTION)
    fields = table(provider.Fields, {**server, "server": name, "remote": ""})
    for secret in _secrets(server):
        if fault := secrets.fault(secret):
            raise ToolgateError("invalid", f"${{secret.{secret}}} cannot be filled: {fault}")
    found = provider.offers(fields, home, served.path, InvokeLimits(served.timeout, 1, lambda: False, secrets))
    found = found._replace(tools=tuple(_without_secrets(offer, number, secrets) for number, offer in enumerate(found.tools)))
    held = _held(home).get(name)
    return Offering(name, found.server, held.server if held else None, tuple(_pinnable(name, server, raw, found, held, kinds)))


def _without_secrets(offer: Offer, number: int, secrets: Secrets) -> Offer:
    """I12: a server knows its secrets, and what it says of its tools is shown and stored."""
    leaked = secrets.leaks(offer.name, dict(offer.definition), offer.fault)
    if leaked is None:
        return offer
    return Offer(f"(number {number + 1})", {}, "", f"its definition holds the value of the secret {leaked}")


def _secrets(server: Mapping[str, Json]) -> tuple[str, ...]:
    from ..core import references

    return references.secrets(dict(server))


def _pinnable(name: str, server: Mapping[str, Json], raw: Table, found: Offered, held: Locked | None, kinds: Kinds) -> Iterator[Pinnable]:
    """Every tool that is offered or was pinned, in the order of their names."""
    tools = raw.get("tools")
    said: dict[str, list[tuple[str, dict[str, Json]]]] = {}
    for capability, words, remote in operators(name, tools if isinstance(tools, dict) else {}, kinds.providers()):
        said.setdefault(remote, []).append((capability, words))
    before = held.tools if held is not None else {}
    offers = {offer.name: offer for offer in found.tools}
    for remote in sorted({*before, *offers}):
        offer, old = offers.get(remote), before.get(remote)
        named: list[tuple[str, dict[str, Json]]] = said.get(remote) or (
            [(f"{name}.{remote}", {})] if is_capability(f"{name}.{remote}") else []
        )
        fault = None if offer is None else offer.fault or _unusable(offer, server, named, kinds)
        yield Pinnable(remote, tuple(capability for capability, _ in named), old, None if offer is None else offer.definition, fault)


def _unusable(offer: Offer, server: Mapping[str, Json], named: Iterable[tuple[str, dict[str, Json]]], kinds: Kinds) -> str | None:
    """Why no table of this home can be made of a definition: a schema that is not judged here, above all."""
    for capability, words in (*named, ("server.tool", {})):
        made = tool_of(words, {**server, "server": "x", "remote": offer.name}, offer.definition)
        issues = Issues()
        check_values({"tool": made}, issues)
        if not issues.errors:
            Tools(kinds, Outside("", {}), float("inf"), issues).check(capability, made)
        for issue in issues.errors:
            if issue.path[2:3] in (("input_schema",), ("output_schema",), ("description",)) or issue.path[1:2] != (capability,):
                return field(issue.path[2:] if issue.path[:1] == ("tools",) else issue.path[1:]) + issue.text
    return None


def _held(home: str) -> dict[str, Locked]:
    if not os.path.lexists(os.path.join(home, LOCK)):
        return {}
    try:
        return read_lock(read_inside(home, LOCK).data.decode("utf-8"))
    except UnicodeDecodeError:
        raise ToolgateError("invalid", f"{LOCK} is not UTF-8", "remove it, and pin again") from None


def pin(offered: Offering, home: str, raw: Table) -> str:
    """Writes the lock file, and nothing else; its path. What is pinned of servers that toolgate.toml does not have any more goes.
    ToolgateError("storage") where it cannot be written."""
    servers = raw.get(SECTION)
    assert isinstance(servers, dict)
    held = {name: locked for name, locked in _held(home).items() if name in servers}
    tools = {tool.remote: dict(tool.now) for tool in offered.tools if tool.now is not None and tool.fault is None}
    text = write_lock({**held, offered.server: Locked(offered.fingerprint, tools)})
    read_lock(text)  # what could not be read back is not written
    path = os.path.join(home, LOCK)
    fresh = f"{path}.{os.getpid()}"
    try:
        _write(fresh, text)
        os.replace(fresh, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(fresh)
        said = (error.strerror or "cannot be written").lower()
        raise ToolgateError("storage", f"{path}: {said}", "check the folder and its permissions") from None
    return path


def _write(path: str, text: str) -> None:
    """Whole, and on the disk, before it takes the other's place."""
    with open(path, "x", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
