"""Which row a decision is about: by ref, by id, by the only one that there is; never one among several."""

from __future__ import annotations

import pytest

from toolgate_cli.core.digests import ref
from toolgate_cli.core.errors import ToolgateError

from . import texts
from .fakes import FAILED
from .kit import Home


def refused(home: Home, words: list[str], verb: str = "approve") -> ToolgateError:
    before = home.dump()
    with pytest.raises(ToolgateError) as caught:
        home.desk().select(words, verb)  # type: ignore[arg-type]  # a verb
    assert home.dump() == before
    return caught.value


def test_every_way_to_name_a_call_finds_it(home: Home) -> None:
    run = home.start("ask")
    row = home.row(run)
    name = ref(row)
    for words in ([], [run], [row.id], [name], [run, row.id], [row.id, run], [run, name], [run[:8]], [row.id[:8]], [run[:8], row.id[:8]]):
        assert home.desk().select(words, "approve").row == row, words


def test_nothing_is_chosen_among_several(home: Home) -> None:
    rows = [home.row(home.start("ask")) for _ in range(3)]
    error = refused(home, [])
    assert error.kind == "ambiguous"
    listed = [(waiting.row.run_id, waiting.ref) for waiting in home.desk().pending(None, 10)[0]]
    assert [choice.command for choice in error.choices] == [f"toolgate approve {run} {name}" for run, name in listed]
    assert {name for _, name in listed} == {ref(row) for row in rows} and error.hint == ""
    assert home.desk().select([rows[1].run_id], "approve").row == rows[1]


def test_only_those_that_the_verb_moves_are_to_choose_from(home: Home) -> None:
    home.tools.plan["ask.send"] = [FAILED]
    failed, waits = home.start("ask"), home.start("ask")
    home.decide("approve", failed)
    for verb, runs in (("approve", [waits]), ("retry", [failed]), ("reject", [waits, failed])):
        choices = refused(home, [], verb).choices
        assert {choice.command for choice in choices} == {f"toolgate {verb} {run} {ref(home.row(run))}" for run in runs}, verb
    none = refused(home, [], "review")
    assert (none.kind, none.choices, none.hint) == ("ambiguous", (), "review moves none of them: toolgate pending list")


def test_what_a_call_is_about_stands_beside_its_command(home: Home) -> None:
    titled = {"ask.send": texts.tool("ask.send", more='title = "send it"')}
    home.write(texts.operator(titled))
    for _ in range(2):
        home.start("ask")
    assert [choice.about for choice in refused(home, []).choices] == ["send it"] * 2


def test_nothing_to_choose_from_is_not_found(home: Home) -> None:
    assert refused(home, []).kind == "not_found"
    home.start("gate")
    home.start("form")
    assert refused(home, []).kind == "not_found"  # waits of a step are never an implicit choice


@pytest.mark.parametrize(
    "words", [["r2345672345672"], ["c2345672345672"], ["x1"], ["c2345672345672@0123456789ab"], ["r1", "r2"], ["c1", "c2"], [""]]
)
def test_what_does_not_exist_is_not_found(home: Home, words: list[str]) -> None:
    home.start("ask")
    assert refused(home, words).kind == "not_found"


def test_a_run_without_a_call_says_what_works(home: Home) -> None:
    run = home.start("gate")
    error = refused(home, [run])
    assert error.kind == "wrong_state" and error.hint == f"toolgate approve {run} --step s"
    assert refused(home, [run], "retry").hint == f"toolgate approve {run} --step s"


def test_the_row_of_a_step_is_not_decided_as_a_call(home: Home) -> None:
    run = home.start("gate")
    row = home.row(run)
    for verb in ("approve", "reject", "retry", "continue-tool"):
        error = refused(home, [row.id], verb)
        way = "reject" if verb == "reject" else "approve"  # nobody who said no is told how to say yes
        assert error.kind == "wrong_state" and error.hint == f"toolgate {way} {run} --step s"
    assert home.desk().show_pending([row.id])[0].row == row  # it can be looked at


def test_a_call_of_another_run_is_not_found(home: Home) -> None:
    mine, other = home.start("ask"), home.start("ask")
    assert refused(home, [mine, home.row(other).id]).kind == "not_found"
    home.decide("approve", other)
    [settled] = [started.call for started in home.tools.starts]
    assert refused(home, [mine, settled]).kind == "not_found"


def test_a_call_that_is_settled_is_lost(home: Home) -> None:
    run = home.start("ask")
    row = home.row(run)
    home.decide("reject", run)
    for words in ([row.id], [ref(row)], [run, row.id]):
        error = refused(home, words)
        assert error.kind == "claim_lost" and "rejected" in error.message
    assert refused(home, [run]).kind == "wrong_state"


def test_a_ref_names_one_version(home: Home) -> None:
    home.tools.plan["ask.send"] = [FAILED]
    run = home.start("ask")
    seen = ref(home.row(run))
    home.decide("approve", run)
    error = refused(home, [seen], "retry")
    assert error.kind == "ref_mismatch" and ref(home.row(run)) != seen
    assert home.desk().select([ref(home.row(run))], "retry").row.version == 2


@pytest.mark.parametrize("hex", ["", "0", "0123456789ab"])
def test_a_part_of_a_ref_is_not_the_ref(home: Home, hex: str) -> None:
    row = home.row(home.start("ask"))
    assert refused(home, [f"{row.id}@{hex}"]).kind == "ref_mismatch"
    assert refused(home, [ref(row)[:-1]]).kind == "ref_mismatch"


@pytest.mark.parametrize(
    ("length", "looking", "deciding"), [(3, False, False), (4, True, False), (7, True, False), (8, True, True), (13, True, True)]
)
def test_a_prefix_serves_from_four_letters_to_look_and_eight_to_decide(home: Home, length: int, looking: bool, deciding: bool) -> None:
    run = home.start("ask")
    row = home.row(run)
    for words in ([run[:length]], [row.id[:length]]):
        assert _works(lambda words=words: home.desk().show_pending(words)) is looking
        assert _works(lambda words=words: home.desk().select(words, "approve")) is deciding
    assert _works(lambda: home.desk().show_run(run[:length])) is looking
    assert _works(lambda: home.desk().cancel(run[:length], None)) is deciding


def _works(act) -> bool:  # type: ignore[no-untyped-def]  # anything
    try:
        act()
    except ToolgateError as error:
        assert error.kind == "not_found"
        return False
    return True


def test_a_prefix_of_several_is_ambiguous(home: Home) -> None:
    home.mint.next_ids = ["raaaaaaaaaaaa2", "cbbbbbbbbbbbbb", "caaaaaaaaaaaa2", "raaaaaaaaaaaa3", "cbbbbbbbbbbbbb", "caaaaaaaaaaaa3"]
    first, second = home.start("ask"), home.start("ask")
    assert (first, second) == ("raaaaaaaaaaaa2", "raaaaaaaaaaaa3")
    assert refused(home, ["raaaaaaaa"]).kind == "ambiguous" and refused(home, ["caaaaaaaa"]).kind == "ambiguous"
    assert refused(home, [first[:13]]).kind == "ambiguous"
    assert home.desk().select([first, "caaaaaaaa"], "approve").row.run_id == first


def test_the_refusals_of_what_has_run_out_name_what_works(home: Home) -> None:
    run = home.start("late")
    home.clock.pass_time(3601)
    for act in (lambda: home.desk().continue_run(run), lambda: home.answer(run, {}, {}), lambda: home.desk().retry_step(run, "s")):
        with pytest.raises(ToolgateError) as caught:
            act()
        assert "retry or reject" in caught.value.message and caught.value.hint == f"toolgate retry {ref(home.row(run))}"


def test_a_wait_sees_what_has_come(quick: Home) -> None:
    run = quick.start("ask")
    assert quick.desk().wait(run, "approval", None)[3] is True
    assert quick.desk().wait(run, "done", 1.0)[3] is False
    quick.write(texts.operator())
    quick.decide("approve", run)
    assert quick.desk().wait(run, "done", None)[3] is True and quick.desk().wait(run, "decided", 0.0)[3] is True
