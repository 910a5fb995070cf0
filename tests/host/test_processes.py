"""The processes of this host: ancestors, calls by their environment, and what dies when toolgate does (CASES I5, I6)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from toolgate_cli.host import processes, sessions, tree
from toolgate_cli.host.owners import FileOwners
from toolgate_cli.host.processes import HostProcesses

DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"

# a program that runs one tool; the tool starts a grandchild in a session of its own, and both append to files
CALL = f"c-parent-{os.getpid()}"  # tools are found by it: those of another worker are not ours
RUNNER = """
import signal, sys
from toolgate_cli.host.child import Command
from toolgate_cli.host.running import run

class Ended(Exception): pass
def leave(number, frame): raise Ended(number)
if {handled}:
    for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, leave)
tool = '''
import os, signal, subprocess, sys, time
signal.signal(15, signal.SIG_IGN)
work = "import os, signal, sys, time; signal.signal(15, signal.SIG_IGN); open(sys.argv[1] + '.pid', 'w').write(str(os.getpid()))"
work += chr(10) + "while True: open(sys.argv[1], 'a').write('x'); time.sleep(0.02)"
if {grandchild}: subprocess.Popen([sys.executable, "-c", work, "grandchild"], start_new_session=True)
exec(work.replace("sys.argv[1]", "'child'"))
'''
command = Command({call!r}, (sys.executable, "-c", tool), {folder!r}, {{"TOOLGATE_CALL": {call!r}}}, None)
try:
    run(command, 60, 1000, lambda: False)
except BaseException as error:
    open({folder!r} + "/raised", "w").write(type(error).__name__)
    raise SystemExit(5)
"""


def alive(pid: int) -> bool:
    process = tree.look(pid)
    return process is not None and not process.dead


def until(condition: object, seconds: float = 10.0) -> bool:
    assert callable(condition)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


def start_runner(folder: Path, *, handled: bool, grandchild: bool) -> tuple[subprocess.Popen[bytes], list[int]]:
    source = RUNNER.format(call=CALL, folder=str(folder), handled=handled, grandchild=grandchild)
    runner = subprocess.Popen([sys.executable, "-c", source], env={**os.environ, "PYTHONPATH": os.getcwd()})
    marks = ["child", "grandchild"] if grandchild else ["child"]
    assert until(lambda: all((folder / mark).exists() for mark in marks))
    return runner, [int((folder / f"{mark}.pid").read_text()) for mark in marks]


@pytest.fixture
def marked() -> Iterator[list[subprocess.Popen[bytes]]]:
    """Processes of the call c-marked, and of another."""
    started = [
        subprocess.Popen([sys.executable, "-S", "-c", DEAF], env={"TOOLGATE_CALL": call}, start_new_session=True)
        for call in ("c-marked", "c-marked", "c-marked2", "c-mark")
    ]
    assert until(lambda: all(tree.call_of(process.pid) for process in started))
    yield started
    for process in started:
        process.kill()
        process.wait()


def test_every_process_of_a_call_is_killed_and_no_other(marked: list[subprocess.Popen[bytes]]) -> None:
    began = time.monotonic()
    assert HostProcesses().kill_call("c-marked") == ()
    assert time.monotonic() - began < 2
    assert [alive(process.pid) for process in marked] == [False, False, True, True]


def test_descendants_that_dropped_the_mark_are_killed_too(tmp_path: Path) -> None:
    inner = f"import os; open('pid', 'w').write(str(os.getpid())); {DEAF}"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {inner!r}], env={{}})"
    process = subprocess.Popen([sys.executable, "-c", outer], env={"TOOLGATE_CALL": "c-family"}, cwd=tmp_path)
    assert until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    assert HostProcesses().kill_call("c-family") == ()
    assert not alive(int((tmp_path / "pid").read_text()))
    process.wait()


def test_a_call_of_which_nothing_is_left_is_nothing_to_do() -> None:
    assert HostProcesses().kill_call("c-nobody") == ()


def test_what_cannot_be_killed_is_named(marked: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "kill", lambda process: None)
    began = time.monotonic()
    names = HostProcesses().kill_call("c-mark")
    assert names == (f"pid {marked[3].pid} {Path(f'/proc/{marked[3].pid}/comm').read_text().strip()}",)
    assert time.monotonic() - began < 2.5


def test_neither_we_nor_those_above_us_are_killed() -> None:
    code = """
import subprocess, sys
inner = "from toolgate_cli.host.processes import HostProcesses as H; print(H().kill_call('c-self'), H().inside_call())"
print(subprocess.run([sys.executable, "-c", inner], capture_output=True, text=True).stdout.strip(), "still here")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env={"TOOLGATE_CALL": "c-self", "PYTHONPATH": os.getcwd()}, capture_output=True, text=True, timeout=20
    )
    assert done.stdout.strip() == "() c-self still here", done.stderr


def test_a_recycled_number_is_not_killed(marked: list[subprocess.Popen[bytes]]) -> None:
    process = tree.look(marked[3].pid)
    assert process is not None
    tree.kill(process._replace(start=process.start - 1))
    time.sleep(0.1)
    assert alive(process.pid)


def test_ancestors_go_from_the_parent_to_the_first_process() -> None:
    line = HostProcesses().ancestors()
    assert line[0] == os.getppid() and os.getpid() not in line and line[-1] in (1, line[0])


def test_outside_of_a_call_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOOLGATE_CALL", raising=False)
    assert HostProcesses().inside_call() is None


@pytest.mark.parametrize("hidden", ["", "del os.environ['TOOLGATE_CALL'];", "os.environ['TOOLGATE_CALL'] = '';"])
def test_inside_a_call_it_is_known_even_if_the_variable_was_removed(hidden: str) -> None:
    inner = "from toolgate_cli.host.processes import HostProcesses as H; print(H().inside_call())"
    outer = f"import os, subprocess, sys; {hidden} subprocess.run([sys.executable, '-c', {inner!r}])"
    environment = {"TOOLGATE_CALL": "c-inside", "PYTHONPATH": os.getcwd()}
    done = subprocess.run([sys.executable, "-c", outer], env=environment, capture_output=True, text=True, timeout=20)
    assert done.stdout.strip() == "c-inside", done.stderr


def test_a_name_with_brackets_and_spaces_is_read(tmp_path: Path) -> None:
    tool = tmp_path / "a) Z 1 (b"
    tool.symlink_to("/bin/sleep")
    process = subprocess.Popen([str(tool), "60"])
    try:
        assert until(lambda: (seen := tree.look(process.pid)) is not None and seen.name == "a) Z 1 (b")
        seen = tree.look(process.pid)
        assert seen is not None and seen.parent == os.getpid() and not seen.dead
    finally:
        process.kill()
        process.wait()


# ---- the end of toolgate itself ----
def test_kill_9_of_the_parent_kills_the_tool_within_a_second(tmp_path: Path) -> None:
    runner, [child] = start_runner(tmp_path, handled=False, grandchild=False)
    runner.kill()
    runner.wait()
    assert until(lambda: not alive(child), 1.0)


def test_after_kill_9_recovery_finds_what_is_left_of_the_tree(tmp_path: Path) -> None:
    runner, pids = start_runner(tmp_path, handled=False, grandchild=True)
    runner.kill()
    runner.wait()
    assert HostProcesses().kill_call(CALL) == ()
    assert not [pid for pid in pids if alive(pid)]


CLEARED = """
import os, subprocess, sys
from toolgate_cli.host import processes
from toolgate_cli.host.child import Command
from toolgate_cli.host.owners import FileOwners
from toolgate_cli.host.running import run
files = FileOwners({folder!r} + "/owners")
processes.use_fence(files.fence, files.release)
tool = '''
import os, subprocess, sys, time
work = "import os, time; open('left.pid', 'w').write(str(os.getpid())); time.sleep(60)"
subprocess.Popen([sys.executable, "-S", "-c", work], env=dict(), process_group=0)
time.sleep(60)
'''
run(Command("c-cleared", (sys.executable, "-c", tool), {folder!r}, {{"TOOLGATE_CALL": "c-cleared"}}, None, "f1"), 60, 1000, lambda: False)
"""


def test_after_kill_9_what_cleared_its_environment_and_closed_its_descriptors_is_found_by_its_session(tmp_path: Path) -> None:
    source = CLEARED.format(folder=str(tmp_path))
    runner = subprocess.Popen([sys.executable, "-c", source], env={**os.environ, "PYTHONPATH": os.getcwd()})
    assert until(lambda: (tmp_path / "left.pid").exists() and (tmp_path / "left.pid").read_text())
    left, owners = int((tmp_path / "left.pid").read_text()), FileOwners(str(tmp_path / "owners"))
    runner.kill()
    runner.wait()
    session = owners.session("f1")
    assert session is not None and until(lambda: not alive(session[0]), 1.0)
    for _ in range(2):
        assert HostProcesses().kill_call("c-cleared") == () and alive(left) and owners.left_behind("f1")
        owners.forget("f1")  # it is held
    assert HostProcesses().kill_call("c-cleared", 0.0, session) == ()  # no other start is in that session, whenever this one began
    assert not alive(left) and not owners.left_behind("f1")
    owners.forget("f1")
    assert owners.session("f1") is None and os.listdir(tmp_path / "owners") == []


def test_a_session_whose_number_was_given_again_is_left_alone(marked: list[subprocess.Popen[bytes]]) -> None:
    first = tree.look(marked[0].pid)
    assert first is not None and first.session == first.pid
    for start in (first.start - 1, first.start + 1):
        assert not sessions.lives(tree.Session(first.pid, start))
        assert HostProcesses().kill_call("c-nobody", None, (first.pid, start)) == () and alive(first.pid)
    assert sessions.lives(tree.Session(first.pid, first.start))
    assert HostProcesses().kill_call("c-nobody", None, (first.pid, first.start)) == () and not alive(first.pid)
    assert not sessions.lives(tree.Session(first.pid, first.start))  # it is not reaped yet


def test_a_member_that_is_older_than_the_session_is_of_another_one() -> None:
    seen = {pid: tree.Process(pid, 1, start, "S", "x", 7) for pid, start in ((900001, 49), (900002, 50), (900003, 51))}
    assert tree.of_session(seen, tree.Session(7, 50)) == {900002, 900003}
    assert tree.of_session(seen, tree.Session(8, 50)) == set()


def test_neither_we_nor_those_above_us_are_of_a_session_that_is_ended() -> None:
    code = """
import subprocess, sys
inner = "import os; from toolgate_cli.host import tree; from toolgate_cli.host.processes import HostProcesses as H; "
inner += "s = os.getsid(0); print(H().kill_call('c-self', None, (s, tree.look(s).start)))"
print(subprocess.run([sys.executable, "-c", inner], capture_output=True, text=True).stdout.strip(), "still here")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": os.getcwd()}, capture_output=True, text=True, timeout=20, start_new_session=True
    )
    assert done.stdout.strip() == "() still here", done.stderr


def test_what_a_lock_tells_of_a_session_counts_only_where_its_numbers_mean_something(tmp_path: Path) -> None:
    owners, session = FileOwners(str(tmp_path / "owners")), tree.Session(12345, 67, "f1")
    fence = processes.Fence(*owners.fence("f1"))
    assert owners.session("f1") is None and owners.session(None) is None and owners.session("f2") is None
    processes.mark_fence(fence, session)
    assert owners.session("f1") == session
    line = os.pread(fence.fd, 999, 0)
    elsewhere = [line.replace(b"-", b"+"), line.replace(b"pid:", b"pid:1")]  # another boot, another namespace
    for other in (line[:-1], b"x" + line, line.replace(b" ", b"  "), line + b"x", b"\0" * 99, *elsewhere):
        os.ftruncate(fence.fd, 0)
        os.pwrite(fence.fd, other, 0)
        assert owners.session("f1") is None, other
    processes.mark_fence(fence, session)
    processes.mark_fence(fence, None)
    assert owners.session("f1") is None and os.fstat(fence.fd).st_size == 0
    os.close(fence.fd)
    processes.mark_fence(fence, session)  # where it cannot be written the tool runs all the same
    processes.mark_fence(None, session)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_parent_kills_the_whole_tree_within_a_second(tmp_path: Path, number: int) -> None:
    runner, pids = start_runner(tmp_path, handled=True, grandchild=True)
    runner.send_signal(number)
    began = time.monotonic()
    assert until(lambda: not [pid for pid in pids if alive(pid)], 1.0)
    assert runner.wait(5) == 5 and time.monotonic() - began < 1.5
    assert (tmp_path / "raised").read_text() == ("KeyboardInterrupt" if number == signal.SIGINT else "Ended")


def test_a_second_signal_does_not_break_off_the_kill(tmp_path: Path) -> None:
    runner, pids = start_runner(tmp_path, handled=True, grandchild=True)
    for _ in range(10):
        runner.send_signal(signal.SIGINT)
        time.sleep(0.03)
    runner.wait(5)
    assert not [pid for pid in pids if alive(pid)]
