"""What a plug-in is: one file that satisfies one of these protocols, found by its name and imported when it is used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from ..core.secrets import NONE, Secrets
from ..core.values import NamedTuple

if TYPE_CHECKING:
    from ..core.intents import Intent, View
    from ..core.offered import Offer
    from ..core.results import ToolResult
    from ..core.turns import Completion, TurnRequest
    from ..core.types import Json


class InvokeLimits(NamedTuple):
    """`timeout` seconds, hard; `stop` is asked often and says that the call was cancelled; `secrets`: what may be filled in now, and has to
    be taken out of all that the tool says before any of it is cut. `asks`: it is a probe, beside which the call itself may be running: what
    bears the mark of the call is not of the probe's tree."""

    timeout: float
    output_bytes: int
    stop: Callable[[], bool]
    secrets: Secrets = NONE
    asks: bool = False


class Answer(NamedTuple):
    """What a person said to a tool that had stopped half-way, and the state that it had stopped with, as canonical JSON."""

    word: Literal["yes", "no"]
    state: str


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

    @property
    def answer(self) -> Answer | None:
        """None: it begins."""
        ...


class Pinned(NamedTuple):
    """What of the outside belongs to a tool's definition (JSON), and the files it was read from. `error`: the tool cannot be used, and
    why."""

    facts: Json
    paths: tuple[str, ...]
    error: str | None = None


class Offered(NamedTuple):
    """What a server has: the fingerprint of the server itself, and its tools."""

    server: str
    tools: tuple[Offer, ...]


class Provider(Protocol):
    """One file of providers/: `Fields` (an annotated NamedTuple) is its table in toolgate.toml. It may also have `check(fields)`: what is
    wrong with its table whatever there is outside, as `core.fields.Defect`s; `doubts(fields, home)`: what in its table probably names
    nothing that is there, as (path in the table, text), for `workflow check`; `CODES`, a range: what `[tools.NAME.exit]` may name (by
    default exit codes, 1 to 255); `gives_all(fields)`: whether a tool gets all of its arguments, whatever its table refers to (by default
    it does); and `shows(fields, arguments)`: the call as it will be made, by name, for who decides on it (pure; no value of a secret).
    `CONFIRMS = True`: a tool of it can stop half-way with a question. `lock(bound)`: the name of the lock of the process, already started,
    in which the call will be made; None, as by default: it will start one, with a new lock."""

    Fields: type

    def pin(self, fields: object, home: str, path: str) -> Pinned:
        """Resolves the executable, reads pinned files; outside any transaction."""
        ...

    def bind(self, fields: object, pinned: Json, home: str, arguments: dict[str, Json]) -> object:
        """Fills every reference but those to secrets (pure); ToolgateError("invalid") where one cannot be filled or is unsafe."""
        ...

    def invoke(self, claim: Started, limits: InvokeLimits) -> ToolResult:
        """Starts the tool once and comes back within the timeout and a grace of 2 s, whatever the tool does. Never raises for what a
        tool does."""
        ...


class Serving(Provider, Protocol):
    """A provider whose tools come from servers: `Server` is the table of one at the top of toolgate.toml, all of which `Fields` has too."""

    Server: type

    def offers(self, fields: object, home: str, path: str, limits: InvokeLimits) -> Offered:
        """Asks a server for its tools, outside of any call; nothing is called. ToolgateError("failed") where it does not say."""
        ...


class StepKind(Protocol):
    """One file of steps/: `Fields` (an annotated NamedTuple) is its table in a workflow. One whose fields depend on each other may also
    have `check(step)`: what is wrong with a table whose fields are right one by one, as `core.fields.Defect`s. `HANDLERS`, by the type of
    an intent, carry out what no other kind wants (see runtime/advance.py): who does not use the kind does not import them. A kind behind
    which nothing is ever reached says `ENDS = True`; one that takes turns may have `of_turn(commands)`: what no turn may hold, as
    `Defect`s with paths in the list."""

    Fields: type

    def plan(self, step: object, view: View) -> Intent: ...


class Played(NamedTuple):
    """A turn that a model will answer with, as a file of its own says: where that stands, and what it is for alone (None: for any).
    `commands`: JSON, () where what it answers is known only when it is played."""

    file: str
    path: tuple[str | int, ...]
    workflow: str | None
    step: str | None
    agent: str | None
    commands: Sequence[Json]


class Means(NamedTuple):
    """What an adapter may use beside the request: the secrets that may be filled in now, and have to be taken out of all that it tells;
    seconds on a clock that never jumps, a sleep of so many, and chance in [0, 1)."""

    secrets: Secrets
    monotonic: Callable[[], float]
    sleep: Callable[[float], None]
    jitter: Callable[[], float]


class ModelAdapter(Protocol):
    """One file of models/: `Fields` (an annotated NamedTuple) is its table in toolgate.toml. One that plays files of the home may also
    have `check(fields, home)`, what is wrong with them as (file, `core.fields.Defect`), and `plays(fields, home)`, each turn that it
    will answer with as `Played`; any may have `doubts(fields, home)`, as a provider."""

    Fields: type

    def complete(self, fields: object, home: str, request: TurnRequest, means: Means) -> Completion:
        """One answer; ToolgateError("failed") where there is none, which fails the step. One that is retryable says that nothing could be
        asked for want of something that a person has to give, and leaves the run where it is. Outside any transaction."""
        ...
