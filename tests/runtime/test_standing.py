"""Every run stands where it was brought to, and a call that failed for another reason than its arguments is one that can be retried."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core.verbs import State
from toolgate_cli.runtime import standing

from . import texts
from .fakes import FAILED, LOST
from .kit import Home, payload
from .states import BRING_ABOUT, Stand

NUMBERS = '{ type = "object", properties = { text = { type = "number" } } }'


def state(home: Home, stand: Stand) -> State:
    ports = home.desk()._ports
    with home.store.read() as tx:
        run = tx.run(stand.run)
        row = tx.find(stand.run, stand.call) if stand.call is not None else standing.first(tx, run)
        return standing.state(tx, run, row, standing.moment(tx, ports))


@pytest.mark.parametrize("where", BRING_ABOUT)
def test_a_run_stands_where_it_was_brought_to(quick: Home, where: State) -> None:
    assert state(quick, BRING_ABOUT[where](quick)) == where


@pytest.mark.parametrize("where", BRING_ABOUT)
def test_only_where_the_arguments_do_not_fit_the_advice_names_the_tool_whose_schema_they_were_held_to(quick: Home, where: State) -> None:
    stand = BRING_ABOUT[where](quick)
    ports = quick.desk()._ports
    with quick.store.read() as tx:
        row = tx.find(stand.run, stand.call) if stand.call is not None else standing.first(tx, tx.run(stand.run))
        advice = standing.advice(tx, tx.run(stand.run), row, standing.moment(tx, ports))
    assert ("free.send" in advice.first) is (where == "NOT_VALID") and advice.command.startswith("toolgate ")


@pytest.mark.parametrize(
    ("where", "repeated"), [("STEP_APPROVAL", True), ("FAILED", True), ("on purpose", False), ("FAILED_FOR_GOOD", False)]
)
def test_a_step_that_failed_is_to_be_repeated_unless_it_may_not_be_or_failed_on_purpose(quick: Home, where: Any, repeated: bool) -> None:
    stand = Stand(quick.start("fails")) if where == "on purpose" else BRING_ABOUT[where](quick)
    if where == "STEP_APPROVAL":
        quick.desk().reject_step(quick.desk().select_step(stand.run, "s", "reject"))
    run, ports = quick.run(stand.run), quick.desk()._ports
    with quick.store.read() as tx:
        told = [advice.command for advice in standing.again(tx, run, standing.moment(tx, ports))]
    assert run.status == "FAILED" and told == ([f"toolgate retry {run.id} --step s"] if repeated else [])


GOOD = texts.tool("free.send")
UNBINDABLE = GOOD.replace('argv = ["true"]', 'argv = ["true"]\nenv = { TOKEN = "${env.TOOLGATE_NO_SUCH_VARIABLE}" }')


@pytest.mark.parametrize(("tool", "phase", "code"), [
    (UNBINDABLE, "VALIDATE", "unbindable"), (texts.tool("free.send", more="enabled = false"), "RESOLVE", "disabled"),
])  # fmt: skip
def test_where_the_home_is_to_be_mended_the_call_is_retried(quick: Home, tool: str, phase: str, code: str) -> None:
    quick.write(texts.operator({"free.send": tool}))
    run = quick.start("free")
    told = payload(quick.events(run, "TOOL_INVOCATION_FAILED")[0])
    assert (told["phase"], told["code"], quick.row(run).starts) == (phase, code, 0)
    assert state(quick, Stand(run)) == "EXECUTION_FAILED"


def test_arguments_that_were_good_enough_for_a_start_are_not_what_is_wrong_with_a_call(quick: Home) -> None:
    quick.tools.plan["free.send"] = [FAILED]
    run = quick.start("free")
    quick.write(texts.operator({"free.send": texts.tool("free.send", schema=NUMBERS)}))
    quick.decide("retry", run)
    told = payload(quick.events(run, "TOOL_INVOCATION_FAILED")[-1])
    assert (told["phase"], quick.row(run).origin, quick.row(run).starts) == ("VALIDATE", "EXECUTION_FAILED", 1)
    assert state(quick, Stand(run)) == "EXECUTION_FAILED"


def test_a_doubt_of_what_is_safe_to_repeat_is_none_that_keeps_a_failed_call_from_a_retry(quick: Home) -> None:
    quick.tools.plan["idem.put"] = [LOST, FAILED, FAILED]
    run = quick.start("idem")
    assert (quick.row(run).origin, quick.row(run).doubt) == ("EXECUTION_FAILED", "idempotent")
    assert state(quick, Stand(run)) == "EXECUTION_FAILED"
