"""The guards that hold while a workflow goes through loops, other workflows, conditions and replays (I5, I8, I9, section 6)."""

from __future__ import annotations

from proofs.guards import Guard

REPLAYS = "tests/runtime/test_replays.py::"
NESTING = "tests/runtime/test_nesting.py::"
LEAVING_OUT = "tests/runtime/test_leaving_out.py::"
TOGETHER = "tests/runtime/test_together.py::"
EQUAL = "tests/runtime/test_equal_calls.py::"

OF_FLOWS: tuple[Guard, ...] = (
    Guard(
        "a replay runs nothing again that is in doubt",
        "I9",
        "    if why := _forbidden(place, sequence[at], path) or _in_doubt(place, at, stop):\n",
        "    if why := _forbidden(place, sequence[at], path):\n",
        (
            REPLAYS + "test_what_may_have_taken_effect_is_not_run_again_without_a_person",
            TOGETHER + "test_a_replay_inside_a_workflow_inside_is_held_back_too",
        ),
    ),
    Guard(
        "an older word of a person is none about a newer doubt",
        "I9",
        "    return (call for seq, call in doubts if seq > said)\n",
        "    return (call for seq, call in doubts if not said)\n",
        (REPLAYS + "test_a_doubt_inside_a_branch_and_one_that_came_after_the_word_count_too",),
    ),
    Guard(
        "what may be a second call is not started because a rule allows it",
        "I9",
        '    return "policy" if ruling.decision == "allow" and not q.wary and q.doubt is None else None\n',
        '    return "policy" if ruling.decision == "allow" and not q.wary else None\n',
        (EQUAL + "test_a_call_that_may_be_a_second_one_waits_in_the_next_turn_and_says_why",),
    ),
    Guard(
        "what made a repetition harmless says nothing of an equal call",
        "I9",
        '    return tool is None or effects.rekeyed(_strictest(unit, call, tool)) == "unsafe"\n',
        "    return tool is None or not effects.repeatable(_strictest(unit, call, tool))\n",
        (EQUAL + "test_only_what_changes_nothing_is_asked_for_again_without_a_word",),
    ),
    Guard(
        "an operator's retry takes from the budget of replays",
        "section 6",
        "            replaying.reserve(unit, run, table)\n",
        "            pass\n",
        (REPLAYS + "test_the_budget_of_an_agent_is_shared_with_the_operator",),
    ),
    Guard(
        "a step that is run again stays where it stands in the workflow",
        "section 6",
        "                    if above is None or above.stop is None).position  # fmt: skip\n",
        "                    ).position  # fmt: skip\n",
        (REPLAYS + "test_an_operators_retry_between_finds_what_the_replayed_step_left",),
    ),
    Guard(
        "a workflow inside sees its own context and no other",
        "section 6",
        "        self._scope = place.scope\n",
        '        self._scope = ""\n',
        (NESTING + "test_what_is_named_goes_in_and_comes_out_and_nothing_else_is_seen",),
    ),
    Guard(
        "a step is left out where its conditions do not hold",
        "I5",
        "    if why is not None:\n        return _left_out(place, why)\n",
        "",
        (LEAVING_OUT + "test_a_step_runs_where_its_condition_holds_and_is_left_out_where_not",),
    ),
)
