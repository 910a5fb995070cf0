"""The recipe for CI, run as its jobs: each script in a shell of its own, with nothing shared but the store."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import blocks
from .conftest import Shell, copied, environment

Job = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def scripts() -> dict[str, str]:
    """name -> script, as they stand in the README."""
    found = {match[1]: block for block in blocks.of("sh") if (match := re.match(r"# (\w+\.sh)", block))}
    assert list(found) == ["env.sh", "ask.sh", "decide.sh", "follow.sh"]
    return found


@pytest.fixture
def job(scripts: dict[str, str], tmp_path: Path) -> Job:
    """Runs a script with words in a fresh folder `checkout`, by `bash -e` as a runner does."""
    copied(tmp_path / "runner" / "workflows.example")
    subprocess.run([tmp_path / "runner" / "workflows.example" / "make-repository"], check=True, stdout=subprocess.DEVNULL)

    def run(name: str, *words: str, actor: str = "ci", **variables: str) -> subprocess.CompletedProcess[str]:
        checkout = tmp_path / "checkout"
        shutil.rmtree(checkout, ignore_errors=True)
        shutil.copytree(tmp_path / "runner", checkout)
        for file, text in scripts.items():
            (checkout / file).write_text(text.replace("/var/lib/toolgate", str(tmp_path / "kept")))
        given = {"GITHUB_WORKSPACE": str(checkout), "GITHUB_ACTOR": actor, "GITHUB_OUTPUT": str(checkout / "outputs"), "GITHUB_RUN_ID": "7"}
        given |= {"GITHUB_SERVER_URL": "https://forge.invalid", "GITHUB_REPOSITORY": "a/b"}
        return subprocess.run(
            ["bash", "-e", name, *words], cwd=checkout, env={**environment(), **given, **variables}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip

    return run


def outputs(tmp_path: Path) -> dict[str, str]:
    lines = (tmp_path / "checkout" / "outputs").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def artefact(tmp_path: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "checkout" / name).read_text())
    return found


def test_the_jobs_of_a_forge_are_these_scripts_and_hand_on_what_ask_gives_out(job: Job, tmp_path: Path) -> None:
    [jobs] = blocks.of("yaml")
    first, second, third = re.findall(r"run: bash -e (\S+)(.*)", jobs)
    assert jobs.count("run: workflows.example/make-repository") == 2  # the jobs that may start a tool
    assert first == ("ask.sh", "")
    job(first[0])
    told = outputs(tmp_path)
    assert {name: f"${{{{ steps.ask.outputs.{name} }}}}" for name in told} == dict(re.findall(r'(\w+): "(\${{ steps[^"]+)"', jobs))
    [word] = re.findall(r"\${{ needs\.ask\.outputs\.(\w+) }}", second[1])
    assert job(second[0], told[word]).returncode == 0 and artefact(tmp_path, "decided.json")["effect"] == "approved"
    [word] = re.findall(r"\${{ needs\.ask\.outputs\.(\w+) }}", third[1])
    assert job(third[0], told[word]).returncode == 0 and artefact(tmp_path, "done.json")["run"]["status"] == "COMPLETED"


def test_a_refused_decision_leaves_the_head_that_was_kept(job: Job, tmp_path: Path) -> None:
    job("ask.sh")
    ref = outputs(tmp_path)["ref"]
    assert job("decide.sh", ref).returncode == 0
    kept = (tmp_path / "checkout" / "decided.json").read_text()
    (tmp_path / "runner" / "decided.json").write_text(kept)
    assert job("decide.sh", ref).returncode == 5
    assert (tmp_path / "checkout" / "decided.json").read_text() == kept


def test_one_job_asks_and_a_later_one_decides_by_the_ref(job: Job, tmp_path: Path) -> None:
    asked = job("ask.sh")
    assert (asked.returncode, asked.stderr) == (0, "")
    told = outputs(tmp_path)
    decided = job("decide.sh", told["ref"], actor="ada")
    assert decided.returncode == 0, decided.stderr
    assert artefact(tmp_path, "decided.json")["run"]["status"] == "COMPLETED"
    head = artefact(tmp_path, "decided.json")["head"]
    followed = job("follow.sh", told["run"])
    assert followed.returncode == 0 and artefact(tmp_path, "done.json")["run"]["id"] == told["run"]
    again = job("decide.sh", told["ref"], actor="grace")
    assert again.returncode == 5 and "::error::nothing was started" in again.stdout and '"claim_lost"' in again.stderr
    assert re.fullmatch(r"\d+:[0-9a-f]{64}", head)


def test_the_head_that_was_kept_proves_the_log_later(job: Job, tmp_path: Path, shell: Shell) -> None:
    job("ask.sh")
    job("decide.sh", outputs(tmp_path)["ref"])
    head = artefact(tmp_path, "decided.json")["head"]
    kept = f"--db {tmp_path}/kept/ci.db"
    home = tmp_path / "checkout" / "workflows.example"
    assert shell(f"toolgate audit verify --head {head} {kept}", home).returncode == 0
    assert shell(f"toolgate audit verify --head {head[:-4]}0000 {kept}", home).returncode == 1


def test_a_job_that_is_run_again_asks_again_and_the_old_ref_is_of_the_old_run(job: Job, tmp_path: Path) -> None:
    job("ask.sh")
    first = outputs(tmp_path)
    job("ask.sh")
    second = outputs(tmp_path)
    assert first["run"] != second["run"] and first["ref"] != second["ref"]
    assert job("decide.sh", first["ref"]).returncode == 0
    assert artefact(tmp_path, "decided.json")["run"]["id"] == first["run"]


def test_who_follows_hears_that_nobody_has_decided_in_time(job: Job, tmp_path: Path) -> None:
    job("ask.sh")
    waited = job("follow.sh", outputs(tmp_path)["run"], PATIENCE="250ms")
    assert waited.returncode == 8 and artefact(tmp_path, "waited.json")["run"]["status"] == "AWAITING_TOOL_APPROVAL"


def test_who_follows_a_call_that_was_rejected_does_not_go_on(job: Job, tmp_path: Path, shell: Shell) -> None:
    job("ask.sh")
    told = outputs(tmp_path)
    home = tmp_path / "checkout" / "workflows.example"
    said = json.loads(shell(f"toolgate reject {told['ref']} -m 'not these notes' --json -q --db {tmp_path}/kept/ci.db", home).stdout)
    assert said["run"]["error"]["message"] == "there is no tag v0.2.0: not these notes"
    followed = job("follow.sh", told["run"])
    assert followed.returncode == 1 and artefact(tmp_path, "waited.json")["run"]["status"] == "FAILED"


def test_a_run_that_fails_before_anybody_is_asked_is_named_in_the_log_of_its_job(job: Job, tmp_path: Path) -> None:
    policy = tmp_path / "runner" / "workflows.example" / "toolgate.toml"
    text = policy.read_text()
    policy.write_text(text.replace('"git", "-C", "repository"', '"git", "-C", "nowhere"'))
    asked = job("ask.sh")
    run = artefact(tmp_path, "started.json")["run"]["id"]
    assert asked.returncode == 1 and asked.stdout.startswith("::error::nobody was asked") and run in asked.stdout
    assert not (tmp_path / "checkout" / "outputs").exists()
    policy.write_text("schema = ")
    asked = job("ask.sh")
    assert asked.returncode == 7 and "::error::" in asked.stdout and "toolgate.toml" in asked.stderr
    [jobs] = blocks.of("yaml")
    assert "path: started.json" in jobs[: jobs.index("decide:")]


def test_a_decision_about_nothing_is_an_error_in_the_log_of_its_job(job: Job) -> None:
    decided = job("decide.sh", "c0000000000000@000000000000")
    assert decided.returncode == 3 and decided.stdout.startswith("::error::nothing was decided")


def test_a_store_that_was_restored_decides_nothing(job: Job, tmp_path: Path) -> None:
    job("ask.sh")
    ref = outputs(tmp_path)["ref"]
    kept = tmp_path / "kept"
    for name in ("ci.db", "ci.db-wal"):
        if (kept / name).exists():
            shutil.copy(kept / name, tmp_path / name)
    assert job("decide.sh", ref).returncode == 0
    for file in kept.glob("ci.db*"):
        file.unlink()
    for file in tmp_path.glob("ci.db*"):
        shutil.copy(file, kept)
    decided = job("decide.sh", ref)
    assert decided.returncode == 10 and decided.stdout.startswith("::error::nothing was decided")


def test_waiting_for_an_approval_ends_where_one_is_needed_and_where_none_will_be(example: Path, shell: Shell) -> None:
    for words, code in (("release", 0), ("retract -i name=v0.1.0", 1), ("refund -i order=A-99 -i cents=5", 1)):
        run = json.loads(shell(f"toolgate start {words} --json -q", example).stdout)["run"]["id"]
        waited = shell(f"toolgate wait {run} --for approval --timeout 250ms", example)
        assert waited.returncode == code, words
