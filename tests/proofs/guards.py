"""The guards that hold the invariants: where each stands, what the program is without it, and the tests that notice that it is gone."""

from __future__ import annotations

from typing import NamedTuple


class Guard(NamedTuple):
    """`line` stands exactly once in the whole package; `without` takes its place. `caught_by`: one of these tests must fail then."""

    name: str
    invariant: str
    line: str
    without: str
    caught_by: tuple[str, ...]


STARTING = "tests/runtime/test_starting_calls.py::"
CONTEXT = "tests/runtime/test_context.py::"
DENYING = "tests/runtime/test_denying.py::"
GOING_ON = "tests/runtime/test_going_on.py::"
WHOLE = "tests/runtime/test_all_or_nothing.py::"
DIGESTS = "tests/runtime/test_parking_digests.py::"
REFUSED = "tests/runtime/test_refused_by_the_gate.py::"
CHANGED = "tests/runtime/test_changed_runs.py::"
KEEPING = "tests/runtime/test_keeping_results.py::"

BEFORE_A_START: tuple[Guard, ...] = (
    Guard(
        "no audit, no action",
        "I1",
        "            unit.flush()\n",
        "            try:\n                unit.flush()\n            except Exception:\n                pass\n",
        (STARTING + "test_a_start_that_cannot_be_recorded_does_not_happen",),
    ),
    Guard(
        "the start is on record before the tool is called",
        "I1",
        '    unit.record("TOOL_INVOCATION_STARTED", run, facts, call=call, digest=verdict.call_digest, attempt=number)\n',
        "",
        (STARTING + "test_the_attempt_and_its_event_are_durable_before_the_tool_is_called",),
    ),
    Guard(
        "a row is started only if an event parked it",
        "I1",
        "        parked_by_the_chain(unit, was)\n",
        "        pass\n",
        (DIGESTS + "test_the_gate_itself_takes_no_row_that_no_event_parked",),
    ),
    Guard(
        "a row is what its parking event says of it",
        "I3",
        '        and tells(event, "row", digest(row))\n',
        "",
        (DIGESTS + "test_an_approval_of_a_row_that_was_changed_by_hand_starts_nothing",),
    ),
    Guard(
        "only an event that parks is a parking event",
        "I3",
        "        and event.type in PARKING\n",
        "",
        (DIGESTS + "test_an_event_of_another_type_parks_nothing",),
    ),
    Guard(
        "parking a row again does not vouch for it",
        "I3",
        "        parking.parked_by_the_chain(unit, row)\n",
        "        pass\n",
        (DIGESTS + "test_a_row_that_was_changed_by_hand_is_not_made_good_by_parking_it_again",),
    ),
    Guard(
        "files are looked at once more before the tool is called",
        "I3",
        "    if not ports.files.unchanged(world):\n",
        "    if False:\n",
        (REFUSED + "test_a_file_that_is_edited_between_the_record_and_the_start_keeps_the_tool_from_being_called",),
    ),
    Guard(
        "a file that was put back to its size and time is another",
        "I3",
        "    return Stamp(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)\n",
        "    return Stamp(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_mtime_ns)\n",
        (REFUSED + "test_a_file_that_is_edited_between_the_record_and_the_start_keeps_the_tool_from_being_called",),
    ),
    Guard(
        "a word of the command that becomes a file is a change",
        "I3",
        "        looked_at.append(place)\n        if pins.is_file(place):\n",
        "        if pins.is_file(place):\n            looked_at.append(place)\n",
        (REFUSED + "test_a_file_of_the_command_that_appears_while_a_person_thinks_is_shown_before_it_runs",),
    ),
    Guard(
        "a run is what the log says of it",
        "I3",
        "            raise sealing.changed(id)\n",
        "            pass\n",
        (CHANGED + "test_a_run_that_is_over_by_hand_starts_nothing",),
    ),
    Guard(
        "what is recorded of a changed run does not vouch for it",
        "I3",
        "            self._runs[id] = found if found is not None and sealing.holds(self.tx, found) else None\n",
        "            self._runs[id] = found\n",
        (CHANGED + "test_recovery_does_not_vouch_for_what_other_hands_changed",),
    ),
    Guard(
        "a run that goes on without a word is told of",
        "I6",
        "            unit.vouch()\n",
        "",
        (CHANGED + "test_a_run_that_goes_on_from_another_place_without_a_word_is_told_of_in_the_log",),
    ),
    Guard(
        "what comes of a call does not drive a changed run",
        "I3",
        "        if not unit.is_sound(run):\n            self.faults",
        "        if False:\n            self.faults",
        (CHANGED + "test_what_came_of_a_call_is_kept_whatever_was_done_to_its_run_meanwhile",),
    ),
    Guard(
        "the row is the one that was selected",
        "I2",
        '    row = unit.tx.verify_still_current(target)\n    if row is None:\n        raise ToolgateError("claim_lost", f"{target.id}',
        '    row = unit.tx.find(target.run_id, target.id)\n    if row is None:\n        raise ToolgateError("claim_lost", f"{target.id}',
        (STARTING + "test_a_row_that_was_replaced_meanwhile_is_not_the_one_that_was_seen",),
    ),
    Guard(
        "a claim takes the row away",
        "I2",
        "    claimed = case.unit.tx.claim(case.row)\n",
        "    claimed = case.unit.tx.verify_still_current(case.row)\n",
        (STARTING + "test_while_a_call_runs_it_cannot_be_decided_again", "tests/contracts/test_verbs.py"),
    ),
    Guard(
        "what changed since it was shown is shown again",
        "I3",
        "    changed = q.was is not None and q.was.call_digest != digest\n",
        "    changed = False\n",
        (STARTING + "test_a_call_whose_tool_changed_is_shown_again_before_it_runs",),
    ),
    Guard(
        "an approval of what changed is not made good by a rule that allows",
        "I3",
        '    if q.verb in ("approve", "answer") or (q.verb == "edit" and changed):\n        return None  # what waits',
        '    if q.verb == "answer" or (q.verb == "edit" and changed):\n        return None  # what waits',
        (STARTING + "test_a_tool_that_changed_is_asked_for_again_even_where_the_policy_now_allows_it",),
    ),
    Guard(
        "files that changed are read again before a verdict",
        "I3",
        "        if not unit.ports.files.unchanged(world):\n            return Needs(files=True)\n        verdict",
        "        verdict",
        (REFUSED + "test_the_next_attempt_is_judged_with_the_file_as_it_is_then",),
    ),
    Guard(
        "deny rules are asked again on approve",
        "I4",
        '    if ruling.decision == "deny":\n',
        '    if q.verb == "ask" and ruling.decision == "deny":\n',
        (STARTING + "test_a_policy_that_denies_now_stops_an_approval",),
    ),
    Guard(
        "a denied row is overridden by nobody",
        "I4",
        '    "POLICY_DENIED": {"approve": "override", "reject": "refuse", "retry": "override",',
        '    "POLICY_DENIED": {"approve": "start", "reject": "refuse", "retry": "replay",',
        (DENYING + "test_a_denial_outlives_the_rule_that_made_it", DENYING + "test_nobody_gets_past_a_denial_and_who_tries_is_on_record"),
    ),
    Guard(
        "an approval that was not let through is an event",
        "I4",
        '        unit.decided("DECISION_REFUSED", run, claimed, case.call, {**said(case), ',
        '        str(("DECISION_REFUSED", run, claimed, case.call)) or str({**said(case), ',
        (REFUSED + "test_an_approval_that_the_gate_does_not_let_through_is_on_record_with_its_reason",),
    ),
    Guard(
        "the attempt to override is an event",
        "I4",
        '    case.unit.decided(\n        "TOOL_INVOCATION_OVERRIDE_REJECTED",',
        '    str(\n        "TOOL_INVOCATION_OVERRIDE_REJECTED",',
        (DENYING + "test_nobody_gets_past_a_denial_and_who_tries_is_on_record",),
    ),
    Guard(
        "the policy judges what is left out by its default",
        "I4",
        "    asked = ready.fill(arguments) if ready.fill is not None else arguments\n",
        "    asked = arguments\n",
        (REFUSED + "test_the_policy_sees_the_defaults_of_the_schema_and_nobody_else_does",),
    ),
    Guard(
        "a rule that cannot be evaluated does not allow",
        "I5",
        "            held = against\n",
        "            held = True\n",
        (DENYING + "test_a_rule_that_cannot_be_evaluated_never_lets_a_call_run",),
    ),
    Guard(
        "an expired row is a state of its own",
        "I5",
        'return "EXPIRED" if waits.expired else ',
        "return ",
        (DENYING + "test_an_expired_row_stays_and_can_be_asked_for_again",),
    ),
    Guard(
        "while the clock is behind nothing that expires is approved",
        "I5",
        '    if unit.behind and row.expires_at is not None and name in ("start", "answer_yes", "answer_no"):\n',
        "    if False:\n",
        (DENYING + "test_while_the_clock_is_behind_the_log_nothing_that_expires_is_approved",),
    ),
    Guard(
        "while the clock is behind no deadline is kept",
        "I5",
        '    return untold(now, f"{_OVER} (context.deadline)") if behind and left != float("inf") else None\n',
        "    return None\n",
        (CONTEXT + "test_while_the_clock_is_behind_the_log_nothing_that_has_a_deadline_is_started",),
    ),
    Guard(
        "behind the deadline nothing goes on that starts nothing",
        "I5",
        "        if isinstance(work, GOING_ON) and (late :=",
        "        if False and (late :=",
        (CONTEXT + "test_a_loop_that_starts_nothing_does_not_go_on_behind_the_deadline",),
    ),
    Guard(
        "time never goes back",
        "I5",
        "        self.now = clock if self._head is None else max(clock, self._head.at)\n",
        "        self.now = clock\n",
        (DENYING + "test_the_log_never_goes_back_in_time",),
    ),
    Guard(
        "a permission that nobody granted is refused",
        "I5",
        '    if refusal is not None:\n        return _denied(question, ready, "auth_denied", refusal)\n',
        "",
        (DENYING + "test_a_tool_with_a_permission_that_nobody_granted_is_not_called",),
    ),
    Guard(
        "a fault of the store is no fault of the step",
        "I6",
        '    if error.kind == "storage":\n        raise error\n',
        "",
        (WHOLE + "test_a_store_that_cannot_be_read_while_a_step_is_planned_is_no_fault_of_the_step",),
    ),
    Guard(
        "what cannot be stored fails its step before anything of it is",
        "I6",
        "        _storable(intent, world.secrets)\n",
        "        pass\n",
        (KEEPING + "test_a_result_that_the_next_step_cannot_hold_fails_that_step_and_is_kept",),
    ),
    Guard(
        "whoever leaves nothing open drives",
        "I6",
        "        return self.take(unit, run, arrived)\n",
        "        return None\n",
        (STARTING + "test_of_two_who_saw_the_same_row_one_wins", WHOLE + "test_state_row_outcome_and_event_commit_together"),
    ),
    Guard(
        "no way past a gate",
        "I6",
        '    if gate == "none":\n',
        '    if gate == "none" or not intent.output:\n',
        (GOING_ON + "test_there_is_no_way_past_a_gate",),
    ),
    Guard(
        "the lock is taken before the transaction",
        "I7",
        "        ownership.mine(self.ports)  # the lock is taken before the first transaction, not in it\n",
        "",
        (STARTING + "test_what_runs_is_the_text_that_was_parked",),
    ),
    Guard(
        "what a verdict needs is fetched outside",
        "I7",
        "            engine.prepare(decided)\n",
        "            with engine.write():\n                engine.prepare(decided)\n",
        (STARTING + "test_what_runs_is_the_text_that_was_parked",),
    ),
    Guard(
        "long stretches are committed on their way",
        "I7",
        "STRETCH = 1000",
        "STRETCH = 1000000",
        (WHOLE + "test_a_long_stretch_of_pure_steps_is_committed_on_its_way",),
    ),
)
