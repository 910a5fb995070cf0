"""What is mutated, and by which tests it has to be noticed: the gate, the decisions, the policy and the claim."""

from __future__ import annotations

from pathlib import Path

from .changes import Change, changes

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "toolgate_cli"

_TOLD = ("runtime/test_told_exactly.py", "runtime/test_event_fields.py", "runtime/test_ends_told.py")
# module -> tests that are asked first, in this order; the rest of POOL follows for what runs the changed line
MODULES: dict[str, tuple[str, ...]] = {
    "core/policy.py": ("core/test_policy.py",),
    "core/conditions.py": ("core/test_conditions.py", "core/test_policy.py"),
    "core/verdict.py": (
        "core/test_verdict.py", "runtime/test_refused_by_the_gate.py", "runtime/test_denying.py", "runtime/test_probing.py",
        "runtime/test_confirming.py",
    ),
    "core/verbs.py": ("core/test_verbs.py", "contracts/test_verbs.py", "runtime/test_said.py"),
    "core/quorum.py": ("core/test_quorum.py",),
    "core/effects.py": ("core/test_effects.py",),
    "core/probes.py": ("core/test_probes.py", "runtime/test_probing.py", "runtime/test_reconciling.py"),
    "core/authorise.py": ("core/test_authorise.py",),
    "core/chain.py": ("core/test_chain.py",),
    "runtime/gate.py": (
        *_TOLD, "runtime/test_starting_calls.py", "runtime/test_parking_digests.py", "runtime/test_output_schemas.py",
        "runtime/test_questions_of_probes.py", "runtime/test_equal_calls.py", "runtime/test_secrets.py", "runtime/test_judging.py",
    ),
    "runtime/deciding.py": (
        *_TOLD, "runtime/test_starting_calls.py", "runtime/test_quorums_and_limits.py", "runtime/test_deciders.py",
        "runtime/test_other_hands.py", "runtime/test_denying.py", "runtime/test_doubts_and_cancels.py",
        "runtime/test_edited_calls.py", "runtime/test_context.py", "runtime/test_asking_first.py", "runtime/test_imports_of_decisions.py",
    ),
    "runtime/parking.py": (
        *_TOLD, "runtime/test_parking_digests.py", "runtime/test_quorums_and_limits.py", "runtime/test_other_hands.py",
        "runtime/test_forged_events.py", "runtime/test_starting_calls.py",
    ),
    "runtime/settling.py": (
        *_TOLD, "runtime/test_repeating.py", "runtime/test_doubts_and_cancels.py", "runtime/test_going_on.py",
        "runtime/test_confirming.py", "runtime/test_reconciling.py",
    ),
    "runtime/confirming.py": ("runtime/test_confirming.py",),
    "runtime/reconciling.py": ("runtime/test_reconciling.py", "runtime/test_equal_calls.py", "runtime/test_probing.py"),
    "runtime/repeating.py": ("runtime/test_repeating.py", "runtime/test_going_on.py", "runtime/test_reconciling.py"),
    "runtime/doubts.py": (
        "runtime/test_equal_calls.py", "runtime/test_doubts_and_cancels.py", "runtime/test_replays.py", "runtime/test_unreadable_rows.py",
    ),
    "runtime/standing.py": (
        "runtime/test_standing.py", "runtime/test_choice_words.py", "runtime/test_said.py", "runtime/test_selecting.py",
        "runtime/test_unreadable_rows.py",
    ),
    "runtime/selecting.py": (
        "runtime/test_choice_words.py", "runtime/test_selecting.py", "runtime/test_said.py", "runtime/test_slips.py",
        "runtime/test_redacting.py",
    ),
    "stores/sqlite.py": ("contracts/test_stores.py", "stores/test_sqlite.py"),
    "stores/_writer.py": ("contracts/test_stores.py", "stores/test_sqlite.py"),
    "stores/memory.py": ("contracts/test_stores.py",),
}  # fmt: skip
POOL = ("core", "runtime", "contracts/test_stores.py", "contracts/test_verbs.py", "stores/test_sqlite.py")
APART = ("tests/stores/test_sqlite.py::test_eight_writers_are_served_fairly",)  # measures time, which tracing takes


def listed() -> list[tuple[str, Change]]:
    """All changes of all modules."""
    return [(module, change) for module in MODULES for change in changes(PACKAGE / module)]
