"""A run that failed says what can be done about it, by the definition that it keeps, and what only a new start does."""

from __future__ import annotations

import json

import pytest

from toolgate_cli.core.verbs import State

from ..runtime import texts
from ..runtime.kit import Home
from ..runtime.states import BRING_ABOUT
from ..runtime.texts import step
from .test_what_next import Say, home, say

__all__ = ["home", "say"]


def failing_agent(home: Home, **fields: object) -> str:
    home.write(look=texts.flow("look", step("a", "assign", set={"n": "1"}), step("look", "agent", agent="clerk", **fields)))
    id = home.start("look")
    assert home.run(id).status == "FAILED"
    return id


@pytest.mark.parametrize("verb", ["cancel", "continue", "approve"])
def test_a_step_that_is_never_repeated_is_not_advised_to_be(home: Home, say: Say, verb: str) -> None:
    id = failing_agent(home)
    told = say(verb, id)
    assert told.code == 5 and "FAILED" in told.err and "only a new start uses a mended file" in told.err
    assert told.err.splitlines()[-1] == f"hint: toolgate -C {home.folder} start look"


UNFILLED = step("b", "assign", set={"n": "${nobody.writes}"})
SURE = {
    "a value": ((UNFILLED,), {}),
    "an argument": ((step("b", "tool", tool="free.send", arguments={"text": "${nobody.writes}"}),), {}),
    "a check": ((step("b", "validate", require={"keys": ["nobody"]}),), {}),
    "an arm": ((step("b", "branch", on="inputs.text", arms={"ho": "end"}),), {}),
    "a value inside": ((step("b", "block", block="inner"),), {"inner": [UNFILLED]}),
    "a value in an arm": ((step("b", "branch", on="inputs.text", arms={"*": "inner"}),), {"inner": [UNFILLED]}),
}


@pytest.mark.parametrize("case", SURE)
def test_what_the_definition_would_fail_again_is_mended_in_the_file_and_started_anew(home: Home, say: Say, case: str) -> None:
    steps, blocks = SURE[case]
    home.write(slip=texts.flow("slip", step("a", "assign", set={"x": "1"}), *steps, blocks=blocks))
    told = say("start", "slip", "-o", "tsv")
    new = f"mend the file, then: toolgate -C {home.folder} start slip"
    assert told.code == 1 and told.err.splitlines()[-1] == f"next: {new}"
    [run] = home.desk().runs("FAILED", 9)[0]
    refused = say("approve", run.run.id).err.splitlines()
    assert "only a new start uses a mended file" in refused[0] and refused[-1] == f"hint: toolgate -C {home.folder} start slip"
    again = say("retry", run.run.id, "--step", "b")  # it is not forbidden, and it is as was said
    assert again.code == 1 and again.err.splitlines()[-1] == f"next: {new}"
    assert say("runs", "show", run.run.id).err.splitlines()[-1] == f"next: {new}"
    assert set(json.loads(say("runs", "show", run.run.id, "--json").out)["run"]["error"]) == {"message", "step", "support_id"}


MAY_DIFFER = {
    "behind a call": [texts.uses("c", "free.send"), UNFILLED],
    "behind a step": [step("c", "assign", set={"x": "1"}), UNFILLED],
}


@pytest.mark.parametrize("case", MAY_DIFFER)
def test_what_came_of_anything_inside_the_same_step_may_be_mended_by_doing_it_again(home: Home, say: Say, case: str) -> None:
    home.write(sets=texts.flow("sets", step("s", "block", block="inner"), blocks={"inner": MAY_DIFFER[case]}))
    told = say("start", "sets", "-o", "tsv").err.splitlines()[-1]
    assert told.startswith("next: mend the cause, then: ") and told.endswith(" --step s")


def test_an_agent_that_is_gone_is_declared_again_and_its_step_retried(home: Home, say: Say) -> None:
    home.write(look=texts.flow("look", texts.uses("c", "ask.send"), step("look", "agent", agent="clerk", retry={"allow": True})))
    id = home.start("look")
    home.write(texts.operator().replace(texts.AGENT, ""))
    told = say("approve", id, "-o", "tsv").err.splitlines()[-1]
    assert told == f"next: mend the cause, then: toolgate -C {home.folder} retry {id} --step look"


@pytest.mark.parametrize("inside", [False, True])
def test_a_workflow_that_chose_to_fail_is_not_said_to_be_helped_by_the_step_that_chose(home: Home, say: Say, inside: bool) -> None:
    fails = step("f", "fail", reason="no")
    last = step("b", "branch", on="tool.ask.send.error", arms={"*": "inner", "": "continue"}) if inside else fails
    home.write(ends=texts.flow("ends", texts.uses("a", "ask.send"), last, blocks={"inner": [fails]} if inside else {}))
    id = home.start("ends")
    assert say("reject", id).code == 1
    told = say("retry", id).err.splitlines()
    assert "retry --step of a step before it" in told[0] and told[-1] == f"hint: toolgate -C {home.folder} start ends"
    assert say("retry", id, "--step", "a").code == 0 and home.run(id).status == "AWAITING_TOOL_APPROVAL"


@pytest.mark.parametrize("state", ["FAILED", "FAILED_BY_DEFINITION", "FAILED_FOR_GOOD", "COMPLETED"])
def test_of_what_is_over_nothing_is_left_to_be_cancelled(home: Home, say: Say, state: State) -> None:
    told = say("cancel", BRING_ABOUT[state](home).run)
    assert told.code == 5 and ": nothing of it is left to be cancelled; " in told.err
    assert "left to be cancelled" not in say("continue", home.desk().runs(None, 1)[0][0].run.id).err


@pytest.mark.parametrize("verb", ["cancel", "approve"])
def test_where_the_definition_allows_it_the_step_is_named_until_that_is_used_up(home: Home, say: Say, verb: str) -> None:
    id = failing_agent(home, retry={"allow": True})
    again = ["retry", id, "--step", "look"]
    assert say(verb, id).err.splitlines()[-1] == f"hint: toolgate -C {home.folder} {' '.join(again)}"
    assert say(*again).code == 1
    assert say(verb, id).err.splitlines()[-1] == f"hint: toolgate -C {home.folder} start look"
    assert say(*again).err.splitlines()[-1] == f"hint: begin anew: toolgate -C {home.folder} start look"


def test_what_is_written_into_the_file_afterwards_is_said_to_count_for_a_new_start(home: Home, say: Say) -> None:
    id = failing_agent(home)
    told = say("retry", id, "--step", "look")
    assert told.code == 5 and f"the definition that {id} started with does not let the step look be repeated" in told.err
    assert told.err.splitlines()[-1].endswith(f"that counts for a new start: toolgate -C {home.folder} start look")
    assert say("retry", id, "--step", "a").code == 1  # a step before it may be


def test_a_mended_workflow_is_said_to_be_used_by_a_new_start_alone(home: Home, say: Say) -> None:
    home.write(fixed=texts.flow("fixed", step("b", "fail", reason="no")))
    id = home.start("fixed")
    again = ["retry", id, "--step", "b"]
    assert "changed" not in say(*again).err
    home.write(fixed=texts.flow("fixed", step("b", "assign", set={"ok": "1"})))
    told = say(*again)
    assert told.code == 1 and "the workflow's file has changed since" in told.err and "only a new start uses the file" in told.err


@pytest.mark.parametrize("inside", [False, True])
def test_what_failed_and_can_be_repeated_is_named(home: Home, say: Say, inside: bool) -> None:
    fails = step("b", "validate", require={"files": ["no.txt"]})
    outer = step("s", "block", block="inner") if inside else fails
    home.write(sets=texts.flow("sets", outer, step("c", "assign", set={"n": "1"}), blocks={"inner": [fails]} if inside else {}))
    told = say("start", "sets", "-o", "tsv")
    [run] = home.desk().runs("FAILED", 9)[0]
    again = f"retry {run.run.id} --step {'s' if inside else 'b'}"
    assert told.err.splitlines()[-1] == f"next: mend the cause, then: toolgate -C {home.folder} {again}"
    assert json.loads(say(*again.split(), "--json").out)["next"] == [f"toolgate {again}"]


def test_a_workflow_that_chose_to_fail_and_a_step_that_is_never_repeated_have_no_next(home: Home, say: Say) -> None:
    assert json.loads(say("start", "fails", "--json").out)["next"] == []
    home.write(look=texts.flow("look", step("look", "agent", agent="clerk")))
    assert json.loads(say("start", "look", "--json").out)["next"] == []


def test_who_says_no_to_a_step_is_not_advised_to_have_it_asked_again(home: Home, say: Say) -> None:
    id = home.start("gate")
    told = say("reject", id, "--step", "s", "-m", "no", "--json")
    answer = json.loads(told.out)
    assert (told.code, answer["run"]["status"], answer["next"]) == (1, "FAILED", [])


def test_arguments_that_do_not_fit_are_told_with_the_bound_and_where_the_schema_is(home: Home, say: Say) -> None:
    schema = '{ type = "object", properties = { text = { type = "string", maxLength = 1 } } }'
    home.write(texts.operator({"free.send": texts.tool("free.send", schema=schema)}))
    told = say("start", "free", "-o", "tsv").err
    assert "LENGTH_VIOLATION at /text (longer than 1)" in told
    assert told.splitlines()[-1].startswith(f"next: toolgate -C {home.folder} tools show free.send has the schema; its arguments stay")


def test_of_mistyped_options_only_the_nearest_is_named(say: Say) -> None:
    assert say("pending", "list", "--jsn").err.splitlines()[-1] == "hint: did you mean --json"
    assert say("start", "free", "--inpt").err.splitlines()[-1] == "hint: did you mean --input"  # and neither --inputs nor --no-input
