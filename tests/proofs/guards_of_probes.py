"""The guards around what a tool is asked, and what it asks: prechecks, whose a resource is, reconcilers, questions half-way."""

from __future__ import annotations

from proofs.guards import Guard

PROBES = "tests/core/test_probes.py::"
PROBING = "tests/runtime/test_probing.py::"
RECONCILING = "tests/runtime/test_reconciling.py::"
CONFIRMING = "tests/runtime/test_confirming.py::"
DOUBT = "tests/doubt/test_reconcilers.py::"

OF_PROBES: tuple[Guard, ...] = (
    Guard(
        "a precheck is asked again before the start",
        "I5",
        '    if "precheck" in tool.probes and over is None and q.verb != "answer":',
        '    if "precheck" in tool.probes and over is None and q.verb == "ask":',
        (PROBING + "test_it_is_asked_before_a_person_is_and_again_before_the_start",),
    ),
    Guard(
        "an answer of a probe is for one pass",
        "I5",
        "            self.world = self.world._replace(answers={})\n",
        "            pass\n",
        (PROBING + "test_every_attempt_is_asked_about_anew", PROBING + "test_an_answer_counts_no_more_once_a_person_was_asked"),
    ),
    Guard(
        "an answer about other files is none",
        "I5",
        "ready.digest != asked.definition or not ports.files.unchanged(world):\n",
        "ready.digest != asked.definition:\n",
        (PROBING + "test_nothing_is_asked_under_a_file_that_was_just_changed",),
    ),
    Guard(
        "a precheck without an answer is a no",
        "I5",
        '    if (fault := _fault(answer)) is not None:\n        return "precheck_unavailable"',
        '    if (fault := _fault(answer)) is not None and answer.message == "":\n        return "precheck_unavailable"',
        (PROBING + "test_a_precheck_without_an_answer_is_a_refusal",),
    ),
    Guard(
        "a provider that breaks over a probe lets nothing through",
        "I5",
        '        result = ToolResult("uncertain", message=f"it failed: {type(error).__name__}")\n',
        '        result = ToolResult("answered", ok=True)\n',
        (PROBING + "test_a_precheck_that_breaks_the_provider_is_a_refusal",),
    ),
    Guard(
        "behind the deadline nothing is asked",
        "I5",
        "    if late := past_deadline(world.config, q.since, q.now, q.behind):\n",
        "    if late := None:\n",
        (PROBING + "test_behind_the_deadline_of_the_run_nothing_is_asked",),
    ),
    Guard(
        "no probe begins once its time is over",
        "I5",
        "    if timeout <= 0:\n        return ToolResult",
        "    if False:\n        return ToolResult",
        (PROBING + "test_of_two_calls_the_second_is_not_asked_about_behind_the_deadline",),
    ),
    Guard(
        "a tenant that nobody names is not the caller's",
        "I5",
        '    if found is None:\n        return f"auth_denied: tenant_unknown: {who}',
        '    if found is None:\n        return None\n        return f"auth_denied: tenant_unknown: {who}',
        (PROBING + "test_a_command_says_whose_the_resource_is_and_what_it_does_not_say_is_refused",),
    ),
    Guard(
        "nothing is run for a call that is not on record",
        "I1",
        "        return frame, needs._replace(probes=())\n",
        "        return frame, needs\n",
        (PROBING + "test_only_what_is_on_record_is_asked_about",),
    ),
    Guard(
        "nothing of a batch starts before all of it was asked about",
        "I13",
        "    phase = CALLS if needs is None else ASKED\n",
        "    phase = CALLS\n",
        (PROBING + "test_nothing_of_a_batch_starts_before_all_of_it_was_asked_about",),
    ),
    Guard(
        "an edited call is asked about under the key that it starts with",
        "I3",
        "case.decision.arguments or {}, case.decision.key, case.engine.world)\n",
        'case.decision.arguments or {}, case.unit.ports.mint.id("k"), case.engine.world)\n',
        (PROBING + "test_an_edited_call_is_asked_about_under_the_key_that_it_starts_with",),
    ),
    Guard(
        "the end of a probe kills nothing of a start",
        "I8",
        "world.secrets, asks=True)\n",
        "world.secrets)\n",
        (DOUBT + "test_the_end_of_a_probe_kills_nothing_of_a_start_of_the_same_call",),
    ),
    Guard(
        "a secret in the answer of a probe",
        "I12",
        "    result = result if not world.secrets else _without_secrets(result, world.secrets)\n",
        "",
        (PROBING + "test_of_what_a_probe_says_no_value_of_a_secret_is_kept",),
    ),
    Guard(
        "what a reconciler does not know nobody starts again",
        "I9",
        '    if verdict == "unknown":\n        return "OUTCOME_UNKNOWN"\n',
        "",
        (RECONCILING + "test_what_nobody_knows_waits_for_a_person",),
    ),
    Guard(
        "what was applied is not started again",
        "I9",
        '    if verdict == "applied":\n        return "settle"\n',
        "",
        (RECONCILING + "test_what_was_applied_is_a_success_with_its_result",),
    ),
    Guard(
        "what is not said plainly is not applied",
        "I8",
        '    if found["applied"] is True:\n',
        '    if found["applied"]:\n',
        (
            PROBES + "test_a_reconciler_that_does_not_say_it_plainly_does_not_know",
            RECONCILING + "test_what_nobody_knows_waits_for_a_person",
        ),
    ),
    Guard(
        "a reconciler that failed has said nothing",
        "I8",
        '    if not answer.ok:\n        return Reconciled("unknown", message=clean(answer.message))\n',
        "",
        (
            PROBES + "test_a_reconciler_that_does_not_say_it_plainly_does_not_know",
            RECONCILING + "test_what_nobody_knows_waits_for_a_person",
        ),
    ),
    Guard(
        "where a reconciler does not know a retry needs the flag",
        "I9",
        '    if found is None or found.verdict == "unknown":\n        return refusal(case, found) or case\n',
        '    if found is None:\n        return refusal(case, found) or case\n    if found.verdict == "unknown":\n        return case\n',
        (RECONCILING + "test_a_retry_of_what_nobody_knows_needs_the_flag",),
    ),
    Guard(
        "a reconciler settles nothing that was unsafe when it was started",
        "I9",
        '    if effects.stricter(row.doubt, tool.effect) != "reconcilable":\n        return None\n',
        "",
        (RECONCILING + "test_a_tool_that_was_unsafe_when_it_was_started_is_not_settled_by_a_later_reconciler",),
    ),
    Guard(
        "what still runs is not asked about",
        "I8",
        '    if then == "reconcile" and (result.survivors or result.left_behind is not None):\n',
        "    if False:\n",
        (RECONCILING + "test_what_still_runs_cannot_be_asked_about",),
    ),
    Guard(
        "of a reconcilable tool its own failure is a doubt",
        "I8",
        '    return judged_kind == "uncertain" or (judged_kind == "answered" and effect == "reconcilable")\n',
        '    return judged_kind == "uncertain"\n',
        (RECONCILING + "test_a_crash_before_the_reconcilers_word_leaves_a_doubt",),
    ),
    Guard(
        "the answer is to the question that was shown",
        "I3",
        "    return held.row._replace(\n        version=held.row.version + 1,\n",
        "    return held.row._replace(\n        version=held.row.version,\n",
        (CONFIRMING + "test_an_answer_to_an_earlier_question_is_none_to_this_one",),
    ),
    Guard(
        "what a tool had stopped with is what the log says",
        "I3",
        "    if name not in UNSIGNED or decision.outcome is not None:\n",
        '    if name not in (*UNSIGNED, "answer_yes", "answer_no") or decision.outcome is not None:\n',
        (CONFIRMING + "test_a_row_that_other_hands_changed_is_not_answered",),
    ),
    Guard(
        "the state of a tool is not given to another one",
        "I3",
        '    if q.verb in ("approve", "answer") or (q.verb == "edit" and changed):\n        return None  # what waits',
        '    if q.verb == "approve" or (q.verb == "edit" and changed):\n        return None  # what waits',
        (CONFIRMING + "test_a_tool_that_changed_is_not_given_the_state_of_the_one_before",),
    ),
    Guard(
        "questions come to an end",
        "I5",
        "    if round > effects.ROUNDS:\n",
        "    if False:\n",
        (CONFIRMING + "test_it_may_ask_three_times_in_one_go",),
    ),
    Guard(
        "an answer starts no call in doubt without a word for that",
        "I9",
        '        return refusal if word == "yes" else _without_the_tool(case, refusal.message)\n',
        "        pass\n",
        (CONFIRMING + "test_a_question_of_a_call_in_doubt_is_answered_with_a_word_for_the_doubt",),
    ),
    Guard(
        "a no ends a call whose tool is not declared safe to repeat any more",
        "I6",
        'return refusal if word == "yes" else _without_the_tool(case, refusal.message)',
        "return refusal",
        (CONFIRMING + "test_a_no_ends_a_call_whose_tool_is_not_declared_safe_to_repeat_any_more",),
    ),
    Guard(
        "after a no to a tool that asked the rest of the turn is asked for",
        "I13",
        'case.run if word == "yes" else _wary(case.run)',
        "case.run",
        ("tests/runtime/test_turns.py::test_a_no_to_a_tool_that_asked_makes_the_rest_of_its_turn_ask_whatever_came_of_it",),
    ),
    Guard(
        "a no starts no call in doubt",
        "I9",
        '    "CONFIRMATION_IN_DOUBT": {"approve": "answer_yes", "reject": "refuse", "cancel": "cancel"},\n',
        '    "CONFIRMATION_IN_DOUBT": {"approve": "answer_yes", "reject": "answer_no", "cancel": "cancel"},\n',
        (CONFIRMING + "test_a_no_to_a_call_in_doubt_ends_it_without_the_tool",),
    ),
    Guard(
        "what nobody answered in time is no yes",
        "I5",
        '        return "UNANSWERED" if waits.expired else "CONFIRMATION_IN_DOUBT" if waits.doubt else origin\n',
        '        return "CONFIRMATION_IN_DOUBT" if waits.doubt else origin\n',
        (CONFIRMING + "test_what_nobody_answered_in_time_is_not_started_again",),
    ),
    Guard(
        "a repetition is told the answer",
        "I13",
        "        last = row.last if rounds.answer(held.row) is None else held.row.last  # the next",
        "        last = row.last  # the next",
        (CONFIRMING + "test_a_repetition_is_told_the_same_answer",),
    ),
    Guard(
        "nothing goes on beside what is left of the asking process",
        "I8",
        "    row = case.row\n    if (running := still_running(case)) is not None:\n        return running\n    if row.doubt is None or",
        "    row = case.row\n    if row.doubt is None or",
        (CONFIRMING + "test_what_is_left_of_the_asking_process_keeps_the_answer_back",),
    ),
)
