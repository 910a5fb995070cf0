"""Slips with ids and outcome files are told to the word: what is wrong, and where."""

from __future__ import annotations

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.core.types import Json

from . import texts
from .fakes import LOST
from .kit import Home
from .texts import step
from .watch import changed


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


@pytest.mark.parametrize(("given", "typed", "wrong"), [
    ({}, {}, "to: this input is required"),
    ({"to": "ann", "too": 1}, {}, "there is no input too"),
    ({"to": 7}, {}, "to: must be of type string"),
    ({}, {"to": "ann", "n": "many"}, "n: must be of type number"),
])  # fmt: skip
def test_a_run_whose_inputs_are_wrong_is_none(quick: Home, given: dict[str, Json], typed: dict[str, str], wrong: str) -> None:
    more = '[inputs.to]\ntype = "string"\n[inputs.n]\ntype = "number"\ndefault = 3\n'
    quick.write(needs=texts.flow("needs", step("s", "assign", set={"said": "${inputs.to} ${inputs.n}"}), more=more))
    before = quick.dump()
    with pytest.raises(ToolgateError) as caught:
        quick.desk().start("needs", given, typed)
    assert caught.value.kind == "invalid" and wrong in caught.value.message and changed(before, quick.dump()) == []
    assert quick.value(quick.start("needs", to="ann"), "said") == "ann 3"
