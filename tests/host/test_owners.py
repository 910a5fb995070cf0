"""Owner locks and fences: a dead process is known as dead at once, a living one never taken for dead, whatever it forked or left behind."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from toolgate_cli.host.owners import FileOwners, boot_id, host_id

ROOT = Path(__file__).parents[2]
START = "import os, sys, time\nfrom toolgate_cli.host.owners import FileOwners\nowners = FileOwners(sys.argv[1])\n"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "owners")


@pytest.fixture
def owners(folder: str) -> Iterator[FileOwners]:
    made = FileOwners(folder)
    yield made
    made.close()


class Other:
    """Another process with an owner lock of its own."""

    def __init__(self, folder: str, code: str = "print(owners.mine(), flush=True)\ntime.sleep(60)") -> None:
        self.process = subprocess.Popen([sys.executable, "-c", START + code, folder], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline().split()
        self.name = self.said[0]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@pytest.fixture
def other(folder: str) -> Iterator[Other]:
    started = Other(folder)
    yield started
    started.kill()


def alive(owners: FileOwners, name: str) -> bool | None:
    return owners.alive(name, *owners.place())


def test_a_process_has_one_private_lock_file(owners: FileOwners, folder: str) -> None:
    name = owners.mine()
    assert owners.mine() == name and name[0] == "o" and len(name) == 14
    assert os.listdir(folder) == [name]
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600


def test_a_living_process_is_alive_and_known_by_its_pid(owners: FileOwners, other: Other) -> None:
    assert alive(owners, other.name) is True
    assert owners.holder(other.name) == other.process.pid
    assert owners.at_work() == {other.process.pid: other.name}


def test_the_lock_is_gone_the_moment_its_process_is_killed(owners: FileOwners, other: Other) -> None:
    other.process.send_signal(signal.SIGKILL)
    other.process.wait()
    assert alive(owners, other.name) is False
    assert owners.holder(other.name) is None and owners.at_work() == {}


def test_a_process_that_was_stopped_is_alive(owners: FileOwners, other: Other) -> None:
    other.process.send_signal(signal.SIGSTOP)
    time.sleep(0.05)
    assert alive(owners, other.name) is True


def test_a_forked_child_that_outlives_its_parent_does_not_keep_it_alive(owners: FileOwners, folder: str) -> None:
    code = "name = owners.mine()\npid = os.fork()\nif pid == 0: time.sleep(60)\nprint(name, pid, flush=True)\nos._exit(0)"
    other = Other(folder, code)
    other.process.wait()
    child = int(other.said[1])
    try:
        os.kill(child, 0)
        assert alive(owners, other.name) is False
    finally:
        os.kill(child, signal.SIGKILL)
        other.kill()


def test_a_forked_child_is_an_owner_of_its_own_and_leaves_its_parents_lock_alone(owners: FileOwners, folder: str) -> None:
    code = """
name = owners.mine()
pid = os.fork()
if pid == 0:
    assert owners.mine() != name
    owners.close()
    FileOwners(sys.argv[1]).forget(name)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
print(name, flush=True)
time.sleep(60)
"""
    other = Other(folder, code)
    assert alive(owners, other.name) is True
    other.kill()


def test_a_process_never_opens_its_own_file_again(owners: FileOwners, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = owners.mine()
    opened: list[object] = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda path, *rest: opened.append(path) or real(path, *rest))
    for each in (owners, FileOwners(folder)):  # a second object of the same process knows it too
        assert alive(each, name) is True
        assert each.holder(name) == os.getpid()
        assert each.left_behind(name) is False
        each.forget(name)
    assert opened == []
    code = "print(owners.alive(sys.argv[2], *owners.place()))"
    done = subprocess.run([sys.executable, "-c", START + code, folder, name], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "True\n"


def test_hosts_and_boots_are_told_apart(owners: FileOwners, other: Other) -> None:
    host, boot = owners.place()
    assert (host.partition("/")[0], boot) == (host_id(), boot_id()) and len(boot) == 36
    assert owners.alive(other.name, host, "former boot") is False
    assert owners.alive(other.name, host_id() + "/of-a-device-that-was-numbered-anew", "former boot") is False
    assert owners.alive(other.name, "other host", "other boot") is None
    assert owners.alive("oaaaaaaaaaaaaa", host, boot) is False
    assert owners.alive("oaaaaaaaaaaaaa", "other host", boot) is None
    assert owners.alive(other.name, "other name of this host", boot) is True
    assert owners.alive(owners.mine(), host, "former boot") is False


def test_a_name_is_never_a_path(owners: FileOwners, folder: str, tmp_path: Path) -> None:
    owners.mine()
    (tmp_path / "precious").touch()
    for name in ("../precious", "", "/etc/passwd", "a/b", "."):
        assert alive(owners, name) is False
        assert owners.left_behind(name) is False
        owners.forget(name)
    assert (tmp_path / "precious").exists()


def test_the_file_is_removed_at_a_clean_exit_and_by_whoever_finds_its_owner_dead(owners: FileOwners, folder: str, other: Other) -> None:
    mine = owners.mine()
    owners.forget(other.name)
    assert sorted(os.listdir(folder)) == sorted([mine, other.name])
    other.kill()
    owners.forget(other.name)
    owners.forget(other.name)
    assert os.listdir(folder) == [mine]
    owners.close()
    assert os.listdir(folder) == []
    assert owners.mine() != mine


def test_a_lock_file_that_fails_to_close_is_left_all_the_same(owners: FileOwners, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owners.mine()
    close = os.close

    def failing(descriptor: int) -> None:
        close(descriptor)
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "close", failing)
    owners.close()
    monkeypatch.undo()
    assert os.listdir(folder) == []


# ---- fences ----
def test_a_fence_without_survivors_is_removed(owners: FileOwners, folder: str) -> None:
    name, descriptor = owners.fence()
    assert name[0] == "f" and not os.get_inheritable(descriptor), "spawning hands it to the tool, and to nobody else"
    assert owners.left_behind(name) is True
    assert owners.release(name, descriptor) is False
    assert os.listdir(folder) == []
    assert owners.left_behind(name) is False and owners.left_behind(None) is False


def test_a_fence_is_held_by_a_child_that_escaped(owners: FileOwners, folder: str) -> None:
    name, descriptor = owners.fence()
    code = "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\nprint(os.getpid(), flush=True)\ntime.sleep(60)"
    tool = subprocess.Popen([sys.executable, "-c", code], pass_fds=[descriptor], stdout=subprocess.PIPE, text=True)
    assert tool.stdout is not None
    escaped = int(tool.stdout.readline())
    tool.wait()
    assert owners.release(name, descriptor) is True
    assert owners.left_behind(name) is True and FileOwners(folder).left_behind(name) is True
    owners.forget(name)
    assert os.listdir(folder) == [name]
    os.kill(escaped, signal.SIGKILL)
    until = time.monotonic() + 5
    while owners.left_behind(name) and time.monotonic() < until:
        time.sleep(0.01)
    assert owners.left_behind(name) is False
    owners.forget(name)
    assert os.listdir(folder) == []
    tool.stdout.close()


def test_a_tool_that_was_not_given_the_fence_does_not_hold_it(owners: FileOwners) -> None:
    name, descriptor = owners.fence()
    tool = subprocess.Popen(["sleep", "60"])
    assert owners.release(name, descriptor) is False
    tool.kill()
    tool.wait()


def test_lock_files_that_nobody_holds_are_told(tmp_path: Path) -> None:
    folder = tmp_path / "owners"
    owners = FileOwners(str(folder))
    assert owners.left_over() == ()
    owners.mine()
    name, descriptor = owners.fence()
    (folder / "oleft0").write_text("")
    (folder / "fleft0").write_text("")
    (folder / "not.a.lock").write_text("")
    assert FileOwners(str(folder)).left_over() == (str(folder / "fleft0"), str(folder / "oleft0"))
    assert sorted(file.name for file in folder.iterdir() if file.name.endswith("left0")) == ["fleft0", "oleft0"]
    owners.release(name, descriptor)
    owners.close()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/dev/zero", path), os.mkdir])
def test_what_is_no_lock_file_is_not_waited_for_and_says_nothing_of_anybody(
    owners: FileOwners, folder: str, make: Callable[[str], None]
) -> None:
    owners.mine()
    name = "o" + "a" * 13
    make(os.path.join(folder, name))

    def waited(*_: object) -> None:
        raise AssertionError("it was waited for")

    was = signal.signal(signal.SIGALRM, waited)
    signal.alarm(5)
    try:
        assert alive(owners, name) is None and owners.holder(name) is None
        assert owners.left_behind(name) and owners.session(name) is None and owners.left_over() == ()
        owners.forget(name)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, was)
    assert os.path.lexists(os.path.join(folder, name))


def test_a_lock_that_nobody_holds_says_nothing_in_another_folder_than_its_own(
    owners: FileOwners, other: Other, folder: str, tmp_path: Path
) -> None:
    owners.mine()
    place, copy = owners.place(), str(tmp_path / "copy")
    shutil.copytree(folder, copy)
    elsewhere = FileOwners(copy)
    assert elsewhere.alive(other.name, *place) is None and owners.alive(other.name, *place) is True
    other.kill()
    assert elsewhere.alive(other.name, *place) is None and owners.alive(other.name, *place) is False
    os.rename(folder, str(tmp_path / "moved"))
    assert FileOwners(str(tmp_path / "moved")).alive(other.name, *place) is False  # moved, it is the same folder
    os.unlink(os.path.join(copy, other.name))
    assert elsewhere.alive(other.name, *place) is None
