"""Ids that name nothing, the wrong thing, or more than one: each has its exit code, and nothing is decided (CLI.md, `[RUN] [CALL]`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest

from .homes import Home, check_refusal
from .saying import say_all

DECIDERS = ["approve", "reject", "retry", "continue-tool"]
OF_RUNS = [["continue"], ["cancel"], ["answer"], ["review"], ["runs", "show"], ["wait"], ["events"], ["pending", "list"], ["recover"]]
NAMELESS = [
    "x123",
    "R2345672345672",
    "C2345672345672",
    "-",
    "@",
    "@0",
    "c",
    "r",
    "w",
    "c%",
    "r%%%%%%%%",
    "r________",
    "c*",
    "*",
    "../x",
    "1",
]
HOSTILE = ["r\x1b[31m2345672345", "c\n\r\t2345672345", "c\u202e2345672345", "r" * 5000, "c" * 100_000, "w\u00e9234567", "r\U0001f480"]


@pytest.mark.parametrize("verb", DECIDERS)
def test_a_word_that_names_no_call_decides_nothing(spoilt: Home, verb: str) -> None:
    calls, runs = spoilt.calls, spoilt.runs
    short = [calls["asked"][:3], calls["asked"][:7], runs["asked"][:3], runs["asked"][:7], calls["asked"][1:]]
    elsewhere = [[runs["asked"], calls["other"]], [spoilt.refs["asked"], runs["other"]], [runs["asked"], calls["settled"]]]
    twins = [[runs["asked"], runs["other"]], [calls["asked"], calls["other"]], [runs["asked"], runs["asked"]]]
    unknown = ["r2345672345672", "c2345672345672", "w2345672345672", "c2345672345672@0123456789ab", runs["asked"] + "@0"]
    before = spoilt.stand()
    for said in say_all(
        spoilt.path, [[verb, *words] for words in [*([w] for w in [*NAMELESS, *HOSTILE, *short, *unknown]), *elsewhere, *twins]]
    ):
        check_refusal(said, 3)
        assert said.hint and len(said.err) < 3000, said
    assert spoilt.stand() == before


@pytest.mark.parametrize("verb", DECIDERS)
def test_too_many_words_empty_ones_and_those_that_are_no_text_are_usage_errors(spoilt: Home, verb: str) -> None:
    call, run = spoilt.calls["asked"], spoilt.runs["asked"]
    before = spoilt.stand()
    for said in say_all(spoilt.path, [[verb, run, call, "x"], [verb, ""], [verb, run, ""], [verb, "c\udcff23456789"], [verb, "\udcff"]]):
        check_refusal(said, 2)
        assert said.hint, said
    assert spoilt.stand() == before


@pytest.mark.parametrize("verb", DECIDERS)
def test_a_ref_that_is_not_what_waits_decides_nothing(spoilt: Home, verb: str) -> None:
    call, ref = spoilt.calls["asked"], spoilt.refs["asked"]
    other = spoilt.refs["other"].partition("@")[2]
    wrong = [
        "@",
        "@0",
        "@zzz",
        "@000000000000",
        f"@{other}",
        "@0@1",
        "@\x1b[1m",
        ref[14:-1],
        ref[14:].replace("@", "@A")[:13],  # upper case, and as long as a ref: twelve digits alone have no upper case
        ref[14:] + "0",
        ref[14:] + " ",
    ]
    before = spoilt.stand()
    for said in say_all(spoilt.path, [[verb, call + hex, "--json"] for hex in wrong]):
        check_refusal(said, 5)
        assert said.error["kind"] == "ref_mismatch" and call in said.error["hint"], said
    assert spoilt.stand() == before


@pytest.mark.parametrize(("verb", "moves"), [("approve", 2), ("reject", 5), ("retry", 2), ("continue-tool", 3)])
def test_without_a_word_nothing_is_chosen_among_several(spoilt: Home, verb: str, moves: int) -> None:
    before = spoilt.stand()
    said = spoilt.say(verb)
    check_refusal(said, 4)
    assert said.err.count(f"\nhint: toolgate {verb} r") == moves and "|" not in said.err and spoilt.stand() == before


@pytest.mark.parametrize("verb", DECIDERS)
def test_a_call_that_is_settled_was_lost_to_somebody(spoilt: Home, verb: str) -> None:
    before = spoilt.stand()
    for words in (
        [spoilt.calls["settled"]],
        [spoilt.calls["settled"] + "@000000000000"],
        [spoilt.runs["settled"], spoilt.calls["settled"]],
    ):
        said = spoilt.say(verb, *words, "--json")
        check_refusal(said, 5)
        assert said.error["kind"] == "claim_lost" and spoilt.runs["settled"] in said.error["hint"]
    assert spoilt.stand() == before


@pytest.mark.parametrize("verb", DECIDERS)
def test_what_is_no_call_or_has_none_names_the_verb_that_works(spoilt: Home, verb: str) -> None:
    before = spoilt.stand()
    for name in ("form", "review", "gate", "failed", "cancelled", "settled"):
        for word in {spoilt.runs[name], spoilt.refs.get(name, spoilt.runs[name]), spoilt.refs.get(name, spoilt.runs[name])[:14]}:
            said = spoilt.say(verb, word, "--json")
            check_refusal(said, 5)
            assert said.error["kind"] == "wrong_state" and said.error["hint"].startswith("toolgate "), said
    assert spoilt.stand() == before


@pytest.mark.parametrize("command", OF_RUNS, ids=" ".join)
def test_a_word_that_names_no_run_is_not_found(spoilt: Home, command: list[str]) -> None:
    run = spoilt.runs["form"]
    words = [*NAMELESS[:3], *NAMELESS[5:], *HOSTILE, run[:3], spoilt.calls["form"], spoilt.calls["asked"], spoilt.refs["asked"], run + "@0"]
    if command[0] in ("continue", "cancel", "answer", "review", "recover"):
        words.append(run[:7])
    before = spoilt.stand()
    for said in say_all(spoilt.path, [[*command, word] for word in words if "=" not in word]):
        check_refusal(said, 3)
        assert said.hint, said
    for said in say_all(spoilt.path, [[*command, ""], [*command, "r\udcff2345678"], [*command, run, run, run]]):
        check_refusal(said, 2)
    assert spoilt.stand() == before


STEPS: list[tuple[Callable[[Home], list[str]], int]] = [
    (lambda home: ["approve", "--step", "mark"], 2),
    (lambda home: ["approve", home.runs["gate"], home.calls["gate"], "--step", "mark"], 2),
    (lambda home: ["approve", home.runs["gate"], "--step", ""], 2),
    (lambda home: ["approve", home.runs["gate"], "--step", "\udcff"], 2),
    (lambda home: ["retry", "--step", "stop"], 2),
    (lambda home: ["retry", home.runs["failed"], home.calls["asked"], "--step", "stop"], 2),
    (lambda home: ["approve", home.calls["gate"], "--step", "mark"], 3),
    (lambda home: ["approve", "r2345672345672", "--step", "mark"], 3),
    (lambda home: ["retry", home.runs["failed"], "--step", "nope"], 3),
    (lambda home: ["retry", home.runs["failed"], "--step", "\x1b[31m"], 3),
    (lambda home: ["approve", home.runs["gate"], "--step", "nope"], 5),
    (lambda home: ["reject", home.runs["gate"], "--step", "mark/x"], 5),
    (lambda home: ["approve", home.runs["asked"], "--step", "pay"], 5),
    (lambda home: ["approve", home.runs["review"], "--step", "mark"], 5),
    (lambda home: ["retry", home.runs["settled"], "--step", "pay"], 5),
    (lambda home: ["review", home.runs["review"], "nope"], 5),
    (lambda home: ["review", home.runs["gate"], "mark"], 5),
    (lambda home: ["answer", home.runs["gate"], "a=1"], 5),
]


@pytest.mark.parametrize(("words", "code"), STEPS, ids=range(len(STEPS)))
def test_a_step_that_does_not_wait_is_not_decided(spoilt: Home, words: Callable[[Home], list[str]], code: int) -> None:
    before = spoilt.stand()
    said = spoilt.say(*words(spoilt))
    check_refusal(said, code)
    assert said.hint and spoilt.stand() == before


def test_a_beginning_that_several_ids_share_is_ambiguous(home: Home) -> None:
    """Ids are random, so one that begins as another does is written into a copy of the store."""
    twin = home.runs["asked"][:10] + "2222"
    with closing(sqlite3.connect(home.database)) as store:
        columns = [row[1] for row in store.execute("PRAGMA table_info(runs)")]
        rest = ", ".join(columns[1:])
        store.execute(f"INSERT INTO runs SELECT ?, {rest} FROM runs WHERE id = ?", (twin, home.runs["failed"]))
        store.commit()
    before = home.stand()
    for command in (["cancel"], ["continue"], ["approve"], ["runs", "show"], ["pending", "list"], ["wait"]):
        said = home.say(*command, twin[:9])
        check_refusal(said, 4)
        assert said.hint == "give more of it"
    assert home.stand() == before and home.say("runs", "show", twin).code == 0
