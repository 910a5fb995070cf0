"""What the use cases need from outside beside a store: clock, ids, locks, processes and the files of the home."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from ..core.values import NamedTuple

if TYPE_CHECKING:
    from ..core.config import Model, Tool
    from ..core.intents import Finding, Look
    from ..core.records import Accepted
    from ..core.types import Json
    from ..core.world import Needs, Problem, World
    from .answers import Checked, Offering
    from .plugs import ModelAdapter, Provider, StepKind
    from .store import Store


class Clock(Protocol):
    def now(self) -> str:
        """UTC as RFC 3339 text of fixed width: 2026-01-31T12:00:00.000Z."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that counts suspension and never jumps."""
        ...

    def sleep(self, seconds: float) -> None: ...


class Mint(Protocol):
    def id(self, letter: str) -> str:
        """`letter` and 13 base32 characters: 65 random bits."""
        ...

    def salt(self) -> str:
        """32 hex digits."""
        ...

    def jitter(self) -> float:
        """In [0, 1)."""
        ...


class Owners(Protocol):
    """Locks by which others see that a process lives; a dead process loses its lock at once."""

    def mine(self) -> str:
        """The name of this process's lock; taken on first use."""
        ...

    def alive(self, name: str, host: str, boot: str) -> bool | None:
        """None: it is of another host or boot, the lock cannot tell (a former boot of this host is dead: False)."""
        ...

    def at_work(self) -> Mapping[int, str]:
        """Who decides or drives now on this host: pid -> name of its lock."""
        ...

    def place(self) -> tuple[str, str]:
        """This host and its boot id."""
        ...

    def left_behind(self, name: str | None) -> bool:
        """Whether a process that a tool left behind still holds that lock, or is in the session that it tells of."""
        ...

    def session(self, name: str | None) -> tuple[int, int, str] | None:
        """The session of the tool that was started with that lock, its beginning and its mark, for `Processes.kill_call`; None: it is not
        known."""
        ...

    def forget(self, name: str) -> None:
        """Removes the lock file of a dead owner."""
        ...

    def left_over(self) -> tuple[str, ...]:
        """Paths of lock files that nobody holds any more."""
        ...


class Processes(Protocol):
    def kill_call(self, call_id: str, before: float | None = None, session: tuple[int, int, str] | None = None) -> tuple[str, ...]:
        """Kills what is left of a call's process tree, found by its TOOLGATE_CALL and by the session of its tool; names what could not be
        killed. `before`: of those with that mark, which the next start of the call bears too, only what began until then
        (`Clock.monotonic`), and its descendants."""
        ...

    def ancestors(self) -> tuple[int, ...]:
        """Pids from the parent upwards."""
        ...

    def heed(self) -> None:
        """Raises the interruption of this process that was raised before and swallowed on its way."""
        ...

    def inside_call(self) -> str | None:
        """The call that this process, or an ancestor, runs for by its environment."""
        ...


class Hold(Protocol):
    """The kept head of one database, which nobody else changes until `close`."""

    @property
    def head(self) -> tuple[int, str] | None:
        """None: there is none to compare with."""
        ...

    def put(self, seq: int, hash: str) -> None:
        """After the commit: a kept head is never ahead of what is durable. Never goes back."""
        ...

    def close(self) -> None: ...


class Heads(Protocol):
    """The last head that was seen of a database, wherever its file stood; kept outside of its home."""

    @property
    def unkept(self) -> str | None:
        """Why no head was kept of what this process committed: there is no place for it."""
        ...

    @property
    def lost(self) -> str | None:
        """Why a head was not kept although there is one: a copy could not be told from this database any more, so nothing is started."""
        ...

    def kept(self, identity: str) -> tuple[int, str] | str | None:
        """Seq and hash; None where nothing was kept; a text: why what was kept cannot be read."""
        ...

    def hold(self, identity: str, last: tuple[int, str] | None) -> Hold:
        """To be compared before a commit; where nothing is kept yet, `last` is. ToolgateError("storage") where there is one that cannot be
        read or written, or that somebody else holds for 30 s."""
        ...

    def accept(self, identity: str, seq: int, hash: str) -> None:
        """Keeps a head whatever was kept: the word of a person."""
        ...

    def fault(self) -> str | None:
        """Why heads cannot be kept here; None: they can."""
        ...


class Bundle(NamedTuple):
    """A workflow as it is pinned: canonical JSON {"root": id, "workflows": {id: {...}}}. `inputs`: name -> JSON Schema fragment;
    `correlation`: what the operator's context makes of the environment at this start; `warnings`: what is doubtful in its file, where that
    was checked just now (one that is remembered is not looked at again)."""

    id: str
    digest: str
    body: str
    inputs: Mapping[str, Json]
    correlation: str | None = None
    warnings: tuple[str, ...] = ()


class Files(Protocol):
    """The home: always read afresh, checked, and turned into values. Every error is ToolgateError("invalid") with file:line."""

    def world(self) -> World: ...
    def prepare(self, world: World, needs: Needs) -> World:
        """The same world with more tools pinned and validators loaded."""
        ...

    def unchanged(self, world: World) -> bool:
        """Whether every file of the world has the same device, inode, size and times. No file is read."""
        ...

    def workflow(self, id: str) -> Bundle:
        """ToolgateError("not_found") with the ids that there are."""
        ...

    def inputs(self, bundle: Bundle, given: Mapping[str, Json], texts: Mapping[str, str]) -> dict[str, Json]:
        """The inputs of a run: `given` are values, `texts` are as typed. ToolgateError("invalid") names everything that is wrong."""
        ...

    def check(self, id: str | None) -> Sequence[Checked]:
        """Every workflow file (or the one of that id) with all that is wrong in it."""
        ...

    def bring(self, folder: str, home: str) -> tuple[str, ...]:
        """Writes a folder of another format as a new home; the names of its files. ToolgateError("invalid") with all that has no
        counterpart, by file and field; nothing is written then."""
        ...

    def begin(self, folder: str) -> tuple[str, ...]:
        """Writes a first home; the files that were written. Nothing is overwritten."""
        ...

    def observe(self, looks: Sequence[Look]) -> tuple[Finding, ...]:
        """What comes of each look, in this order; never raises. Nothing outside of the home is read, nor the store."""
        ...

    def offering(self, server: str) -> Offering:
        """Asks a server for its tools, to be pinned; it is ended again. ToolgateError("not_found" | "failed")."""
        ...

    def pin(self, offered: Offering) -> str:
        """Writes the lock file; its path. ToolgateError("storage") where it cannot be written."""
        ...

    def misfits(self, schema: Json, value: Json) -> tuple[Problem, ...]:
        """In what a value does not keep a schema that was accepted. Outside any transaction."""
        ...

    def accepted(self) -> tuple[Accepted, ...]:
        """What was checked since the last time this was asked, to be remembered."""
        ...

    def model(self, model: Model) -> ModelAdapter: ...


class Ports(NamedTuple):
    """Everything that a use case may touch."""

    store: Store
    clock: Clock
    mint: Mint
    owners: Owners
    heads: Heads
    processes: Processes
    files: Files
    provider: Callable[[Tool], Provider]
    step_kind: Callable[[str], StepKind]
    step_kinds: Callable[[], tuple[str, ...]]
    home: str
