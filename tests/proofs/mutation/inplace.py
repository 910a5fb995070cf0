"""A change inside a function, made in a running program: the function gets other code, and nothing is imported again."""

from __future__ import annotations

import gc
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from .changes import changed


def swap(file: Path, at: int) -> bool:
    """Makes the change of that number; False where it concerns what happens when the module is imported."""
    before, after = compile(file.read_text(), str(file), "exec"), changed(file, at)
    was, now = list(_inner(before)), list(_inner(after))
    if len(was) != len(now):
        return False
    other = {old: new for old, new in zip(was, now, strict=True) if old != new}
    found = False
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__ in other:
            new = other[function.__code__]
            if len(new.co_freevars) != len(function.__code__.co_freevars):
                return False
            function.__code__ = new
            found = True
    return found


def _inner(code: CodeType) -> Iterator[CodeType]:
    """The code of every function, class and expression in it, in the order of the text."""
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield part
            yield from _inner(part)


class Serving:
    """Collects the tests once and lets `serve` fork; `run` is for a fork: 0: the tests pass, 1: one does not."""

    def __init__(self, serve: Callable[[Serving], None]) -> None:
        self._serve = serve
        self._items: dict[str, pytest.Item] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._session = session
        self._items = {item.nodeid: item for item in session.items}
        factory: Any = session.config._tmp_path_factory  # type: ignore[attr-defined]  # each fork has files of its own, in this folder
        self._factory, self._folder = factory, Path(factory.getbasetemp())
        gc.collect()
        self._serve(self)
        return True

    def _named(self, test: str) -> list[pytest.Item]:
        """One test, or all of a file or a folder."""
        if "::" in test:
            return [self._items[test]]
        return [item for name, item in self._items.items() if name.startswith(test)]

    def run(self, tests: Iterable[str]) -> int:
        self._factory._basetemp = own = self._folder / str(os.getpid())
        own.mkdir()
        try:
            items = [item for test in tests for item in self._named(test)]
            for item, following in zip(items, [*items[1:], None], strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._session.testsfailed:
                    return 1
            return 0
        finally:
            shutil.rmtree(own, ignore_errors=True)
            sys.stdout.flush()
