"""Loops in real runs: what ends them, what their bound does, what a pause or a crash inside leaves, and what they cost."""

from __future__ import annotations

from typing import Any

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.steps import _rounds

from . import texts
from .fakes import COMPLETE, LOST, call
from .kit import Home, dies, payload
from .texts import step, uses

ONE_TURN = texts.operator(more='[agents.once]\nmodel = "default"\nprompt = "x"\nmax_turns = 1\ntools = ["ask.*"]\n')
WORK = step("work", "agent", agent="once", writes=["*"])
SAID: dict[str, Any] = {"type": "continue", "wants_another_round": True}


def loop(until: str, **more: object) -> dict[str, object]:
    return step("loop", "block", block="body", repeat={"until": until, **more})


def write(
    home: Home, repeat: dict[str, object], *body: dict[str, object], first: list[dict[str, object]] | None = None, **blocks: Any
) -> None:
    home.write(ONE_TURN, rounds=texts.flow("rounds", *(first or []), repeat, texts.AFTER, blocks={"body": list(body), **blocks}))


def rounds(home: Home, run: str, path: str = "loop") -> list[tuple[str, int]]:
    """What the log tells of the iterations of a loop."""
    told = [event for event in home.events(run) if event.type.startswith("LOOP_ITERATION") and event.step_id == path]
    return [(event.type.removeprefix("LOOP_ITERATION_"), int(str(payload(event)["iteration"]))) for event in told]


def pairs(*numbers: int) -> list[tuple[str, int]]:
    return [(word, number) for number in numbers for word in ("STARTED", "COMPLETED")]


# ---- until an agent is done ----
@pytest.mark.parametrize(
    ("turns", "ran"), [([[COMPLETE]], 1), ([[SAID], [COMPLETE]], 2), ([[SAID], [{"type": "say", "message": "x"}], [COMPLETE]], 3)]
)
def test_a_loop_ends_when_its_agent_says_so(home: Home, turns: list[Any], ran: int) -> None:
    write(home, loop("agent_done", max=5), WORK)
    home.models.turns["work"] = turns
    run = home.start("rounds")
    assert home.run(run).status == "COMPLETED" and rounds(home, run) == pairs(*range(1, ran + 1)) and len(home.models.asked) == ran


@pytest.mark.parametrize("gate", ["none", "review"])
def test_what_an_agent_said_outlives_a_pause_that_comes_after_it(home: Home, gate: str) -> None:
    write(home, loop("agent_done", max=5), {**WORK, "gate": gate}, uses("send", "ask.send"))
    home.models.turns["work"] = [[SAID], [COMPLETE]]
    run = home.start("rounds")
    for n in (1, 2):
        if gate == "review":
            desk = home.desk()
            desk.review(desk.select_step(run, None, "review"), note="seen")
        assert rounds(home, run)[-1] == ("STARTED", n)
        home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and rounds(home, run) == pairs(1, 2) and len(home.models.asked) == 2


def test_an_agent_inside_a_branch_speaks_to_the_loop_around_it_and_to_no_other(home: Home) -> None:
    way = step("way", "branch", on="inputs.text", arms={"*": "deep"})
    inner = step("inner", "block", block="inside", repeat={"until": "agent_done", "max": 4})
    write(home, loop("agent_done", max=3, at_max="fail"), way, inner, deep=[WORK], inside=[step("talk", "agent", agent="once")])
    home.models.turns["work"] = [[SAID], [COMPLETE]]
    home.models.turns["talk"] = [[COMPLETE], [SAID], [COMPLETE]]  # it ends the inner loop alone
    run = home.start("rounds")
    assert home.run(run).status == "COMPLETED" and rounds(home, run) == pairs(1, 2)
    assert rounds(home, run, "loop/inner") == pairs(1, 1, 2)


# ---- the bound ----
def test_a_loop_that_comes_to_its_bound_pauses_and_begins_again_when_it_is_continued(home: Home) -> None:
    write(home, loop("agent_done", max=2), WORK, first=[uses("before", "free.send")])
    home.models.turns["work"] = [[SAID], [SAID], [SAID], [COMPLETE]]
    run = home.start("rounds")
    assert home.run(run).status == "PAUSED" and rounds(home, run) == pairs(1, 2)
    [paused] = home.events(run, "RUN_PAUSED")
    assert paused.step_id == "loop" and "max of 2" in str(payload(paused)["reason"])
    home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and rounds(home, run) == pairs(1, 2, 1, 2) and home.tools.names() == ["free.send"]


def test_only_the_inner_loop_begins_again(home: Home) -> None:
    inner = step("inner", "block", block="inside", repeat={"until": "agent_done", "max": 1})
    write(home, loop("count", max=2), uses("send", "free.send"), inner, inside=[WORK])
    home.models.turns["work"] = [[COMPLETE], [SAID], [COMPLETE]]
    run = home.start("rounds")
    assert home.run(run).status == "PAUSED" and rounds(home, run) == [*pairs(1), ("STARTED", 2)]
    home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and rounds(home, run) == pairs(1, 2) and len(home.tools.starts) == 2


def test_a_paused_loop_with_a_call_that_may_have_taken_effect_is_not_begun_anew_without_that_word(home: Home) -> None:
    inner = step("inner", "block", block="inside", repeat={"until": "agent_done", "max": 1})
    write(home, loop("count", max=1), inner, inside=[uses("send", "free.send"), WORK])
    home.models.turns["work"] = [[SAID], [SAID], [COMPLETE]]
    home.tools.plan["free.send"] = [LOST]
    run = home.start("rounds")
    home.decide("continue_tool", run)
    assert home.run(run).status == "PAUSED"
    with pytest.raises(ToolgateError, match="a new call would be a second one") as refused:
        home.desk().continue_run(run)
    assert refused.value.kind == "unknown_outcome" and f"retry {run} --step loop --may-run-twice" in (refused.value.hint or "")
    assert home.tools.names() == ["free.send"] and [payload(event)["verb"] for event in home.events(run, "DECISION_REFUSED")] == [
        "continue"
    ]
    home.desk().retry_step(run, "loop", may_run_twice=True)
    assert home.run(run).status == "PAUSED" and len(home.tools.starts) == 2
    home.desk().continue_run(run)  # the word was said of all that came before
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 3


def test_a_list_goes_on_behind_an_item_that_is_in_doubt(home: Home) -> None:
    send = step("send", "tool", tool="free.send", arguments={"item": "${loop.item}"})
    write(home, loop("each", each="items", max=1), send, first=[step("list", "assign", set={"items": [1, 2]})])
    home.tools.plan["free.send"] = [LOST]
    run = home.start("rounds")
    home.decide("continue_tool", run)
    home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 2


def test_a_bound_that_fails_ends_the_run_once(home: Home) -> None:
    write(home, loop("agent_done", max=2, at_max="fail"), WORK)
    home.models.turns["work"] = [[SAID], [SAID]]
    run = home.start("rounds")
    assert home.run(run).status == "FAILED" and home.types(run).count("RUN_FAILED") == home.types(run).count("STEP_FAILED") == 1


def test_an_iteration_that_fails_is_never_completed(home: Home) -> None:
    write(home, loop("count", max=2), step("stop", "fail", reason="no"))
    assert rounds(home, home.start("rounds")) == [("STARTED", 1)]


def test_a_paused_loop_is_begun_anew_by_a_retry_of_an_earlier_step(home: Home) -> None:
    write(home, loop("agent_done", max=1), WORK, first=[uses("before", "free.send")])
    home.models.turns["work"] = [[SAID], [COMPLETE]]
    run = home.start("rounds")
    home.desk().retry_step(run, "before")
    assert home.run(run).status == "COMPLETED" and rounds(home, run) == pairs(1, 1) and len(home.tools.starts) == 2


def test_a_step_that_a_paused_run_never_came_to_is_not_where_a_retry_begins(home: Home) -> None:
    write(home, loop("agent_done", max=1), WORK)
    home.models.turns["work"] = [[SAID], [COMPLETE]]
    run = home.start("rounds")
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.desk().retry_step(run, "after")
    assert caught.value.kind == "wrong_state" and home.dump() == before
    home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and rounds(home, run) == pairs(1, 1)


# ---- what is finished, and what is begun anew ----
FINISHED: dict[str, dict[str, object]] = {
    "count": loop("count", max=2), "agent_done": loop("agent_done", max=3), "each": loop("each", each="items", item="one"),
}  # fmt: skip


@pytest.mark.parametrize("until", FINISHED)
def test_a_loop_that_is_finished_stays_so_whatever_comes_after_it(home: Home, until: str) -> None:
    first = [step("items", "assign", set={"items": ["a", "b"]})]
    steps = [*first, FINISHED[until], uses("ask", "ask.send"), step("stop", "fail", reason="x")]
    home.write(ONE_TURN, rounds=texts.flow("rounds", *steps, blocks={"body": [WORK, uses("send", "free.send")]}))
    home.models.turns["work"] = [[SAID], [COMPLETE]]
    run = home.start("rounds")
    assert home.run(run).status == "AWAITING_TOOL_APPROVAL" and rounds(home, run) == pairs(1, 2)
    home.decide("approve", run)
    home.desk().retry_step(run, "stop")
    assert home.run(run).status == "FAILED" and rounds(home, run) == pairs(1, 2)
    assert home.tools.names() == ["free.send", "free.send", "ask.send"] and len(home.models.asked) == 2


def test_an_iteration_whose_last_step_waits_is_completed_once_that_was_let_pass(home: Home) -> None:
    write(home, loop("count", max=2), uses("send", "free.send", gate="review"))
    run = home.start("rounds")
    for n in (1, 2):
        assert rounds(home, run) == [*pairs(*range(1, n)), ("STARTED", n)]
        desk = home.desk()
        desk.review(desk.select_step(run, "loop/send", "review"), note="seen")
    assert home.run(run).status == "COMPLETED" and rounds(home, run) == pairs(1, 2) and len(home.tools.starts) == 2


@pytest.mark.parametrize("how", ["it fails", "it breaks"])
def test_a_loop_that_failed_says_where_and_begins_anew_without_what_it_had_written(home: Home, how: str) -> None:
    known = [{"key": "seen", "exists": True}]
    stop = step("stop", "fail", reason="enough" if how == "it fails" else "break", **{"if": [{"key": "last", "eq": 2}]})
    items = step("items", "assign", set={"items": [1, 2]})
    again = step("again", "assign", set={"again": "1"}, **{"if": known})
    body = [again, step("note", "assign", set={"last": "${one}", "seen": "1"}), stop]
    write(home, loop("each", each="items", item="one"), *body, first=[items])
    run = home.start("rounds")
    view = home.desk().show_run(run)[0]
    assert view.run.status == "FAILED" and view.error is not None and view.error["step"] == "loop/stop"
    assert home.value(run, "last") == 2 and home.value(run, "again") == "1"  # it stays to be looked at
    home.desk().retry_step(run, "loop")
    assert rounds(home, run) == [*pairs(1), ("STARTED", 2)] * 2 and home.types(run).count("RUN_FAILED") == 2
    skipped = [event.step_id for event in home.events(run, "STEP_COMPLETED") if payload(event).get("skipped")]
    assert skipped.count("loop/again") == 2  # in the first round of each


def test_in_a_round_no_output_of_the_last_one_is_found_and_what_it_wrote_is(home: Home) -> None:
    here, gone = [{"key": "steps.loop/way/send", "exists": True}], [{"key": "steps.loop/way/send", "exists": False}]
    first = step("way", "branch", cases=[{"when": [{"key": "seen", "exists": False}], "to": "once"}, {"to": "continue"}])
    told = [
        step("here", "assign", set={"here": "${inputs.text}"}, **{"if": here}),
        step("gone", "assign", set={"gone": "1"}, **{"if": gone}),
    ]
    write(home, loop("count", max=2), *told, first, step("note", "assign", set={"seen": "1"}), once=[uses("send", "free.send")])
    run = home.start("rounds")
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 1 and rounds(home, run) == pairs(1, 2)
    skipped = [event.step_id for event in home.events(run, "STEP_COMPLETED") if payload(event).get("skipped")]
    assert skipped == ["loop/here", "loop/here"] and home.value(run, "gone") == "1"
    assert home.desk().show_run(run)[0].outputs == {}  # of the last round


# ---- an evaluator ----
def test_an_evaluator_is_asked_after_each_iteration_and_shown_no_tools(home: Home) -> None:
    write(home, loop("evaluator", max=5, evaluator="clerk"), uses("send", "free.send"))
    home.models.turns["loop"] = [[{"type": "continue"}], [COMPLETE]]
    run = home.start("rounds")
    assert home.run(run).status == "COMPLETED" and rounds(home, run) == pairs(1, 2) and len(home.tools.starts) == 2
    assert [(r.agent, r.ordinal, r.tools, r.commands, r.history) for r in home.models.asked] == [
        ("clerk", n, (), ("continue", "complete"), ()) for n in (0, 1)
    ]
    assert set(home.models.asked[0].context) == {"inputs.text", "tool.free.send"}


def test_an_evaluator_that_does_anything_else_ends_the_run_and_nothing_of_it_runs(home: Home) -> None:
    write(home, loop("evaluator", max=5, evaluator="clerk"), texts.step("note", "assign", set={"x": "1"}))
    home.models.turns["loop"] = [[call("free.send", text="hi")]]
    run = home.start("rounds")
    assert home.run(run).status == "FAILED" and home.tools.starts == []


def test_an_evaluator_that_was_asked_when_the_process_died_is_asked_again_and_nothing_else_is(home: Home) -> None:
    write(home, loop("evaluator", max=5, evaluator="clerk"), uses("send", "free.send"))
    process = home.process()
    home.models.turns["loop"] = [lambda request: process.die()]
    home.killed(lambda: process.desk.start("rounds", {}, {}))
    home.models.turns["loop"] = [[COMPLETE]]
    [answer] = home.desk().recover(None, None)
    assert answer.run.run.status == "COMPLETED" and len(home.tools.starts) == 1 and len(home.models.asked) == 2


# ---- each ----
ITEMS = step("items", "assign", set={"items": ["a", "b", "c"]})
LONG = step("items", "assign", set={"items": [1, 2, 3, 4, 5]})
SEND = step("send", "tool", tool="ask.send", arguments={"text": "${one}"})


def test_each_item_of_the_list_has_its_iteration_whatever_becomes_of_the_list(home: Home) -> None:
    spoil = step("spoil", "assign", set={"items": "gone"})
    write(home, loop("each", each="items", item="one"), spoil, SEND, first=[ITEMS])
    run = home.start("rounds")
    for n in (1, 2, 3):
        assert rounds(home, run)[-1] == ("STARTED", n)
        home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and rounds(home, run) == pairs(1, 2, 3)
    assert [started.arguments for started in home.tools.starts] == [f'{{"text":"{item}"}}' for item in "abc"]


def test_a_list_that_is_longer_than_the_bound_goes_on_behind_it_each_time_that_a_person_says_so(home: Home) -> None:
    write(home, loop("each", each="items", item="one", max=1), SEND, first=[ITEMS])
    run = home.start("rounds")
    for n in (1, 2, 3):
        home.decide("approve", run)
        assert rounds(home, run) == pairs(*range(1, n + 1))
        if n < 3:
            assert home.run(run).status == "PAUSED" and len(home.events(run, "RUN_PAUSED")) == n
            home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and [started.arguments for started in home.tools.starts] == [
        f'{{"text":"{item}"}}' for item in "abc"
    ]


def test_the_bound_counts_from_where_a_list_went_on_whatever_it_is_then(home: Home) -> None:
    spoil = step("spoil", "assign", set={"items": "gone"})
    write(home, loop("each", each="items", item="one", max=2), spoil, step("note", "assign", set={"last": "${one}"}), first=[LONG])
    run = home.start("rounds")
    for n in (2, 4):
        assert home.run(run).status == "PAUSED" and home.value(run, "last") == n and rounds(home, run) == pairs(*range(1, n + 1))
        home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and home.value(run, "last") == 5 and rounds(home, run) == pairs(1, 2, 3, 4, 5)


def test_a_list_without_a_bound_has_one_all_the_same(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _rounds.ITEMS == 10_000
    monkeypatch.setattr(_rounds, "ITEMS", 3)
    write(home, loop("each", each="items", item="one"), step("note", "assign", set={"last": "${one}"}), first=[LONG])
    run = home.start("rounds")
    assert home.run(run).status == "PAUSED" and home.value(run, "last") == 3 and rounds(home, run) == pairs(1, 2, 3)
    home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and home.value(run, "last") == 5


def test_a_list_that_paused_is_begun_anew_where_an_earlier_step_is_retried(home: Home) -> None:
    write(home, loop("each", each="items", item="one", max=2), step("note", "assign", set={"last": "${one}"}), first=[ITEMS])
    run = home.start("rounds")
    home.desk().retry_step(run, "items")
    assert home.run(run).status == "PAUSED" and rounds(home, run) == pairs(1, 2, 1, 2)


def test_another_list_after_a_retry_is_gone_through_from_its_beginning(home: Home) -> None:
    from toolgate_cli.core.results import ToolResult

    lists = ['["a", "b", "c"]', '["x"]']
    home.tools.plan["free.send"] = [ToolResult("answered", ok=True, code=0, output=text, size=len(text)) for text in lists]
    each = loop("each", each="tool.free.send", item="one", max=2)
    write(home, each, step("note", "assign", set={"last": "${one}"}), first=[uses("get", "free.send")])
    run = home.start("rounds")
    assert home.run(run).status == "PAUSED" and home.value(run, "last") == "b"
    home.desk().retry_step(run, "get")
    assert home.run(run).status == "COMPLETED" and home.value(run, "last") == "x" and rounds(home, run) == pairs(1, 2, 1)


def test_an_item_of_what_a_tool_said_is_not_trusted_more_than_the_list(home: Home) -> None:
    from toolgate_cli.core.results import ToolResult

    home.tools.plan["free.send"] = [ToolResult("answered", ok=True, code=0, output='["x"]', size=5)]
    write(home, loop("each", each="tool.free.send", item="one"), step("note", "assign", set={"a": "1"}), first=[uses("get", "free.send")])
    run = home.start("rounds")
    with home.store.read() as tx:
        assert (tx.value(run, "one").value, tx.value(run, "one").provenance) == ('"x"', "tool")


def test_a_copied_list_that_other_hands_changed_is_not_gone_through(home: Home) -> None:
    if home.kind == "memory":
        pytest.skip("nobody else reaches it")
    from toolgate_cli.runtime import copies

    write(home, loop("each", each="items", item="one"), SEND, first=[ITEMS])
    run = home.start("rounds")
    home.store._file._connection.execute("UPDATE definitions SET body = '[1,2,3]' WHERE kind = 'list'")
    home.store._file._connection.commit()
    copies._open.clear()  # as another process
    answer = home.decide("approve", run)
    assert answer.fault is not None and answer.fault.kind == "storage" and len(home.tools.starts) == 1


@pytest.mark.parametrize("dead", [1, 2, 3])
def test_a_crash_in_an_iteration_neither_loses_nor_doubles_one(home: Home, dead: int) -> None:
    body = step("put", "tool", tool="idem.put", arguments={"text": "${one}"})
    write(home, loop("each", each="items", item="one"), body, first=[ITEMS])
    from .fakes import OK

    home.tools.plan["idem.put"] = [*[OK] * (dead - 1), dies]
    process = home.process()
    home.killed(lambda: process.desk.start("rounds", {}, {}))
    [waiting] = home.desk().pending(None, 10)[0]
    home.decide("retry", waiting.row.run_id)
    assert home.run(waiting.row.run_id).status == "COMPLETED" and rounds(home, waiting.row.run_id) == pairs(1, 2, 3)
    sent = [started.arguments for started in home.tools.starts]
    assert len(sent) == 4 and sorted(set(sent)) == [f'{{"text":"{item}"}}' for item in "abc"]


def test_a_long_loop_reads_its_list_once_and_its_place_does_not_grow(quick: Home) -> None:
    long = step("items", "assign", set={"items": list(range(1200))})
    write(quick, loop("each", each="items", item="one"), step("note", "assign", set={"last": "${one}"}), first=[long])
    reads: list[str] = []
    sizes: list[int] = []

    def seen(name: str, values: tuple[Any, ...]) -> None:
        reads.extend(values if name == "definition" else ())
        sizes.extend([len(values[0].cursor)] if name == "put_run" else ())

    quick.watch.fault = seen
    run = quick.start("rounds")
    assert quick.run(run).status == "COMPLETED" and quick.value(run, "last") == 1199
    assert len(reads) <= 6 and max(sizes) < 400  # one for each stretch of a thousand steps, and one for the list


# ---- what is refused when the file is loaded ----
@pytest.mark.parametrize(
    ("repeat", "said"),
    [
        ('{ until = "agent_done" }', 'rounds.toml:6: steps[0].repeat.max: until = "agent_done" needs a max'),
        ('{ until = "count", max = 0 }', "steps[0].repeat.max: must be at least 1"),
        ('{ until = "evaluator", max = 3 }', 'until = "evaluator" needs evaluator'),
        ('{ until = "evaluator", max = 3, evaluator = "nobody" }', "there is no agent nobody"),
        ('{ until = "each", each = "items", item = "tool.x" }', "this key is reserved"),
        ('{ until = "each" }', 'until = "each" needs each'),
        ('{ until = "each", each = "inputs.no" }', "there is no input no"),
        ('{ until = "done", max = 3 }', '"done" is not one of count, agent_done, evaluator, each'),
    ],
)
def test_a_loop_that_cannot_be_meant_is_refused_with_its_line(quick: Home, repeat: str, said: str) -> None:
    quick.write(rounds='schema = 1\nid = "rounds"\n[[steps]]\nid = "loop"\ntype = "block"\nrepeat = ' + repeat
                + '\nblock = "body"\n[[blocks.body]]\nid = "x"\ntype = "assign"\nset = { a = "1" }\n')  # fmt: skip
    with pytest.raises(ToolgateError) as caught:
        quick.start("rounds")
    assert caught.value.kind == "invalid" and said in caught.value.message
