"""A run that failed says what can be done about it, by the definition that it keeps, and what only a new start does."""

from __future__ import annotations

import pytest

from ..runtime import texts
from ..runtime.kit import Home
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
