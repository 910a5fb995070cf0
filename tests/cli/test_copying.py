"""A command that a terminal shows is there to be copied: a shell reads what was copied as that one command, however narrow it is."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from toolgate_cli.cli import streams
from toolgate_cli.cli.folding import fold, glued
from toolgate_cli.cli.safe import GLUE, Safe, command, fill, line
from toolgate_cli.cli.tables import draw
from toolgate_cli.cli.views import doctor
from toolgate_cli.core.errors import Choice, ToolgateError
from toolgate_cli.runtime.answers import Advice, Remark

from .given import CALL, REF, RUN, answer, waiting

PLAIN = f"toolgate --db /tmp/guest5/work/other/x.db approve {RUN} --step one"
LONG = f"toolgate -C /srv/home --db /srv/home/x.db continue-tool {REF} --outcome-file FILE --may-run-twice"
SPACED = f"toolgate -C '/srv/my own home' --db '/srv/a  b' retry {RUN} --step a-step-of-a-long-name"


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("text", [PLAIN, LONG, SPACED])
def test_a_shell_reads_what_is_copied_as_that_one_command(tmp_path: Path, text: str, width: int) -> None:
    before, *rest = fold(fill("next: mend the cause, then: {}", command(text)), width)
    pasted = "\n".join([before.rpartition("then: ")[2], *rest])
    (tmp_path / "toolgate").write_text('#!/bin/sh\nprintf "%s\\n" toolgate "$@"\n')
    (tmp_path / "toolgate").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    ran = subprocess.run(["sh", "-c", pasted], env=path, capture_output=True, text=True, timeout=30, check=False)
    assert ran.stdout.splitlines() == shlex.split(text) and not ran.stderr
    assert all(len(piece) <= width for piece in (before, *rest)) and all(piece.startswith("  ") for piece in rest)


def test_a_command_stays_on_one_line_where_one_holds_it() -> None:
    assert fold(fill("next: {}", command(PLAIN)), 80) == ("next: ", f"  {PLAIN}")
    assert fold(fill("next: {}", command(PLAIN)), 200) == (f"next: {PLAIN}",)
    words = glued(Safe(f"see what has happened since, and then go on with toolgate pending show {CALL} --json as ever"))
    assert fold(words, 80)[1] == f"  toolgate pending show {CALL} --json as ever"


@pytest.mark.parametrize(("text", "whole"), [
    ("toolgate runs list shows it", ["toolgate runs list"]),
    ("toolgate approve and toolgate reject decide", ["toolgate approve", "toolgate reject decide"]),
    (f"use it: {PLAIN}", [PLAIN]),
    (f"{SPACED}, then", [SPACED]),
    ("see toolgate.toml, toolgate starting, toolgate", []),
])  # fmt: skip
def test_commands_are_found_in_what_is_said(text: str, whole: list[str]) -> None:
    assert [word.replace(GLUE, " ").rstrip(",") for word in glued(line(text)).split(" ") if GLUE in word] == whole


def test_what_holds_a_command_together_comes_from_no_other_text() -> None:
    assert GLUE not in line(f"a{GLUE}b") and GLUE not in fill("{}", f"toolgate{GLUE}approve")


@pytest.mark.parametrize("form", ["table", "tsv"])
def test_next_and_hints_keep_their_commands_whole_on_a_terminal_and_are_as_ever_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], form: str
) -> None:
    from toolgate_cli.cli import deciding, faults
    from toolgate_cli.cli.frame import Frame

    monkeypatch.setattr(streams.Stream, "terminal", lambda self: form == "table")
    monkeypatch.setenv("COLUMNS", "80")
    deciding.advise(Frame(output="table"), answer("approved", "COMPLETED", waiting("REVIEW"))._replace(next=(Advice(PLAIN),)))
    faults.say(False, ToolgateError("usage", "m", f"mend it, then: {PLAIN}"))
    faults.say(False, ToolgateError("ambiguous", "m", choices=[Choice(PLAIN, "")]))
    told = capfd.readouterr().err
    assert GLUE not in told
    if form == "table":
        assert told.splitlines().count(f"  {PLAIN}") == 3
    else:
        assert told.splitlines() == [f"next: {PLAIN}", "error: m", f"hint: mend it, then: {PLAIN}", "error: m", f"hint: {PLAIN}"]


def test_of_a_head_a_person_is_shown_the_beginning_and_the_table_keeps_its_columns() -> None:
    head = f"426:{'ab' * 32}"
    found = [Remark("log", "ok", f"the head is {head}", "toolgate audit verify reads all of it"),
             Remark("files", "error", f"/tmp/{head}/x.toml is broken")]  # fmt: skip
    drawn = draw(doctor.sheet(found), streams.OUT, False, 80)
    assert (
        "what to do" in drawn.splitlines()[0]
        and "426:abababababab..." in drawn
        and f"/tmp/{head}" in draw(doctor.sheet(found), streams.OUT, False, 200)
    )
    assert [row[2] for row in doctor.wide_sheet(found).rows] == [remark.message for remark in found]


def test_in_a_table_it_is_one_word() -> None:
    hint = f"find it out, then toolgate pending show {CALL} --json"
    drawn = draw(doctor.sheet([Remark("calls", "warning", "it is not known how it ended " * 2, hint)]), streams.OUT, False, 80)
    assert f"toolgate pending show {CALL} --json" in drawn and GLUE not in drawn
