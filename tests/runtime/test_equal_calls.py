"""What may have taken effect is not asked for a second time on nobody's word, whoever asks for it and however late in the run."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core.results import ToolResult

from . import texts
from .fakes import COMPLETE, DECLINED, FAILED, LOST, Started, call
from .kit import Home
from .texts import step, uses

GOES_ON = {"type": "continue"}


def twice(home: Home, first: str, **decision: Any) -> str:
    """An agent whose call got no answer asks for the very same in its next turn, once a person gave the first one up."""
    home.models.turns["s"] = [[call("free.send"), GOES_ON], [call("free.send")], [COMPLETE]]
    home.tools.plan["free.send"] = [LOST]
    run = home.start("talk")
    assert home.row(run).origin == "OUTCOME_UNKNOWN"
    home.decide(first, run, **decision)
    return run


THERE = texts.tool("free.send", "reconcilable", 2, more='[tools."free.send".reconcile]\nargv = ["true"]\n')


def failed_while_it_was_taken_away(home: Home, *then: ToolResult) -> str:
    """The same agent; the tool of its first call fails, and was taken out of the file before its reconciler could be asked."""

    def fails(_started: Started) -> ToolResult:
        home.write(texts.operator({"free.send": texts.tool("free.other")}))
        return FAILED

    home.write(texts.operator({"free.send": THERE}))
    home.models.turns["s"] = [[call("free.send"), GOES_ON], [call("free.send")], [COMPLETE]]
    home.tools.plan["free.send"] = [fails, *then]
    return home.start("talk")


@pytest.mark.parametrize("first", ["reject", "continue_tool"])
def test_a_call_that_may_be_a_second_one_waits_in_the_next_turn_and_says_why(home: Home, first: str) -> None:
    run = twice(home, first)
    row = home.row(run)
    assert len(home.tools.starts) == 1 and row.origin == "APPROVAL_REQUIRED"
    assert row.reason == f"an equal call of this run, {home.tools.starts[0].call}, may have taken effect: nobody has said what came of it"
    home.decide("approve", run, actor="alice")
    assert len(home.tools.starts) == 2 and home.run(run).status == "COMPLETED"


def test_a_failure_that_tells_nothing_is_a_doubt_also_where_its_reconciler_was_never_asked(home: Home) -> None:
    run = failed_while_it_was_taken_away(home)
    first = home.row(run)
    assert (first.origin, first.doubt) == ("EXECUTION_FAILED", "reconcilable") and home.tools.asked == []
    home.write(texts.operator({"free.send": THERE}))
    home.decide("reject", run)
    row = home.row(run)
    assert len(home.tools.starts) == 1 and row.origin == "APPROVAL_REQUIRED" and first.id in str(row.reason)


def test_a_second_call_of_a_tool_that_is_gone_fails_for_that(home: Home) -> None:
    home.models.turns["s"] = [[call("free.send"), GOES_ON], [call("free.send")], [COMPLETE]]
    home.tools.plan["free.send"] = [LOST]
    run = home.start("talk")
    home.write(texts.operator({"free.send": texts.tool("free.other")}))
    home.decide("reject", run)
    row = home.row(run)
    assert len(home.tools.starts) == 1 and row.origin == "EXECUTION_FAILED" and "no tool free.send" in str(row.reason)


def test_a_later_start_that_declined_leaves_the_doubt_of_the_one_before_it(home: Home) -> None:
    home.models.turns["s"] = [[call("free.send"), GOES_ON], [call("free.send")], [COMPLETE]]
    home.tools.plan["free.send"] = [LOST, DECLINED]
    run = home.start("talk")
    home.decide("retry", run, may_run_twice=True)
    first, row = home.tools.starts[0].call, home.row(run)
    assert (home.outcome(first).dispatched, home.outcome(first).effect_applied) == ("yes", "unknown")
    assert len(home.tools.starts) == 2 and row.origin == "APPROVAL_REQUIRED" and first in str(row.reason)


def test_a_no_to_a_second_start_says_nothing_of_the_first_where_that_had_only_failed(home: Home) -> None:
    run = failed_while_it_was_taken_away(home, DECLINED)
    first = home.row(run)
    home.write(texts.operator({"free.send": THERE}))
    home.decide("retry", run, may_run_twice=True)
    row = home.row(run)
    assert len(home.tools.starts) == 2 and row.origin == "APPROVAL_REQUIRED" and first.id in str(row.reason)


def test_the_verdict_of_a_reconciler_settles_a_doubt_and_keeps_no_other_call_waiting(home: Home) -> None:
    home.write(texts.operator({"free.send": THERE}))
    home.models.turns["s"] = [[call("free.send"), GOES_ON], [call("free.send")], [COMPLETE]]
    home.tools.plan["free.send"] = [LOST, LOST]
    home.tools.answers["reconcile"] = [ToolResult("answered", ok=True, code=0, output='{"applied":false}', size=17)] * 2
    run = home.start("talk")
    row = home.row(run)
    assert (row.origin, row.doubt, row.starts) == ("EXECUTION_FAILED", None, 2) and home.events(run, "TOOL_INVOCATION_OUTCOME_UNKNOWN")
    home.decide("reject", run)
    assert len(home.tools.starts) == 3 and home.run(run).status == "COMPLETED"


def test_a_failure_that_says_what_it_did_keeps_no_other_call_waiting(home: Home) -> None:
    home.models.turns["s"] = [[call("free.send"), GOES_ON], [call("free.send")], [COMPLETE]]
    home.tools.plan["free.send"] = [FAILED]
    run = home.start("talk")
    home.decide("reject", run)
    assert len(home.tools.starts) == 2 and home.run(run).status == "COMPLETED"


@pytest.mark.parametrize("applied", [True, False])
def test_a_call_whose_end_was_found_out_keeps_no_other_one_waiting(home: Home, applied: bool) -> None:
    run = twice(home, "continue_tool", outcome={"applied": applied})
    assert len(home.tools.starts) == 2 and home.run(run).status == "COMPLETED"


def test_other_arguments_and_another_tool_are_another_call(home: Home) -> None:
    home.models.turns["s"] = [[call("free.send"), GOES_ON], [call("free.send", text="other")], [call("unsafe.put")], [COMPLETE]]
    home.write(texts.operator(more='[agents.clerk2]\nmodel = "default"\nprompt = "x"\ntools = ["free.*", "unsafe.*"]\n'))
    home.write(talk=texts.flow("talk", step("s", "agent", agent="clerk2")))
    home.tools.plan["free.send"] = [LOST]
    run = home.start("talk")
    home.decide("reject", run)
    assert home.tools.names() == ["free.send", "free.send", "unsafe.put"] and home.run(run).status == "COMPLETED"


@pytest.mark.parametrize(("then", "now", "waits"), [
    ("read_only", "read_only", False), ("idempotent", "idempotent", True), ("unsafe", "read_only", True), ("read_only", "unsafe", True),
])  # fmt: skip
def test_only_what_changes_nothing_is_asked_for_again_without_a_word(home: Home, then: str, now: str, waits: bool) -> None:
    """A new call has a new key: that a repetition of the first would have been harmless says nothing of it."""
    home.write(texts.operator({"free.send": texts.tool("free.send", then)}))
    home.models.turns["s"] = [[call("free.send"), GOES_ON], [call("free.send")], [COMPLETE]]
    home.tools.plan["free.send"] = [lambda started: started.process.die()]
    home.write(talk=texts.FLOWS["talk"])
    home.killed(lambda: home.desk().start("talk", {}, {}))
    [waiting] = home.desk().pending(None, 10)[0]
    home.write(texts.operator({"free.send": texts.tool("free.send", now)}))
    home.decide("reject", waiting.row.run_id)
    assert len(home.tools.starts) == (1 if waits else 2)


def test_the_next_iteration_of_a_loop_asks_too_and_a_word_that_it_may_run_twice_is_one(home: Home) -> None:
    inside = [uses("u", "free.send")]
    home.write(loop=texts.flow("loop", step("l", "block", block="b", repeat={"until": "count", "max": 2}), step("f", "fail", reason="x"),
                               blocks={"b": inside}))  # fmt: skip
    home.tools.plan["free.send"] = [LOST]
    run = home.start("loop")
    home.decide("reject", run)
    assert len(home.tools.starts) == 1 and home.row(run).origin == "APPROVAL_REQUIRED"
    home.decide("reject", run)
    assert home.run(run).status == "FAILED"
    home.desk().retry_step(run, "l", None, may_run_twice=True)
    assert len(home.tools.starts) == 3


def test_another_run_knows_nothing_of_it(home: Home) -> None:
    home.tools.plan["free.send"] = [LOST]
    first = home.start("free")
    home.decide("reject", first)
    assert home.run(home.start("free")).status == "COMPLETED"
