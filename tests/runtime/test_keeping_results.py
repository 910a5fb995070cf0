"""What came in is kept, whatever follows it in the same transaction: a result, a turn, a refused call; and no run is wedged (I6)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from toolgate_cli.cli import exits
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.soundness import DEPTH
from toolgate_cli.core.turns import Completion
from toolgate_cli.runtime.answers import Advice

from . import texts
from .fakes import COMPLETE, FAILED, LOST, OK, Started, call
from .kit import Home
from .states import obey

INTO = texts.step("keep", "assign", set={"kept": {"a": {"b": "${tool.free.send}"}}})


def nested(depth: int) -> ToolResult:
    return ToolResult("answered", ok=True, code=0, output="[" * depth + "]" * depth, size=2 * depth)


# ---- a result, and a step that cannot hold it ----
@pytest.mark.parametrize(("depth", "status"), [(DEPTH - 2, "COMPLETED"), (DEPTH - 1, "FAILED"), (DEPTH, "FAILED")])
def test_a_result_that_the_next_step_cannot_hold_fails_that_step_and_is_kept(home: Home, depth: int, status: str) -> None:
    home.write(deep=texts.flow("deep", texts.uses("s", "free.send"), INTO))
    home.tools.plan["free.send"] = [nested(depth)]
    answer = home.desk().start("deep", {}, {})
    run = answer.run.run.id
    assert answer.fault is None and home.run(run).status == status and len(home.tools.starts) == 1
    assert home.outcome(home.tools.starts[0].call).status == "succeeded" and home.types(run).count("TOOL_INVOCATION_COMPLETED") == 1
    assert home.types(run).count("STEP_FAILED") == (status == "FAILED") and home.run(run).owner is None
    with home.store.read() as tx:
        assert tx.attempts(None) == () and "tool.free.send" in tx.keys(run)


def test_a_result_that_is_too_deep_to_be_json_is_kept_as_its_text(home: Home) -> None:
    home.tools.plan["free.send"] = [nested(DEPTH + 1)]
    run = home.start("free")
    assert home.run(run).status == "COMPLETED" and home.value(run, "tool.free.send") == "[" * (DEPTH + 1) + "]" * (DEPTH + 1)


@pytest.mark.parametrize("output", ["\ud800", '{"\ud800": 1}', '{"a":1,"a":2}', "NaN", '"\\ud800"', "9" * 1001])
def test_whatever_a_tool_writes_its_outcome_is_on_record(home: Home, output: str) -> None:
    home.tools.plan["free.send"] = [ToolResult("answered", ok=True, code=0, output=output, size=len(output))]
    run = home.start("free")
    assert home.run(run).status == "COMPLETED" and home.outcome(home.tools.starts[0].call).status == "succeeded"
    home.tools.plan["free.send"] = [ToolResult("answered", ok=False, code=1, output=output, message=output)]
    run = home.start("free")
    assert home.row(run).origin == "EXECUTION_FAILED" and len(home.tools.starts) == 2
    home.decide("retry", run)
    assert home.run(run).status == "COMPLETED"


# ---- calls that cannot be taken ----
@pytest.mark.parametrize(
    "arguments",
    ['{"\\ud800":1,"\\ud800":2}', '{"\\ud800":1}', '{"a":1,"a":2}', '"\\ud800"', "[1]", "{", "[" * 900, '{"n":NaN}', '{"n":1e999}'],
)
def test_raw_arguments_that_are_no_json_are_refused_at_receive_and_the_run_can_be_moved(home: Home, arguments: str) -> None:
    home.models.turns["s"] = [[{"type": "tool_invocation", "capability": "free.send", "arguments": arguments}], [COMPLETE]]
    run = home.start("talk")
    row = home.row(run)
    assert (row.origin, row.starts) == ("EXECUTION_FAILED", 0) and home.tools.starts == []
    with home.store.read() as tx:
        assert tx.call(row.id)[0].arguments is None
    with pytest.raises(ToolgateError) as caught:
        home.decide("retry", run)
    assert caught.value.kind == "wrong_state" and "EXECUTION_FAILED of arguments that are not stored" in caught.value.message
    home.decide("continue_tool", run)
    assert home.run(run).status == "COMPLETED" and home.tools.starts == [] and len(home.models.asked) == 2


# ---- turns that cannot be taken ----
def looped() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


def deep() -> Any:
    made: Any = 1
    for _ in range(5000):
        made = [made]
    return made


TURNS: dict[str, Callable[[], Completion]] = {
    "text with half a pair": lambda: Completion(text="\ud800"),
    "commands in text with half a pair": lambda: Completion(text='[{"type":"say","message":"\ud800"},{"type":"complete"}]'),
    "text with an escaped half": lambda: Completion(text='[{"type":"say","message":"\\ud800"},{"type":"complete"}]'),
    "text that is no list": lambda: Completion(text='{"type": "complete"}'),
    "text that is no json": lambda: Completion(text="I am done."),
    "empty text": lambda: Completion(text=""),
    "a deep text": lambda: Completion(text="[" * 5000),
    "nothing": lambda: Completion(),
    "no list": lambda: Completion({"type": "complete"}),
    "half a pair": lambda: Completion([{"type": "say", "message": "\ud800"}, COMPLETE]),
    "half a pair in arguments": lambda: Completion([{**call("free.send"), "arguments": '{"\ud800":1,"\ud800":2}'}, COMPLETE]),
    "half a pair as a key": lambda: Completion([{**call("free.send", **{"\ud800": 1})}, COMPLETE]),
    "infinity": lambda: Completion([{"type": "complete", "output": float("inf")}]),
    "a set": lambda: Completion([{"type": "complete", "output": {1, 2}}]),  # type: ignore[dict-item]  # an adapter that is broken
    "bytes": lambda: Completion([{"type": "complete", "output": b"x"}]),  # type: ignore[dict-item]  # an adapter that is broken
    "keys that are numbers": lambda: Completion([{"type": "complete", "output": {1: 2}}]),  # type: ignore[dict-item]  # an adapter that is broken
    "a circle": lambda: Completion([{"type": "complete", "output": looped()}]),
    "a deep value": lambda: Completion([{"type": "complete", "output": deep()}]),
    "one too deep for a turn": lambda: Completion([{"type": "complete", "output": json.loads("[" * 199 + "]" * 199)}]),
}


@pytest.mark.parametrize("turn", TURNS)
def test_a_turn_that_no_json_carries_is_asked_for_once_more_and_then_fails_its_step(
    home: Home, monkeypatch: pytest.MonkeyPatch, turn: str
) -> None:
    monkeypatch.setattr(home.models, "complete", lambda request: home.models.asked.append(request) or TURNS[turn]())
    run = home.start("talk")
    assert home.run(run).status == "FAILED" and home.run(run).owner is None
    assert len(home.models.asked) == 2 and home.tools.starts == []
    assert home.types(run).count("LLM_CALL_COMPLETED") == 2 and home.types(run).count("STEP_FAILED") == 1
    assert home.types(run)[-1] == "RUN_FAILED"


@pytest.mark.parametrize(
    "error", [ValueError("x"), UnicodeDecodeError("utf-8", b"x", 0, 1, "y"), RecursionError(), OSError(5, "x"), KeyError()]
)
def test_an_adapter_that_breaks_fails_its_step_and_tells_nothing_of_what_it_held(
    home: Home, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def breaks(request: object) -> Completion:
        raise error

    monkeypatch.setattr(home.models, "complete", breaks)
    answer = home.process().desk.start(*_talk(home))
    assert answer.fault is None and answer.run.run.status == "FAILED" and home.types(answer.run.run.id).count("STEP_FAILED") == 1
    assert answer.run.error is not None and answer.run.error["message"] == f"the model adapter failed: {type(error).__name__}"


def _talk(home: Home) -> tuple[str, dict[str, Any], dict[str, str]]:
    home.write(talk=texts.FLOWS["talk"])
    return "talk", {}, {}


# ---- a fault after a verb took effect ----
def broken(home: Home, result: ToolResult) -> Callable[[Started], ToolResult]:
    def breaks(started: Started) -> ToolResult:
        (home.folder / "toolgate.toml").write_text("not toml [")
        return result

    return breaks


@pytest.mark.parametrize("verb", ["start", "approve", "retry"])
def test_a_file_that_breaks_on_the_way_is_told_beside_the_answer_and_the_run_goes_on_once_it_is_mended(home: Home, verb: str) -> None:
    first = "free.send" if verb != "approve" else "ask.send"
    home.write(way=texts.flow("way", texts.uses("a", first), texts.uses("b", "free.send"), texts.AFTER))
    home.tools.plan[first] = [FAILED, broken(home, OK)] if verb == "retry" else [broken(home, OK)]
    answer = home.desk().start("way", {}, {})
    if verb != "start":
        answer = home.decide(verb, answer.run.run.id)
    run, starts = answer.run.run.id, len(home.tools.starts)
    assert answer.effect == {"start": "started", "approve": "approved", "retry": "retried"}[verb]
    assert answer.fault is not None and answer.fault.kind == "invalid" and "toolgate.toml" in answer.fault.message
    assert answer.next == (Advice(f"toolgate continue {run}"),) and answer.pending == () and answer.run.outputs == {"a": "done"}
    assert home.run(run).status == "RUNNING" and home.outcome(home.tools.starts[-1].call).status == "succeeded"
    home.processes[-1].end()
    home.write(texts.operator())
    obey(home, answer.next[0].command)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == starts + 1 and home.value(run, "after") == "yes"


@pytest.mark.parametrize(("end", "origin", "code"), [(FAILED, "EXECUTION_FAILED", 1), (LOST, "OUTCOME_UNKNOWN", 9)])
def test_a_fault_before_the_next_attempt_shows_what_waits_and_its_command_works(
    home: Home, end: ToolResult, origin: str, code: int
) -> None:
    home.tools.plan["idem.put"] = [broken(home, end), OK]
    home.write(idem=texts.FLOWS["idem"])
    answer = home.desk().start("idem", {}, {})
    assert answer.fault is not None and [waiting.row.origin for waiting in answer.pending] == [origin] and len(home.tools.starts) == 1
    assert exits.after("start", answer.run.run, [waiting.row for waiting in answer.pending]) == code
    home.processes[-1].end()
    home.write(texts.operator())
    [waiting] = home.desk().pending(None, 10)[0]
    assert waiting.ref == answer.pending[0].ref
    home.decide("retry", answer.run.run.id, waiting.ref)
    assert home.run(answer.run.run.id).status == "COMPLETED" and len(home.tools.starts) == 2


def test_an_end_that_could_not_be_recorded_is_a_doubt_in_the_answer_itself(home: Home) -> None:
    def full(name: str, values: tuple[Any, ...]) -> None:
        if name == "append" and any(event.type == "TOOL_INVOCATION_COMPLETED" for event in values[0]):
            raise ToolgateError("storage", "the disk is full")

    run = home.start("ask")
    home.watch.fault = full
    answer = home.decide("approve", run)
    assert answer.effect == "approved" and answer.fault is not None and answer.fault.kind == "storage"
    [waiting] = answer.pending
    assert (waiting.row.origin, waiting.row.doubt) == ("OUTCOME_UNKNOWN", "unsafe")
    assert exits.after("approve", answer.run.run, [waiting.row]) == 9
    home.watch.fault = None
    home.processes[-1].end()
    home.decide("continue_tool", run, outcome={"applied": True, "result": "done"})
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 1
