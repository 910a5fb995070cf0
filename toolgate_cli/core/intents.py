"""What a step wants next. A step kind is pure: `plan(fields, view) -> Intent`; the engine carries it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeAlias

from .config import Agent
from .records import Outcome, Turn
from .types import Json, Provenance
from .values import NamedTuple


class Asked(NamedTuple):
    """One tool call that is wanted. `arguments`: a value, or the raw JSON text that a model sent."""

    capability: str
    arguments: Json
    rationale: str | None = None
    label: str | None = None
    agent: str | None = None
    raw: bool = False  # `arguments` is JSON text, to be parsed strictly
    id: str | None = None  # the id that was minted with the turn; None: one is minted now


class Write(NamedTuple):
    """A context value; `call_id` instead of a value: it is read from that call's outcome."""

    key: str
    value: Json
    provenance: Provenance
    call_id: str | None = None


Signal = Literal["continue", "complete"]  # what an agent says to the loop that it is in: another round, or no more


# ---- what a step wants ----
class Done(NamedTuple):
    """The step is finished. `then`: `end` leaves the rest of this sequence out. `event`: a word for the log, e.g. the arm that was
    chosen. `signal`: its last word to the innermost loop around it, if it said one."""

    output: Json = None
    writes: tuple[Write, ...] = ()
    then: Literal["next", "end"] = "next"
    event: Mapping[str, Json] | None = None
    signal: Signal | None = None


class Fail(NamedTuple):
    """The run ends FAILED with this reason; what was written on the way is kept. `always`: it rests on the definition and the context
    alone (the engine says so, no step), so it would come of every repetition."""

    reason: str
    writes: tuple[Write, ...] = ()
    always: bool = False


class CallTools(NamedTuple):
    """A batch: all are judged and stored together; the step is planned again when all are settled. `wary`: allow counts as
    require_approval."""

    calls: tuple[Asked, ...]
    memo: Mapping[str, Json] = {}
    wary: bool = False
    writes: tuple[Write, ...] = ()


class AskModel(NamedTuple):
    """One call of a model, outside any transaction; the step is planned again with the stored turn."""

    agent: str
    prompt: str
    reads: tuple[str, ...]
    memo: Mapping[str, Json] = {}
    first: int = 0  # number of the first turn of this conversation
    writes: tuple[Write, ...] = ()
    heard: tuple[
        tuple[int, str], ...
    ] = ()  # what people said in it: number of the turn, answers or note as JSON text; shown after its results
    keys: tuple[str, ...] = ()  # of the context, that `set_context` may write; "*" = any
    commands: tuple[str, ...] = ()  # the only ones that the turn may hold; (): those of the agent
    refused: tuple[int, ...] = ()  # numbers of the turns that were refused: they are no part of the conversation
    corrects: str | None = None  # why the last turn was refused: this call is its one correction


class AskPerson(NamedTuple):
    """Parks an INPUT row: `form` is a list of items; the step is planned again with the checked answers."""

    form: Json
    reason: str | None = None
    memo: Mapping[str, Json] = {}
    writes: tuple[Write, ...] = ()


class Escalate(NamedTuple):
    """Parks an ESCALATION row."""

    reason: str
    memo: Mapping[str, Json] = {}
    writes: tuple[Write, ...] = ()


class Enter(NamedTuple):
    """Runs a named block inside this step; the step is planned again with `Ended` when the block came to its end. `copy`: a list as
    canonical JSON, to be kept under its digest."""

    block: str
    iteration: int = 0  # 0: not a loop
    memo: Mapping[str, Json] = {}
    writes: tuple[Write, ...] = ()
    copy: str | None = None


class FillInputs(NamedTuple):
    """Checks what is given to another workflow against its inputs, outside any transaction, as for a start; the step is planned again with
    `Filled`, or fails."""

    workflow: str
    given: Mapping[str, Json]


class Nest(NamedTuple):
    """Runs another workflow of the bundle inside this step, which is planned again with `Ended`. `inputs` as they were filled;
    `shared`: it has no context of its own."""

    workflow: str
    inputs: Mapping[str, Json] = {}
    shared: bool = False


class Replay(NamedTuple):
    """Runs an earlier step of this sequence again, or all `from` it to this one, if a unit is left of the budget: `most` replays in a run,
    and what the step itself allows. Then this one is planned again with `Ended`. `otherwise`: the block to run after `most` replays; None:
    the step fails then."""

    step: str
    mode: Literal["single", "from"]
    most: int
    otherwise: str | None = None


class Pause(NamedTuple):
    """The run pauses; `continue` plans the step again with `Continued`."""

    reason: str
    memo: Mapping[str, Json] = {}


class Look(NamedTuple):
    """One thing to look at: a `file` of the home, or where that is None a `value`. `want`: the file's `text`; the `json` value at the
    pointer `at`; whether anything but blanks is in it, `filled`; or the `problems` by which the value at `at` breaks the JSON Schema."""

    file: str | None
    want: Literal["text", "json", "filled", "problems"]
    at: str = ""
    schema: Json = True
    value: Json = None


class Observe(NamedTuple):
    """Looks at what is outside, or costs too much, for a transaction: it only reads. The step is planned again with what was `Observed`."""

    looks: tuple[Look, ...]
    memo: Mapping[str, Json] = {}


Intent: TypeAlias = Done | Fail | CallTools | AskModel | AskPerson | Escalate | Enter | FillInputs | Nest | Replay | Observe | Pause


# ---- what has come in since the step was planned last ----
class Settled(NamedTuple):
    """Every call of the batch, in the order it was asked in, with its outcome; `capabilities` in the same order. `wary`: allow counts as
    require_approval for the rest of the turn, whatever the outcomes say."""

    outcomes: tuple[Outcome, ...]
    capabilities: tuple[str, ...]
    wary: bool = False


class Answered(NamedTuple):
    """Checked answers of a form."""

    values: Mapping[str, Json]


class Noted(NamedTuple):
    """An escalation that a person let pass, with a note."""

    note: str


class Ended(NamedTuple):
    """What was entered came to its end. `signal`: the last word of its agents, None where none of them said one; `cut`: it was a replay,
    and a step in it said `end` for the sequence."""

    iteration: int
    signal: Signal | None = None
    cut: bool = False


class Filled(NamedTuple):
    """The inputs of another workflow, checked, defaults included."""

    values: Mapping[str, Json]


class Continued(NamedTuple):
    """A person continued a paused run."""


class Finding(NamedTuple):
    """What came of a look; `error`: why there is nothing, with the name of the file."""

    value: Json = None
    error: str | None = None


class Observed(NamedTuple):
    """What came of every look, in the order in which they were asked for."""

    findings: tuple[Finding, ...]


Arrived: TypeAlias = Settled | Turn | Answered | Noted | Ended | Filled | Observed | Continued | None


class View(Protocol):
    """What a step may look at while it plans: nothing here writes."""

    @property
    def arrived(self) -> Arrived: ...
    @property
    def memo(self) -> Mapping[str, Json]: ...
    def value(self, key: str) -> Json:
        """A context value, or the output of a step (`steps.PATH`); raises KeyError where there is none."""
        ...

    def provenance(self, key: str) -> Provenance:
        """Where the value of a key came from; raises KeyError where the key is absent."""
        ...

    def inner(self, key: str) -> tuple[Json, Provenance]:
        """A context value of the workflow that ran inside this step; raises KeyError where the key is absent."""
        ...

    def copied(self, digest: str) -> Sequence[Json]:
        """A list that was kept by `Enter.copy`."""
        ...

    def fill(self, template: Json) -> Json:
        """Fills the references; raises ToolgateError("invalid") naming the one that cannot be filled."""
        ...

    def form(self, name: str) -> Json:
        """The items of a form of the running workflow."""
        ...

    def agent(self, name: str) -> Agent:
        """An agent of toolgate.toml; raises ToolgateError("invalid") if it is gone."""
        ...

    def turns(self) -> int:
        """How many turns this step has had in this run, all visits together."""
        ...
