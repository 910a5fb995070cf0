"""What few decisions need is imported before the store is locked, however they begin (I7)."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import pytest

from toolgate_cli import runtime

from .fakes import LOST
from .kit import Home
from .test_confirming import asks
from .test_confirming import go as stops
from .test_reconciling import APPLIED, UNKNOWN
from .test_reconciling import go as ends


def question(home: Home) -> tuple[str, str]:
    return stops(home, asks()), "approve"


def doubt(home: Home) -> tuple[str, str]:
    return ends(home, [LOST], [UNKNOWN, APPLIED]), "retry"


@pytest.mark.parametrize(("name", "begin"), [("confirming", question), ("reconciling", doubt)])
def test_no_module_is_imported_for_a_decision_while_the_store_is_locked(
    quick: Home, name: str, begin: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"toolgate_cli.runtime.{name}"
    imported: list[str] = []

    class Watching:
        """Asked first where a module is; it never knows."""

        def find_spec(self, name: str, *_: Any) -> None:
            if name == module:
                quick.watch.outside(f"importing {name}")
                imported.append(name)

    run, verb = begin(quick)
    import_module(module)  # by whoever came before: it is forgotten again now
    monkeypatch.delitem(sys.modules, module)
    monkeypatch.delattr(runtime, name)
    monkeypatch.setattr(sys, "meta_path", [Watching(), *sys.meta_path])
    quick.decide(verb, run)
    assert imported == [module] and quick.run(run).status == "COMPLETED"
