"""A value that is made of others belongs to the least trusted of them, in both stores, and is made once."""

from __future__ import annotations

import pytest

from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.types import Provenance

from . import texts
from .fakes import COMPLETE
from .kit import Home
from .texts import step, uses

PRICED = ToolResult("answered", ok=True, code=0, output="[0.1, 2]", size=8)


@pytest.mark.parametrize(
    ("keys", "whose", "total"),
    [
        (["mine"], "system", 1),
        (["mine", "said"], "model", 3),
        (["said", "inputs.amount"], "user", 4),
        (["inputs.amount", "tool.free.send", "mine"], "tool", 5.1),
        (["mine", "steps.s"], "tool", 3.1),
    ],
)
def test_whose_a_total_is(home: Home, keys: list[str], whose: Provenance, total: float) -> None:
    home.tools.plan["free.send"] = [PRICED]
    home.models.turns["a"] = [[{"type": "set_context", "values": {"said": 2}}, COMPLETE]]
    steps = (step("set", "assign", set={"mine": 1}), step("a", "agent", agent="clerk", writes=["said"]), uses("s", "free.send"))
    add = step("add", "aggregate", keys=keys, into="total", operation="sum")
    home.write(adds=texts.flow("adds", *steps, add, uses("t", "ask.send"), more='[inputs.amount]\ntype = "integer"\ndefault = 2\n'))
    run = home.start("adds")
    with home.store.read() as tx:
        found = tx.value(run, "total")
    assert found.provenance == whose and home.value(run, "total") == total
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and home.types(run).count("STEP_COMPLETED") == 5


def test_a_call_that_was_rejected_has_no_value_to_count(home: Home) -> None:
    home.write(
        adds=texts.flow("adds", uses("s", "ask.send"), step("add", "aggregate", keys=["tool.ask.send"], into="n", operation="count"))
    )
    run = home.start("adds")
    home.decide("reject", run)
    view = home.desk().show_run(run)[0]
    assert view.error is not None and view.error["message"] == "count: tool.ask.send is absent"
