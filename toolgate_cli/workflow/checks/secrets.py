"""Where a secret may be named: in fields that are filled when a plug-in is called, and nowhere that is shown, stored or seen by others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...core import references
from ...core.config import PROBER
from ...core.errors import ToolgateError
from ...core.fields import Secret
from ...core.marks import marked
from ...core.references import SECRET, Reference
from ...core.tables import hints, without_markers
from ...core.types import Json
from ..issues import Issues
from ..kinds import Kinds
from ..positions import KeyPath
from ..reading import Table
from ..servers import SECTION
from ..shapes import PROBES
from .tools import texts

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}\Z")


def check_secrets(raw: Table, kinds: Kinds, issues: Issues) -> None:
    """Of the whole file; the tables of tools and models may still be anything."""
    declared = raw.get("secrets")
    for name in declared if isinstance(declared, dict) else ():
        if not _NAME.match(name):
            issues.add(("secrets", name), "not a name for a secret", "letters, digits and _, as an environment variable has them")
    sealed = {path for path, _ in _sealed(raw, kinds)}
    for path, text in texts(raw, ()):
        for reference in _references(text):
            name = reference.name.removeprefix("secret.")
            if path not in sealed:
                issues.add(path, f"a secret cannot stand here: {reference} would be stored, shown, or seen by others", _where(kinds))
            elif reference.pointer or not _NAME.match(name):
                issues.add(path, f"{reference} does not name a secret", "${secret.NAME}")


def _references(text: str) -> Iterator[Reference]:
    if SECRET in text:
        try:
            parts = references.split(text)
        except ToolgateError:
            return  # said where it stands in a template
        yield from (part for part in parts if isinstance(part, Reference) and part.name.startswith("secret."))


def _sealed(raw: Table, kinds: Kinds) -> Iterator[tuple[KeyPath, str]]:
    """Every text in which a secret may stand."""
    for path, fields, table in _tables(raw, kinds):
        yield from ((found.path, found.text) for found in marked(fields, table, path) if isinstance(found.marker, Secret))


def _tables(raw: Table, kinds: Kinds) -> Iterator[tuple[KeyPath, type, Mapping[str, Json]]]:
    for name, tool in _named(raw, "tools"):
        for key in (*kinds.providers(), *PROBES):
            table = tool.get(key)
            if isinstance(table, dict):
                yield ("tools", name, key), kinds.provider(PROBER if key in PROBES else key).Fields, table
    for name, server in _named(raw, SECTION):
        if SECTION in kinds.providers():
            yield (SECTION, name), kinds.serving(SECTION).Server, server
    for name, model in _named(raw, "models"):
        if model.get("adapter") in kinds.models():
            yield ("models", name), kinds.model(str(model["adapter"])).Fields, model


def _named(raw: Table, section: str) -> Iterator[tuple[str, dict[str, Json]]]:
    held = raw.get(section)
    for name, table in held.items() if isinstance(held, dict) else ():
        if isinstance(table, dict):
            yield name, table


def _where(kinds: Kinds) -> str:
    """The fields that can take one."""
    tables = {name: name for name in kinds.providers()} | dict.fromkeys(PROBES, PROBER)
    found = [f"{key}.{field}" for key, provider in tables.items() for field in _fields(kinds.provider(provider).Fields)]
    found += [f"models: {field}" for name in kinds.models() for field in _fields(kinds.model(name).Fields)]
    return "it can stand in " + ", ".join(dict.fromkeys(found))


def _fields(fields: type) -> Iterator[str]:
    for name, hint in hints(fields).items():
        if any(isinstance(marker, Secret) for marker in without_markers(hint)[1]):
            yield name
