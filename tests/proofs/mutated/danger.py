"""A home that keeps twenty dangerous calls from running, and the gate's own verdict on each of them."""

# ruff: noqa: E501 - files are read by the line

from __future__ import annotations

import json
import shutil
import sys
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from toolgate_cli import plugins
from toolgate_cli.core import canonical
from toolgate_cli.core.digests import sha256
from toolgate_cli.core.records import Accepted, Call
from toolgate_cli.core.subschemas import Draft
from toolgate_cli.core.types import Json
from toolgate_cli.core.verdict import Park, Question, Start, evaluate
from toolgate_cli.core.world import Needs, World
from toolgate_cli.workflow.checks import schemas
from toolgate_cli.workflow.files import HomeFiles
from toolgate_cli.workflow.issues import Issue, Issues
from toolgate_cli.workflow.kinds import Kinds
from toolgate_cli.workflow.positions import KeyPath

EXAMPLE = Path(__file__).resolve().parents[3] / "workflows.example"
KINDS = Kinds(plugins.providers, plugins.provider, plugins.step_kinds, plugins.step_kind, plugins.models, plugins.model)

OPERATOR = """schema = 1
[gate]
timeout = "30s"

[tools."ledger.pay"]
description = "Pay money."
title = "Pay ${args.amount} to ${args.to}"
safety = "write"
effect = "unsafe"
timeout = "10s"
permission = "ledger:pay"
input_schema_file = "pay.schema.json"
[tools."ledger.pay".command]
argv = ["PYTHON", "pay.py", "--", "${args.to}"]
[tools."ledger.pay".exit]
permanent = [64, 65]
business = { 3 = "DECLINED" }

[tools."ledger.show"]
safety = "read_only"
effect = "read_only"
input_schema = "any-object"
[tools."ledger.show".command]
argv = ["true"]

[tools."files.write"]
safety = "write"
effect = "idempotent"
max_attempts = 2
input_schema = { type = "object", required = ["path"], additionalProperties = false, properties = { path = { type = "string", maxLength = 60 }, mode = { type = "string", enum = ["new", "over"], default = "over" } } }
[tools."files.write".command]
argv = ["true", "--", "${args.path}"]

[tools."files.wipe"]
input_schema = "any-object"
enabled = false
[tools."files.wipe".command]
argv = ["true"]

[policy]
default = "require_approval"
[[policy.rules]]
name = "reads"
safety = "read_only"
decision = "allow"
[[policy.rules]]
name = "long lists"
capability = "ledger.show"
when = [{ arg = "/limit", gt = 100 }]
decision = "require_approval"
[[policy.rules]]
name = "small"
capability = "ledger.pay"
workflow = "pay"
when = [{ arg = "/amount", le = 20 }, { arg = "/to", matches = "^[a-c]" }]
decision = "allow"
[[policy.rules]]
name = "big"
capability = "ledger.*"
when = [{ arg = "/amount", gt = 500 }]
decision = "require_approval"
reason = "over 500"
approver_scope = "desk"
approvals = 2
separate_requester = true
expires_in = "4h"
on_expiry = "reject"
[[policy.rules]]
name = "huge"
capability = "ledger.pay"
when = [{ arg = "/amount", ge = 10000 }]
decision = "deny"
[[policy.rules]]
name = "never"
capability = "ledger.pay"
principal = "mallory"
decision = "deny"
reason = "not for mallory"
[[policy.rules]]
name = "drafts"
capability = "files.write"
when = [{ arg = "/path", glob = "drafts/*" }, { arg = "/mode", eq = "new" }]
decision = "allow"
[[policy.rules]]
name = "keys"
capability = "files.**"
when = [{ arg = "/path", glob = "**.key" }]
decision = "deny"
[[policy.rules]]
name = "robots"
agent = "clerk"
effect = "unsafe"
decision = "require_approval"
approver_scope = "desk"

[approvers]
desk = ["alice", "bob", "carol"]

[identity]
mode = "declared"

[context]
permissions = { alice = ["ledger:pay"], mallory = ["ledger:pay"] }

[models.default]
adapter = "scripted"
script = "script.toml"

[agents.clerk]
model = "default"
prompt_file = "clerk.md"
tools = ["ledger.*"]
max_turns = 3
"""
SCHEMA = """{
  "type": "object",
  "required": ["to", "amount"],
  "additionalProperties": false,
  "properties": {
    "to": {"type": "string", "minLength": 1, "maxLength": 40},
    "amount": {"type": "number", "exclusiveMinimum": 0},
    "note": {"type": "string"}
  }
}
"""
FLOW = """schema = 1
id = "pay"
title = "Pay somebody"
[inputs.amount]
type = "number"
default = 20
[[steps]]
id = "decide"
type = "agent"
agent = "clerk"
writes = ["decision"]
gate = "approval"
[[steps]]
id = "route"
type = "branch"
on = "decision"
arms = { pay = "paying", keep = "end", "" = "fail" }
[[steps]]
id = "ask"
type = "input"
form = "address"
writes = ["street"]
[[blocks.paying]]
id = "issue"
type = "tool"
tool = "ledger.pay"
arguments = { to = "ann", amount = "${inputs.amount}" }
[[forms.address]]
id = "street"
type = "TEXT"
label = "Street"
required = true
"""
SCRIPT = """schema = 1
[[turns]]
workflow = "pay"
ordinal = 0
commands = [
  { type = "tool_invocation", capability = "ledger.pay", arguments = { to = "bob", amount = 3 }, rationale = "owed" },
  { type = "set_context", values = { decision = "pay" } },
  { type = "complete", output = "done" },
]
"""
FILES = {
    "toolgate.toml": OPERATOR.replace("PYTHON", sys.executable),
    "pay.schema.json": SCHEMA,
    "pay.toml": FLOW,
    "script.toml": SCRIPT,
    "clerk.md": "be careful\n",
    "pay.py": "import sys\nprint(len(sys.argv))\n",
}


class Asked(NamedTuple):
    """A call as it comes to the gate for the first time."""

    capability: str
    arguments: dict[str, Json]
    principal: str = "alice"
    agent: str | None = None
    workflow: str = "pay"


CALLS = (
    Asked("ledger.pay", {"to": "ann", "amount": 21}),
    Asked("ledger.pay", {"to": "dan", "amount": 5}),
    Asked("ledger.pay", {"to": "ann", "amount": 5}, workflow="other"),
    Asked("ledger.pay", {"to": "ann", "amount": 5}, agent="clerk"),
    Asked("ledger.pay", {"to": "ann", "amount": 5}, agent="stranger"),
    Asked("ledger.pay", {"to": "ann", "amount": 501}),
    Asked("ledger.pay", {"to": "ann", "amount": 900.5}, agent="clerk"),
    Asked("ledger.pay", {"to": "ann", "amount": 10000}),
    Asked("ledger.pay", {"to": "ann", "amount": 5}, principal="mallory"),
    Asked("ledger.pay", {"to": "ann", "amount": 5}, principal="eve"),
    Asked("ledger.pay", {"to": "ann", "amount": "5"}),
    Asked("ledger.pay", {"to": "ann", "amount": 5, "extra": 1}),
    Asked("ledger.pay", {"to": "", "amount": 5}),
    Asked("ledger.show", {"limit": "900"}),
    Asked("ledger.payall", {"to": "ann", "amount": 5}),
    Asked("files.write", {"path": "drafts/a"}),
    Asked("files.write", {"path": "drafts/a/b", "mode": "new"}),
    Asked("files.write", {"path": "drafts/id.key", "mode": "new"}),
    Asked("files.write", {"path": "drafts/a", "mode": "new"}, agent="clerk"),
    Asked("files.wipe", {}),
)


class Stand(NamedTuple):
    """How strictly a call is held: 0 it runs, 1 a person is asked (so many, of a scope, another than who asked), 2 it does not run."""

    level: int
    approvals: int = 0
    scoped: bool = False
    separate: bool = False

    def looser_than(self, other: Stand) -> bool:
        return self.level < other.level or (
            self.level == other.level == 1
            and (self.approvals < other.approvals or self.scoped < other.scoped or self.separate < other.separate)
        )


def make(home: Path) -> Path:
    home.mkdir(parents=True, exist_ok=True)
    for name, text in FILES.items():
        (home / name).write_text(text)
    return home


def example(home: Path) -> Path:
    """The example of the README."""
    shutil.copytree(EXAMPLE, home, ignore=shutil.ignore_patterns(".toolgate", "repository", "__pycache__"))
    return home


def files(home: Path) -> HomeFiles:
    return HomeFiles(str(home), KINDS, _never)


@lru_cache(maxsize=2000)
def _drafted(text: str, dialect: Draft) -> tuple[Issue, ...]:
    issues = Issues()
    _draft(json.loads(text), dialect, (), issues)
    return tuple(issues.errors)


def _remembering(schema: dict[str, Json], dialect: Draft, path: KeyPath, issues: Issues) -> None:
    try:
        text = json.dumps(schema)
    except TypeError:  # a date
        _draft(schema, dialect, path, issues)
        return
    for issue in _drafted(text, dialect):
        issues.add(path + issue.path, issue.text, issue.hint)


_draft = schemas._check_against_draft


def remember_drafts() -> None:
    """For the rest of this process: what the draft says of a schema is the same every time, and a third of the time of a load."""
    schemas._check_against_draft = _remembering


def _never(_: Accepted) -> bool:
    return False


QUESTIONS = tuple(
    Question(
        Call(f"c{number}", 1, "r1", "s", asked.capability, text, sha256(text), "k", None, None, None, asked.agent, asked.principal, "t"),
        asked.workflow,
        0,
    )
    for number, asked in enumerate(CALLS)
    for text in [canonical.encode(asked.arguments)]
)


def stands(home: HomeFiles, world: World) -> tuple[Stand, ...]:
    """The verdict on each call; whatever the gate says that it needs is fetched."""
    found = []
    for question in QUESTIONS:
        while isinstance(verdict := evaluate(question, world, lambda digest: False), Needs):
            world = home.prepare(world, verdict)
        found.append(_stand(verdict))
    return tuple(found)


def _stand(verdict: Start | Park) -> Stand:
    if isinstance(verdict, Start):
        return Stand(0)
    if verdict.origin != "APPROVAL_REQUIRED":
        return Stand(2)
    rule = verdict.rule
    return Stand(1) if rule is None else Stand(1, rule.approvals, rule.approver_scope is not None, rule.separate_requester)
