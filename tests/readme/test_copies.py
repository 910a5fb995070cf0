"""What the README says of copies: one database has one history, and a copy without `.toolgate` begins its own."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from .conftest import Shell


def test_a_copy_of_a_home_is_refused_once_the_other_has_gone_on(example: Path, shell: Shell, tmp_path: Path) -> None:
    assert shell("toolgate start refund -i order=A-17 -i cents=9900", example).returncode == 0
    other = tmp_path / "other"
    shutil.copytree(example, other, symlinks=True)
    refs = [json.loads(shell("toolgate pending list --json", home).stdout)["items"][0]["ref"] for home in (example, other)]
    assert refs[0] == refs[1]
    assert json.loads(shell(f"toolgate approve {refs[0]} --json", example).stdout)["effect"] == "approved"
    assert shell(f"toolgate approve {refs[0]} --json", other).returncode == 10
    shutil.copytree(example, tmp_path / "files", symlinks=True, ignore=shutil.ignore_patterns(".toolgate"))
    assert json.loads(shell("toolgate runs list --json", tmp_path / "files").stdout)["items"] == []


def test_a_deleted_store_begins_a_new_log(example: Path, shell: Shell) -> None:
    def head() -> str:
        found: str = json.loads(shell("toolgate runs list --json", example).stdout)["head"]
        return found

    shell("toolgate start release", example)
    before = head()
    shutil.rmtree(example / ".toolgate")
    assert shell("toolgate start release", example).returncode == 0 and head() != before
