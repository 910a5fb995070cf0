"""The operator's file as values: tools, policy, agents, models, and who may decide. Built from the files on every command, never from
the database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from .types import Decision, Effect, Json, ProbeName, Safety
from .values import NamedTuple

PROBER = "command"  # the provider of every probe
Identity = Literal["declared", "os"]  # who the actor may say to be


class ExitRules(NamedTuple):
    """Declared exit codes; every other non-zero code means that the tool itself answered "failed". `confirm`: it stopped half-way with a
    question, and is started again with the answer."""

    not_dispatched: tuple[int, ...] = ()
    permanent: tuple[int, ...] = ()
    business: Mapping[int, str] = {}
    confirm: int | None = None


class Condition(NamedTuple):
    """One test of a value at a JSON pointer; `op` is one of `conditions.OPERATORS`."""

    at: str
    op: str
    value: Json


class FailWhen(NamedTuple):
    """A business failure that is read from a result; on_missing: what an absent pointer means."""

    condition: Condition
    code: str
    on_missing: Literal["fail", "ignore"] = "fail"


class Tool(NamedTuple):
    """One capability. `fields` is the provider's own table (its `Fields`); `declared` is what the definition digest covers of this file;
    `secrets`: the names of those that its tables refer to; `probes`: the tables of its read-only commands."""

    capability: str
    description: str
    title: str | None
    safety: Safety
    effect: Effect
    timeout: float  # seconds, of one attempt
    max_attempts: int
    permission: str | None
    enabled: bool
    schema: Json  # JSON Schema, or True for "any-object"
    schema_digest: str
    provider: str
    fields: object
    exit: ExitRules
    fail_when: tuple[FailWhen, ...]
    declared: Json
    secrets: tuple[str, ...] = ()
    tenant_of: str | None = None  # JSON pointer to the argument that says whose the resource is
    output_schema: Json = None  # JSON Schema that a result is to keep; one that does not is marked
    probes: Mapping[ProbeName, object] = {}

    @property
    def of_a_tenant(self) -> bool:
        """Whether its resources are somebody's."""
        return self.tenant_of is not None or "tenant_of" in self.probes


class Rule(NamedTuple):
    """One rule of the policy; None matches everything. Patterns: `*` within a segment, `**` across segments."""

    name: str
    decision: Decision
    capability: str | None = None
    workflow: str | None = None
    agent: str | None = None
    safety: Safety | None = None
    effect: Effect | None = None
    principal: str | None = None
    tenant: str | None = None
    when: tuple[Condition, ...] = ()
    reason: str | None = None
    approver_scope: str | None = None
    approvals: int = 1
    separate_requester: bool = False
    expires_in: float | None = None  # seconds
    on_expiry: Literal["stay", "reject"] = "stay"


class Policy(NamedTuple):
    default: Decision = "require_approval"
    rules: tuple[Rule, ...] = ()


class Selection(NamedTuple):
    """Of what an agent may call, the model `selector` chooses `max_tools` to be shown beside those that match `always_include`;
    `on_failure`: what counts where it does not."""

    selector: str
    max_tools: int
    always_include: tuple[str, ...]
    on_failure: Literal["throw", "always_include", "all"]


class Agent(NamedTuple):
    """`tools`: patterns of what it may call, the one list for what it is shown and what may run; `under`: the agent above it, whose list
    holds for it too; `selection`: how it is shown fewer of them."""

    name: str
    model: str
    prompt: str
    tools: tuple[str, ...]
    max_turns: int
    commands: tuple[str, ...]
    under: str | None = None
    selection: Selection | None = None


class Model(NamedTuple):
    """`fields` is the adapter's own table (its `Fields`)."""

    name: str
    adapter: str
    fields: object


class Tenant(NamedTuple):
    """Two are the same only if both parts are: an id means something to its issuer alone."""

    issuer: str
    id: str


class Context(NamedTuple):
    """The trusted execution context, the operator's alone. `permissions`: principal, or "*" for everybody, -> exact names; `issuer`: who
    vouches for the principal; `deadline`: seconds, of a run from its start; `calls` and `tokens`: budget of a run; `correlation`: may refer
    to the environment."""

    permissions: Mapping[str, tuple[str, ...]] = {}
    tenant: Tenant | None = None
    issuer: str = "os"
    deadline: float | None = None
    calls: int | None = None
    tokens: int | None = None
    correlation: str | None = None


class Limits(NamedTuple):
    arguments_bytes: int = 65536
    arguments_depth: int = 64
    arguments_items: int = 1000
    output_bytes: int = 1048576
    calls_per_run: int = 200


class Config(NamedTuple):
    """Everything that `toolgate.toml` says. `digest` is of the file's bytes, hex; `context` is None where none is declared;
    `secrets`: name -> its file, or None for the environment variable of that name."""

    digest: str
    tools: Mapping[str, Tool]
    policy: Policy
    agents: Mapping[str, Agent]
    models: Mapping[str, Model]
    approvers: Mapping[str, tuple[str, ...]]
    identity: Identity
    context: Context | None
    limits: Limits
    path: str  # where command tools are looked up
    secrets: Mapping[str, str | None] = {}
    timeout: float = 30.0  # seconds: of a call whose tool says none, and of what is asked of a server outside of any call
    servers: tuple[str, ...] = ()  # whose tools are pinned, each the first segment of their names
