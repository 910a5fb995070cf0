"""Whatever a text holds, wherever it stands, whichever command shows it: nothing on the screen moves or hides, no line begins with it."""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from rich.cells import cell_len

from toolgate_cli.cli import ask, streams
from toolgate_cli.cli.safe import Safe, line, show_json, unescape
from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.runtime.answers import Waiting

from .given import CALL, COMMANDS, HEAD, REF, RUN, FakeDesk, waiting
from .hostile import MARK, SGR, TEXTS, faults

ASKED = [["approve", CALL], ["reject", RUN, "--step", "s"], ["answer", RUN], ["pending", "review"], ["retry", CALL]]
FOR_FILES = [["audit", "export"], ["workflow", "schema"]]  # ASCII JSON whatever the screen, of any width


class Screen(NamedTuple):
    form: str
    width: int = 80
    color: bool = False


SCREENS = [Screen("table"), Screen("table", 40), Screen("table", 200, True), Screen("table", 20, True), Screen("table", 80, True)]
SCREENS += [Screen("tsv"), Screen("json"), Screen("jsonl")]


def cases(long: bool) -> Iterator[tuple[list[str], str, Screen, bool]]:
    """Every command with every text on every screen; in short, each pair of command and text on one screen, all screens in turn."""
    everything = [(words, False) for words in COMMANDS] + [(words, True) for words in ASKED]
    for number, ((words, asks), name) in enumerate(itertools.product(everything, TEXTS)):
        for screen in SCREENS if long else (SCREENS[(number + number // len(SCREENS)) % len(SCREENS)],):
            yield words, name, screen, asks


def open_rows(desk: FakeDesk, _run: str | None, _limit: int) -> tuple[list[Waiting], str]:
    origins = ("APPROVAL_REQUIRED", "STEP_APPROVAL", "INPUT")
    return [waiting(origin, desk.text)._replace(expired=False) for origin in origins], HEAD


@pytest.fixture
def terminal(desk, say, monkeypatch):
    """Runs words with a text in every place on a screen: the code, and both streams."""
    asked = {"do": False}

    def typed() -> bytes:
        streams.ERR.raw("\n")  # what the terminal echoes
        return next(asked["typed"])

    monkeypatch.setattr(streams.Stream, "terminal", lambda self: asked["terminal"])
    monkeypatch.setattr(ask, "must_ask", lambda *_: asked["do"])
    monkeypatch.setattr("os.isatty", lambda fd: False)
    monkeypatch.setattr("termios.tcflush", lambda *_: None)
    monkeypatch.setattr("os.read", lambda fd, size, read=os.read: typed() if fd == ask.STDIN else read(fd, size))
    monkeypatch.setattr(FakeDesk, "pending", open_rows, raising=False)

    def shown(words, text, screen, asks=False):
        desk.text = text
        asked.update(do=asks, terminal=screen.form == "table", typed=itertools.cycle([b"yes\n"]) if asks else iter(()))
        monkeypatch.setenv("COLUMNS", str(screen.width))
        return say(*words, "-o", screen.form, "--color", "always" if screen.color else "never")

    return shown


@pytest.mark.timeout(1800)
def test_no_text_gets_through_any_command_on_any_screen(terminal, long):
    count = 0
    for words, name, screen, asks in cases(long):
        text = TEXTS[name]
        if words == ["pending", "review"] and screen.form == "json":
            continue
        code, out, err = terminal(words, text, screen, asks)
        where = (words, name, screen)
        assert code in (0, 1, 2 if asks and words == ["answer", RUN] else 0, 7, 9), (where, err)
        foreign = line(text) + "\n" + show_json(text)
        assert faults(out, foreign if screen.form in ("table", "tsv") else "", screen.color, screen.form == "tsv") == [], (where, out)
        assert faults(err, foreign) == [], (where, err)
        assert screen.color or "\x1b" not in out + err
        if screen.form == "table" and words not in FOR_FILES:  # JSON lines whatever the form
            wide = [row for row in (SGR.sub("", out) + err).split("\n") if cell_len(row) > max(20, screen.width)]
            assert all(re.fullmatch(r"[\w@ ─():.-]+", row) and MARK not in row for row in wide), (where, wide)  # ids are never cut
        elif "json" in screen.form:
            assert out.isascii() and [json.loads(row) for row in out.splitlines()], where
        count += 1
    print(f"{count} screens of {len(COMMANDS) + len(ASKED)} commands with {len(TEXTS)} texts")  # noqa: T201  # shown with -s


def texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_in(inner)
    if isinstance(value, dict):
        yield from value


@pytest.mark.parametrize(
    "words", [["pending", "list"], ["pending", "show"], ["runs", "show", RUN], ["runs", "list"], ["events"]], ids=" ".join
)
def test_json_holds_the_very_text_in_every_place(terminal, words):
    plain = json.loads(terminal(words, "pay", Screen("json")).out)
    places = list(texts_in(plain)).count("pay")
    assert places > 2
    for name, text in TEXTS.items():
        shown = json.loads(terminal(words, text, Screen("json")).out)
        assert list(texts_in(shown)).count(text) == places, name


def unfolded(text: str) -> str:
    """Folded lines as the lines that they were."""
    return re.sub(r"\n {8}", "", text)


@pytest.mark.parametrize("screen", [Screen("tsv"), Screen("table"), Screen("table", 40), Screen("table", 21)], ids=str)
def test_the_card_reads_back_to_what_is_stored(terminal, screen):
    """Every field of it, and every member of the arguments, names too."""
    for name, text in TEXTS.items():
        out = terminal(["pending", "show"], text, screen).out
        rows = (row.split("\t", 1) for row in out.splitlines()) if screen.form == "tsv" else read_lines(unfolded(out))
        read = {row[0]: row[1] for row in rows}
        for field in ("workflow", "step", "title", "rationale", "reason", "rule", "scope", "agent", "requested by", "capability"):
            assert unescape(read[field]) == text, (name, field)
        members = [(key.partition(".")[2], value) for key, value in read.items() if key.startswith("arguments.")]
        assert {read_name(key): json.loads(value) for key, value in members} == {text: text, "n": 1.0}, name
        assert json.loads(read["command.argv"]) == [text] and unescape(read.get("approved by.1", line(text))) == text
        assert read["ref"] == REF


def read_lines(text: str) -> Iterator[tuple[str, str]]:
    group = ""
    for row in text.splitlines():
        if not row.startswith("  "):
            group = ""
        if row.endswith(":") and not row.startswith(" "):
            group = row[:-1] + "."
            continue
        text = row.removeprefix("  ")
        end = json_end(text) if text.startswith('"') else text.index(": ")
        yield group + text[:end], text[end + 2 :]


def json_end(text: str) -> int:
    return json.JSONDecoder().raw_decode(text)[1]


def read_name(shown: str) -> str:
    return json.loads(shown) if shown.startswith('"') else shown


@pytest.mark.parametrize("name", TEXTS)
def test_a_refusal_with_it_is_two_lines_that_read_back(desk, say, name):
    text = TEXTS[name]
    desk.refuse = ToolgateError("invalid", text, text)
    for words in (["approve", CALL], ["runs", "show", RUN], ["tools", "show", "x"]):
        code, out, err = say(*words)
        assert (code, out) == (7, "") and faults(err, line(text)) == []
        first, second = err.splitlines()
        assert unescape(second.removeprefix("hint: ")) == text
        assert unescape(first.removeprefix("error: ")) == re.sub(r"(\S{300})\S+", r"\1...", text)  # a word of any length is no message
        assert json.loads(say(*words, "--json").err)["error"]["hint"] == text


WORDS = [
    ["{}"],
    ["help", "{}"],
    ["pending", "{}"],
    ["approve", "{}"],
    ["approve", "--{}"],
    ["events", "--type", "{}"],
    ["events", "--since", "{}"],
    ["wait", RUN, "--timeout", "{}"],
    ["wait", RUN, "--for", "{}"],
    ["start", "{}"],
    ["start", "w", "-i", "{}"],
    ["start", "w", "{}=1"],
    ["start", "w", "--inputs", "{}"],
    ["runs", "list", "--status", "{}"],
    ["runs", "show", "{}"],
    ["audit", "verify", "--head", "{}"],
    ["tools", "show", "{}"],
    ["-C", "{}", "pending", "list"],
    ["pending", "list", "-o", "{}"],
    ["--{}", "approve"],
    ["pending", "list", "--limit", "{}"],
]


def test_a_hostile_word_of_the_command_line_is_told_harmlessly(tmp_path, capfd, monkeypatch):
    from toolgate_cli.cli.main import run

    monkeypatch.chdir(tmp_path)
    told = 0
    for words, (name, text) in itertools.product(WORDS, TEXTS.items()):
        text = text.replace("\0", "")
        code = run([word.replace("{}", text) for word in words])
        out, err = capfd.readouterr()
        assert code and faults(err, line(text)) == [] and faults(out, line(text)) == [] and "internal" not in err, (words, name, err)
        assert all(row.startswith(("error: ", "hint: ")) for row in err.splitlines()), (words, name, err)
        told += 1
    assert told == len(WORDS) * len(TEXTS)


def test_every_text_would_be_caught_if_it_were_let_through():
    """The tests above can fail: each text has something that the check finds, or that only its own escaping makes different."""
    found = {name for name, text in TEXTS.items() if faults("title: " + text, text) or line(text) != text}
    harmless = [
        "markup",
        "emoji names",
        "quotes",
        "wide",
        "long",
        "long words",
        "homoglyphs",
        "mixed",
        "right to left",
        "percent",
        "option",
    ]
    assert set(TEXTS) - found <= {*harmless, "overlong", "spaces", "json"}
    assert isinstance(line("x"), Safe)
