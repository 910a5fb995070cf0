"""Kinds that hold kinds: loops, workflows inside, cases, conditions, files and replays in one run; nothing that finished runs again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.outline import Node

from . import texts
from .fakes import COMPLETE, LOST
from .kit import Home, dies, payload
from .texts import step, uses

WORD = '[inputs.word]\ntype = "string"\n'
ONE = [{"key": "inputs.word", "eq": "one"}]
INSIDE = [
    step("terms", "resource", file="terms.md", save_as="terms"),
    step("only", "assign", set={"only": "${inputs.word}"}, **{"if": ONE}),
    step("way", "branch", cases=[{"when": [{"key": "only", "exists": True}], "to": "send"}, {"to": "note"}]),
    step("check", "validate", require={"keys": ["said"], "files": ["terms.md"]}),
    step("all", "aggregate", keys=["terms", "said"], into="all", operation="concat"),
]
SEND = [step("ask", "tool", tool="ask.send", arguments={"text": "${inputs.word} ${terms}"}), step("s", "assign", set={"said": "sent"})]
NOTE = [step("n", "assign", set={"said": "noted"})]
BODY = [
    step("in", "workflow", workflow="inner", inputs={"word": "${word}"}, outputs={"got": "all"}),
    step("sum", "assign", set={"last": "${got}"}, gate="review"),
    step("again", "retry_previous", step="sum", max_retries=1, fallback="over"),
]
OUTER = [
    step("list", "assign", set={"words": ["one", "two", "one"]}),
    step("loop", "block", block="body", repeat={"until": "each", "each": "words", "item": "word"}),
    texts.AFTER,
]


def begun(home: Home) -> str:
    (home.folder / "terms.md").write_text("(terms)")
    inner = texts.flow("inner", *INSIDE, blocks={"send": SEND, "note": NOTE}, more=WORD)
    home.write(inner=inner, outer=texts.flow("outer", *OUTER, blocks={"body": BODY, "over": [step("o", "assign", set={"over": 1})]}))
    return home.start("outer")


def through(home: Home, run: str, calls: int = 99) -> None:
    """Whatever waits is let pass, one after the other; not more than so many calls."""
    for _ in range(20):
        status = home.run(run).status
        if status == "AWAITING_TOOL_APPROVAL" and len(home.tools.starts) < calls:
            home.decide("approve", run)
        elif status == "AWAITING_TOOL_DECISION":
            home.decide("retry", run, may_run_twice=True)
        elif status == "AWAITING_REVIEW":
            desk = home.desk()
            desk.review(desk.select_step(run, "loop/sum", "review"), note="seen")
        else:
            return


def began(home: Home, run: str) -> Counter[str | None]:
    return Counter(event.step_id for event in home.events(run, "STEP_STARTED"))


ONCE_A_ROUND = {"loop/in": 3, "loop/in/terms": 3, "loop/in/way": 3, "loop/in/check": 3, "loop/in/all": 3, "loop/again": 3}
EVERY_STEP = ONCE_A_ROUND | {"list": 1, "loop": 1, "after": 1, "loop/in/only": 2, "loop/in/way/ask": 2, "loop/in/way/s": 2}
EVERY_STEP |= {"loop/in/way/n": 1, "loop/sum": 4, "loop/again/o": 2}  # one replay in all, then the fallback


def test_a_run_through_all_of_it_begins_every_step_as_often_as_it_should(home: Home) -> None:
    run = begun(home)
    assert home.run(run).status == "AWAITING_TOOL_APPROVAL" and home.row(run).step == "loop/in/way/ask"
    through(home, run)
    assert home.run(run).status == "COMPLETED" and began(home, run) == EVERY_STEP
    assert home.value(run, "last") == "(terms)sent" and [s.arguments for s in home.tools.starts] == ['{"text":"one (terms)"}'] * 2
    left_out = [event for event in home.events(run, "STEP_COMPLETED") if payload(event).get("skipped")]
    assert [event.step_id for event in left_out] == ["loop/in/only"]
    assert home.desk().verify().ok


@pytest.mark.parametrize("dead", [0, 1])
def test_a_crash_in_the_depth_begins_no_step_again(home: Home, dead: int) -> None:
    from .fakes import OK

    run = begun(home)
    home.tools.plan["ask.send"] = [*[OK] * dead, dies]
    through(home, run, dead)
    process = home.process()
    target = process.desk.select([run], "approve")
    home.killed(lambda: process.desk.approve(target))
    home.desk().pending(None, 10)  # whoever looks finds what the dead one left
    through(home, run)
    assert home.run(run).status == "COMPLETED" and began(home, run) == EVERY_STEP


def test_it_is_drawn_where_it_stands(home: Home) -> None:
    run = begun(home)
    shown = [(line.what.id, line.state) for line in home.desk().progress(run) if isinstance(line.what, Node)]
    assert shown == [
        ("list", "done"), ("loop", "here"), ("in", "here"), ("terms", "done"), ("only", "done"), ("way", "here"), ("ask", "here"),
        ("s", "to come"), ("n", "skipped"), ("check", "to come"), ("all", "to come"), ("sum", "to come"), ("again", "to come"),
        ("o", "to come"), ("after", "to come"),
    ]  # fmt: skip


def test_a_loop_that_paused_inside_a_workflow_begins_again_and_the_loop_around_it_does_not(home: Home) -> None:
    once = texts.operator(more='[agents.once]\nmodel = "default"\nprompt = "x"\nmax_turns = 1\n')
    rounds = step("l", "block", block="b", repeat={"until": "agent_done", "max": 2})
    twice = step("o", "block", block="b", repeat={"until": "count", "max": 2})
    body = [uses("pay", "free.send"), step("in", "workflow", workflow="inner")]
    inner = texts.flow("inner", rounds, blocks={"b": [step("talk", "agent", agent="once", writes=["*"])]})
    home.write(once, inner=inner, outer=texts.flow("outer", twice, blocks={"b": body}))
    more = [{"type": "continue", "wants_another_round": True}]
    home.models.turns["talk"] = [more, more, [COMPLETE], [COMPLETE]]
    run = home.start("outer")
    assert home.run(run).status == "PAUSED"
    home.desk().continue_run(run)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 2 and len(home.models.asked) == 4


def test_a_doubt_in_a_workflow_inside_holds_a_retry_of_its_carrier_back(home: Home) -> None:
    home.write(inner=texts.flow("inner", uses("pay", "free.send")))
    home.write(outer=texts.flow("outer", step("in", "workflow", workflow="inner"), step("stop", "fail", reason="x")))
    home.tools.plan["free.send"] = [LOST]
    run = home.start("outer")
    home.decide("reject", run)
    with pytest.raises(ToolgateError) as caught:
        home.desk().retry_step(run, "in")
    assert caught.value.kind == "unknown_outcome" and "free.send of in/pay" in caught.value.message and len(home.tools.starts) == 1


def test_a_replay_inside_a_workflow_inside_is_held_back_too(home: Home) -> None:
    again: dict[str, Any] = step("again", "retry_previous", step="pay")
    home.write(inner=texts.flow("inner", uses("pay", "free.send"), again))
    home.write(outer=texts.flow("outer", step("in", "workflow", workflow="inner"), texts.AFTER))
    home.tools.plan["free.send"] = [LOST]
    run = home.start("outer")
    home.decide("continue_tool", run)
    assert "free.send of in/pay" in str(home.run(run).error) and "retry --step in --may-run-twice" in str(home.run(run).error)
    assert len(home.tools.starts) == 1
    home.desk().retry_step(run, "in", may_run_twice=True)
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 3
