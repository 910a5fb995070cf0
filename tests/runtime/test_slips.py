"""Slips with ids and outcome files are told to the word: what is wrong, and where."""

from __future__ import annotations

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import Json

from .fakes import LOST
from .kit import Home


def test_the_id_of_a_call_in_the_place_of_a_run_names_its_run(quick: Home) -> None:
    run = quick.start("ask")
    id = quick.row(run).id
    desk = quick.desk()
    for act in (lambda: desk.show_run(id), lambda: desk.cancel(id, None), lambda: desk.events(id, None, 0, None)):
        with pytest.raises(ToolgateError) as caught:
            act()
        error = caught.value
        assert (error.kind, error.message, error.hint) == ("not_found", f"{id} is a call of run {run}", f"toolgate runs show {run}")


def test_a_call_of_a_cancelled_run_says_that_it_was_cancelled(quick: Home) -> None:
    run = quick.start("ask")
    id = quick.row(run).id
    quick.desk().cancel(run, None)
    with pytest.raises(ToolgateError) as caught:
        quick.desk().select([id], "approve")
    assert caught.value.kind == "claim_lost" and "its run was cancelled" in caught.value.message


@pytest.mark.parametrize(("outcome", "wrong"), [
    ({}, "/applied is missing: whether it took effect"),
    ({"result": 1}, "/applied is missing: whether it took effect"),
    ({"applied": "yes"}, "/applied must be true or false"),
    ({"applied": None}, "/applied must be true or false"),
    ({"applied": 1}, "/applied must be true or false"),
    ({"applied": True, "results/": 1}, "/results~1 is no part of an outcome"),
])  # fmt: skip
def test_an_outcome_that_is_none_says_what_is_wrong_and_where(quick: Home, outcome: dict[str, Json], wrong: str) -> None:
    quick.tools.plan["ask.send"] = [LOST]
    run = quick.start("ask")
    quick.decide("approve", run)
    row = quick.row(run)
    with pytest.raises(ToolgateError) as caught:
        quick.decide("continue_tool", run, outcome=outcome)
    assert (caught.value.kind, caught.value.message) == ("invalid", f"the outcome: {wrong}") and quick.row(run) == row
