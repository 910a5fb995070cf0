"""A home folder with one of everything, and the loader on it."""

# ruff: noqa: E501 - tables and files are read by the line

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from toolgate_cli import plugins
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Accepted
from toolgate_cli.workflow.files import HomeFiles
from toolgate_cli.workflow.kinds import Kinds

KINDS = Kinds(plugins.providers, plugins.provider, plugins.step_kinds, plugins.step_kind, plugins.models, plugins.model)

OPERATOR = """schema = 1
[gate]
timeout = "30s"
timeout_max = "10m"

[tools."ledger.pay"]
description = "Pay money."
title = "Pay ${args.amount} to ${args.to}"
safety = "write"
effect = "idempotent"
timeout = "10s"
max_attempts = 2
permission = "ledger:pay"
input_schema = { type = "object", required = ["to", "amount"], additionalProperties = false, properties = { to = { type = "string" }, amount = { type = "number" } } }
[tools."ledger.pay".command]
argv = ["true", "--", "${args.to}"]
[tools."ledger.pay".exit]
not_dispatched = [75]
permanent = [64, 65]
business = { 3 = "DECLINED" }
[[tools."ledger.pay".fail_when]]
at = "/status"
eq = "declined"
code = "REFUSED"

[tools."ledger.show"]
safety = "read_only"
effect = "read_only"
input_schema = "any-object"
[tools."ledger.show".command]
argv = ["true"]

[policy]
default = "require_approval"
[[policy.rules]]
name = "reads"
safety = "read_only"
decision = "allow"
[[policy.rules]]
name = "big"
capability = "ledger.*"
workflow = "pay"
when = [{ arg = "/amount", gt = 500 }, { arg = "/to", matches = "^a" }]
decision = "require_approval"
reason = "over 500"
approver_scope = "desk"
approvals = 2
separate_requester = true
expires_in = "4h"
on_expiry = "reject"
[[policy.rules]]
name = "never"
capability = "ledger.pay"
principal = "mallory"
decision = "deny"
reason = "not for mallory"

[approvers]
desk = ["alice", "bob", "carol"]

[identity]
mode = "declared"

[context]
permissions = { "*" = ["ledger:look"], alice = ["ledger:pay"] }

[models.default]
adapter = "scripted"
script = "script.toml"

[agents.clerk]
model = "default"
prompt_file = "clerk.md"
tools = ["ledger.*"]
max_turns = 3
selection = { selector = "default", max_tools = 1, always_include = ["ledger.pay"], on_failure = "always_include" }
"""

FLOW = """schema = 1
id = "pay"
title = "Pay somebody"

[inputs.to]
type = "string"
[inputs.amount]
type = "number"
default = 20

[[steps]]
id = "show"
type = "tool"
tool = "ledger.show"
save_as = "shown"

[[steps]]
id = "decide"
type = "agent"
agent = "clerk"
reads = ["inputs.to", "tool.ledger.show"]
writes = ["decision"]
gate = "approval"
retry = { allow = true, max_retries = 3 }

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
arguments = { to = "${inputs.to}", amount = "${inputs.amount}" }

[[blocks.paying]]
id = "note"
type = "assign"
set = { noted = "paid ${inputs.amount} to ${street}" }

[[forms.address]]
id = "street"
type = "TEXT"
label = "Street"
required = true
[[forms.address]]
id = "how"
type = "SINGLE_CHOICE"
options = ["post", "courier"]
"""


def never(_: Accepted) -> bool:
    return False


class Home:
    """Files under a temporary folder; `write` replaces one, `edit` a part of one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write("toolgate.toml", OPERATOR)
        self.write("pay.toml", FLOW)
        self.write("clerk.md", "be careful")
        self.write("script.toml", "schema = 1\n")

    def write(self, name: str, text: str | bytes) -> None:
        place = self.path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.path / name).read_text()
        assert old in text, old
        self.write(name, text.replace(old, new))

    def files(self, remembered: Callable[[Accepted], bool] = never) -> HomeFiles:
        return HomeFiles(str(self.path), KINDS, remembered)

    def refusal(self, id: str | None = None) -> ToolgateError:
        """The error of loading toolgate.toml, or a workflow."""
        files = self.files()
        with pytest.raises(ToolgateError) as caught:
            files.world() if id is None else files.workflow(id)
        return caught.value
