"""Workflows with one of the ways to run steps again or elsewhere, for the same home; a payment in each of them."""

from __future__ import annotations

LOOPS = """
schema = 1
id = "pay"
[[steps]]
id = "people"
type = "assign"
set = { people = ["bob", "cid"] }
[[steps]]
id = "all"
type = "block"
block = "one"
repeat = { until = "each", each = "people", item = "who" }
[[steps]]
id = "judged"
type = "block"
block = "note"
repeat = { until = "evaluator", evaluator = "clerk", max = 3 }
[[blocks.one]]
id = "first"
type = "tool"
tool = "ledger.pay"
arguments = { to = "${who}" }
[[blocks.note]]
id = "note"
type = "assign"
set = { noted = "${who}" }
"""

REPLAYS = """
schema = 1
id = "pay"
[[steps]]
id = "first"
type = "tool"
tool = "ledger.pay"
arguments = { to = "bob" }
[[steps]]
id = "note"
type = "assign"
set = { noted = "yes" }
[[steps]]
id = "again"
type = "retry_previous"
step = "first"
mode = "from"
"""

TALKS = """
schema = 1
id = "pay"
[[steps]]
id = "talk"
type = "agent"
agent = "clerk"
writes = ["verdict"]
[[steps]]
id = "argue"
type = "spar"
agent = "clerk"
challenger = "clerk"
"""

CHOOSES = """
schema = 1
id = "pay"
[[steps]]
id = "choose"
type = "agent"
agent = "chooser"
"""

NESTED = """
schema = 1
id = "pay"
[[steps]]
id = "twice"
type = "block"
block = "one"
repeat = { until = "count", max = 2 }
[[blocks.one]]
id = "in"
type = "workflow"
workflow = "inner"
inputs = { who = "bob" }
outputs = { noted = "noted" }
"""
