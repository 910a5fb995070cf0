"""Random command lines: never a fault of toolgate, never a trace, and the store changes only under a verb that says that it took effect."""

from __future__ import annotations

import random

from toolgate_cli.cli import catalogue, exits

from . import homes
from .homes import Home
from .saying import Given, Said, say_all

SHORT, LONG, BATCH = 2000, 40_000, 40
CODES = {*exits.OF_KIND.values(), 0, 9} - {70}
CHANGING = {"start", "approve", "reject", "retry", "continue-tool", "continue", "answer", "cancel", "review", "recover"}
OPTIONS = [
    *("-C", "--home", "--db", "--actor", "-o", "--output", "--json", "--color", "-q", "-v", "-h", "--help", "--version", "-m", "--reason"),
    *("--note", "-y", "--yes", "--no-input", "--may-run-twice", "--outcome-file", "--answers", "--inputs", "--input", "-i", "--step"),
    *(
        "--type",
        "--since",
        "--limit",
        "--status",
        "--exit-status",
        "--timeout",
        "--for",
        "--owner-dead",
        "--frob",
        "-z",
        "--",
        "-",
        "--json=",
    ),
]
VALUES = [
    *(
        "json",
        "jsonl",
        "table",
        "tsv",
        "xml",
        "auto",
        "always",
        "never",
        "alice",
        "system",
        "*",
        ".",
        "/proc/nonexistent",
        "/dev/null",
        "found.json",
    ),
    *("toolgate.toml", "none", "0", "1", "50", "-1", "9" * 25, "1s", "0s", "250ms", "done", "decided", "approval", "FAILED", "RUN_STARTED"),
    *("pay", "drop", "form", "review", "broken", "every", "nope", "to=ann", "to=", "=", "amount=1e999", "amount=[", "street=x", "how=post"),
    *(
        "mark",
        "stop",
        "ask",
        "",
        " ",
        "\n",
        "\x1b[2J",
        "\u202e",
        "\udcff",
        "x" * 400,
        "r",
        "c",
        "w",
        "@",
        "r2345672345672",
        "c@0",
        "[red]",
        "%s",
    ),
]


def line(chance: random.Random, home: Home) -> list[str]:
    ids = [*home.runs.values(), *home.calls.values(), *home.refs.values()]
    command = list(chance.choice([*catalogue.names()])) if chance.random() < 0.95 else [chance.choice(VALUES)]
    words = command if chance.random() < 0.9 else command[:1]
    for _ in range(chance.randrange(5)):
        kind = chance.random()
        if kind < 0.4:
            word = chance.choice(OPTIONS)
        elif kind < 0.7:
            word = chance.choice(VALUES)
        else:
            word = chance.choice(ids)
            cut = chance.random()
            word = word[: chance.randrange(1, 15)] if cut < 0.2 else word + chance.choice("@x0") if cut < 0.3 else word
        words.insert(chance.randrange(len(words) + 1) if chance.random() < 0.2 else len(words), word)
    return [word for word in words if word not in ("-f", "--follow")] if "wait" not in words else [*words, "--timeout", "1ms"]


def check(said: Said) -> None:
    assert said.code in CODES, said
    assert "Traceback" not in said.out + said.err and "ESCAPED" not in said.err and "internal fault" not in said.err, said
    assert "\x1b" not in said.out + said.err and "\u202e" not in said.out + said.err, said
    if said.code in (2, 3, 4, 5, 6, 10) and said.words:
        assert said.out == "" and said.err, said


def test_random_words_do_what_they_say_or_nothing(made: Home, tmp_path_factory, long: bool) -> None:
    chance = random.Random(20)
    for number in range((LONG if long else SHORT) // BATCH):
        if number % 10 == 0:
            home = homes.copy(made, tmp_path_factory.mktemp("fuzz") / "home")
        before = home.stand()
        commands = [line(chance, home) for _ in range(BATCH)]
        told = say_all(home.path, commands, Given(env={"TOOLGATE_ACTOR": "alice"}))
        for said in told:
            check(said)
        effects = [said for said in told if said.code in (0, 1, 5, 6, 9) and CHANGING & set(said.words)]
        assert effects or home.stand() == before, told
        home.mend()
    assert home.say("audit", "verify").code == 0


def test_a_refusal_among_random_words_changes_nothing(home: Home) -> None:
    """One by one: whatever exits 2, 3, 4, 7 or 10 has left the store and the tool alone."""
    chance = random.Random(21)
    before = home.stand()
    for _ in range(150):
        [said] = say_all(home.path, [line(chance, home)], Given(env={"TOOLGATE_ACTOR": "alice"}))
        check(said)
        after = home.stand()
        assert after == before or (said.code in (0, 1, 5, 6, 9) and CHANGING & set(said.words)), said
        before = after
