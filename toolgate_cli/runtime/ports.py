"""What the use cases need from outside, as protocols; nothing above the store's port may know which store it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from ..core.config import Model, Tool
from ..core.intents import Completion, Intent, TurnRequest, View
from ..core.records import (
    Accepted,
    Attempt,
    Call,
    Definition,
    Event,
    EventQuery,
    Keep,
    Outcome,
    Row,
    RowQuery,
    Run,
    RunQuery,
    Step,
    Turn,
    Value,
    Vote,
)
from ..core.results import ToolResult
from ..core.types import Json
from ..core.world import Needs, World
from .answers import Checked


class Reader(Protocol):
    """One snapshot of the store."""

    def find(self, run: str | None, id: str) -> Row | None:
        """The open row of that id; with a run, only if it is that run's."""
        ...

    def find_by_run(self, run: str) -> tuple[Row, ...]:
        """All open rows of a run, in the one total order (created_at, id)."""
        ...

    def rows(self, query: RowQuery) -> tuple[Row, ...]: ...
    def attempts(self, run: str | None) -> tuple[Attempt, ...]:
        """Attempts that have not come to an end, of a run or of all."""
        ...

    def run(self, id: str) -> Run | None: ...
    def runs(self, query: RunQuery) -> tuple[Run, ...]: ...
    def call(self, id: str, revision: int | None = None) -> tuple[Call, Outcome | None] | None:
        """A call (its newest revision) and how it was settled."""
        ...

    def calls(self, prefix: str, limit: int) -> tuple[Call, ...]:
        """Calls whose id begins with `prefix`, newest revisions."""
        ...

    def value(self, run: str, key: str) -> Value | None:
        """The newest value of a key (the highest `top`); a tool's value is filled in from its outcome. None: absent or removed."""
        ...

    def keys(self, run: str) -> tuple[str, ...]:
        """Every key that has a value now, by code point."""
        ...

    def steps(self, run: str) -> tuple[Step, ...]: ...
    def step(self, run: str, path: str) -> Step | None: ...
    def turns(self, run: str, path: str, since: int = 0) -> tuple[Turn, ...]:
        """Turns of one step from number `since` on, by number."""
        ...

    def next_turn(self, run: str, path: str) -> int:
        """The number of the turn that comes next at this step: one more than the highest so far."""
        ...

    def votes(self, row: Row) -> tuple[Vote, ...]:
        """Votes for exactly this row (id, version, origin, digest)."""
        ...

    def definition(self, digest: str) -> Definition | None: ...
    def accepted(self, seen: Accepted) -> bool: ...
    def events(self, query: EventQuery) -> Iterator[Event]: ...
    def event(self, seq: int) -> Event | None: ...
    def head(self) -> Event | None: ...
    def identity(self) -> str:
        """The random id of this database, `prev` of the first event."""
        ...


class Writer(Reader, Protocol):
    """One write transaction; every check and change in it is one point of the total order. Raising rolls it back."""

    def save(self, row: Row) -> None: ...
    def claim(self, expected: Row) -> Row | None:
        """Takes the row away if it is still exactly there (id, version, run), and gives it back; None if somebody else has it."""
        ...

    def verify_still_current(self, expected: Row) -> Row | None: ...
    def remove(self, run: str, id: str) -> None: ...
    def begin(self, attempt: Attempt) -> None: ...
    def finish(self, expected: Attempt) -> Attempt | None:
        """Takes the attempt away if it is still there (id, version, number); None if recovery or cancel has settled it."""
        ...

    def mark_cancelled(self, run: str) -> None:
        """Marks every attempt of the run as cancelled."""
        ...

    def put_run(self, run: Run, was: int | None) -> bool:
        """Inserts (was = None) or replaces a run whose stored version is `was`; False if it is not."""
        ...

    def add(self, facts: Iterable[Keep]) -> None:
        """Records. Definitions and accepted marks that exist already are left alone; a value or step of the same key replaces; the rest
        must be new."""
        ...

    def rewind(self, run: str, top: int) -> None:
        """Removes context values and finished steps written at or after the top-level step `top`."""
        ...

    def append(self, events: Sequence[Event]) -> None:
        """Events whose seq, prev and hash go on exactly from the head."""
        ...

    def erase(self, call: str) -> None:
        """Redacts a call: arguments, title, rationale, outcome body and its events' payloads and salts become null."""
        ...


class Store(Protocol):
    def read(self) -> AbstractContextManager[Reader]: ...
    def write(self, patience: float = 30.0) -> AbstractContextManager[Writer]:
        """Commits at the end. Waits at most `patience` seconds for the lock, then ToolgateError("storage")."""
        ...

    def close(self) -> None: ...


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

    def holder(self, name: str) -> int | None:
        """The pid that holds a live lock of this host."""
        ...

    def place(self) -> tuple[str, str]:
        """This host and its boot id."""
        ...

    def left_behind(self, name: str | None) -> bool:
        """Whether a process that a tool left behind still holds that lock."""
        ...

    def forget(self, name: str) -> None:
        """Removes the lock file of a dead owner."""
        ...


class Processes(Protocol):
    def kill_call(self, call_id: str, before: float | None = None) -> tuple[str, ...]:
        """Kills what is left of a call's process tree, found by its TOOLGATE_CALL; names what could not be killed. `before`: only what
        began until then (`Clock.monotonic`), and its descendants."""
        ...

    def ancestors(self) -> tuple[int, ...]:
        """Pids from the parent upwards."""
        ...

    def inside_call(self) -> str | None:
        """The call that this process, or an ancestor, runs for by its environment."""
        ...


class InvokeLimits(NamedTuple):
    """`timeout` seconds, hard; `stop` is asked often and says that the call was cancelled."""

    timeout: float
    output_bytes: int
    stop: Callable[[], bool]


class Started(Protocol):
    """What a provider needs to know of a claim."""

    @property
    def call_id(self) -> str: ...
    @property
    def run_id(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def arguments(self) -> str: ...
    @property
    def bound(self) -> object: ...
    @property
    def fence(self) -> str | None:
        """The name of the lock that every descendant of the tool inherits."""
        ...


class Pinned(NamedTuple):
    """What of the outside belongs to a tool's definition (JSON), and the files it was read from. `error`: the tool cannot be used, and
    why."""

    facts: Json
    paths: tuple[str, ...]
    error: str | None = None


class Provider(Protocol):
    """One file of providers/: `Fields` (an annotated NamedTuple) is its table in toolgate.toml."""

    Fields: type

    def pin(self, fields: object, home: str, path: str) -> Pinned:
        """Resolves the executable, reads pinned files; outside any transaction."""
        ...

    def bind(self, fields: object, pinned: Json, home: str, arguments: dict[str, Json]) -> object:
        """Fills every reference (pure); ToolgateError("invalid") where one cannot be filled or is unsafe."""
        ...

    def invoke(self, claim: Started, limits: InvokeLimits) -> ToolResult:
        """Starts the tool once and comes back within the timeout and a grace of 2 s, whatever the tool does. Never raises for what a
        tool does."""
        ...


class StepKind(Protocol):
    """One file of steps/: `Fields` (an annotated NamedTuple) is its table in a workflow."""

    Fields: type

    def plan(self, step: object, view: View) -> Intent: ...


class ModelAdapter(Protocol):
    """One file of models/: `Fields` (an annotated NamedTuple) is its table in toolgate.toml."""

    Fields: type

    def complete(self, fields: object, home: str, request: TurnRequest) -> Completion:
        """One answer; ToolgateError("failed") where there is none. Outside any transaction."""
        ...


class Files(Protocol):
    """The home: always read afresh, checked, and turned into values. Every error is ToolgateError("invalid") with file:line."""

    def world(self) -> World: ...
    def prepare(self, world: World, needs: Needs) -> World:
        """The same world with more tools pinned and validators loaded."""
        ...

    def unchanged(self, world: World) -> bool:
        """Whether every file of the world has the same device, inode, size and mtime_ns. No file is read."""
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

    def begin(self, folder: str) -> tuple[str, ...]:
        """Writes a first home; the files that were written. Nothing is overwritten."""
        ...

    def accepted(self) -> tuple[Accepted, ...]:
        """What was checked since the last time this was asked, to be remembered."""
        ...

    def model(self, model: Model) -> ModelAdapter: ...


class Bundle(NamedTuple):
    """A workflow as it is pinned: canonical JSON {"root": id, "workflows": {id: {...}}}. `inputs`: name -> JSON Schema fragment."""

    id: str
    digest: str
    body: str
    inputs: Mapping[str, Json]


class Ports(NamedTuple):
    """Everything that a use case may touch."""

    store: Store
    clock: Clock
    mint: Mint
    owners: Owners
    processes: Processes
    files: Files
    provider: Callable[[Tool], Provider]
    step_kind: Callable[[str], StepKind]
    home: str
