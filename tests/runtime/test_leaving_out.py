"""Conditions of steps and of cases. A step is left out where it does not hold, decided once, and never by what nobody could judge."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import Json

from . import texts
from .fakes import COMPLETE, call
from .kit import Home, payload
from .texts import step, uses

BIG = [{"key": "inputs.amount", "gt": 500}]
AMOUNT = '[inputs.amount]\ntype = ["number", "string", "null"]\ndefault = 20\n'


def flow(home: Home, *steps: dict[str, object], blocks: dict[str, list[dict[str, object]]] | None = None) -> None:
    home.write(maybe=texts.flow("maybe", *steps, blocks=blocks, more=AMOUNT))


def recorded(home: Home, run: str, path: str) -> Any:
    with home.store.read() as tx:
        return tx.step(run, path)


def skips(home: Home, run: str) -> list[Any]:
    return [payload(event) for event in home.events(run, "STEP_COMPLETED") if payload(event).get("skipped")]


def test_a_step_runs_where_its_condition_holds_and_is_left_out_where_not(home: Home) -> None:
    flow(home, uses("s", "free.send", **{"if": BIG}), texts.AFTER)
    run = home.start("maybe", amount=501)
    assert len(home.tools.starts) == 1 and recorded(home, run, "s").ended == "done"
    other = home.start("maybe", amount=500)
    assert home.run(other).status == "COMPLETED" and home.value(other, "after") == "yes" and len(home.tools.starts) == 1
    assert recorded(home, other, "s")[3:5] == ("skipped", None)
    assert skips(home, other) == [{"skipped": True, "reason": "gt does not hold of inputs.amount"}]
    assert [event.step_id for event in home.events(other, "STEP_STARTED")] == ["after"]
    assert not any(type.startswith("TOOL_") for type in home.types(other)) and home.desk().verify().ok


@pytest.mark.parametrize("gate", ["approval", "review"])
def test_nobody_is_asked_for_the_gate_of_a_step_that_was_left_out(home: Home, gate: str) -> None:
    flow(home, step("s", "assign", set={"x": "1"}, gate=gate, **{"if": BIG}), texts.AFTER)
    run = home.start("maybe")
    assert home.run(run).status == "COMPLETED" and not home.rows(run)
    assert home.run(home.start("maybe", amount=501)).status.startswith("AWAITING")


@pytest.mark.parametrize("amount", ["900", None])
def test_a_value_of_a_type_that_cannot_be_judged_leaves_the_step_out_and_says_so(home: Home, amount: Json) -> None:
    flow(home, uses("s", "free.send", **{"if": BIG}))
    run = home.start("maybe", amount=amount)
    assert not home.tools.starts and skips(home, run)[0]["reason"] == "inputs.amount is of a type that gt cannot judge"


def test_its_output_is_absent_afterwards(home: Home) -> None:
    tell = step("tell", "assign", set={"said": "${steps.s}"})
    flow(
        home,
        uses("s", "free.send", **{"if": BIG}),
        step("no", "assign", set={"no": "1"}, **{"if": [{"key": "steps.s", "exists": True}]}),
        tell,
    )
    run = home.start("maybe")
    view = home.desk().show_run(run)[0]
    assert view.run.status == "FAILED" and view.error is not None and "${steps.s}" in str(view.error["message"])
    assert [skip["reason"] for skip in skips(home, run)] == ["gt does not hold of inputs.amount", "exists does not hold of steps.s"]
    done = home.start("maybe", amount=501)
    assert home.value(done, "no") == "1" and home.value(done, "said") == "done"


def test_it_is_decided_once_whatever_the_context_says_later(home: Home) -> None:
    """A step that has begun goes on, and one that was left out stays so, through waits and other processes."""
    home.models.turns["s"] = [[{"type": "set_context", "values": {"go": "no"}}, call("ask.send"), COMPLETE]]
    ahead = step("ahead", "assign", set={"go": "yes"})
    late = step("late", "assign", set={"late": "1"}, **{"if": [{"key": "go", "eq": "no"}]})
    early = step("early", "assign", set={"early": "1"}, **{"if": [{"key": "go", "eq": "no"}]})
    flow(home, ahead, early, step("s", "agent", agent="clerk", writes=["*"], **{"if": [{"key": "go", "eq": "yes"}]}), late)
    run = home.start("maybe")
    assert home.run(run).status == "AWAITING_TOOL_APPROVAL" and home.value(run, "go") == "no"
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and recorded(home, run, "s").ended == "done" and home.value(run, "late") == "1"
    assert recorded(home, run, "early").ended == "skipped"


def test_in_a_loop_it_is_decided_in_every_round(home: Home) -> None:
    body = [step("once", "assign", set={"seen": "1"}, **{"if": [{"key": "seen", "exists": False}]})]
    flow(home, step("loop", "block", block="body", repeat={"until": "count", "max": 3}), blocks={"body": body})
    run = home.start("maybe")
    assert home.run(run).status == "COMPLETED" and len(skips(home, run)) == 2


def test_a_block_that_is_left_out_is_left_out_whole(home: Home) -> None:
    flow(home, step("outer", "block", block="body", **{"if": BIG}), texts.AFTER, blocks={"body": [uses("s", "free.send")]})
    run = home.start("maybe")
    assert not home.tools.starts and recorded(home, run, "outer").ended == "skipped" and recorded(home, run, "outer/s") is None


def test_a_step_that_is_retried_is_judged_anew(home: Home) -> None:
    tool = uses("s", "free.send", **{"if": [{"key": "ready", "exists": False}]})
    flow(home, tool, step("r", "assign", set={"ready": "1"}), step("f", "fail", reason="enough"))
    run = home.start("maybe")
    home.desk().retry_step(run, "s")
    assert len(home.tools.starts) == 2, "what the steps from there on wrote is gone"
    home.desk().retry_step(run, "f")
    assert len(home.tools.starts) == 2


def test_whether_a_step_runs_cannot_be_said_by_a_value_that_was_erased(home: Home) -> None:
    flow(
        home,
        uses("s", "free.send"),
        uses("t", "ask.send"),
        step("u", "assign", set={"x": "1"}, **{"if": [{"key": "tool.free.send", "exists": False}]}),
    )
    run = home.start("maybe")
    first = home.events(run, "TOOL_INVOCATION_STARTED")[0].call_id or ""
    with home.store.read() as tx:
        [done, _] = tx.call(first)
    home.desk().redact(done, "private")
    home.decide("approve", run)
    view = home.desk().show_run(run)[0]
    assert view.run.status == "FAILED" and view.error is not None and "redacted" in str(view.error["message"])


def test_a_store_that_cannot_be_read_decides_nothing(home: Home) -> None:
    flow(home, uses("s", "free.send", **{"if": [{"key": "gone", "exists": False}]}))

    def unreadable(name: str, values: tuple[Any, ...]) -> None:
        if name == "value":
            raise ToolgateError("storage", "the file cannot be read")

    home.watch.fault = unreadable
    with pytest.raises(ToolgateError) as caught:
        home.start("maybe")
    assert caught.value.kind == "storage" and not home.types()


@pytest.mark.parametrize("first", [True, False])
def test_no_module_is_imported_for_a_condition_while_the_store_is_locked(quick: Home, first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    class Watching:
        """Asked first where a module is; it never knows."""

        def find_spec(self, name: str, *_: Any) -> None:
            if name.partition(".")[0] == "re2":
                quick.watch.outside("importing re2")
                imported.append(name)

    imported: list[str] = []
    condition = [{"key": "inputs.text", "matches": "^h"}]
    ahead = [] if first else [uses("a", "ask.send")]
    flow(quick, *ahead, uses("s", "free.send", **{"if": condition}))
    run = quick.start("maybe")  # so that the file was checked, and is not again
    monkeypatch.delitem(sys.modules, "re2")
    monkeypatch.setattr(sys, "meta_path", [Watching(), *sys.meta_path])
    if first:
        run = quick.start("maybe")
    else:
        quick.decide("approve", run)
    assert quick.run(run).status == "COMPLETED" and quick.tools.starts
    assert imported


def test_a_way_that_was_taken_is_gone_to_its_end_whatever_the_context_says_later(home: Home) -> None:
    cases = [{"when": [{"key": "way", "matches": "^first"}], "to": "one"}, {"to": "two"}]
    blocks = {
        "one": [step("turn", "assign", set={"way": "second"}), uses("s", "ask.send")],
        "two": [step("t", "assign", set={"two": "1"})],
    }
    flow(home, step("a", "assign", set={"way": "first"}), step("b", "branch", cases=cases), texts.AFTER, blocks=blocks)
    run = home.start("maybe")
    assert home.run(run).status == "AWAITING_TOOL_APPROVAL" and home.value(run, "way") == "second"
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and recorded(home, run, "b/t") is None
    [chosen] = [payload(event) for event in home.events(run, "STEP_COMPLETED") if event.step_id == "b"]
    assert chosen == {"case": 0}
