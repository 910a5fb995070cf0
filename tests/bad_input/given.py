"""A home with one run in every state that a person can be asked about, and a tool whose every start leaves a line behind."""

from __future__ import annotations

import sys

TOOL = r"""
import os, sys
log = os.open("calls.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
os.write(log, (sys.stdin.read() + "\n").encode())
mode = open("mode").read()
print('{"status": "paid"}' if mode == "ok" else "who knows")
sys.exit(mode == "fail")
"""

OPERATOR = f"""schema = 1
[gate]
timeout = "20s"
timeout_max = "1m"
path = "/usr/bin:/bin"

[limits]
arguments_bytes = 65536
arguments_depth = 64
arguments_items = 1000
output_bytes = 1048576
calls_per_run = 200

[tools."ledger.pay"]
description = "Pay money."
title = "Pay ${{args.amount}} to ${{args.to}}"
safety = "write"
effect = "unsafe"
timeout = "10s"
max_attempts = 1
enabled = true
input_schema_file = "pay.json"
[tools."ledger.pay".command]
argv = ["{sys.executable}", "-I", "-S", "tool.py"]
stdin = "json"
env = {{ LEDGER = "main" }}
cwd = "."
pin = ["rates.csv"]
[tools."ledger.pay".exit]
not_dispatched = [75]
permanent = [64, 65]
business = {{ 3 = "DECLINED" }}
[[tools."ledger.pay".fail_when]]
at = "/status"
eq = "declined"
code = "REFUSED"
on_missing = "ignore"

[tools."ledger.drop"]
safety = "destructive"
permission = "ledger:drop"
input_schema = {{ type = "object", additionalProperties = false, properties = {{ what = {{ type = "string" }} }} }}
[tools."ledger.drop".command]
argv = ["{sys.executable}", "-I", "-S", "tool.py"]

[policy]
default = "require_approval"
[[policy.rules]]
name = "big"
capability = "ledger.*"
workflow = "pay"
agent = "clerk"
effect = "unsafe"
safety = "write"
principal = "*"
when = [{{ arg = "/amount", gt = 500 }}]
decision = "require_approval"
reason = "over 500"
approver_scope = "desk"
approvals = 2
separate_requester = true
expires_in = "4h"
on_expiry = "reject"
[[policy.rules]]
name = "never"
capability = "ledger.drop"
decision = "deny"
reason = "nothing is dropped"

[approvers]
desk = ["alice", "bob", "carol"]

[identity]
mode = "declared"

[context]
permissions = {{ "*" = ["ledger:drop"] }}

[models.default]
adapter = "scripted"
script = "script.toml"

[agents.clerk]
model = "default"
prompt_file = "clerk.md"
tools = ["ledger.*"]
max_turns = 3
commands = ["tool_invocation", "complete"]
"""

SCHEMA = """{"type": "object", "required": ["to", "amount"], "additionalProperties": false,
 "properties": {"to": {"type": "string"}, "amount": {"type": "number"}, "note": {"type": "string"}}}
"""

SCRIPT = """schema = 1
[[turns]]
agent = "clerk"
ordinal = 0
commands = [ { type = "complete", output = "done" } ]
"""

PAY = """schema = 1
id = "pay"
title = "Pay somebody"

[inputs.to]
type = "string"
default = "ann"
[inputs.amount]
type = "number"
default = 5
[inputs.tags]
type = "array"
items = { type = "string" }
default = []

[[steps]]
id = "pay"
type = "tool"
tool = "ledger.pay"
title = "Pay it"
arguments = { to = "${inputs.to}", amount = "${inputs.amount}" }
save_as = "receipt"
"""

DROP = """schema = 1
id = "drop"
[[steps]]
id = "drop"
type = "tool"
tool = "ledger.drop"
arguments = { what = "all" }
"""

FORM = """schema = 1
id = "form"
[[steps]]
id = "ask"
type = "input"
form = "address"
writes = ["street"]
[[forms.address]]
id = "street"
type = "TEXT"
label = "Street"
required = true
[[forms.address]]
id = "how"
type = "SINGLE_CHOICE"
options = ["post", "courier"]
[[forms.address]]
id = "days"
type = "MULTI_CHOICE"
options = ["mon", "tue"]
[[forms.address]]
id = "fast"
type = "BOOLEAN"
[[forms.address]]
id = "weight"
type = "NUMBER"
[[forms.address]]
id = "day"
type = "DATE"
[[forms.address]]
id = "note"
type = "TEXT_AREA"
"""

GATED = """schema = 1
id = "{gate}"
[[steps]]
id = "mark"
type = "assign"
set = {{ marked = "yes" }}
gate = "{gate}"
"""

BROKEN = """schema = 1
id = "broken"
[[steps]]
id = "stop"
type = "fail"
reason = "it was meant to"
"""

EVERY = """schema = 1
id = "every"
title = "One step of every kind"
[inputs.to]
type = "string"
[[steps]]
id = "note"
type = "assign"
title = "Note it"
gate = "none"
set = { noted = "yes" }
[[steps]]
id = "decide"
type = "agent"
agent = "clerk"
prompt = "see to ${inputs.to}"
reads = ["inputs.to", "noted"]
writes = ["decision"]
retry = { allow = true, max_retries = 2 }
[[steps]]
id = "route"
type = "branch"
on = "decision"
arms = { pay = "paying", keep = "end", "" = "continue" }
[[steps]]
id = "ask"
type = "input"
form = "address"
[[steps]]
id = "again"
type = "block"
block = "paying"
[[steps]]
id = "stop"
type = "fail"
reason = "enough"
[[blocks.paying]]
id = "pay"
type = "tool"
tool = "ledger.pay"
arguments = { to = "${inputs.to}", amount = 1 }
save_as = "paid"
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

FILES = {
    "tool.py": TOOL,
    "mode": "ok",
    "edited.json": '{"to": "bob", "amount": 1}',
    "found.json": '{"applied": true, "result": 1}',
    "toolgate.toml": OPERATOR,
    "pay.json": SCHEMA,
    "rates.csv": "eur,1\n",
    "clerk.md": "be careful",
    "script.toml": SCRIPT,
    "pay.toml": PAY,
    "workflows/drop.toml": DROP,
    "workflows/form.toml": FORM,
    "workflows/review.toml": GATED.format(gate="review"),
    "workflows/approval.toml": GATED.format(gate="approval"),
    "workflows/broken.toml": BROKEN,
    "workflows/every.toml": EVERY,
}
