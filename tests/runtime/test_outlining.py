"""Where a run stands in the tree of its workflow, as it goes on."""

from __future__ import annotations

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.outline import Node

from .kit import Home

FLOW = """schema = 1
id = "w"
[inputs.way]
type = "string"
[[steps]]
id = "route"
type = "branch"
on = "inputs.way"
arms = { a = "left", b = "right" }
[[steps]]
id = "last"
type = "assign"
set = { x = 1 }
gate = "review"
[[blocks.left]]
id = "send"
type = "tool"
tool = "ask.send"
[[blocks.right]]
id = "send"
type = "tool"
tool = "ask.send"
[[blocks.right]]
id = "after"
type = "assign"
set = { x = 1 }
"""


def stands(home: Home, run: str) -> list[tuple[str, str]]:
    return [(reached.what.id, reached.state) for reached in home.desk().progress(run) if isinstance(reached.what, Node)]


def test_a_run_is_followed_through_the_tree_that_it_started_with(home: Home) -> None:
    home.write(w=FLOW)
    run = home.start("w", way="b")
    home.write(w="schema = 1\nid = 'w'\n[[steps]]\nid = 'new'\ntype = 'fail'\nreason = 'x'\n")
    assert stands(home, run) == [("route", "here"), ("send", "skipped"), ("send", "here"), ("after", "to come"), ("last", "to come")]
    home.decide("approve", run)
    assert stands(home, run) == [("route", "done"), ("send", "skipped"), ("send", "done"), ("after", "done"), ("last", "here")]
    desk = home.desk()
    desk.review(desk.select_step(run, None, "review"), note="seen")
    assert [state for _, state in stands(home, run)] == ["done", "skipped", "done", "done", "done"]
    assert [step.id for step in home.desk().workflow("w").steps] == ["new"]


def test_the_tree_of_a_workflow_that_there_is_not_is_refused(quick: Home) -> None:
    with pytest.raises(ToolgateError) as caught:
        quick.desk().workflow("nothing")
    assert caught.value.kind == "not_found"
