"""The tables of the two files, declared once: models, load checks, JSON Schema and values are all made from these.

A key that is not declared here (or in a plug-in's `Fields`) is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from ..core.fields import Between, Duration, Path, Pattern
from ..core.types import Decision, Effect, Json, ProbeName, Safety
from ..core.values import NamedTuple

Text = Annotated[str, Between(1, None)]
Seconds = Annotated[float, Duration()]
ANY_OBJECT = "any-object"  # in the place of a tool's schema


# ---- toolgate.toml ----
class Secret(NamedTuple):
    """A value that is never stored or shown; without `file` it is the environment variable of its name."""

    file: Text | None = None


class Gate(NamedTuple):
    timeout: Seconds = 30.0
    timeout_max: Seconds = 600.0
    path: Text = "/usr/local/bin:/usr/bin:/bin"


class Limits(NamedTuple):
    arguments_bytes: Annotated[int, Between(2, 16 * 1024 * 1024)] = 65536
    arguments_depth: Annotated[int, Between(1, 64)] = 64
    arguments_items: Annotated[int, Between(1, 1_000_000)] = 1000
    output_bytes: Annotated[int, Between(1, 256 * 1024 * 1024)] = 1048576
    calls_per_run: Annotated[int, Between(1, 1_000_000)] = 200


ExitCode = Annotated[int, Between(1, 599)]  # the tool's provider says which of these there are


class Exit(NamedTuple):
    not_dispatched: tuple[ExitCode, ...] = ()
    permanent: tuple[ExitCode, ...] = ()
    business: Mapping[str, Text] = {}
    confirm: ExitCode | None = None


class FailWhen(NamedTuple):
    """The operator stands beside these, as a key of its own."""

    at: str
    code: Text
    on_missing: Literal["fail", "ignore"] = "fail"


class TenantOf(NamedTuple):
    """One of both. `arg`: JSON pointer to the argument that says whose the resource is; `command`: the argv of one that prints it."""

    arg: Text | None = None
    command: tuple[Text, ...] | None = None


class Tool(NamedTuple):
    """The provider's table stands beside these, under the provider's name; `precheck` and `reconcile` are tables as of a command tool."""

    description: str = ""
    title: Text | None = None
    safety: Safety = "destructive"
    effect: Effect = "unsafe"
    timeout: Seconds | None = None
    max_attempts: Annotated[int, Between(1, 100)] = 1
    permission: Text | None = None
    enabled: bool = True
    input_schema: Json = None
    input_schema_file: Annotated[str, Path()] | None = None
    output_schema: Json = None
    exit: Exit = Exit()
    may_confirm: bool = False
    fail_when: tuple[Mapping[str, Json], ...] = ()
    tenant_of: TenantOf | None = None
    precheck: Mapping[str, Json] | None = None
    reconcile: Mapping[str, Json] | None = None


PROBES: tuple[ProbeName, ...] = ("precheck", "reconcile")  # of these keys the tables are read-only commands


class When(NamedTuple):
    """The operator stands beside it, as a key of its own."""

    arg: str


class Rule(NamedTuple):
    name: Text
    decision: Decision
    capability: Annotated[Text, Pattern("tool")] | None = None
    workflow: Text | None = None
    agent: Text | None = None
    safety: Safety | None = None
    effect: Effect | None = None
    principal: Text | None = None
    tenant: Text | None = None
    when: tuple[Mapping[str, Json], ...] = ()
    reason: Text | None = None
    approver_scope: Text | None = None
    approvals: Annotated[int, Between(1, 100)] = 1
    separate_requester: bool = False
    expires_in: Seconds | None = None
    on_expiry: Literal["stay", "reject"] = "stay"


class Policy(NamedTuple):
    default: Decision = "require_approval"
    rules: tuple[Mapping[str, Json], ...] = ()


class Identity(NamedTuple):
    mode: Literal["declared", "os"] = "declared"


class Tenant(NamedTuple):
    issuer: Text
    id: Text


class Principal(NamedTuple):
    issuer: Text = "os"


class Budget(NamedTuple):
    """Of one run."""

    calls: Annotated[int, Between(1, 1_000_000)] | None = None
    tokens: Annotated[int, Between(1, 1_000_000_000)] | None = None


class Context(NamedTuple):
    permissions: Mapping[str, tuple[Text, ...]] = {}
    tenant: Tenant | None = None
    principal: Principal = Principal()
    deadline: Seconds | None = None
    budget: Budget = Budget()
    correlation: Text | None = None


class Adapter(NamedTuple):
    """What every model's table has; the adapter's own `Fields` stand beside it."""

    adapter: Text


COMMANDS = ("set_context", "tool_invocation", "ask", "say", "escalate", "continue", "complete")
Command = Literal["set_context", "tool_invocation", "ask", "say", "escalate", "continue", "complete"]


class Selection(NamedTuple):
    """Which of its tools an agent is shown, where they are more than `max_tools`; it is no authorisation."""

    selector: Text
    max_tools: Annotated[int, Between(1, 1000)] = 20
    always_include: tuple[Annotated[Text, Pattern("tool")], ...] = ()
    on_failure: Literal["throw", "always_include", "all"] = "throw"
    accept_fail_open: bool = False


class Agent(NamedTuple):
    model: Text
    tools: tuple[Annotated[Text, Pattern("tool")], ...] = ()
    prompt: Text | None = None
    prompt_file: Annotated[str, Path()] | None = None
    max_turns: Annotated[int, Between(1, 1000)] = 8
    commands: tuple[Command, ...] = COMMANDS  # type: ignore[assignment]  # the same words
    under: Text | None = None
    selection: Selection | None = None


class Operator(NamedTuple):
    """The whole of toolgate.toml; what is declared as bare tables here is checked one by one."""

    schema: Literal[1]
    gate: Mapping[str, Json] = {}
    limits: Mapping[str, Json] = {}
    secrets: Mapping[str, Secret] = {}
    tools: Mapping[str, Mapping[str, Json]] = {}
    mcp: Mapping[str, Mapping[str, Json]] = {}
    policy: Mapping[str, Json] = {}
    approvers: Mapping[str, tuple[Text, ...]] = {}
    identity: Mapping[str, Json] = {}
    context: Mapping[str, Json] | None = None
    models: Mapping[str, Mapping[str, Json]] = {}
    agents: Mapping[str, Mapping[str, Json]] = {}


# ---- a workflow ----
CONDITIONS = "if"  # a list of conditions; no field of `Common`, for it is a word of Python


class Common(NamedTuple):
    """What every kind of step has; `if` and the kind's own `Fields` stand beside these."""

    id: Text
    type: Text
    title: Text | None = None
    gate: Literal["none", "review", "approval"] = "none"


ItemType = Literal["TEXT", "TEXT_AREA", "SINGLE_CHOICE", "MULTI_CHOICE", "BOOLEAN", "NUMBER", "DATE"]


class Item(NamedTuple):
    """One question of a form."""

    id: Text
    type: ItemType
    label: Text | None = None
    required: bool = False
    options: tuple[Text, ...] = ()


class Workflow(NamedTuple):
    schema: Literal[1]
    id: Text
    steps: tuple[Mapping[str, Json], ...]
    title: Text | None = None
    inputs: Mapping[str, Mapping[str, Json]] = {}
    blocks: Mapping[str, tuple[Mapping[str, Json], ...]] = {}
    forms: Mapping[str, tuple[Mapping[str, Json], ...]] = {}
