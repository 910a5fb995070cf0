"""Who interrupts a command that only looks is told no more than that; of one that may have started a tool they are told what that means."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from proofs import homes, workers

from toolgate_cli.cli import faults
from toolgate_cli.cli.frame import Frame
from toolgate_cli.host import heeding


@pytest.mark.parametrize("raised", [KeyboardInterrupt, faults.Terminated])
def test_what_may_have_started_a_tool_says_what_became_of_it(tmp_path, raised, capsys):
    subprocess.run([sys.executable, "-m", "toolgate_cli", "init", str(tmp_path)], check=True, capture_output=True, timeout=60)

    def command():
        with Frame(home=str(tmp_path)).session():
            raise raised

    assert faults.told([], command) in (130, 143)
    assert "a call that was running then is an unknown outcome" in capsys.readouterr().err

    def looking():
        with Frame(home=str(tmp_path)).window():
            raise raised

    assert faults.told([], looking) in (130, 143)
    assert capsys.readouterr().err in ("error: interrupted\n", "error: terminated\n")


# ---- at a moment that is chosen: while a module is loaded ----
AT_IMPORT = """
import importlib.abc, os, sys, time
class At(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == MODULE:
            try:
                os.kill(os.getpid(), NUMBER)
                time.sleep(0.01)
            except BaseException:
                if not SWALLOWED:
                    raise
        return None
sys.meta_path.insert(0, At())
from toolgate_cli import __main__
__main__.main()
"""
ROOT = Path(__file__).parents[2]


def at_import(home: Path, module: str, number: int, *words: str, swallowed: bool = False) -> subprocess.CompletedProcess[str]:
    """The command, which gets a signal when it loads that module."""
    code = f"MODULE, NUMBER, SWALLOWED = {(module, int(number), swallowed)}{AT_IMPORT}"
    return subprocess.run(
        [sys.executable, "-c", code, *words, "-C", str(home)],
        cwd=ROOT, env=workers.environment(home), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("module", ["main", "faults", "streams", "safe", "catalogue", "route"])
def test_before_the_command_has_begun_an_interrupt_ends_it_without_a_word(tmp_path, module):
    done = at_import(tmp_path, f"toolgate_cli.cli.{module}", signal.SIGINT, "pending", "list")
    assert (done.returncode, done.stderr) == (130, "")


def test_an_interrupt_of_the_command_itself_is_told(tmp_path):
    homes.make(tmp_path / "home", brief=True)
    done = at_import(tmp_path / "home", "toolgate_cli.runtime.window", signal.SIGINT, "pending", "list")
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_an_interruption_that_was_swallowed_starts_nothing(tmp_path, number):
    home = homes.make(tmp_path / "home", policy="require_approval", brief=True)
    assert workers.run(home, "start", "pay").code == 0
    done = at_import(home, "toolgate_cli.host.running", number, "approve", "-y", "--json", swallowed=True)
    assert done.returncode == (130 if number == signal.SIGINT else 143), done
    assert "interrupted" in done.stderr or "terminated" in done.stderr
    assert not homes.tries(home)
    [row] = workers.run(home, "pending", "list").items
    assert row["origin"] == "APPROVAL_REQUIRED"


def test_an_interruption_that_came_too_late_to_be_caught_is_in_the_exit_code():
    def command():
        try:
            heeding.interrupt(faults.Terminated())
        except faults.Terminated:
            return 0

    assert faults.told([], command) == 143
    heeding.told()
    assert faults.told([], lambda: 0) == 0


# ---- a computer that is out of something ----
def short_of(home: Path, limit: str, *words: str) -> subprocess.CompletedProcess[str]:
    script = f'ulimit -c 0; ulimit {limit} && exec {sys.executable} -m toolgate_cli "$@"'
    return subprocess.run(
        ["bash", "-c", script, "bash", *words], cwd=home, env={**workers.environment(home), "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("files", [7, 8, 9, 10, 12])
def test_without_descriptors_an_approval_decides_nothing_or_tells_what_became_of_it(tmp_path, files):
    home = homes.make(tmp_path / "home", policy="require_approval", brief=True)
    assert workers.run(home, "start", "pay").code == 0
    done = short_of(home, f"-n {files}", "approve", "-q", "--json")
    assert "Traceback" not in done.stderr and not homes.tries(home)
    [row] = workers.run(home, "pending", "list").items
    assert (done.returncode, row["origin"]) in ((10, "APPROVAL_REQUIRED"), (1, "EXECUTION_FAILED")), done


@pytest.mark.parametrize("kilobytes", [14_000, 16_000, 18_000, 20_000, 24_000])
def test_without_memory_there_is_a_line_and_an_exit_code(tmp_path, kilobytes):
    home = homes.make(tmp_path / "home", policy="require_approval", brief=True)
    assert workers.run(home, "start", "pay").code == 0
    done = short_of(home, f"-v {kilobytes}", "approve", "-q", "--json")
    if "toolgate_cli" in done.stderr:  # else it was the interpreter that could not begin
        assert "Traceback" not in done.stderr, done
    if not homes.tries(home):
        assert done.returncode != 0, done


LOADING = """
import sys
loaded, decided = [], []
def hook(event, about):
    if event == "import" and decided:
        loaded.append(about[0])
sys.addaudithook(hook)
from toolgate_cli.stores import sqlite
def append(self, events, real=sqlite.SqliteWriter.append):
    real(self, events)
    self.decided = True
def end(self, commit, real=sqlite._Writing._end):
    real(self, commit)
    if commit and getattr(self._writer, "decided", False):
        decided.append(1)
sqlite.SqliteWriter.append, sqlite._Writing._end = append, end
from toolgate_cli.cli import main
code = main.run(sys.argv[1:])
print(code, bool(decided), *loaded, file=sys.stderr)
"""


@pytest.mark.parametrize("form", ["json", "tsv", "table"])
@pytest.mark.parametrize(("mode", "words"), [("ok", ["approve"]), ("fail", ["approve"]), ("ok", ["reject"]), ("ok", ["start", "pay"])])
def test_nothing_is_imported_once_something_is_decided(tmp_path, mode, words, form):
    home = homes.make(tmp_path / "home", policy="require_approval", brief=True, mode=mode)
    assert workers.run(home, "start", "pay").code == 0
    more = ["-y"] if words[0] in ("approve", "reject") else []
    done = subprocess.run(
        [sys.executable, "-c", LOADING, *words, *more, "-C", str(home), "-o", form],
        cwd=ROOT, env=workers.environment(home), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == f"{1 if mode == 'fail' else 0} True", done.stderr
