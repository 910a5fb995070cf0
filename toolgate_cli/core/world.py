"""The world that a verdict is reached in: one snapshot of the files and of what was loaded for them, taken outside any transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from .config import Config
from .results import ToolResult
from .secrets import NONE, Secrets
from .types import Json, ProbeName
from .values import NamedTuple


class Stamp(NamedTuple):
    """A file as it was when it was read; `inode` 0 = it did not exist. A change that puts size and modification time back still shows in
    `ctime_ns`, which nobody can set."""

    path: str
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


class Problem(NamedTuple):
    """One violation: a stable code and a JSON pointer, never a value. `bound`: what the schema says there, in words ("": nothing short)."""

    code: str
    pointer: str
    bound: str = ""

    def told(self, root: str = "(root)") -> str:
        """In one line; `root` stands for the pointer to the whole."""
        at = self.pointer or root
        return f"{self.code}{f' at {at}' if at else ''}{f' ({self.bound})' if self.bound else ''}"


Check: TypeAlias = Callable[[Json], "tuple[Problem, ...]"]


class Probe(NamedTuple):
    """One question about one call, under the definition that it would be started under. `since`: when its run began."""

    name: ProbeName
    capability: str
    call_id: str
    run_id: str
    arguments: str
    key: str
    definition: str
    since: str


class Ready(NamedTuple):
    """A tool whose pinned files were read and whose executable was resolved. `definition` is canonical JSON, `digest` its sha256 (hex).

    `error` says why it cannot be used (an executable that is gone, a pinned file that cannot be read); then nothing else counts.
    `bind` fills the provider's table with arguments (pure); it raises ToolgateError("invalid") where a reference cannot be filled.
    `fill` adds the schema's defaults for the policy (see `defaults.filler`); None: it has none. `probes`: as `bind`, of its probes.
    """

    definition: str
    digest: str
    bind: Callable[[dict[str, Json]], object]
    fill: Callable[[Json], Json] | None
    error: str | None = None
    probes: Mapping[ProbeName, Callable[[dict[str, Json]], object]] = {}


class World(NamedTuple):
    """`checks`: loaded validators by schema digest; `ready`: prepared tools by capability; `stamps`: every file all of this came from.
    `secrets`: their values, which leave it only with a call of a provider; `answers`: of probes, for this one pass."""

    config: Config
    stamps: tuple[Stamp, ...]
    ready: Mapping[str, Ready]
    checks: Mapping[str, Check]
    secrets: Secrets = NONE
    answers: Mapping[Probe, ToolResult] = {}


class Needs(NamedTuple):
    """What has to be fetched outside a transaction before a verdict can be reached."""

    tools: tuple[str, ...] = ()  # capabilities to pin
    schemas: tuple[str, ...] = ()  # capabilities whose validator is to be loaded
    files: bool = False  # a file is not the one that was read: the whole world again
    modules: tuple[str, ...] = ()  # that judging conditions needs
    probes: tuple[Probe, ...] = ()  # to be asked
