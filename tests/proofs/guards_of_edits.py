"""The guards of an edit: what keeps other arguments from running on less than the design asks for."""

from __future__ import annotations

from proofs.guards import Guard

EDITING = "tests/runtime/test_editing.py::"
EDITED = "tests/runtime/test_edited_calls.py::"

OF_EDITS: tuple[Guard, ...] = (
    Guard(
        "an edit that the policy asks more of is parked",
        "I3",
        "    return same_terms(was, rule) and was.approvals_needed == 1 and not was.separate_requester\n",
        "    return True\n",
        (EDITING + "test_an_edit_that_the_policy_asks_more_of_is_parked_for_that",),
    ),
    Guard(
        "who edits a call has asked for it",
        "I3",
        "        requested_by=unit.person.name,\n",
        "",
        (EDITING + "test_who_edits_has_asked_for_it_and_somebody_else_approves_it",),
    ),
    Guard(
        "an edit has a key of its own",
        "I9",
        "        idempotency_key=key,\n",
        "",
        (EDITING + "test_an_edit_runs_as_a_revision_of_its_own",),
    ),
    Guard(
        "an edit of a tool that changed is shown again",
        "I3",
        '    if q.verb in ("approve", "answer") or (q.verb == "edit" and changed):\n',
        '    if q.verb in ("approve", "answer"):\n',
        (EDITING + "test_an_edit_of_a_tool_that_changed_is_shown_again",),
    ),
    Guard(
        "an edit that does not fit leaves the row as it was",
        "I3",
        "    if verdict.phase is not None:\n        raise _unfit",
        "    if verdict.phase is None and verdict.code is None:\n        raise _unfit",
        (EDITING + "test_arguments_that_do_not_fit_change_nothing",),
    ),
    Guard(
        "an edit that is denied leaves the row as it was",
        "I3",
        '    if verdict.origin == "POLICY_DENIED":\n        hint = f"it still',
        '    if verdict.origin == "nothing":\n        hint = f"it still',
        (EDITING + "test_an_edit_that_the_policy_denies_leaves_the_call_as_it_was",),
    ),
    Guard(
        "an old key makes no edit harmless",
        "I8",
        '    return doubt if doubt in (None, "read_only") else "unsafe"\n',
        "    return doubt\n",
        (EDITED + "test_a_doubt_stays_through_an_edit_and_no_old_key_makes_it_harmless",),
    ),
    Guard(
        "a doubtful call is edited and started only with the flag",
        "I9",
        "    refusal = doubted.refusal(edited) if approved else editing.refusal(case, verdict)",
        "    refusal = editing.refusal(case, verdict)",
        (EDITED + "test_a_doubt_stays_through_an_edit_and_no_old_key_makes_it_harmless",),
    ),
)
