"""What somebody is told who named nothing, too little, or the wrong thing: to the word, for each of them is the way on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from toolgate_cli.core import canonical, verbs
from toolgate_cli.core.digests import ref
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.records import Row
from toolgate_cli.core.results import ToolResult
from toolgate_cli.core.verbs import use
from toolgate_cli.runtime import looking, selecting, standing

from . import texts
from .fakes import COMPLETE, FAILED, LOST, OK, Started, call
from .kit import Home
from .states import BRING_ABOUT


def told(act: Callable[[], object]) -> ToolgateError:
    with pytest.raises(ToolgateError) as caught:
        act()
    return caught.value


def test_where_only_steps_wait_their_commands_are_named(quick: Home) -> None:
    empty = told(lambda: quick.desk().select([], "approve"))
    assert (empty.message, empty.hint) == ("no call waits for a decision", "toolgate runs list")
    assert told(lambda: quick.desk().show_pending([])).kind == "not_found"
    gate, form = quick.start("gate"), quick.start("form")
    error = told(lambda: quick.desk().select([], "approve"))
    assert error.message == "no call waits for a decision, and a step that waits is decided by naming it"
    assert [choice.command for choice in error.choices] == [f"toolgate answer {form}", f"toolgate approve {gate} --step s"]
    no = told(lambda: quick.desk().select([], "reject"))
    assert [choice.command for choice in no.choices] == [f"toolgate answer {form}", f"toolgate reject {gate} --step s"]


def test_beside_the_command_stands_why_the_step_waits_or_which_it_is(quick: Home) -> None:
    quick.models.turns["s"] = [[{"type": "escalate", "reason": ""}, COMPLETE]]
    gate, talk = quick.start("gate"), quick.start("talk")
    about = [(talk, "s"), (gate, "this step asks for an approval")]
    asked = told(lambda: quick.desk().select([], "approve"))
    assert [(choice.command, choice.about) for choice in asked.choices] == [(f"toolgate approve {run} --step s", why) for run, why in about]
    looked = told(lambda: quick.desk().show_pending([]))
    assert looked.message == "no call waits for a decision, and of what waits else nothing was named"
    assert [(choice.command, choice.about) for choice in looked.choices] == [(f"toolgate pending show {run}", why) for run, why in about]


@pytest.mark.parametrize(("word", "message", "hint"), [
    ("c234", "no call c234 waits for a decision", "give 8 characters of it, or more"),
    ("c2345672345672", "no call c2345672345672 waits for a decision", "toolgate pending list"),
    ("c2345672", "no call c2345672 waits for a decision", "toolgate pending list"),
    ("r234", "no run r234", "give 8 characters of it, or more"),
    ("r2345672", "no run r2345672", "toolgate runs list"),
    ("r2345672@0123", "r2345672@0123 is neither a run (r...) nor a call (c...)", "toolgate pending list"),
    ("x2", "x2 is neither a run (r...) nor a call (c...)", "toolgate pending list"),
])  # fmt: skip
def test_a_word_that_names_nothing_is_told_what_it_lacks(quick: Home, word: str, message: str, hint: str) -> None:
    quick.start("ask")
    error = told(lambda: quick.desk().select([word], "approve"))
    assert (error.kind, error.message, error.hint) == ("not_found", message, hint)


@pytest.mark.parametrize(("word", "hint"), [
    ("r23", "give 4 characters of it, or more"), ("r234", "toolgate runs list"), ("r2345", "toolgate runs list"),
    ("x2", "toolgate runs list"),
])  # fmt: skip
def test_a_run_that_is_looked_at_needs_four_letters(quick: Home, word: str, hint: str) -> None:
    assert told(lambda: quick.desk().show_run(word)).hint == hint


@pytest.mark.parametrize(
    ("words", "message"), [(["r1", "r2"], "two runs are given, r1 and r2"), (["c1", "c2"], "two calls are given, c1 and c2")]
)
def test_two_of_a_kind_are_too_many(quick: Home, words: list[str], message: str) -> None:
    error = told(lambda: quick.desk().select(words, "approve"))
    assert (error.message, error.hint) == (message, "one [RUN] and one [CALL] at most")


@pytest.mark.parametrize("count", [2, 10, 11, 19, 20, 21])
def test_of_many_ten_are_shown_and_the_rest_is_counted(quick: Home, count: int) -> None:
    for _ in range(count):
        quick.start("ask")
    error = told(lambda: quick.desk().select([], "approve"))
    number = str(count) if count < 20 else "20 or more"
    assert error.message == f"{number} calls wait for a decision, and nothing is chosen among several"
    assert len(error.choices) == min(count, 10)
    assert error.hint == (f"and {min(count, 20) - 10} more: toolgate pending list" if count > 10 else "")
    assert told(lambda: quick.desk().show_pending([])).choices[0].command.startswith("toolgate pending show r")


def test_beside_a_call_without_a_title_stand_its_tool_and_what_of_its_arguments_is_stored(quick: Home) -> None:
    quick.start("free", text="x" * 1001)
    quick.start("ask", text="y" * 100)
    quick.start("ask")
    about = [choice.about for choice in told(lambda: quick.desk().select([], "reject")).choices]
    long = 'ask.send {"text":"' + "y" * 100
    assert about == ['ask.send {"text":"hi"}', long[: len("ask.send ") + 80], "free.send"]


@pytest.mark.parametrize("failed", [1, 3, 4])
def test_those_that_the_verb_does_not_move_are_named_and_more_than_three_are_listed_elsewhere(quick: Home, failed: int) -> None:
    quick.tools.plan["free.send"] = [FAILED] * failed
    rows = [quick.row(quick.start("free")) for _ in range(failed)]
    quick.start("ask")
    error = told(lambda: quick.desk().select([], "approve"))
    others = [f"{row.id} is EXECUTION_FAILED (use retry or reject or continue-tool)" for row in reversed(rows)][:3]
    assert len(error.choices) == 1
    assert error.hint == f"approve does not move the others: {', '.join([*others, *(['toolgate pending list'] if failed > 3 else [])])}"


def test_of_more_than_ten_to_choose_from_the_rest_is_counted_also_beside_others(quick: Home) -> None:
    quick.tools.plan["free.send"] = [FAILED]
    for flow in ("free", *["ask"] * 11):
        quick.start(flow)
    assert told(lambda: quick.desk().select([], "approve")).hint == "and 1 more: toolgate pending list"


def test_the_only_thing_that_waits_is_shown_where_nothing_is_named_and_nothing_among_several(quick: Home) -> None:
    gate = quick.start("gate")
    assert quick.desk().show_pending([])[0].row == quick.row(gate)
    quick.start("form")
    assert told(lambda: quick.desk().show_pending([])).kind == "not_found"


def test_a_call_that_runs_is_told_from_one_that_was_settled(quick: Home) -> None:
    quick.write(texts.operator(), both=texts.flow("both", texts.uses("a", "free.send"), texts.uses("b", "ask.send")))
    run = quick.start("both")
    first, second = quick.tools.starts[0].call, quick.row(run).id
    seen: list[str] = []

    def look(_: Started) -> object:
        seen.extend(told(lambda word=word: quick.desk().select([word], "approve")).message for word in (first, second))  # type: ignore[misc]
        return OK

    quick.tools.plan["ask.send"] = [look]  # type: ignore[list-item]  # a result
    quick.decide("approve", run)
    assert seen == [f"{first} was settled: succeeded", f"{second} is running"]
    assert told(lambda: quick.desk().select([second], "approve")).message == f"{second} was settled: succeeded"


def test_a_call_that_its_run_has_not_come_to_is_not_open(quick: Home) -> None:
    quick.models.turns["s"] = [[call("free.send", n=1), call("free.send", n=2)], [COMPLETE]]
    seen: list[str] = []

    def look(_: Started) -> ToolResult:
        later = quick.events(type="TOOL_INVOCATION_REQUESTED")[-1].call_id or ""
        seen.extend((later, told(lambda: quick.desk().select([later], "approve")).message))
        return OK

    quick.tools.plan["free.send"] = [look]
    run = quick.start("talk")
    later, said = seen
    assert said == f"{later} is not open" and quick.run(run).status == "COMPLETED"


def test_what_a_run_waits_for_is_shown_in_the_place_of_a_call_and_nothing_else_is(quick: Home) -> None:
    gate, over = quick.start("gate"), quick.start("free")
    assert quick.desk().show_pending([gate])[0].row == quick.row(gate)
    assert quick.desk().show_pending([quick.row(gate).id])[0].row == quick.row(gate)
    done = told(lambda: quick.desk().show_pending([over]))
    assert (done.kind, done.message) == ("wrong_state", f"{over} is COMPLETED and has no call that waits: {use('COMPLETED')}")
    assert done.hint == f"toolgate runs show {over}"
    assert told(lambda: quick.desk().show_pending([gate, "c2345672345672"])).kind == "not_found"
    quick.models.turns["s"] = [[call("ask.send", n=1), call("ask.send", n=2)]]
    two = quick.start("talk")
    assert len(quick.rows(two)) == 2
    several = told(lambda: quick.desk().show_pending([two]))
    assert several.kind == "ambiguous" and [choice.command for choice in several.choices] == [
        f"toolgate pending show {ref(row)}" for row in quick.rows(two)
    ]


def test_a_verb_that_does_not_apply_to_what_waits_says_so(quick: Home) -> None:
    gate = quick.start("gate")
    said = "retry does not apply to STEP_APPROVAL: use approve --step or reject --step"
    assert told(lambda: quick.desk().select([gate], "retry")).message == said
    assert told(lambda: quick.desk().select([quick.row(gate).id], "retry")).message == said
    assert told(lambda: quick.desk().select([gate], "approve")).message == (
        f"{gate} is AWAITING_STEP_APPROVAL and has no call that waits: use approve --step or reject --step"
    )
    assert told(lambda: quick.desk().select_step(gate, "after", "approve")).message == f"{gate} waits for the step s, not for after"
    over = quick.start("ask")
    assert told(lambda: quick.desk().select_step(over, None, "approve")).message == f"{over} is AWAITING_TOOL_APPROVAL: no step of it waits"


def test_the_hint_of_a_failed_run_names_the_step_that_failed(quick: Home) -> None:
    run = quick.start("lacks")
    assert told(lambda: quick.desk().continue_run(run)).hint == f"toolgate retry {run} --step s"


def test_time_is_over_at_the_moment_itself() -> None:
    row = Row("c1", 1, "r1", "s", "APPROVAL_REQUIRED", 1)
    at = "2026-01-31T12:00:00.000Z"
    for expires, over in ((None, False), ("2026-01-31T12:00:00.001Z", False), (at, True), ("2026-01-31T11:59:59.999Z", True)):
        assert standing.is_over(row._replace(expires_at=expires), at) is over


def test_a_ref_that_is_not_what_it_was_says_where_to_look(quick: Home) -> None:
    quick.tools.plan["ask.send"] = [FAILED]
    run = quick.start("ask")
    seen = ref(quick.row(run))
    quick.decide("approve", run)
    error = told(lambda: quick.desk().select([seen], "retry"))
    assert error.message == f"{quick.row(run).id} is not what {seen} was" and error.hint.endswith(
        f"toolgate pending show {quick.row(run).id}"
    )
    assert (selecting.LOOKING, selecting.DECIDING, len(run)) == (4, 8, selecting.ID_LENGTH)


def test_a_doubt_that_is_left_of_a_cancelled_run_is_decided_by_naming_it(quick: Home) -> None:
    def cancelled(_: Started) -> ToolResult:
        run = quick.events(type="RUN_STARTED")[0].run_id
        quick.desk().cancel(run or "", None)
        return LOST

    quick.tools.plan["free.send"] = [cancelled]
    run = quick.start("free")
    row = quick.row(run)
    for verb in ("continue-tool", "reject", "retry"):
        error = told(lambda verb=verb: quick.desk().select([run], verb))  # type: ignore[misc]  # its own verb
        assert (error.kind, error.hint) == ("wrong_state", f"toolgate continue-tool {ref(row)} --outcome-file FILE"), verb
    assert quick.desk().select([row.id], "continue-tool").row == row
    step = told(lambda: quick.desk().select_step(run, None, "approve"))
    assert step.kind == "wrong_state" and step.hint == f"toolgate continue-tool {ref(row)} --outcome-file FILE"


def in_doubt(home: Home) -> tuple[str, str]:
    """A run that was cancelled, and the ref of the call that it left in doubt."""
    home.tools.plan["free.send"] = [LOST]
    run = home.start("free")
    home.desk().cancel(run, None)
    return run, ref(home.row(run))


def test_a_doubt_of_a_cancelled_run_is_told_by_its_ref_wherever_it_is_not_chosen(quick: Home) -> None:
    run, name = in_doubt(quick)
    command = f"toolgate continue-tool {name} --outcome-file FILE"
    by_run = told(lambda: quick.desk().select([run], "continue-tool"))
    assert by_run.message == f"{run} is CANCELLED, and a call that a cancelled run left in doubt is decided by naming it"
    assert by_run.hint == command
    alone = told(lambda: quick.desk().select([], "continue-tool"))
    assert (alone.kind, [choice.command for choice in alone.choices]) == ("not_found", [command])
    assert alone.message == (
        "no call of a run that goes on waits for a decision, and a call that a cancelled run left in doubt is decided by naming it"
    )
    assert [choice.about for choice in alone.choices] == ['free.send {"text":"hi"}']
    gate = quick.start("gate")
    both = told(lambda: quick.desk().select([], "approve"))
    assert "a step that waits or a call that a cancelled run left in doubt is decided" in both.message
    assert [choice.command for choice in both.choices] == [f"toolgate approve {gate} --step s", command]
    looks = told(lambda: quick.desk().show_pending([]))
    assert [choice.command for choice in looks.choices] == [f"toolgate pending show {gate}", f"toolgate pending show {name}"]


def test_a_doubt_of_a_cancelled_run_is_counted_among_several_and_never_taken(quick: Home) -> None:
    cancelled, name = in_doubt(quick)
    quick.start("gate")  # which is not a call
    first = quick.start("ask")
    assert quick.desk().select([], "approve").row.run_id == first
    quick.start("ask")
    moved = told(lambda: quick.desk().select([], "continue-tool"))
    assert moved.message == "3 calls wait for a decision, and nothing is chosen among several"
    assert [choice.command for choice in moved.choices] == [f"toolgate continue-tool {name} --outcome-file FILE"]
    assert "does not move the others" in moved.hint and "moves none" not in moved.hint
    looked = told(lambda: quick.desk().show_pending([]))
    assert f"toolgate pending show {cancelled} {name}" in [choice.command for choice in looked.choices] and len(looked.choices) == 3
    approved = told(lambda: quick.desk().select([], "approve"))
    assert len(approved.choices) == 2 and "OUTCOME_UNKNOWN of a cancelled run (use continue-tool --outcome-file)" in approved.hint


def test_the_doubts_of_one_cancelled_run_are_commands_to_choose_from(quick: Home) -> None:
    quick.models.turns["s"] = [[call("ask.send", n=1), call("ask.send", n=2)]]
    run = quick.start("talk")
    quick.tools.plan["ask.send"] = [LOST, LOST]
    for row in quick.rows(run):
        quick.decide("approve", run, row.id)
    quick.desk().cancel(run, None)
    error = told(lambda: quick.desk().select([run], "continue-tool"))
    expected = [f"toolgate continue-tool {ref(row)} --outcome-file FILE" for row in quick.rows(run)]
    assert (error.hint, [choice.command for choice in error.choices]) == ("", expected) and len(expected) == 2


def test_the_calls_of_one_turn_wait_in_the_order_in_which_they_were_asked_for(quick: Home) -> None:
    order = list(range(8))
    quick.models.turns["s"] = [[call("ask.send", n=n) for n in order]]
    run = quick.start("talk")
    calls = {waiting.row.id: waiting.call for waiting in quick.desk().pending(run, 20)[0]}
    numbers = {id: canonical.parse(call.arguments)["n"] for id, call in calls.items() if call}  # type: ignore[arg-type,index]  # an object
    listed = [[numbers[waiting.row.id] for waiting in quick.desk().pending(only, 20)[0]] for only in (run, None)]
    answered = [numbers[waiting.row.id] for waiting in looking.answer(quick.desk()._ports, run, "started").pending]
    chosen = [choice.command.split()[-1].split("@")[0] for choice in told(lambda: quick.desk().select([], "approve")).choices]
    assert [*listed, answered, [numbers[id] for id in chosen]] == [order] * 4


def test_what_is_shown_says_what_moves_it_on(quick: Home) -> None:
    for state, bring in BRING_ABOUT.items():
        stand = bring(quick)
        desk = quick.desk()
        view, rows, _ = desk.show_run(stand.run)
        advised = desk.next(view.run, rows)
        over = state in ("COMPLETED", "CANCELLED", "FAILED_FOR_GOOD", "DRIVEN")
        assert len(advised) == (0 if over else 1), state
        if rows:
            assert desk.next_of(desk.show_pending([rows[0].row.id])[0]) == advised
        if advised:
            assert verbs.works(_state(quick, stand.run)).split(" | ")[0].split()[0] == advised[0].command.split()[1], state


def _state(home: Home, run: str) -> verbs.State:
    ports, found = home.desk()._ports, home.run(run)
    with home.store.read() as tx:
        return standing.state(tx, found, standing.first(tx, found), standing.moment(tx, ports))


def test_a_step_that_no_run_waits_for_is_a_wrong_state(quick: Home) -> None:
    gate, call = quick.start("gate"), quick.start("ask")
    for act in (lambda: quick.desk().select_step(gate, "after", "approve"), lambda: quick.desk().select_step(call, "s", "approve")):
        assert told(act).kind == "wrong_state"
