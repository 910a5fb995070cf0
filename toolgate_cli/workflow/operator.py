"""toolgate.toml as values, defaults included: built in one way, from a file that was checked now and from one that is remembered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ..core import canonical, config, references
from ..core.conditions import condition
from ..core.digests import sha256
from ..core.tables import table
from ..core.types import Decision, Json, ProbeName
from . import shapes
from .kinds import Kinds
from .outside import Outside
from .reading import Table
from .servers import SECTION


def build(raw: Table, digest: str, kinds: Kinds, outside: Outside) -> config.Config:
    """`digest`: of the file's bytes. Where the tables were not checked, whatever does not fit raises KeyError, TypeError or ValueError."""
    gates = gate(raw)
    identity: shapes.Identity = table(shapes.Identity, _tables(raw, "identity"))
    limits: shapes.Limits = table(shapes.Limits, _tables(raw, "limits"))
    return config.Config(
        digest=digest,
        tools={name: _tool(name, held, gates, kinds, outside) for name, held in _each(raw, "tools")},
        policy=_policy(_tables(raw, "policy")),
        agents={name: _agent(name, held, outside) for name, held in _each(raw, "agents")},
        models={name: _model(name, held, kinds) for name, held in _each(raw, "models")},
        approvers={scope: tuple(cast("list[str]", people)) for scope, people in _tables(raw, "approvers").items()},
        identity=identity.mode,
        context=_context(raw),
        limits=config.Limits(*limits),
        path=gates.path,
        secrets=secrets(raw, kinds),
        timeout=gates.timeout,
        servers=tuple(name for name, _ in _each(raw, SECTION)),
    )


def gate(raw: Table) -> shapes.Gate:
    made: shapes.Gate = table(shapes.Gate, _tables(raw, "gate"))
    return made


def _tool(name: str, raw: Table, gate: shapes.Gate, kinds: Kinds, outside: Outside) -> config.Tool:
    made: shapes.Tool = table(shapes.Tool, raw)
    [provider] = [known for known in kinds.providers() if known in raw]
    own = cast(Table, raw[provider])
    schema, asked = _schema(made, outside), _probes(raw)
    tool = config.Tool(
        capability=name,
        description=made.description,
        title=made.title,
        safety=made.safety,
        effect=made.effect,
        timeout=gate.timeout if made.timeout is None else made.timeout,
        max_attempts=made.max_attempts,
        permission=made.permission,
        enabled=made.enabled,
        schema=schema,
        schema_digest=sha256(canonical.encode(schema)),
        provider=provider,
        fields=table(kinds.provider(provider).Fields, own),
        exit=_exit(made.exit),
        fail_when=tuple(map(_fail_when, made.fail_when)),
        declared=None,
        secrets=references.secrets([own, *asked.values()]),
        tenant_of=None if made.tenant_of is None else made.tenant_of.arg,
        output_schema=made.output_schema,
        probes={name: table(kinds.provider(config.PROBER).Fields, held) for name, held in asked.items()},
    )
    return tool._replace(declared=_declared(tool, own, asked))


def _declared(tool: config.Tool, own: Table, asked: Mapping[ProbeName, dict[str, Json]]) -> Json:
    """What the definition digest covers of this file: what a person decides on. `own`: the provider's table; `asked`: the probes'."""
    exits = tool.exit
    asks: dict[str, Json] = {} if exits.confirm is None else {"confirm": exits.confirm}
    return {
        "provider": tool.provider,
        "table": own,
        "schema": tool.schema,
        "description": tool.description,
        "safety": tool.safety,
        "effect": tool.effect,
        "exit": {
            "not_dispatched": list(exits.not_dispatched),
            "permanent": list(exits.permanent),
            "business": {str(code): word for code, word in exits.business.items()},
            **asks,
        },
        "fail_when": [[*failure.condition, failure.code, failure.on_missing] for failure in tool.fail_when],
        **({} if tool.output_schema is None else {"output_schema": tool.output_schema}),
        **{str(name): held for name, held in asked.items()},
    }


def _exit(made: shapes.Exit) -> config.ExitRules:
    return config.ExitRules(made.not_dispatched, made.permanent, {int(code): word for code, word in made.business.items()}, made.confirm)


def _probes(raw: Mapping[str, Json]) -> dict[ProbeName, dict[str, Json]]:
    """The tables of a tool's read-only commands, each as that of a command tool."""
    named: dict[ProbeName, Json] = {name: raw.get(name) for name in shapes.PROBES}
    tenant_of = raw.get("tenant_of")
    if isinstance(tenant_of, dict) and "command" in tenant_of:
        named["tenant_of"] = {"argv": tenant_of["command"]}
    return {name: held for name, held in named.items() if isinstance(held, dict)}


def _schema(made: shapes.Tool, outside: Outside) -> Json:
    """The schema, or True for any object. A tool that has none is refused: it is never open by accident."""
    if made.input_schema_file is not None:
        return canonical.parse(outside.text(made.input_schema_file))
    if made.input_schema is None:
        raise ValueError("a tool without a schema")
    return True if made.input_schema == "any-object" else made.input_schema


def _fail_when(raw: Mapping[str, Json]) -> config.FailWhen:
    own: shapes.FailWhen = table(shapes.FailWhen, raw)
    return config.FailWhen(condition(raw, "at"), own.code, own.on_missing)


def _policy(raw: Table) -> config.Policy:
    rules = cast("list[Table]", raw.get("rules", []))
    default = cast("Decision", raw.get("default", "require_approval"))
    return config.Policy(default, tuple(map(_rule, rules)))


def _rule(raw: Table) -> config.Rule:
    made: shapes.Rule = table(shapes.Rule, raw)
    values: dict[str, Any] = {**made._asdict(), "when": tuple(condition(entry, "arg") for entry in made.when)}
    return config.Rule(**values)


def _agent(name: str, raw: Table, outside: Outside) -> config.Agent:
    made: shapes.Agent = table(shapes.Agent, raw)
    prompt = outside.text(made.prompt_file) if made.prompt_file is not None else made.prompt or ""
    return config.Agent(name, made.model, prompt, made.tools, made.max_turns, made.commands, made.under, _selection(made.selection))


def _selection(made: shapes.Selection | None) -> config.Selection | None:
    return made and config.Selection(made.selector, made.max_tools, made.always_include, made.on_failure)


def _model(name: str, raw: Table, kinds: Kinds) -> config.Model:
    adapter = str(raw["adapter"])
    return config.Model(name, adapter, table(kinds.model(adapter).Fields, raw))


def secrets(raw: Table, kinds: Kinds) -> dict[str, str | None]:
    """Those that are declared, and those that a tool or a model refers to."""
    declared = {name: table(shapes.Secret, held).file for name, held in _each(raw, "secrets")}
    tables: list[Json] = [tool.get(name) for _, tool in _each(raw, "tools") for name in (*kinds.providers(), *shapes.PROBES)]
    tables += [table for section in ("models", SECTION) for _, table in _each(raw, section)]
    return dict.fromkeys(references.secrets(tables)) | declared


def _context(raw: Table) -> config.Context | None:
    if "context" not in raw:
        return None
    made: shapes.Context = table(shapes.Context, _tables(raw, "context"))
    tenant = None if made.tenant is None else config.Tenant(*made.tenant)
    return config.Context(
        dict(made.permissions), tenant, made.principal.issuer, made.deadline, made.budget.calls, made.budget.tokens, made.correlation
    )


def _tables(raw: Table, name: str) -> Table:
    held = raw.get(name, {})
    if not isinstance(held, dict):
        raise TypeError("a table was expected")
    return held


def _each(raw: Table, name: str) -> list[tuple[str, Table]]:
    return [(key, cast(Table, held)) for key, held in _tables(raw, name).items()]
