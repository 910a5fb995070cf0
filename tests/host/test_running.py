"""One tool process among our other processes: fences, strangers among our children, and starts at a bad moment."""

from __future__ import annotations

import ast
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from toolgate_cli.host import endings, heeding, kernel, kin, processes, tree
from toolgate_cli.host.child import Command
from toolgate_cli.host.endings import Ended
from toolgate_cli.host.kin import Kin
from toolgate_cli.host.owners import FileOwners
from toolgate_cli.host.running import run

ROOT = Path(__file__).parents[2]
CALL = f"c-run-{os.getpid()}"  # tools are found by it: those of another worker are not ours


def command(source: str, folder: Path, stdin: bytes | None = None, call: str = CALL) -> Command:
    return Command(call, (sys.executable, "-S", "-c", source), str(folder), {"TOOLGATE_CALL": call}, stdin)


def go(source: str, folder: Path, timeout: float = 10.0) -> Ended:
    return run(command(source, folder), timeout, 1 << 20, lambda: False)


def alive(pid: int) -> bool:
    process = tree.look(pid)
    return process is not None and not process.dead


@pytest.fixture
def owners(tmp_path: Path) -> Iterator[FileOwners]:
    files = FileOwners(str(tmp_path / "owners"))
    processes.use_fence(files.fence, files.release)
    yield files
    processes.use_fence(None, None)


def test_a_tool_inherits_the_fence_and_no_other_descriptor(tmp_path: Path, owners: FileOwners) -> None:
    source = "import os; print([os.readlink(f'/proc/self/fd/{fd}') for fd in range(3, 100) if os.path.lexists(f'/proc/self/fd/{fd}')])"
    with open(tmp_path / "ours", "w") as file:
        os.set_inheritable(file.fileno(), True)
        ended = go(source, tmp_path)
    [inherited] = ast.literal_eval(ended.stdout.decode())
    assert inherited.startswith(str(tmp_path / "owners" / "f")) and ended.left_behind is None


def test_a_descendant_that_could_not_be_killed_is_named_and_holds_the_fence(
    tmp_path: Path, owners: FileOwners, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "kill", lambda process: None)
    monkeypatch.setattr(tree, "own_children", list)
    source = "import subprocess; p = subprocess.Popen(['/bin/sleep', '60'], close_fds=False); print(p.pid)"
    ended = go(source, tmp_path)
    pid = int(ended.stdout)
    assert ended.how == "exited" and [name.split()[:2] for name in ended.survivors] == [["pid", str(pid)]]
    assert ended.left_behind and owners.left_behind(ended.left_behind)
    assert endings.result(ended, 10).left_behind == ended.left_behind
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert not owners.left_behind(ended.left_behind)


def test_a_descendant_that_could_not_be_killed_is_known_by_its_session_where_it_closed_the_fence(
    tmp_path: Path, owners: FileOwners, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "kill", lambda process: None)
    monkeypatch.setattr(tree, "own_children", list)
    monkeypatch.setattr(kernel, "adopting", lambda: nullcontext(False))  # an older kernel: what lost its parent is not ours
    source = "import subprocess; p = subprocess.Popen(['/bin/sleep', '60'], env={}, stdout=subprocess.DEVNULL); print(p.pid)"
    ended = go(source, tmp_path)
    pid = int(ended.stdout)
    assert ended.how == "exited" and [name.split()[:2] for name in ended.survivors] == [["pid", str(pid)]]
    assert ended.left_behind and owners.left_behind(ended.left_behind) and owners.session(ended.left_behind)
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 5
    while owners.left_behind(ended.left_behind) and time.monotonic() < until:
        time.sleep(0.01)
    assert not owners.left_behind(ended.left_behind)


def test_no_fence_is_left_of_a_start_that_failed(tmp_path: Path, owners: FileOwners) -> None:
    ended = run(Command("c", ("/no/such/program",), str(tmp_path), {}, None), 5, 1000, lambda: False)
    assert ended.how == "not_started" and "no such file" in ended.fault
    assert [name for name in os.listdir(tmp_path / "owners") if name.startswith("f")] == []


def test_without_a_lock_for_descendants_nothing_is_started(tmp_path: Path) -> None:
    def fail(name: str | None) -> tuple[str, int]:
        raise OSError(28, "No space left on device")

    processes.use_fence(fail, lambda name, fd: False)
    try:
        assert go("open('started', 'w')", tmp_path).how == "not_started"
    finally:
        processes.use_fence(None, None)
    assert not (tmp_path / "started").exists()


def test_other_children_of_ours_are_neither_killed_nor_reaped(tmp_path: Path) -> None:
    before = {process.pid for process in tree.everything().values()}
    running = subprocess.Popen(["/bin/sleep", "60"])
    ended = subprocess.Popen(["/bin/sh", "-c", "exit 7"])
    time.sleep(0.2)
    try:
        slow = "import subprocess, sys, time; subprocess.Popen(['/bin/sleep', '50'], start_new_session=True); time.sleep(60)"
        assert go("print(1)", tmp_path).how == "exited"
        assert go(slow, tmp_path, 0.5).how == "timed_out"
        assert running.poll() is None and ended.wait() == 7
        assert [p.name for p in tree.everything().values() if p.parent == os.getpid() and p.pid not in {running.pid, *before}] == []
    finally:
        running.kill()
        running.wait()


def test_orphans_go_their_usual_way_again_after_a_call(tmp_path: Path) -> None:
    go("pass", tmp_path)
    source = "import os, subprocess; p = subprocess.Popen(['/bin/sleep', '10'], stdout=-3); print(p.pid, flush=True); os._exit(0)"
    pid = int(subprocess.run([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True, check=True).stdout)
    orphan = tree.look(pid)
    assert orphan is not None and orphan.parent != os.getpid()
    os.kill(pid, signal.SIGKILL)


def test_a_tool_is_started_from_the_main_thread_alone(tmp_path: Path) -> None:
    caught: list[BaseException] = []

    def work() -> None:
        try:
            go("open('started', 'w')", tmp_path)
        except RuntimeError as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len(caught) == 1 and not (tmp_path / "started").exists()


def test_an_exit_code_is_seen_even_where_we_were_told_to_ignore_children(tmp_path: Path) -> None:
    was = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert go("raise SystemExit(9)", tmp_path)[:2] == ("exited", 9)
    finally:
        signal.signal(signal.SIGCHLD, was)


def test_an_end_that_somebody_else_took_is_not_an_answer(tmp_path: Path) -> None:
    with suppress(ChildProcessError):  # of other tests
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass

    def steal() -> bool:
        with suppress(ChildProcessError):
            os.waitpid(-1, 0)
        return False

    ended = run(command("import time; time.sleep(1)", tmp_path), 10, 1000, steal)
    assert ended.how == "lost" and endings.result(ended, 10).ended == "uncertain"


def test_signals_that_we_ignore_are_not_ignored_by_the_tool(tmp_path: Path) -> None:
    was = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        ended = go(
            "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_DFL, signal.pthread_sigmask(signal.SIG_BLOCK, []))",
            tmp_path,
        )
    finally:
        signal.signal(signal.SIGHUP, was)
    assert ended.stdout == b"True set()\n"


def test_an_exception_of_stop_kills_the_tree_and_goes_on(tmp_path: Path) -> None:
    def stop() -> bool:
        if (tmp_path / "pid").exists():
            raise LookupError
        return False

    with pytest.raises(LookupError):
        run(command("import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)", tmp_path), 30, 1000, stop)
    assert not alive(int((tmp_path / "pid").read_text()))


def test_the_signal_mask_is_as_before(tmp_path: Path) -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    go("pass", tmp_path)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, []) == before


def test_before_anything_was_started_nobody_is_of_the_call() -> None:
    assert Kin("c-none", adopted=True).living() == []


@pytest.mark.parametrize("missing", ["pidfd_open", "waitid of all", "children"])
def test_an_older_kernel_is_only_slower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    def no_pidfd(pid: int) -> int:
        raise OSError(38, "Function not implemented")

    if missing == "pidfd_open":
        monkeypatch.setattr(os, "pidfd_open", no_pidfd)
    elif missing == "children":
        monkeypatch.setattr(tree, "own_children", list)
    else:
        monkeypatch.setattr(kin, "_any_child", lambda: True)
    assert go("print(1)", tmp_path).stdout == b"1\n"
    source = "import subprocess, time; print(subprocess.Popen(['/bin/sleep', '9'], start_new_session=True).pid, flush=True); time.sleep(9)"
    began = time.monotonic()
    ended = go(source, tmp_path, 0.5)
    assert ended.how == "timed_out" and time.monotonic() - began < 2.5 and not alive(int(ended.stdout))


def test_without_time_nothing_is_started(tmp_path: Path) -> None:
    assert go("open('started', 'w')", tmp_path, 0.0).how == "not_started" and not (tmp_path / "started").exists()


def test_the_fence_has_the_name_that_the_start_gave_it(tmp_path: Path, owners: FileOwners, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    monkeypatch.setattr(processes, "_release", lambda name, fd: (taken.append(name), owners.release(name, fd))[1])
    name = "f" + "a" * 13
    ended = run(command("pass", tmp_path)._replace(fence=name), 5, 1000, lambda: False)
    assert ended.how == "exited" and taken == [name] and ended.left_behind is None


# ---- who is stopped ----
RUNNER = """
import signal, sys
from toolgate_cli.host.child import Command
from toolgate_cli.host.running import run
source = "import time; open('began', 'w'); time.sleep(float('" + sys.argv[2] + "'))"
ended = run(Command("c-run", (sys.executable, "-S", "-c", source), ".", {}, None), float(sys.argv[1]), 1 << 20, lambda: False)
stops = (signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
print(ended.how, all(signal.getsignal(number) == signal.SIG_DFL for number in stops), flush=True)
"""


def runner(folder: Path, timeout: float, lasts: float) -> subprocess.Popen[str]:
    started = subprocess.Popen(
        [sys.executable, "-c", RUNNER, str(timeout), str(lasts)], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE, text=True, process_group=0,
    )  # fmt: skip
    until = time.monotonic() + 20
    while not (folder / "began").exists():
        assert time.monotonic() < until
        time.sleep(0.005)
    return started


@pytest.mark.parametrize("number", [signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU])
def test_a_terminal_does_not_stop_the_timeout(tmp_path: Path, number: int) -> None:
    """Of a group that is no orphan of its session: else the kernel itself ignores the signal."""
    started = runner(tmp_path, 0.6, 60)
    try:
        os.kill(started.pid, number)
        time.sleep(0.1)
        state = tree.look(started.pid)
        assert state is not None and state.state != "T"
        assert started.communicate(timeout=10)[0] == "timed_out True\n"
    finally:
        started.kill()
        started.wait()


def test_an_end_that_is_seen_after_the_deadline_is_none_whoever_stopped_us(tmp_path: Path) -> None:
    started = runner(tmp_path, 1.0, 0.5)
    os.kill(started.pid, signal.SIGSTOP)
    time.sleep(1.5)
    os.kill(started.pid, signal.SIGCONT)
    assert started.communicate(timeout=10)[0] == "timed_out True\n"


def test_nothing_is_started_after_an_interruption_that_nobody_caught(tmp_path: Path) -> None:
    with suppress(LookupError):
        heeding.interrupt(LookupError())
    try:
        ended = go("open('ran', 'w')", tmp_path)
    finally:
        heeding.told()
    assert ended.how == "not_started" and "interrupted" in ended.fault and not (tmp_path / "ran").exists()
