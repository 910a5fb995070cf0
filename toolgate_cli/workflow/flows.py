"""Finds the workflow files of a home, which are data and nothing else: `*.toml` with steps, beside toolgate.toml or in `workflows/`.

One that has an id there and no steps is meant as one, and is told to be none instead of being passed over.
A file that toolgate.toml names (a script, a schema) is none.
"""

from __future__ import annotations

import os

from ..core.errors import ToolgateError
from ..core.types import Json
from ..core.values import NamedTuple
from .loading import FILE
from .reading import Source, Table, read

FOLDER = "workflows"


class Flow(NamedTuple):
    """A file with steps, or one that cannot be read as TOML (`raw` is None and `fault` says why)."""

    name: str
    source: Source | None
    raw: Table | None
    fault: ToolgateError | None = None

    @property
    def id(self) -> str | None:
        found = self.raw.get("id") if self.raw is not None else None
        return found if isinstance(found, str) else None


class Flows:
    """Parses each file once as long as its bytes are the same."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._known: dict[str, Flow] = {}

    def all(self, operator: Table) -> tuple[Flow, ...]:
        """In the order of their names."""
        skipped = {os.path.normpath(text) for text in _texts(operator)} | {FILE, "toolgate.lock.toml"}
        names = [name for name in self._names() if name not in skipped]
        found = [self._flow(name) for name in names]
        return tuple(flow for flow in found if flow is not None and (flow.fault is not None or _is_meant(flow)))

    def _names(self) -> list[str]:
        names: list[str] = []
        for folder in ("", FOLDER):
            try:
                entries = os.listdir(os.path.join(self._home, folder))
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                raise ToolgateError("invalid", f"{folder or self._home}: {(error.strerror or 'cannot be listed').lower()}") from error
            names += [os.path.join(folder, entry) for entry in entries if entry.endswith(".toml") and not entry.startswith(".")]
        return sorted(names)

    def _flow(self, name: str) -> Flow | None:
        from .document import parse_strictly

        try:
            source = read(self._home, name)
        except FileNotFoundError:
            return None  # gone since the folder was listed
        except ToolgateError as error:
            return Flow(name, None, None, error)
        known = self._known.get(name)
        if known is not None and known.source is not None and known.source.data == source.data:
            return known
        try:
            flow = Flow(name, source, parse_strictly(source))
        except ToolgateError as error:
            flow = Flow(name, source, None, error)
        self._known[name] = flow
        return flow


def _is_meant(flow: Flow) -> bool:
    """Whether it has steps, or most likely should have."""
    if flow.raw is None or isinstance(flow.raw.get("steps"), list):
        return flow.raw is not None
    return flow.id is not None and (os.path.dirname(flow.name) == FOLDER or isinstance(flow.raw.get("step"), list))


def _texts(value: Json) -> set[str]:
    """Every text in the operator's file that could name a file."""
    if isinstance(value, str):
        return {value} if value.endswith(".toml") else set()
    if isinstance(value, dict):
        return set().union(*map(_texts, value.values()))
    if isinstance(value, list):
        return set().union(*map(_texts, value))
    return set()
