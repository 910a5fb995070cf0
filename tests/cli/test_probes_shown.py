"""What the card says of the commands that a tool is asked with."""

from __future__ import annotations

import pytest

from toolgate_cli.cli.safe import show_json
from toolgate_cli.cli.views import card

from .given import HOSTILE, waiting

ARGV = {"argv": ["check", HOSTILE]}


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ("APPROVAL_REQUIRED", "lets this call through"),
        ("EXECUTION_FAILED", "it is asked before"),
        ("OUTCOME_UNKNOWN", "it is asked before"),
    ],
)
def test_a_card_shows_the_precheck_and_what_it_has_said(origin, said):
    target = waiting(origin)
    asked = target._replace(definition={**(target.definition or {}), "precheck": ARGV})
    shown = {(group, name): value for name, value, group in card.fields(asked)}
    assert said in shown["", "precheck"] and shown["precheck", "argv"] == show_json(ARGV["argv"])
    for other in (target, asked._replace(row=asked.row._replace(origin="CONFIRMATION_REQUIRED"))):  # an answer is no beginning
        assert "precheck" not in {name for name, _, _ in card.fields(other)}


def test_a_card_names_the_reconciler_of_a_call_in_doubt_and_says_what_comes_of_its_word():
    target = waiting("OUTCOME_UNKNOWN")
    asked = target._replace(definition={**(target.definition or {}), "effect": "reconcilable", "reconcile": ARGV})
    for doubt in ("reconcilable", "unsafe", None):  # what was unsafe when it was started no reconciler settles
        fields = card.fields(asked._replace(row=asked.row._replace(doubt=doubt)))
        assert ("argv", show_json(ARGV["argv"]), "reconcile") in fields
        assert ("reconciler" in {name for name, _, _ in fields}) == (doubt == "reconcilable")
