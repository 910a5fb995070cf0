"""What a scripted decision never pays for: libraries of the boundary stay off the path of a command whose files were checked before."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

# the command line in a process of its own, which says at its end what it had imported
RUNNER = """
import sys
from toolgate_cli.cli.main import run
code = run(sys.argv[2:])
with open(sys.argv[1], "w") as told:
    told.write("\\n".join(sys.modules))
raise SystemExit(code)
"""
HOME = """
schema = 1
[tools."notes.add"]
safety = "write"
input_schema = { type = "object", required = ["text"], additionalProperties = false, properties = { text = { type = "string" } } }
[tools."notes.add".command]
argv = ["tee", "--", "note.json"]
"""
NOTE = """
schema = 1
id = "note"
[[steps]]
id = "add"
type = "tool"
tool = "notes.add"
arguments = { text = "hello" }
"""
HEAVY = {"typer", "pydantic", "pydantic_core", "jsonschema", "sqlite_utils", "rich", "re2", "tomli_w"}
DEAR = {"_hashlib", "subprocess", "locale", "selectors", "threading"}  # of the standard library: OpenSSL, and what `subprocess` brings


class Home:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, *words: str) -> tuple[str, set[str]]:
        """stdout, and the top names of what was imported."""
        told = self.folder / "told"
        done = subprocess.run(
            [sys.executable, "-c", RUNNER, str(told), "-C", str(self.folder / "home"), *words],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout, {name.split(".")[0] for name in told.read_text().splitlines()}


@pytest.fixture
def parked(tmp_path: Path) -> Home:
    """A home with one call that waits for approval."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "toolgate.toml").write_text(HOME)
    (tmp_path / "home" / "note.toml").write_text(NOTE)
    home = Home(tmp_path)
    _, imported = home.command("start", "note")
    assert {"pydantic", "jsonschema"} <= imported  # a file that is new is checked in full
    return home


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["tsv", "json"])
def test_an_approve_imports_none_of_them(parked: Home, form: list[str]) -> None:
    _, imported = parked.command("approve", *form)
    assert (parked.folder / "home" / "note.json").read_text() == '{"text":"hello"}'
    assert sorted(imported & (HEAVY | DEAR)) == []


@pytest.mark.parametrize("verb", ["reject", "cancel"])
def test_nor_do_the_other_decisions(parked: Home, verb: str) -> None:
    listed, _ = parked.command("runs", "list", "--json")
    _, imported = parked.command(verb, json.loads(listed)["items"][0]["id"])
    assert sorted(imported & HEAVY) == []


@pytest.mark.parametrize(
    "words",
    [["pending", "list"], ["pending", "show"], ["runs", "list"], ["events"], ["audit", "verify"], ["audit", "export"]],
    ids=" ".join,
)
def test_nor_does_looking_and_it_needs_no_files(parked: Home, words: list[str]) -> None:
    (parked.folder / "home" / "toolgate.toml").write_text("this is no TOML")
    _, imported = parked.command(*words, "--json")
    assert sorted(imported & HEAVY) == []


def test_a_second_start_does_not_check_the_same_bytes_again(parked: Home) -> None:
    _, imported = parked.command("start", "note")
    assert sorted(imported & HEAVY) == []
