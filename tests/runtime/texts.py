"""The files of a test's home, as text: tools, rules, agents and workflows, one line each."""

from __future__ import annotations

import json


def tool(name: str, effect: str = "unsafe", attempts: int = 1, schema: str = '"any-object"', more: str = "", about: str = "") -> str:
    safety = "read_only" if effect == "read_only" else "write"
    return (
        f'[tools."{name}"]\ndescription = "{about or name}"\nsafety = "{safety}"\neffect = "{effect}"\nmax_attempts = {attempts}\n'
        f'timeout = "5s"\ninput_schema = {schema}\n{more}\n[tools."{name}".command]\nargv = ["true"]\n'
        f'[tools."{name}".exit]\npermanent = [64]\nbusiness = {{ 3 = "DECLINED" }}\n'
    )


def rule(capability: str, decision: str, more: str = "") -> str:
    name = capability.replace("*", "all").replace(".", "-")
    return f'[[policy.rules]]\nname = "{name}-{decision.replace("_", "-")}"\ncapability = "{capability}"\ndecision = "{decision}"\n{more}\n'


AGENT = """
[models.default]
adapter = "scripted"
script = "script.toml"
[agents.clerk]
model = "default"
prompt = "be brief"
tools = ["free.*", "ask.*", "deny.*", "late.*", "gone.*", "two.*", "idem.*"]
max_turns = 5
"""
SCRIPT = "schema = 1\n"
APPROVERS = '[approvers]\ndesk = ["alice", "bob", "carol"]\n'
HEAD = 'schema = 1\n[limits]\narguments_bytes = 1000\ncalls_per_run = 200\n[policy]\ndefault = "require_approval"\n'

TOOLS: dict[str, str] = {
    "free.send": tool("free.send"),
    "ask.send": tool("ask.send"),
    "deny.send": tool("deny.send"),
    "late.send": tool("late.send"),
    "gone.send": tool("gone.send"),
    "two.send": tool("two.send"),
    "half.send": tool("half.send", more="may_confirm = true").replace(".exit]\n", ".exit]\nconfirm = 70\n"),
    "idem.put": tool("idem.put", "idempotent", 3),
    "read.it": tool("read.it", "read_only", 3),
    "unsafe.put": tool("unsafe.put", "unsafe", 3),
}
RULES: dict[str, str] = {
    "free": rule("free.*", "allow"),
    "deny": rule("deny.*", "deny", 'reason = "by hand only"'),
    "late": rule("late.*", "require_approval", 'expires_in = "1h"'),
    "gone": rule("gone.*", "require_approval", 'expires_in = "1h"\non_expiry = "reject"'),
    "half": rule("half.*", "require_approval", 'expires_in = "1h"'),
    "two": rule("two.*", "require_approval", 'approver_scope = "desk"\napprovals = 2\nseparate_requester = true'),
    "idem": rule("idem.*", "allow"),
    "read": rule("read.*", "allow"),
    "unsafe": rule("unsafe.*", "allow"),
}


def operator(tools: dict[str, str] | None = None, rules: dict[str, str] | None = None, head: str = HEAD, more: str = "") -> str:
    """toolgate.toml; `tools` and `rules` replace or add by name, "" takes one away."""
    parts = [head, *{**RULES, **(rules or {})}.values(), *{**TOOLS, **(tools or {})}.values(), APPROVERS, AGENT, more]
    return "\n".join(parts)


def step(id: str, type: str, **fields: object) -> dict[str, object]:
    return {"id": id, "type": type, **fields}


def uses(id: str, tool: str, **fields: object) -> dict[str, object]:
    """A tool step that passes the input `text` on."""
    return step(id, "tool", tool=tool, arguments={"text": "${inputs.text}"}, **fields)


AFTER = step("after", "assign", set={"after": "yes"})


def flow(id: str, *steps: dict[str, object], blocks: dict[str, list[dict[str, object]]] | None = None, more: str = "") -> str:
    lines = [f'schema = 1\nid = "{id}"\n[inputs.text]\ntype = "string"\ndefault = "hi"\n{more}']
    for name, sequence in {"": list(steps), **(blocks or {})}.items():
        for table in sequence:
            lines.append(f"[[{f'blocks.{name}' if name else 'steps'}]]")
            lines += [f"{key} = {_inline(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _inline(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_inline(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return json.dumps(value)


FORM = '[[forms.ship]]\nid = "street"\ntype = "TEXT"\nlabel = "Street"\nrequired = true\n'
FLOWS: dict[str, str] = {
    **{name: flow(name, uses("s", f"{name}.send"), AFTER) for name in ("free", "ask", "deny", "late", "gone", "two", "half")},
    "idem": flow("idem", uses("s", "idem.put"), AFTER),
    "read": flow("read", uses("s", "read.it"), AFTER),
    "unsafe": flow("unsafe", uses("s", "unsafe.put"), AFTER),
    "gate": flow("gate", uses("s", "free.send", gate="approval"), AFTER),
    "review": flow("review", uses("s", "free.send", gate="review"), AFTER),
    "form": flow("form", step("s", "input", form="ship"), AFTER, more=FORM),
    "talk": flow("talk", step("s", "agent", agent="clerk", writes=["*"]), AFTER),
    "lacks": flow("lacks", step("s", "validate", require={"files": ["no.txt"]}), AFTER),
    "fails": flow("fails", step("s", "fail", reason="enough"), AFTER),
    "pauses": flow("pauses", step("s", "fail", reason="pause here"), AFTER),
    "breaks": flow("breaks", step("s", "fail", reason="break here"), AFTER),
}
