"""The command as a process: what it imports, closed and narrow streams, encodings, signals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .given import CALL, COMMANDS, RUN

HERE = Path(__file__).parent
STUB = [sys.executable, str(HERE / "at_terminal.py")]
ESCAPED = "[/foo] \\x1b[2K \\xe9 \\u202e"


def call(log: Path, *words: str, environment: dict[str, str] | None = None, **more) -> subprocess.CompletedProcess[bytes]:
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("TOOLGATE_") and key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
    }
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    return subprocess.run([*STUB, str(log), *words], env={**kept, "TEXT": ESCAPED, **(environment or {})}, timeout=60, **streams)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_plain_command_on_a_pipe_imports_no_library(tmp_path, words):
    for form in ([], ["--json"]):
        done = call(tmp_path / "log", *words, *form)
        assert done.returncode in (0, 1, 7, 9), done.stderr
        assert (tmp_path / "log").read_text().split("\n")[1] == ("typer" if words[0] == "help" and len(words) > 1 else "")


def test_version_and_help_as_processes():
    def toolgate(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "toolgate_cli", *words], capture_output=True, text=True, cwd=HERE.parent.parent, timeout=60
        )

    assert toolgate("--version").stdout == "toolgate 0.1.0\n"
    assert toolgate("help").returncode == 0 and toolgate().returncode == 2 and "usage" in toolgate().stderr
    code = (
        "import sys\nfrom toolgate_cli.cli.main import run\nassert run(['--version']) == 0\n"
        "assert not {'typer', 're', 'enum', 'typing'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, cwd=HERE.parent.parent, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "environment", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"PYTHONIOENCODING": "ascii"}], ids=str
)
@pytest.mark.parametrize("form", ["table", "tsv", "json"])
def test_no_locale_makes_it_fail(tmp_path, environment, form):
    for words in COMMANDS:
        done = call(tmp_path / "log", *words, "-o", form, environment=environment)
        assert done.returncode in (0, 1, 7, 9) and done.stdout.isascii() and b"Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("encoding", ["utf-16", "cp037", "utf-7", "utf-8-sig", "hz"])
def test_no_encoding_makes_ascii_anything_else(tmp_path, encoding):
    for words in (["pending", "list"], ["events", RUN]):
        for form in ("json", "jsonl", "tsv", "table"):
            plain, varied = (
                call(tmp_path / "log", *words, "-o", form, environment={"PYTHONIOENCODING": name}) for name in ("utf-8", encoding)
            )
            assert plain.stdout == varied.stdout and plain.stderr == varied.stderr


@pytest.mark.parametrize(
    "environment", [{"FORCE_COLOR": "1"}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"COLUMNS": "abc"}, {"COLUMNS": "20"}], ids=str
)
def test_no_variable_changes_what_a_program_reads(tmp_path, environment):
    for words in (["pending", "list"], ["approve", CALL], ["events", RUN]):
        for form in (["--json"], ["-o", "tsv"], []):
            plain, varied = call(tmp_path / "a", *words, *form), call(tmp_path / "b", *words, *form, environment=environment)
            assert plain.stdout == varied.stdout and b"\x1b" not in varied.stdout + varied.stderr
    table = call(tmp_path / "a", "pending", "list", "-o", "table", environment=environment)
    assert table.returncode == 0 and RUN.encode() in table.stdout and (b"\x1b" in table.stdout) == ("FORCE_COLOR" in environment)


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    read, write = os.pipe()
    os.close(read)
    done = call(tmp_path / "log", "approve", CALL, stdout=write)
    os.close(write)
    assert done.returncode == 0 and b"rror" not in done.stderr and (tmp_path / "log").read_text().split("\n")[0] == "select approve"


def test_an_answer_that_cannot_be_written_is_said(tmp_path):
    with open("/dev/full", "wb") as full:
        done = call(tmp_path / "log", "approve", CALL, stdout=full)
    assert done.returncode == 1 and b"No space left" in done.stderr
    with open("/dev/full", "wb") as full:
        done = call(tmp_path / "log", "approve", CALL, stderr=full)
    assert done.returncode == 0 and done.stdout


def test_closed_descriptors_are_no_trap(tmp_path):
    words = " ".join([*STUB, str(tmp_path / "log"), "approve", CALL])
    done = subprocess.run(["sh", "-c", f"{words} <&- >&- 2>&-"], timeout=60)
    assert done.returncode == 0 and (tmp_path / "log").read_text().startswith("select approve")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_a_command_with_their_codes(tmp_path, number, code):
    process = subprocess.Popen(
        [*STUB, str(tmp_path / "log"), "events", "-f", "-o", "jsonl"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None and json.loads(process.stdout.readline())["seq"] == 4
    time.sleep(0.1)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code and b"unknown outcome" not in err and b"Traceback" not in err
