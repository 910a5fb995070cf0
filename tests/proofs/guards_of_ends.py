"""The guards that hold once something has been started: doubt, repetition, cancel, the rest of a turn (I8-I10, I13), and who decides."""

from __future__ import annotations

from proofs.guards import Guard

STARTING = "tests/runtime/test_starting_calls.py::"
REPEATING = "tests/runtime/test_repeating.py::"
CANCELLING = "tests/runtime/test_cancelling.py::"
TURNS = "tests/runtime/test_turns.py::"
DECIDERS = "tests/runtime/test_deciders.py::"
QUORUMS = "tests/runtime/test_quorums_and_limits.py::"
DOUBTS = "tests/runtime/test_doubts_and_cancels.py::"
KEEPING = "tests/runtime/test_keeping_results.py::"

AFTER_A_START: tuple[Guard, ...] = (
    Guard(
        "doubt is sticky",
        "I8",
        "    if doubt is not None or effects.doubtful(judged.kind, tool.effect):\n",
        '    if judged.kind != "uncertain":\n        doubt = None\n    else:\n',
        (REPEATING + "test_a_doubt_stays_through_later_clear_failures",),
    ),
    Guard(
        "doubt goes along when a row is parked again",
        "I8",
        "        doubt=was.doubt if was else None,\n",
        "        doubt=None,\n",
        (REPEATING + "test_a_doubt_walks_through_a_changed_tool_to_another_person",),
    ),
    Guard(
        "what a dead owner ran is in doubt",
        "I8",
        "        row = row._replace(doubt=effects.stricter(row.doubt or effect, effect))\n",
        "",
        (REPEATING + "test_a_call_whose_caller_was_killed_is_listed_at_once_and_not_started_again",),
    ),
    Guard(
        "asking again does not start what is in doubt",
        "I8",
        '    found = doubted.look(case, "TOOL_INVOCATION_RETRIED", "retried") if isinstance(verdict, Start) else case\n',
        "    found = case\n",
        (REPEATING + "test_a_doubtful_approval_that_expired_is_not_started_by_asking_again",),
    ),
    Guard(
        "the stricter of then and now",
        "I9",
        "effects.repeatable(effects.stricter(row.doubt, tool.effect))",
        "effects.repeatable(tool.effect)",
        (REPEATING + "test_the_stricter_of_then_and_now_says_whether_a_doubtful_call_may_run_again",),
    ),
    Guard(
        "a repetition is of the stricter class too",
        "I9",
        "effects.after(judged.kind, effects.stricter(row.doubt or tool.effect, tool.effect), left)",
        "effects.after(judged.kind, tool.effect, left)",
        (DOUBTS + "test_a_doubtful_call_is_repeated_only_as_the_stricter_class_permits",),
    ),
    Guard(
        "the declared class alone decides on a repetition",
        "I9",
        '        "unsafe": ("OUTCOME_UNKNOWN", "OUTCOME_UNKNOWN"),\n    },\n}',
        '        "unsafe": ("repeat", "OUTCOME_UNKNOWN"),\n    },\n}',
        (REPEATING + "test_how_often_a_call_is_started",),
    ),
    Guard(
        "a survivor keeps a call from being started again",
        "I9",
        " and not result.survivors and result.left_behind is None\n",
        "\n",
        (REPEATING + "test_nothing_is_repeated_while_something_of_it_is_left",),
    ),
    Guard(
        "a tool that became unsafe is not repeated",
        "I9",
        "    if verdict.call_digest != held.row.call_digest and not gate.permits(held.row, verdict.tool):\n",
        "    if False:\n",
        (REPEATING + "test_a_tool_that_becomes_unsafe_while_its_next_attempt_waits_is_not_started_again",),
    ),
    Guard(
        "cancel marks what runs",
        "I10",
        "    unit.tx.mark_cancelled(run.id)\n",
        "",
        (CANCELLING + "test_a_call_that_runs_sees_the_cancel_and_its_end_is_only_an_event",),
    ),
    Guard(
        "a stop is asked for before the spawn",
        "I10",
        "        if stop():\n            return Ended(",
        "        if False:\n            return Ended(",
        (DOUBTS + "test_a_stop_that_is_there_before_the_spawn_starts_nothing",),
    ),
    Guard(
        "what waits for its next attempt ends with the cancel",
        "I10",
        '        if attempt.state == "waiting" and unit.tx.finish(attempt) is not None:  # nothing of it runs now\n',
        "        if False:\n",
        (DOUBTS + "test_a_cancel_during_the_pause_before_a_repetition_lists_or_closes_at_once",),
    ),
    Guard(
        "a cancelled doubt does not expire",
        "I10",
        'row._replace(origin="OUTCOME_UNKNOWN", expires_at=None, on_expiry=None),\n',
        'row._replace(origin="OUTCOME_UNKNOWN"),\n',
        (DOUBTS + "test_a_cancel_lists_a_doubt_of_any_origin_without_an_expiry_and_closes_one_that_does_not_matter",),
    ),
    Guard(
        "recovery leaves a run to its living driver",
        "I8",
        "owner=run.owner if driven else None",
        "owner=None",
        (DOUBTS + "test_what_a_dead_decider_ran_is_taken_back_and_the_run_stays_with_its_living_driver",),
    ),
    Guard(
        "an attempt that a fault left open is in the answer",
        "I8",
        " if held in dead or held.owner == leaving]",
        " if held in dead]",
        (KEEPING + "test_an_end_that_could_not_be_recorded_is_a_doubt_in_the_answer_itself",),
    ),
    Guard(
        "a late result changes no state",
        "I10",
        "    if held is None or held.cancelled:\n",
        "    if held is None:\n",
        (CANCELLING + "test_a_call_that_runs_sees_the_cancel_and_its_end_is_only_an_event",),
    ),
    Guard(
        "nothing is carried on after a cancel",
        "I10",
        "            return None  # cancelled or taken over while the model answered: what it said is not carried out\n",
        "            pass\n",
        (CANCELLING + "test_what_a_model_says_after_a_cancel_is_not_carried_out",),
    ),
    Guard(
        "a cancelled run has one verb, and it moves nothing",
        "I10",
        '        return "CANCELLED" if waits is None else "CANCELLED_IN_DOUBT"\n',
        '        return "CANCELLED" if waits is None else waits.origin\n',
        (CANCELLING + "test_whatever_a_run_waits_for_it_can_be_cancelled",),
    ),
    Guard(
        "what came in is kept until it was planned with",
        "I13",
        '            return ["turn", *came]\n',
        "            return None\n",
        ("tests/runtime/test_turns.py",),
    ),
    Guard(
        "after a refusal the rest of the batch is asked for",
        "I13",
        "wary=frame.wary or refused",
        "wary=frame.wary",
        (TURNS + "test_after_a_refusal_what_was_allowed_is_asked_for_in_the_rest_of_the_batch",),
    ),
    Guard(
        "after a refusal the later batches of the turn are asked for",
        "I13",
        "wary=talk.wary or arrived.wary or refused",
        "wary=talk.wary or arrived.wary",
        (TURNS + "test_a_refusal_makes_the_later_batches_of_its_turn_ask_and_the_next_turn_is_free_again",),
    ),
    Guard(
        "a failure holds back the rest",
        "I13",
        "            return run, Held()  # an unsettled failure holds back the rest\n",
        "            pass\n",
        (TURNS + "test_cleared_calls_start_in_order_and_a_failure_holds_back_the_rest",),
    ),
    Guard(
        "a model's own call ids are never taken",
        "I13",
        '    mine = {key: value for key, value in command.items() if key != "call"}\n    return {**mine, "call": unit.ports.mint.id("c")}',
        '    mine = dict(command)\n    return {"call": unit.ports.mint.id("c"), **mine}',
        (STARTING + "test_the_ids_that_a_model_sends_are_labels_only",),
    ),
    Guard(
        "a vote counts once",
        "who decides",
        "    if folded(new_actor) in map(folded, voted):\n",
        "    if False:\n",
        (DECIDERS + "test_a_quorum_is_of_distinct_people",),
    ),
    Guard(
        "the quorum comes before the limits",
        "who decides",
        '    if isinstance(verdict, Start) or verdict.cleared == "approval":\n',
        "    if isinstance(verdict, Start):\n",
        (QUORUMS + "test_one_vote_under_a_limit_that_is_used_up_is_one_vote",),
    ),
    Guard(
        "a denial keeps who may decide",
        "who decides",
        '    if rule is None or verdict.origin != "APPROVAL_REQUIRED":\n',
        "    if rule is None:\n",
        (QUORUMS + "test_a_denial_that_takes_a_row_over_keeps_who_may_decide_it",),
    ),
    Guard(
        "a scope is asked for",
        "who decides",
        "    if not _holds_scope(row, person_name, approvers):\n",
        "    if False:\n",
        (DECIDERS + "test_a_scope_is_needed_for_every_decision",),
    ),
)
