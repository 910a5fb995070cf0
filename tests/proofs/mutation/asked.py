"""pytest in a forked process: over chosen tests in a chosen order, with one changed module, or telling which test runs which line."""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import os
import resource
import shutil
import sys
import threading
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest

from .listing import APART, PACKAGE, ROOT

MEMORY = 3 << 30  # bytes that a changed program may take
LONGEST = 2.0  # seconds: a test that takes longer asks for more than these modules, and is not asked
Ran = dict[str, dict[int, list[int]]]  # module -> line -> places of tests


class Swap(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module of the package another body."""

    def __init__(self, module: str, body: CodeType) -> None:
        self._name = "toolgate_cli." + module.removesuffix(".py").replace("/", ".")
        self._file = str(PACKAGE / module)
        self._body = body

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        return importlib.machinery.ModuleSpec(name, self, origin=self._file) if name == self._name else None

    def exec_module(self, module: ModuleType) -> None:
        module.__file__ = self._file
        exec(self._body, vars(module))


class Chosen:
    """Only these tests, in this order."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: at for at, test in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted((item for item in items if item.nodeid in self._order), key=lambda item: self._order[item.nodeid])


class Traced:
    """Which test runs which line of the modules, and what each takes."""

    def __init__(self, modules: Iterable[str]) -> None:
        self._files = {str(PACKAGE / module): module for module in modules}
        self.tests: list[str] = []
        self.seconds: list[float] = []
        self.ran: defaultdict[str, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._now: set[tuple[str, int]] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self._now = set()
        began = _worked()
        threading.settrace(self._called)
        sys.settrace(self._called)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type]  # none
            for module, line in self._now:
                self.ran[module][line].append(len(self.tests))
            self.tests.append(item.nodeid)
            self.seconds.append(_worked() - began)

    def _called(self, frame: FrameType, event: str, arg: object) -> Any:
        module = self._files.get(frame.f_code.co_filename)
        if module is None:
            return None
        now = self._now
        now.add((module, frame.f_lineno))

        def line(frame: FrameType, event: str, arg: object) -> Any:
            now.add((module, frame.f_lineno))
            return line

        return line


def _worked() -> float:
    """Seconds of the processor that this process and those which it started have taken: what else the machine does takes none of them."""
    taken = os.times()
    return taken.user + taken.system + taken.children_user + taken.children_system


def forked(act: Callable[[], int], quiet: bool = True) -> int:
    """The pid of a child that does it, in a group of its own, and ends with what it returns."""
    pid = os.fork()
    if pid:
        return pid
    code = 99
    try:
        os.setsid()
        if quiet:
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(nothing, number)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        code = act()
    except BaseException:
        sys.__stderr__.write(traceback.format_exc())
    finally:
        os._exit(code)


def test(files: Iterable[str], plugins: Sequence[object], *more: str) -> int:
    """pytest's exit code over these files of the tests."""
    folder = Path("/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp") / f"toolgate-mutation-{os.getpid()}"
    os.chdir(ROOT)
    os.environ.update(HYPOTHESIS_STORAGE_DIRECTORY=str(folder / "hypothesis"), PYTHONDONTWRITEBYTECODE="1")
    folder.mkdir()
    options = ["-q", *more, "-Wignore::pytest.PytestAssertRewriteWarning", "--basetemp", str(folder / "base")]
    options += [f"-pno:{name}" for name in ("syrupy", "xdist", "cacheprovider")] + [f"--deselect={test}" for test in APART]
    try:
        return int(pytest.main([*options, *files], plugins=list(plugins)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def noticed(module: str, body: CodeType, tests: Sequence[str]) -> int:
    """0: the tests pass with the changed module; 1 or 2: they do not. Names of files stand for all of their tests."""
    sys.meta_path.insert(0, Swap(module, body))
    named = all("::" in test for test in tests)
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    return test(files, [Chosen(tests)] if named else [], "-x")


def preload() -> None:
    """Imports what the tests need from elsewhere, and nothing of the package."""
    sys.path.insert(0, str(ROOT))
    for name in ("hypothesis.stateful", "hypothesis.strategies", "pydantic", "jsonschema", "jsonschema.validators", "sqlite3", "ctypes",
                 "tomllib", "typer", "typer.main", "rich.table", "multiprocessing", "subprocess", "_pytest.assertion.rewrite"):  # fmt: skip
        with contextlib.suppress(ImportError):
            __import__(name)
