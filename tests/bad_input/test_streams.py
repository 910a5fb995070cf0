"""Streams that are closed or go away: no trace, the right code, and what was decided is decided (CASES B2, M2)."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from .homes import Home
from .saying import Said

CLOSED = [(0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)]


def check_quiet(said: Said) -> None:
    assert "Traceback" not in said.out + said.err and "ESCAPED" not in said.err and "internal fault" not in said.err, said


@pytest.mark.parametrize("closed", CLOSED, ids=str)
def test_without_a_stream_commands_end_as_ever(spoilt: Home, closed: tuple[int, ...]) -> None:
    before = spoilt.stand()
    expected = {("pending", "list"): 0, ("tools", "list"): 0, ("--help",): 0, (): 2, ("frob",): 2, ("start",): 2, ("approve", "nope"): 3}
    expected |= {("approve",): 4, ("start", "pay", "--inputs", "-"): 7, ("continue-tool", "--outcome-file", "-"): 7}
    for words, code in expected.items():
        for more in ((), ("--json",)) if words else ((),):
            said = spoilt.say(*words, *more, closed=closed)
            check_quiet(said)
            assert said.code == code, said
            assert not (said.out and 1 in closed) and not (said.err and 2 in closed), said
    assert spoilt.stand() == before


@pytest.mark.parametrize("closed", CLOSED, ids=str)
def test_a_decision_without_streams_is_made_once(home: Home, closed: tuple[int, ...]) -> None:
    before = home.stand()[1]
    said = home.say("approve", home.calls["asked"], closed=closed)
    check_quiet(said)
    assert said.code == 0 and home.stand()[1] == before + '{"amount":5,"to":"asked"}\n'


@pytest.mark.parametrize(
    "words", ["events", "events --json", "events -o jsonl", "audit export", "runs list", "audit export --to toolgate.toml"]
)
def test_a_reader_that_went_away_is_met_in_silence(spoilt: Home, words: str) -> None:
    """In a process of its own: what is let go at the interpreter's end is told on stderr, past every handler."""
    read, write = os.pipe()
    os.close(read)
    environment = {**os.environ, "TOOLGATE_HOME": str(spoilt.path), "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-m", "toolgate_cli", *words.split()]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, env=environment, cwd=spoilt.path, timeout=60)
    os.close(write)
    refused = b"error: toolgate.toml is there already, and is not overwritten\nhint: name a new file with --to\n"
    assert done.stderr == (refused if "--to" in words else b"") and done.returncode == (2 if "--to" in words else 0)


def test_nothing_on_standard_input_is_no_answer(home: Home) -> None:
    """A question is only asked at a terminal; whoever asks for the words of a file and gets none decides nothing."""
    before = home.stand()
    for words in (["answer", home.runs["form"], "--answers", "-"], ["continue-tool", home.calls["doubtful"], "--outcome-file", "-"]):
        for stdin in (b"", b"\n", b"yes\n", b"null", b"\x00"):
            assert home.say(*words, stdin=stdin).code == 7
    assert home.say("answer", home.runs["form"]).code == 2 and home.stand() == before
