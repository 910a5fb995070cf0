"""The kept head of a database: outside the home, private, by id and path, and never in the way of anything."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolgate_cli.host.heads import FileHeads

HASH = "ab" * 32


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_what_was_kept_is_found_by_id_and_path(state: Path) -> None:
    heads = FileHeads("/home/a.db")
    assert heads.kept("id") is None
    heads.keep("id", 7, HASH)
    assert FileHeads("/home/a.db").kept("id") == (7, HASH)
    assert FileHeads("/home/b.db").kept("id") is None and heads.kept("other") is None
    heads.keep("id", 9, HASH)
    assert heads.kept("id") == (9, HASH)
    heads.keep("id", 8, HASH)  # somebody slower than who kept 9
    assert heads.kept("id") == (9, HASH)
    heads.keep("id", 3, HASH, accepted=True)
    assert heads.kept("id") == (3, HASH)


def test_only_its_user_can_read_it_and_no_scratch_is_left(state: Path) -> None:
    FileHeads("/home/a.db").keep("id", 7, HASH)
    [file] = (state / "toolgate" / "heads").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700


def test_where_it_cannot_be_written_nothing_is_kept_and_nothing_fails(state: Path) -> None:
    state.parent.mkdir(exist_ok=True)
    state.write_text("a file in the place of the folder")
    heads = FileHeads("/home/a.db")
    heads.keep("id", 7, HASH)
    assert heads.kept("id") is None


@pytest.mark.parametrize("content", ["", "x:y", "7", ":", "7:", f"7:{HASH[1:]}", f"-7:{HASH}", "\0" * 96])
def test_a_file_that_is_broken_is_no_head_and_is_written_anew(state: Path, content: str) -> None:
    heads = FileHeads("/home/a.db")
    heads.keep("id", 7, HASH)
    [file] = (state / "toolgate" / "heads").iterdir()
    file.write_text(content)
    assert heads.kept("id") is None and os.path.exists(file)
    heads.keep("id", 5, HASH)
    assert heads.kept("id") == (5, HASH)


def test_a_head_of_any_length_replaces_the_one_before(state: Path) -> None:
    heads = FileHeads("/home/a.db")
    for seq in (9, 10, 10**17):
        heads.keep("id", seq, HASH)
        assert heads.kept("id") == (seq, HASH)
    heads.keep("id", 1, HASH, accepted=True)
    assert heads.kept("id") == (1, HASH)


def test_of_many_who_keep_at_once_the_last_head_stays(state: Path) -> None:
    heads = FileHeads("/home/a.db")
    heads.keep("id", 1, HASH)
    children = []
    for part in range(4):
        children.append(os.fork())
        if not children[-1]:
            for seq in range(2 + part, 402, 4):
                heads.keep("id", seq, HASH)
            os._exit(0)
    while children:
        assert heads.kept("id") is not None
        if os.waitpid(children[-1], os.WNOHANG)[0]:
            children.pop()
    assert heads.kept("id") == (401, HASH)


def test_a_link_in_its_place_is_not_written_through(state: Path, tmp_path: Path) -> None:
    heads = FileHeads("/home/a.db")
    heads.keep("id", 7, HASH)
    [file] = (state / "toolgate" / "heads").iterdir()
    file.unlink()
    file.symlink_to(tmp_path / "other")
    heads.keep("id", 8, HASH)
    assert not (tmp_path / "other").exists()


def test_whether_heads_can_be_kept_is_found_out_without_making_anything(state: Path) -> None:
    assert FileHeads("/home/a.db").fault() is None and not state.exists()
    state.parent.mkdir(exist_ok=True)
    state.write_text("a file in the place of the folder")
    assert FileHeads("/home/a.db").fault() == f"{state} is not a folder"
