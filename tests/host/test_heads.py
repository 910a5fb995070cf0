"""The kept head of a database: outside the home, private, by id alone, and of two copies one keeps it."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from toolgate_cli.core.errors import ToolgateError
from toolgate_cli.host import heads as module
from toolgate_cli.host.heads import FileHeads

HASH = "ab" * 32
NOBODY = 65534


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def only(state: Path) -> Path:
    [file] = (state / "toolgate" / "heads").iterdir()
    return file


def keep(identity: str, seq: int, hash: str) -> None:
    """As a commit does that nothing is compared with."""
    hold = FileHeads().hold(identity, None)
    try:
        hold.put(seq, hash)
    finally:
        hold.close()


def test_what_was_kept_is_found_by_id(state: Path) -> None:
    heads = FileHeads()
    assert heads.kept("id") is None
    keep("id", 7, HASH)
    assert FileHeads().kept("id") == (7, HASH)
    assert heads.kept("other") is None
    keep("id", 9, HASH)
    assert heads.kept("id") == (9, HASH)
    keep("id", 8, HASH)  # somebody slower than who kept 9
    assert heads.kept("id") == (9, HASH)
    FileHeads().accept("id", 3, HASH)
    assert heads.kept("id") == (3, HASH)


def test_only_its_user_can_read_it_and_no_scratch_is_left(state: Path) -> None:
    keep("id", 7, HASH)
    keep("id", 8, HASH)
    FileHeads().accept("id", 7, HASH)
    file = only(state)
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700


def test_where_it_cannot_be_written_nothing_is_kept_and_nothing_fails(state: Path) -> None:
    state.parent.mkdir(exist_ok=True)
    state.write_text("a file in the place of the folder")
    heads = FileHeads()
    hold = heads.hold("id", (6, HASH))
    hold.put(7, HASH)
    hold.close()
    FileHeads().accept("id", 7, HASH)
    assert heads.kept("id") is None and hold.head is None
    assert heads.unkept is not None and str(state) in heads.unkept and heads.lost is None


@pytest.mark.parametrize("content", ["", "x:y", "7", ":", "7:", f"7:{HASH[1:]}", f"-7:{HASH}", "\0" * 96, f"7:{HASH}".ljust(200)])
def test_a_file_that_is_broken_is_said_and_only_a_person_has_it_written_anew(state: Path, content: str) -> None:
    heads = FileHeads()
    keep("id", 7, HASH)
    file = only(state)
    file.write_text(content)
    said = heads.kept("id")
    assert isinstance(said, str) and str(file) in said
    with pytest.raises(ToolgateError, match="is no head"):
        keep("id", 9, HASH)
    assert heads.kept("id") == said and file.read_text() == content
    FileHeads().accept("id", 5, HASH)
    assert heads.kept("id") == (5, HASH)


def _socket(at: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(at))


def _full(at: Path) -> None:
    at.mkdir()
    (at / "file").write_text("")


IN_ITS_PLACE: dict[str, Callable[[Path], object]] = {
    "a folder": lambda at: at.mkdir(),
    "a folder with a file": _full,
    "a fifo": lambda at: os.mkfifo(at),
    "a socket": _socket,
    "a link to a device": lambda at: at.symlink_to("/dev/zero"),
    "a link to a head": lambda at: (at.parent.parent / "other").write_text(f"7:{HASH}\n") and at.symlink_to(at.parent.parent / "other"),
    "a link to nothing": lambda at: at.symlink_to(at.parent.parent / "other"),
    "a link to itself": lambda at: at.symlink_to(at),
}


@pytest.mark.parametrize("what", IN_ITS_PLACE)
def test_what_is_no_file_of_ours_is_said_is_not_waited_for_and_is_not_written_through(
    state: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads = FileHeads()
    keep("id", 7, HASH)
    file = only(state)
    file.unlink()
    monkeypatch.chdir(file.parent)  # the name of a socket is short
    IN_ITS_PLACE[what](Path(file.name) if what == "a socket" else file)
    other = state / "toolgate" / "other"
    before = other.read_text() if other.exists() else None
    signal.alarm(5)
    try:
        said = heads.kept("id")
        assert isinstance(said, str) and str(file) in said and (what != "a fifo" or "not a file" in said)
        with pytest.raises(ToolgateError, match="kept head"):
            keep("id", 8, HASH)
        assert heads.kept("id") == said
        FileHeads().accept("id", 5, HASH)
    finally:
        signal.alarm(0)
    assert heads.kept("id") == (5, HASH)
    assert (other.read_text() if other.exists() else None) == before


def test_a_file_that_may_not_be_read_is_said_and_a_folder_that_may_not_be_searched_holds_none() -> None:
    """As somebody whom rights hold back: root, who runs this too, becomes nobody first."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                if os.geteuid() == 0:
                    os.setgroups([])
                    os.setresgid(NOBODY, NOBODY, NOBODY)
                    os.setresuid(NOBODY, NOBODY, NOBODY)
                os.environ["XDG_STATE_HOME"] = folder
                heads = FileHeads()
                keep("id", 7, HASH)
                file = only(Path(folder))
                kept = heads.kept("id")
                file.chmod(0)
                hidden = heads.kept("id")
                file.parent.chmod(0)
                code = 0 if kept == (7, HASH) and isinstance(hidden, str) and heads.kept("id") is None else 2
                file.parent.chmod(0o700)
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_first_head_that_appears_while_somebody_looks_is_not_one_that_cannot_be_read(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads, real = FileHeads(), os.open

    def late(path: str, *how: int) -> int:
        try:
            return real(path, *how)
        except FileNotFoundError:
            monkeypatch.setattr(os, "open", real)
            keep("id", 7, HASH)  # somebody else, just then
            raise

    monkeypatch.setattr(os, "open", late)
    assert heads.kept("id") is None
    assert heads.kept("id") == (7, HASH)


def test_a_file_that_cannot_be_read_for_another_reason_is_said(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heads = FileHeads()
    keep("id", 7, HASH)

    def broken(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "pread", broken)
    said = heads.kept("id")
    assert isinstance(said, str) and "nput/output error" in said


def test_a_head_of_any_length_replaces_the_one_before(state: Path) -> None:
    heads = FileHeads()
    for seq in (9, 10, 10**17):
        keep("id", seq, HASH)
        assert heads.kept("id") == (seq, HASH)
    FileHeads().accept("id", 1, HASH)
    assert heads.kept("id") == (1, HASH)


def test_of_many_who_keep_at_once_the_last_head_stays(state: Path) -> None:
    heads = FileHeads()
    children = []
    for part in range(4):
        children.append(os.fork())
        if not children[-1]:
            for seq in range(1 + part, 401, 4):
                keep("id", seq, HASH)
            os._exit(0)
    while children:
        assert not isinstance(heads.kept("id"), str)  # the first who keep one do so at once, too
        if os.waitpid(children[-1], os.WNOHANG)[0]:
            children.pop()
    keep("id", 401, HASH)
    assert heads.kept("id") == (401, HASH)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE", 0.2)


@pytest.mark.parametrize("kind", [fcntl.LOCK_EX, fcntl.LOCK_SH])
def test_a_head_that_somebody_locks_is_waited_for_and_then_nobody_commits(state: Path, hasty: None, kind: int) -> None:
    """Without the lock it cannot be known whether a copy goes on meanwhile."""
    keep("id", 5, HASH)
    with only(state).open() as file:
        fcntl.flock(file, kind)
        began = time.monotonic()
        with pytest.raises(ToolgateError, match="locked") as caught:
            keep("id", 6, HASH)
        assert caught.value.kind == "storage" and caught.value.retryable and 0.2 <= time.monotonic() - began < 5
        assert FileHeads().kept("id") == (5, HASH)
    keep("id", 6, HASH)
    assert FileHeads().kept("id") == (6, HASH)


def test_who_waits_for_a_head_gets_it_when_the_other_one_has_kept_its_own(state: Path) -> None:
    keep("id", 5, HASH)
    hold, child = FileHeads().hold("id", None), os.fork()
    if not child:
        hold.close()
        os._exit(0 if FileHeads().hold("id", None).head == (6, HASH) else 1)
    time.sleep(0.2)
    hold.put(6, HASH)
    hold.close()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_head_is_never_overwritten_by_another_history_of_the_same_length(state: Path) -> None:
    keep("id", 5, HASH)
    keep("id", 5, "cd" * 32)
    keep("id", 4, "cd" * 32)
    assert FileHeads().kept("id") == (5, HASH)


def test_where_nothing_is_kept_yet_what_is_to_be_compared_is_kept_first(state: Path) -> None:
    heads = FileHeads()
    hold = heads.hold("id", (3, HASH))
    assert hold.head == heads.kept("id") == (3, HASH)
    hold.put(4, HASH)
    hold.close()
    assert heads.kept("id") == (4, HASH) and heads.lost is heads.unkept is None


def test_a_head_that_a_person_replaced_meanwhile_is_lost_and_that_is_said(state: Path) -> None:
    keep("id", 5, HASH)
    heads = FileHeads()
    hold = heads.hold("id", (5, HASH))
    FileHeads().accept("id", 3, HASH)
    hold.put(6, HASH)
    hold.close()
    assert heads.lost is not None and str(only(state)) in heads.lost
    assert heads.kept("id") == (3, HASH)


def test_a_first_head_that_a_copy_kept_meanwhile_is_lost_and_that_is_said(state: Path) -> None:
    heads = FileHeads()
    hold = heads.hold("id", None)
    keep("id", 3, HASH)
    hold.put(2, "cd" * 32)
    assert heads.lost is not None and heads.kept("id") == (3, HASH)


def test_what_a_person_accepts_is_kept_beside_whoever_was_stopped(state: Path) -> None:
    heads = FileHeads()
    keep("id", 5, HASH)
    with only(state).open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        FileHeads().accept("id", 3, HASH)
    assert heads.kept("id") == (3, HASH)


def test_a_head_is_there_with_its_content_or_not_at_all(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at any point of its making, it is none: an empty file would be refused as a broken one."""
    heads = FileHeads()
    for name in ("open", "pwrite", "fdatasync", "link"):
        child = os.fork()
        if not child:
            setattr(module.os, name, lambda *_, **__: os._exit(3))
            keep("id", 5, HASH)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3, name
        assert heads.kept("id") is None, name


def test_a_disk_that_takes_less_than_a_line_gets_the_rest_of_it(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda descriptor, data, at: write(descriptor, data[: max(1, len(data) // 2)], at))
    heads = FileHeads()
    for seq in (5, 1234):
        keep("id", seq, HASH)
        assert heads.kept("id") == (seq, HASH)


def test_a_relative_state_folder_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "of-the-user"))
    monkeypatch.setenv("XDG_STATE_HOME", "rel")
    monkeypatch.chdir(tmp_path)
    keep("id", 7, HASH)
    assert not (tmp_path / "rel").exists() and (tmp_path / "of-the-user" / ".local" / "state" / "toolgate" / "heads").is_dir()
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path / "b")
    assert FileHeads().kept("id") == (7, HASH)


def test_whether_heads_can_be_kept_is_found_out_without_making_anything(state: Path) -> None:
    assert FileHeads().fault() is None and not state.exists()
    state.parent.mkdir(exist_ok=True)
    state.write_text("a file in the place of the folder")
    assert FileHeads().fault() == f"{state} is not a folder"
