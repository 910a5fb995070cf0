"""The example does what its comments say, wherever it is copied to, and its git starts no helper whatever a repository configures."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from .conftest import ROOT, Shell, copied

HEAD = "72e773a8d5901dcd8cd3756e40752c0184eeb7ea"


def started(shell: Shell, home: Path, words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(shell(f"toolgate start {words} --json", home).stdout)
    return answer


def tags(shell: Shell, home: Path) -> list[str]:
    return shell("git -C repository tag --list", home).stdout.split()


# ---- the demo and the repository ----
@pytest.mark.timeout(120)
def test_the_demo_works_in_a_copy_and_again(tmp_path: Path, shell: Shell) -> None:
    copied(tmp_path / "a home")
    for _ in range(2):
        done = shell("'a home/demo'", tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        lines = done.stdout.splitlines()
        assert "$ toolgate start release" in lines and re.search(r"^\d+\t[^\t]*\tRUN_COMPLETED\t", done.stdout, re.MULTILINE)
        assert lines[-2:] == ["v0.1.0", "v0.2.0"]


def test_the_demo_leaves_nothing_that_git_would_add() -> None:
    ignored = (ROOT / "workflows.example" / ".gitignore").read_text().split("\n")
    assert {"/.toolgate/", "/repository/", "/announcement-*.json"} <= set(ignored)


def test_the_repository_is_the_same_everywhere_and_as_new_when_made_again(example: Path, shell: Shell) -> None:
    spoilt = {"GIT_AUTHOR_NAME": "x", "GIT_COMMITTER_EMAIL": "y", "GIT_DIR": "/nowhere", "TZ": "Asia/Tokyo", "GIT_DEFAULT_HASH": "sha256"}
    assert shell("toolgate start release && toolgate approve", example).returncode == 0
    again = shell("./make-repository", example, **spoilt)
    assert again.stdout == f"repository: 4 commits, 1 tag, main is {HEAD}\n", again.stderr


def test_a_folder_that_is_not_its_own_is_left_alone(tmp_path: Path, shell: Shell) -> None:
    home = copied(tmp_path / "home")
    (home / "repository").mkdir()
    (home / "repository" / "mine").write_text("kept")
    refused = shell("./make-repository", home)
    assert refused.returncode == 1 and "did not make it" in refused.stderr and (home / "repository" / "mine").read_text() == "kept"


# ---- the workflows ----
def test_the_agent_says_when_there_is_nothing_to_release(example: Path, shell: Shell) -> None:
    assert shell("toolgate start release && toolgate approve", example).returncode == 0
    run = started(shell, example, "release")["run"]
    assert run["status"] == "COMPLETED" and run["outputs"]["propose"].startswith("v0.2.0 is released already")


def test_a_rejected_tag_is_not_made(example: Path, shell: Shell) -> None:
    started(shell, example, "release")
    assert shell("toolgate reject -m 'not today'", example).returncode in (0, 1)
    assert tags(shell, example) == ["v0.1.0"]


def test_what_a_letter_says_moves_no_money_by_itself(example: Path, shell: Shell) -> None:
    run = started(shell, example, "desk")["run"]["id"]
    answer = json.loads(shell(f"toolgate answer {run} by=2026-02-06 sorry=no voucher=5 signed=Grace --json", example).stdout)
    assert [row["title"] for row in answer["pending"]] == ["Refund 30000 cents of A-18"]
    assert [row["order"] for row in json.loads(shell("./ledger.py list", example).stdout)] == ["A-19"]
    shell("toolgate reject -m 'it was charged once'", example)
    letters = json.loads(shell(f"toolgate runs show {run} --json", example).stdout)["run"]["outputs"]["claims/keep"].splitlines()
    assert [letter.partition(":")[0] for letter in letters] == ["A-19", "A-18"] and "it was charged once" in letters[1]
    assert all("A voucher over 5 euros" in letter and "sorry" not in letter for letter in letters)


def test_who_reads_the_mail_cannot_pay(example: Path, shell: Shell) -> None:
    script = example / "scripts" / "desk.toml"
    wanted = '"ledger.refund", arguments = { order = "A-18", cents = 1 }'  # so little that the rules would let it
    script.write_text(script.read_text().replace('"mail.list"', wanted))
    [row] = started(shell, example, "desk")["pending"]
    assert (row["reason"], row["attempts"]) == ("the agent reader may not call ledger.refund", 0)


@pytest.mark.parametrize("name", ["v1.0", "v1.0.0\n", "-d", "--force", "v1.0.0;id", "../x", "v1.0.0 ", ""])
@pytest.mark.parametrize("workflow", ["tag -i notes=x -i commit=" + HEAD, "retract"])
def test_a_name_that_is_none_reaches_no_git(example: Path, shell: Shell, workflow: str, name: str) -> None:
    answer = json.loads(shell(f'toolgate start {workflow} -i name="$NAME" --json', example, NAME=name).stdout)
    [row] = answer["pending"]
    assert (row["origin"], row["attempts"]) == ("EXECUTION_FAILED", 0)
    assert tags(shell, example) == ["v0.1.0"]


def test_notes_are_notes_whatever_they_look_like(example: Path, shell: Shell) -> None:
    notes = "--file=/etc/passwd\n$(id) `id` \\x1b"
    json.loads(shell(f'toolgate start tag -i name=v0.1.1 -i commit={HEAD} -i notes="$NOTES" --json', example, NOTES=notes).stdout)
    assert shell("toolgate approve", example).returncode == 0
    assert shell("git -C repository for-each-ref --format='%(contents)' refs/tags/v0.1.1", example).stdout.rstrip("\n") == notes


def test_without_a_repository_no_other_one_is_found(tmp_path: Path, shell: Shell) -> None:
    home = copied(tmp_path / "outer" / "home")
    assert shell("git init -q . && mkdir home/repository", tmp_path / "outer").returncode == 0
    [row] = started(shell, home, f"tag -i name=v0.1.1 -i commit={HEAD} -i notes=x")["pending"]
    assert shell(f"toolgate approve {row['ref']}", home).returncode == 1
    assert shell("git tag --list", tmp_path / "outer").stdout == ""


# ---- helpers that git would start because a configuration names them ----
CONFIGURED = """
core.pager core.editor core.fsmonitor core.askPass core.sshCommand core.alternateRefsCommand gpg.program gpg.ssh.program gpg.x509.program
sequence.editor diff.external credential.helper pager.log pager.tag pager.for-each-ref interactive.diffFilter alias.log alias.tag
alias.for-each-ref uploadpack.packObjectsHook trailer.sign.command trailer.sign.cmd
"""
SWITCHES = {"tag.gpgSign": "true", "tag.forceSignAnnotated": "true", "log.showSignature": "true", "core.hooksPath": "../helpers"}


def test_no_helper_of_a_repository_is_started(example: Path, shell: Shell) -> None:
    helpers = example / "helpers"
    helpers.mkdir()
    trap = f'#!/bin/sh\necho "$0 $*" >>{example}/trapped\ncat >/dev/null\n'
    for name in ("helper", "reference-transaction", "post-checkout", "pre-commit", "post-index-change", "prepare-commit-msg"):
        (helpers / name).write_text(trap)
        (helpers / name).chmod(0o755)
        (example / "repository" / ".git" / "hooks").mkdir(exist_ok=True)
        (example / "repository" / ".git" / "hooks" / name).symlink_to(helpers / name)
    settings = {**dict.fromkeys(CONFIGURED.split(), f"{helpers}/helper"), **SWITCHES, "user.signingKey": "x"}
    for name, value in settings.items():
        assert shell(f"git config {name} {value!r}", example / "repository").returncode == 0
    everywhere = {"GIT_PAGER": f"{helpers}/helper", "PAGER": f"{helpers}/helper", "GIT_EDITOR": f"{helpers}/helper"}
    everywhere |= {"GIT_EXTERNAL_DIFF": f"{helpers}/helper", "GIT_TRACE2": f"{example}/trapped", "GIT_EXEC_PATH": str(helpers)}
    assert shell("toolgate start release", example, **everywhere).returncode == 0
    approved = shell("toolgate approve", example, **everywhere)
    assert approved.returncode == 0, approved.stdout + approved.stderr
    assert not (example / "trapped").exists(), (example / "trapped").read_text()
    assert tags(shell, example) == ["v0.1.0", "v0.2.0"]


def test_the_trap_of_the_test_before_does_spring_for_plain_git(example: Path, shell: Shell) -> None:
    helper = example / "helper"
    helper.write_text(f"#!/bin/sh\ntouch {example}/trapped\n")
    helper.chmod(0o755)
    shell(f"git config gpg.program {helper} && git config tag.gpgSign true && git tag -a -m x v9.9.9", example / "repository")
    assert (example / "trapped").exists()


def test_every_git_tool_is_closed_in_the_same_way() -> None:
    with open(ROOT / "workflows.example" / "toolgate.toml", "rb") as file:
        tools = tomllib.load(file)["tools"]
    [beginning] = {tuple(tool["command"]["argv"][:9]) for name, tool in tools.items() if name.startswith("git.")}
    assert beginning[:5] == ("git", "-C", "repository", "--git-dir=.git", "--no-pager")
    [environment] = {tuple(sorted(tool["command"]["env"])) for name, tool in tools.items() if name.startswith("git.")}
    assert len(environment) == 4
    assert all(tool["input_schema"]["additionalProperties"] is False for tool in tools.values())
