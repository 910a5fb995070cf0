"""A tool's process begins as `subprocess.Popen` would begin it, and what did not begin is never taken for a program that failed."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from toolgate_cli.host import kernel
from toolgate_cli.host.spawning import spawn

TOLD = """
import json, os
print(json.dumps({
    "stdin": os.read(0, 9).decode(), "cwd": os.getcwd(), "env": dict(os.environ), "leader": os.getsid(0) == os.getpid(),
    "descriptors": sorted(int(n) for n in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + n)),
}))
os.write(2, b"err")
"""
STATUS = ["/bin/grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status"]


@pytest.fixture
def pipes() -> Iterator[list[int]]:
    """stdin to read, stdin to write, stdout to read, stdout to write, stderr to read, stderr to write."""
    ends = [end for _ in range(3) for end in os.pipe()]
    yield ends
    for end in ends:
        os.close(end)


def children() -> set[str]:
    """All of ours, the dead that nobody has waited for among them; other tests may have left some."""
    return {pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()}


def run(argv: Sequence[str], cwd: str, pipes: list[int], inherited: Sequence[int] = (), env: dict[bytes, bytes] | None = None) -> bytes:
    """Its stdout; it ended with 0."""
    pid = spawn([os.fsencode(word) for word in argv], cwd, env or {}, (pipes[0], pipes[3], pipes[5]), inherited)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return os.read(pipes[2], 65536)


def test_it_has_its_streams_its_folder_its_environment_and_no_other_descriptor(tmp_path: Path, pipes: list[int]) -> None:
    os.write(pipes[1], b"given")
    leaked, kept = os.open("/dev/null", os.O_RDONLY), os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(leaked, True)
    try:
        said = json.loads(run([sys.executable, "-S", "-E", "-c", TOLD], str(tmp_path), pipes, (kept,), {b"A": b"b=c"}))
    finally:
        os.close(leaked)
        os.close(kept)
    assert (said["stdin"], said["cwd"], said["leader"], os.read(pipes[4], 9)) == ("given", str(tmp_path), True, b"err")
    assert said["env"]["A"] == "b=c" and set(said["env"]) <= {"A", "LC_CTYPE"}
    assert said["descriptors"] == [0, 1, 2, kept]


def test_no_signal_is_ignored_or_blocked_in_it(tmp_path: Path, pipes: list[int]) -> None:
    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN  # by Python, in here
    was = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM, signal.SIGINT))
    try:
        said = run(STATUS, str(tmp_path), pipes).decode()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, was)
    assert {line.split()[0]: int(line.split()[1], 16) for line in said.splitlines()} == {"SigBlk:": 0, "SigIgn:": 0}


def test_streams_that_stand_in_each_others_places_are_not_mixed_up(tmp_path: Path, pipes: list[int]) -> None:
    """stdout is handed as descriptor 0 of a process that has no others: what a naive dup2 would overwrite."""
    saved = [os.dup(place) for place in (0, 1, 2)]
    try:
        os.dup2(pipes[5], 0), os.dup2(pipes[0], 1), os.dup2(pipes[3], 2)
        os.write(pipes[1], b"x\n")
        pid = spawn([b"/bin/sh", b"-c", b"timeout 5 cat; echo e >&2"], str(tmp_path), {b"PATH": b"/usr/bin:/bin"}, (1, 2, 0), ())
        os.close(pipes[1])
        pipes[1] = os.open("/dev/null", os.O_WRONLY)
        os.waitpid(pid, 0)
    finally:
        for place, descriptor in enumerate(saved):
            os.dup2(descriptor, place)
            os.close(descriptor)
    assert (os.read(pipes[2], 9), os.read(pipes[4], 9)) == (b"x\n", b"e\n")


@pytest.mark.parametrize(
    ("argv", "cwd", "number", "about"),
    [
        ("/no/such", "/", errno.ENOENT, "/no/such"),
        ("/etc/passwd", "/", errno.EACCES, "/etc/passwd"),
        ("/bin/true", "/no/folder", errno.ENOENT, "/no/folder"),
        ("/bin/true", "/etc/passwd", errno.ENOTDIR, "/etc/passwd"),
    ],
)
def test_what_could_not_begin_says_why_and_leaves_no_process(argv: str, cwd: str, number: int, about: str, pipes: list[int]) -> None:
    before, own = sorted(os.listdir("/proc/self/fd")), children()
    with pytest.raises(OSError) as refused:
        run([argv], cwd, pipes)
    assert (refused.value.errno, refused.value.filename) == (number, about)
    assert children() == own
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_nor_is_any_other_fault_taken_for_an_exit_code(tmp_path: Path, pipes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise MemoryError

    monkeypatch.setattr(os, "setsid", full)
    with pytest.raises(OSError) as refused:
        run(["/bin/true"], str(tmp_path), pipes)
    assert refused.value.errno == errno.EAGAIN


def test_a_process_that_cannot_be_made_says_so(tmp_path: Path, pipes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> int:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    before = sorted(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(os, "fork", full)
    with pytest.raises(OSError) as refused:
        run(["/bin/true"], str(tmp_path), pipes)
    assert (refused.value.errno, refused.value.filename) == (errno.ENOMEM, None)
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_what_it_tells_is_heard_where_the_pipe_stands_in_the_place_of_a_stream(pipes: list[int]) -> None:
    saved = [os.dup(place) for place in (0, 1, 2)]
    try:
        for place in (0, 1, 2):
            os.close(place)
        with pytest.raises(FileNotFoundError):
            spawn([b"/no/such"], "/", {}, (pipes[0], pipes[3], pipes[5]), ())
    finally:
        for place, descriptor in enumerate(saved):
            os.dup2(descriptor, place)
            os.close(descriptor)


def test_what_it_tells_is_believed_where_somebody_else_took_its_end(tmp_path: Path, pipes: list[int]) -> None:
    was = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with pytest.raises(OSError) as refused:
            run(["/no/such"], str(tmp_path), pipes)
    finally:
        signal.signal(signal.SIGCHLD, was)
    assert refused.value.errno == errno.ENOENT


def test_no_signal_reaches_it_before_it_has_a_session_of_its_own(tmp_path: Path, pipes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the terminal would end it for the program, while it is not the program yet."""
    tie = kernel.tie_to_parent()

    def tied() -> None:
        assert os.getsid(0) == os.getpid()
        tie()

    monkeypatch.setattr(kernel, "tie_to_parent", lambda: tied)
    pid = spawn([b"/bin/true"], str(tmp_path), {}, (pipes[0], pipes[3], pipes[5]), ())
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.parametrize(
    ("argv", "cwd", "env"),
    [("/bin/tr\0ue", "/", {}), ("/bin/true", "/\0", {}), ("/bin/true", "/", {b"A=B": b""}), ("/bin/true", "/", {b"A": b"\0"})],
)
def test_what_no_process_can_have_is_refused_before_the_fork(argv: str, cwd: str, env: dict[bytes, bytes], pipes: list[int]) -> None:
    with pytest.raises(ValueError):
        run([argv], cwd, pipes, env=env)
