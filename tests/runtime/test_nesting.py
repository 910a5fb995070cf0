"""Workflows inside a run: pinned with it, with their own steps, forms and context; nothing that finished runs again, at any depth."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from toolgate_cli.core.errors import ToolgateError

from . import texts
from .fakes import COMPLETE, FAILED, OK, call
from .kit import Home, dies
from .texts import step, uses

WORD = '[inputs.word]\ntype = "string"\n'
INNER = step("in", "workflow", workflow="inner", inputs={"word": "${inputs.text}"}, outputs={"said": "answer"})
ANSWER = step("answer", "assign", set={"answer": "${inputs.word}!"})
STOP = step("stop", "fail", reason="x")


def inner(home: Home, *steps: dict[str, object], more: str = "", id: str = "inner", **blocks: Any) -> None:
    text = texts.flow(id, *steps, blocks=blocks, more=WORD + more).replace('[inputs.text]\ntype = "string"\ndefault = "hi"\n', "")
    home.write(**{id: text.replace("${inputs.text}", "${inputs.word}")})


def outer(home: Home, *steps: dict[str, object], more: str = "", **blocks: Any) -> None:
    home.write(outer=texts.flow("outer", *steps, blocks=blocks, more=more))


def completed(home: Home, run: str) -> list[str | None]:
    return [event.step_id for event in home.events(run, "STEP_COMPLETED")]


# ---- what goes in and what comes out ----
def test_what_is_named_goes_in_and_comes_out_and_nothing_else_is_seen(home: Home) -> None:
    outer(home, step("mine", "assign", set={"answer": "outside", "secret": "s"}), INNER, texts.AFTER)
    inner(home, step("look", "branch", on="secret", arms={"": "note"}), note=[ANSWER])
    run = home.start("outer", text="hello")
    assert home.run(run).status == "COMPLETED" and home.value(run, "said") == "hello!" and home.value(run, "answer") == "outside"
    assert completed(home, run) == ["mine", "in/look/answer", "in/look", "in", "after"]


def test_the_context_inside_is_shown_under_its_step(home: Home) -> None:
    outer(home, INNER)
    inner(home, ANSWER)
    context = home.desk().show_run(home.start("outer"))[0].context
    assert context is not None and set(context) == {"inputs.text", "said", "in:answer", "in:inputs.word"}


def test_defaults_are_filled_and_what_does_not_fit_fails_the_step(home: Home) -> None:
    more = '[inputs.n]\ntype = "integer"\nminimum = 3\ndefault = 5\n'
    inner(home, step("a", "assign", set={"answer": "${inputs.n}"}), more=more)
    outer(home, INNER)
    assert home.value(home.start("outer"), "said") == 5
    outer(home, step("in", "workflow", workflow="inner", inputs={"word": "w", "n": "${inputs.text}"}))
    run = home.start("outer")
    assert home.run(run).status == "FAILED" and "inputs of inner: n: does not validate" in str(home.run(run).error)
    assert home.types(run).count("RUN_FAILED") == 1


def test_an_output_that_was_not_left_fails_the_step(home: Home) -> None:
    outer(home, INNER)
    inner(home, step("a", "assign", set={"other": "x"}))
    run = home.start("outer")
    assert home.run(run).status == "FAILED" and "nothing at answer" in str(home.run(run).error)


def test_a_result_of_a_tool_comes_out_as_one(home: Home) -> None:
    outer(home, step("in", "workflow", workflow="inner", inputs={"word": "w"}, outputs={"result": "tool.free.send"}))
    inner(home, uses("send", "free.send"))
    run = home.start("outer")
    with home.store.read() as tx:
        assert (tx.value(run, "result").value, tx.value(run, "result").provenance) == ('"done"', "tool")
        assert tx.value(run, "tool.free.send") is None


def test_a_shared_context_is_one(home: Home) -> None:
    outer(home, step("mine", "assign", set={"a": "1"}), step("in", "workflow", workflow="inner", share=True), step("see", "assign", set={
        "seen": "${a} ${b}"}), more=WORD.replace('"string"', '"string"\ndefault = "w"'))  # fmt: skip
    inner(home, step("b", "assign", set={"b": "${a} ${inputs.word}"}), step("c", "assign", set={"c": "x"}))
    run = home.start("outer")
    assert home.value(run, "seen") == "1 1 w" and home.value(run, "c") == "x"


def test_every_visit_begins_with_nothing_of_the_last(home: Home) -> None:
    loop = step("loop", "block", block="body", repeat={"until": "count", "max": 2})
    outer(home, loop, body=[INNER])
    of_last = step("of-last", "fail", reason="${steps.send}", **{"if": [{"key": "steps.send", "exists": True}]})
    way = step("way", "branch", on="seen", arms={"": "note", "*": "fail"})
    inner(home, of_last, way, uses("send", "free.send"), ANSWER, note=[step("n", "assign", set={"seen": "y"})])
    run = home.start("outer")
    assert home.run(run).status == "COMPLETED" and len(home.tools.starts) == 2


def test_an_agent_inside_is_shown_its_own_workflow_and_context(home: Home) -> None:
    outer(home, step("mine", "assign", set={"secret": "s"}), INNER)
    inner(home, step("talk", "agent", agent="clerk", reads=["*"], writes=["*"]))
    home.models.turns["talk"] = [[call("free.send", text="hi")], [{"type": "set_context", "values": {"answer": "fine"}}, COMPLETE]]
    run = home.start("outer")
    assert home.value(run, "said") == "fine"
    assert [(r.workflow, set(r.context), r.ordinal) for r in home.models.asked] == [
        ("inner", {"inputs.word"}, 0), ("inner", {"inputs.word", "tool.free.send"}, 1)]  # fmt: skip


# ---- its own steps, blocks and forms ----
def test_blocks_and_forms_of_the_same_name_are_those_of_the_workflow_inside(home: Home) -> None:
    form = texts.FORM.replace("street", "town").replace("Street", "Town")
    outer(home, step("ask", "input", form="ship"), step("do", "block", block="body"), INNER, more=texts.FORM, body=[uses("x", "free.send")])
    inner(home, step("ask", "input", form="ship"), step("do", "block", block="body"), more=form,
          body=[step("y", "assign", set={"answer": "${ship.town} ${steps.ask}"})])  # fmt: skip
    run = home.start("outer")
    home.answer(run, {"street": "High Street"}, {})
    assert home.row(run).step == "in/ask" and home.desk().show_run(run)[0].step == "in/ask"
    home.answer(run, {"town": "Graz"}, {})
    assert home.value(run, "said") == 'Graz {"town":"Graz"}' and home.tools.names() == ["free.send"]


def test_what_a_person_answered_inside_decides_a_branch_inside(home: Home) -> None:
    route = step("route", "branch", on="street", arms={"Main": "send", "*": "fail"})
    outer(home, INNER)
    inner(home, step("ask", "input", form="ship", writes=["street"]), route, ANSWER, more=texts.FORM, send=[uses("y", "free.send")])
    run = home.start("outer")
    home.answer(run, {"street": "Main"}, {})
    assert home.run(run).status == "COMPLETED" and home.tools.names() == ["free.send"]
    with pytest.raises(KeyError):
        home.value(run, "street")


@pytest.mark.parametrize(
    ("named", "status"), [("outer", "AWAITING_TOOL_DECISION"), ("inner", "COMPLETED"), ("out*", "AWAITING_TOOL_DECISION")]
)
def test_a_rule_about_a_workflow_is_about_the_one_that_was_started(home: Home, named: str, status: str) -> None:
    home.write(texts.operator(rules={"no": texts.rule("free.*", "deny", f'workflow = "{named}"')}))
    outer(home, INNER)
    inner(home, uses("send", "free.send"), ANSWER)
    run = home.start("outer")
    assert home.run(run).status == status and len(home.tools.starts) == (status == "COMPLETED")


@pytest.mark.parametrize("depth", [1, 3])
def test_a_call_inside_is_decided_and_nothing_that_finished_runs_again(home: Home, depth: int) -> None:
    names = ["outer", *(f"n{i}" for i in range(1, depth)), "inner"]
    for name, following in pairwise(names):
        nested = step("in", "workflow", workflow=following, inputs={"word": "w"})
        body = [uses("before", "free.send"), nested, uses("behind", "idem.put")]
        (outer(home, *body) if name == "outer" else inner(home, *body, id=name))
    inner(home, uses("send", "ask.send"))
    run = home.start("outer")
    assert home.run(run).status == "AWAITING_TOOL_APPROVAL" and home.row(run).step == "in/" * depth + "send"
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED"
    assert home.tools.names() == ["free.send"] * depth + ["ask.send"] + ["idem.put"] * depth


@pytest.mark.parametrize("gate", ["approval", "review"])
def test_the_gate_of_the_carrier_asks_once_and_the_body_is_not_run_again(home: Home, gate: str) -> None:
    outer(home, {**INNER, "gate": gate}, texts.AFTER)
    inner(home, uses("send", "free.send"), {**ANSWER, "gate": gate})
    run = home.start("outer")
    for path in ("in/answer", "in"):
        assert home.row(run).step == path and home.tools.names() == ["free.send"]
        desk = home.desk()
        if gate == "review":
            desk.review(desk.select_step(run, path, "review"), note="seen")
        else:
            desk.approve_step(desk.select_step(run, path, "approve"))
    assert home.run(run).status == "COMPLETED" and home.tools.names() == ["free.send"] and home.value(run, "said") == "hi!"


def test_end_inside_ends_the_workflow_inside_and_fail_ends_the_run(home: Home) -> None:
    outer(home, step("in", "workflow", workflow="inner", inputs={"word": "${inputs.text}"}), texts.AFTER)
    inner(home, step("way", "branch", on="inputs.word", arms={"end": "end", "*": "fail"}), uses("never", "free.send"))
    assert completed(home, home.start("outer", text="end")) == ["in/way", "in", "after"]
    run = home.start("outer", text="no")
    assert home.run(run).status == "FAILED" and home.types(run).count("RUN_FAILED") == 1 and home.tools.starts == []


def test_what_an_agent_inside_says_reaches_the_loop_around(home: Home) -> None:
    loop = step("loop", "block", block="body", repeat={"until": "agent_done", "max": 3, "at_max": "fail"})
    outer(home, loop, body=[step("in", "workflow", workflow="inner", inputs={"word": "w"})])
    inner(home, step("talk", "agent", agent="clerk"))
    home.models.turns["talk"] = [[{"type": "say", "message": "hm"}], [COMPLETE]]
    assert home.run(home.start("outer")).status == "COMPLETED" and len(home.models.asked) == 2


def test_a_loop_and_a_replay_inside_have_the_steps_of_their_own_workflow(home: Home) -> None:
    outer(home, uses("a", "free.send"), step("in", "workflow", workflow="inner", inputs={"word": "w"}))
    inner(
        home,
        step("items", "assign", set={"items": ["p", "q"]}),
        uses("a", "idem.put"),
        step("again", "retry_previous", step="a"),
        step("loop", "block", block="body", repeat={"until": "each", "each": "items", "item": "one"}),
        body=[step("y", "tool", tool="read.it", arguments={"text": "${one}"})],
    )
    run = home.start("outer")
    assert home.run(run).status == "COMPLETED" and home.tools.names() == ["free.send", "idem.put", "idem.put", "read.it", "read.it"]
    assert [started.arguments for started in home.tools.starts[3:]] == ['{"text":"p"}', '{"text":"q"}']


# ---- pinned, resumed, retried ----
def test_it_goes_on_as_it_was_pinned_whatever_its_file_says_now(home: Home) -> None:
    outer(home, INNER)
    inner(home, uses("send", "ask.send"), ANSWER)
    run = home.start("outer")
    assert home.desk().show_run(run)[0].changed is False
    inner(home, STOP)
    assert home.desk().show_run(run)[0].changed is True
    (home.folder / "inner.toml").unlink()
    home.decide("approve", run)
    assert home.run(run).status == "COMPLETED" and home.value(run, "said") == "hi!"


def test_a_crash_inside_is_gone_on_from(home: Home) -> None:
    outer(home, uses("before", "free.send"), INNER, texts.AFTER)
    inner(home, uses("a", "free.send"), uses("put", "idem.put"), ANSWER)
    home.tools.plan["idem.put"] = [dies]
    process = home.process()
    home.killed(lambda: process.desk.start("outer", {}, {}))
    [waiting] = home.desk().pending(None, 10)[0]
    home.decide("retry", waiting.row.run_id)
    assert home.tools.names() == ["free.send", "free.send", "idem.put", "idem.put"]
    assert home.run(waiting.row.run_id).status == "COMPLETED" and home.value(waiting.row.run_id, "said") == "hi!"


def test_a_failure_inside_is_retried_and_a_step_inside_is_named_by_its_carrier(home: Home) -> None:
    outer(home, uses("before", "free.send"), INNER, STOP)
    inner(home, step("b", "block", block="body"), body=[uses("leaf", "idem.put"), ANSWER])
    run = home.start("outer")
    for name in ("leaf", "in/b/leaf"):
        with pytest.raises(ToolgateError) as caught:
            home.desk().retry_step(run, name)
        assert caught.value.hint == "use --step in"
    home.desk().retry_step(run, "in")
    assert home.tools.names() == ["free.send", "idem.put", "idem.put"] and home.run(run).status == "FAILED"


def test_only_the_kinds_of_all_its_workflows_are_imported(quick: Home) -> None:
    outer(quick, INNER)
    inner(quick, uses("send", "ask.send"), ANSWER)
    from toolgate_cli.core.definition import opened

    digest = quick.run(quick.start("outer")).definition
    with quick.store.read() as tx:
        stored = tx.definition(digest)
    assert opened(stored).kinds() == {"workflow", "tool", "assign"}
    assert set(json.loads(stored.body)["workflows"]) == {"outer", "inner"}


def test_a_failed_call_inside_is_settled_where_it_is(home: Home) -> None:
    outer(home, INNER)
    inner(home, uses("send", "free.send"), step("a", "assign", set={"answer": "${tool.free.send.error}"}))
    home.tools.plan["free.send"] = [FAILED, OK]
    run = home.start("outer")
    home.decide("reject", run, reason="no use")
    assert home.value(run, "said") == "no use"


# ---- what is refused when the file is loaded ----
def refused(home: Home, flow: str = "outer") -> str:
    with pytest.raises(ToolgateError) as caught:
        home.start(flow)
    assert caught.value.kind == "invalid"
    return caught.value.message


@pytest.mark.parametrize(
    ("nested", "said"),
    [
        (step("in", "workflow", workflow="iner"), "outer.toml:10: steps[0].workflow: there is no workflow iner"),
        (step("in", "workflow", workflow="inner"), "inner needs the input word"),
        (step("in", "workflow", workflow="inner", inputs={"word": "w", "x": "1"}), "inner has no input x"),
        (step("in", "workflow", workflow="inner", inputs={"word": 7}), "steps[0].inputs.word: must be of type string"),
        (step("in", "workflow", workflow="inner", inputs={"word": "${inputs.no}"}), "there is no input no"),
        (step("in", "workflow", workflow="inner", share=True), "inner has an input word, and this workflow has none"),
        (step("in", "workflow", workflow="inner", share=True, inputs={"word": "w"}), "a shared context has no inputs"),
        (step("in", "workflow", workflow="inner", inputs={"word": "w"}, outputs={"tool.x": "a"}), "this key is reserved"),
        (step("in", "workflow", workflow="outer"), "workflows in a circle: outer > outer"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_line(quick: Home, nested: dict[str, object], said: str) -> None:
    inner(quick, ANSWER)
    outer(quick, nested)
    assert said in refused(quick)


def test_circles_are_told_with_their_way_and_a_diamond_is_fine(quick: Home) -> None:
    def nest(*names: str) -> list[dict[str, object]]:
        return [step(f"to-{name}", "workflow", workflow=name, inputs={"word": "w"}) for name in names]

    inner(quick, *nest("c"), id="b")
    inner(quick, *nest("outer"), id="c")
    outer(quick, *nest("b"))
    assert "workflows in a circle: outer > b > c > outer" in refused(quick)
    inner(quick, *nest("b"), id="c")
    assert "workflows in a circle: b > c > b" in refused(quick)
    inner(quick, *nest("d"), id="b")
    inner(quick, *nest("d"), id="c")
    inner(quick, ANSWER, id="d")
    outer(quick, *nest("b", "c"), *[{**table, "id": "twice"} for table in nest("b")])
    assert quick.run(quick.start("outer")).status == "COMPLETED"


@pytest.mark.parametrize(("levels", "fine"), [(31, True), (32, False)])
def test_no_more_than_32_are_open_at_once(quick: Home, levels: int, fine: bool) -> None:
    outer(quick, step("in", "workflow", workflow="n1", inputs={"word": "w"}))
    for n in range(1, levels):
        inner(quick, step("in", "workflow", workflow=f"n{n + 1}", inputs={"word": "w"}), id=f"n{n}")
    inner(quick, ANSWER, id=f"n{levels}")
    if fine:
        assert quick.run(quick.start("outer")).status == "COMPLETED"
    else:
        assert "nested 33 deep, which is more than 32" in refused(quick)


def test_a_mistake_in_a_workflow_inside_is_told_with_its_own_file(quick: Home) -> None:
    outer(quick, INNER)
    inner(quick, uses("x", "no.tool"))
    assert "inner.toml:" in refused(quick) and quick.events() == []


def test_a_change_of_the_workflow_inside_is_looked_at_though_the_file_outside_is_the_same(home: Home) -> None:
    outer(home, INNER)
    inner(home, ANSWER)
    home.start("outer")
    inner(home, ANSWER, more='[inputs.new]\ntype = "string"\n')
    assert "inner needs the input new" in refused(home)


def test_a_circle_that_a_change_inside_makes_is_seen_though_the_file_outside_is_the_same(home: Home) -> None:
    outer(home, INNER)
    inner(home, ANSWER)
    assert home.run(home.start("outer")).status == "COMPLETED"
    inner(home, step("back", "workflow", workflow="outer", inputs={"text": "w"}))
    assert "workflows in a circle" in refused(home) and "workflows in a circle" in refused(home, "inner")
    assert len(home.events(type="RUN_STARTED")) == 1


def test_two_files_with_the_id_of_a_workflow_inside_are_refused(quick: Home) -> None:
    outer(quick, INNER)
    inner(quick, ANSWER)
    (quick.folder / "twin.toml").write_text((quick.folder / "inner.toml").read_text())
    assert "inner" in refused(quick)
