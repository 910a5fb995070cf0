"""Claims of the README that no other test owns: each is tried in a copy of the example, from outside."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Any

from .conftest import Shell


def items(shell: Shell, home: Path, words: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(shell(f"toolgate {words} --json", home).stdout)["items"]
    return found


def test_a_tool_that_changed_sends_its_call_back_for_a_new_approval(example: Path, shell: Shell) -> None:
    assert shell("toolgate start release", example).returncode == 0
    [before] = items(shell, example, "pending list")
    operator = example / "toolgate.toml"
    operator.write_text(operator.read_text().replace('"tag", "--annotate"', '"tag", "--force", "--annotate"'))
    refused = shell(f"toolgate approve {before['ref']}", example)
    assert refused.returncode == 5 and refused.stdout == "" and refused.stderr.startswith("error:")
    [after] = items(shell, example, "pending list")
    assert after["id"] == before["id"] and after["ref"] != before["ref"] and after["origin"] == "APPROVAL_REQUIRED"
    assert shell("git -C repository tag --list", example).stdout == "v0.1.0\n"
    assert [event["type"] for event in items(shell, example, "events --type TOOL_INVOCATION_SUPERSEDED")]
    assert shell(f"toolgate approve {after['ref']}", example).returncode == 0


def test_a_rule_that_denies_by_now_denies_what_was_parked_before(example: Path, shell: Shell) -> None:
    assert shell("toolgate start release", example).returncode == 0
    operator = example / "toolgate.toml"
    operator.write_text(operator.read_text() + '\n[[policy.rules]]\nname = "freeze"\ncapability = "git.tag"\ndecision = "deny"\n')
    assert shell("toolgate approve", example).returncode == 6
    assert shell("git -C repository tag --list", example).stdout == "v0.1.0\n"


def test_a_run_goes_on_with_the_workflow_that_it_started_with(example: Path, shell: Shell) -> None:
    assert shell("toolgate start release", example).returncode == 0
    (example / "workflows" / "release.toml").unlink()
    assert shell("toolgate approve", example).returncode == 0
    assert [run["status"] for run in items(shell, example, "runs list")] == ["COMPLETED"]


def test_a_step_that_is_run_again_calls_again_what_had_succeeded(example: Path, shell: Shell) -> None:
    (example / "twice.toml").write_text(
        'schema = 1\nid = "twice"\n[[steps]]\nid = "pay"\ntype = "tool"\ntool = "ledger.refund"\n'
        'arguments = { order = "A-19", cents = 100, currency = "EUR" }\n[[steps]]\nid = "stop"\ntype = "fail"\nreason = "not today"\n'
    )
    run = json.loads(shell("toolgate start twice --json", example).stdout)["run"]["id"]
    assert json.loads(shell(f"toolgate retry {run} --step pay --json", example).stdout)["pending"] == []
    started = items(shell, example, "events --type TOOL_INVOCATION_STARTED")
    assert len({event["call_id"] for event in started}) == 2
    assert json.loads(shell("./ledger.py paid A-19", example).stdout)["refunded"] == 200


def test_a_refused_verb_leaves_stdout_empty_and_its_error_has_one_shape(example: Path, shell: Shell) -> None:
    refused = shell("toolgate approve --json", example)
    assert (refused.returncode, refused.stdout) == (3, "")
    assert set(json.loads(refused.stderr)["error"]) == {"kind", "message", "hint", "exit_code", "retryable"}


def test_lists_have_one_shape_for_none_one_and_many(example: Path, shell: Shell) -> None:
    for count in range(3):
        listed = json.loads(shell("toolgate runs list --json", example).stdout)
        assert list(listed) == ["schema", "items", "head"] and len(listed["items"]) == count
        shell("toolgate start retract -i name=v0.1.0", example)


def test_the_store_is_one_file_that_only_its_owner_reads(example: Path, shell: Shell) -> None:
    shell("toolgate start release", example)
    store = example / ".toolgate" / "toolgate.db"
    assert store.stat().st_mode & 0o777 == 0o600 and store.parent.stat().st_mode & 0o777 == 0o700


def test_json_is_pure_ascii_whatever_it_tells(example: Path, shell: Shell) -> None:
    started = shell(f"toolgate start tag -i name=v0.1.1 -i commit={'0' * 40} -i notes='Größe \u202e 🌍' --json", example)
    assert started.returncode == 0 and started.stdout.isascii()
    shown = shell("toolgate pending show --json", example).stdout
    assert shown.isascii() and "Größe \u202e 🌍" in json.dumps(json.loads(shown), ensure_ascii=False)


def test_the_os_user_is_recorded_whatever_name_is_given(example: Path, shell: Shell) -> None:
    user = getpass.getuser()
    shell("toolgate start release --actor ada", example)
    declared = items(shell, example, "events --type RUN_STARTED")[0]
    assert declared["actor"] == "ada" and declared["payload"]["os_user"] == user
    operator = example / "toolgate.toml"
    operator.write_text(operator.read_text() + '\n[identity]\nmode = "os"\n')
    assert shell("toolgate reject --actor grace", example).returncode == 6
    assert shell("toolgate reject", example).returncode == 1  # its workflow fails then
    assert [event["actor"] for event in items(shell, example, "events --type TOOL_INVOCATION_REJECTED")] == [user]
