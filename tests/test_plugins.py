"""Plug-ins are found by the names of their files."""

# ruff: noqa: E501 - tables and files are read by the line

from __future__ import annotations

import subprocess
import sys

import pytest

from toolgate_cli import plugins
from toolgate_cli.core.errors import ToolgateError


def test_every_module_is_a_kind_and_private_ones_are_none() -> None:
    assert {"tool", "agent", "assign", "branch", "input", "block", "fail"} <= set(plugins.step_kinds())
    assert "command" in plugins.providers() and "scripted" in plugins.models()
    assert not [
        name for name in (*plugins.step_kinds(), *plugins.providers(), *plugins.models(), *plugins.stores()) if name.startswith("_")
    ]


def test_names_are_known_without_importing_anything() -> None:
    code = (
        "import sys; from toolgate_cli import plugins as p; p.step_kinds(); p.providers(); p.models(); p.stores();"
        "sys.exit(any(m.startswith(('toolgate_cli.steps', 'toolgate_cli.providers', 'toolgate_cli.models', 'toolgate_cli.stores')) for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_plugin_is_imported_when_it_is_used() -> None:
    assert plugins.step_kind("tool").Fields.__name__ == "Fields"
    assert plugins.provider("command") is plugins.provider("command")


@pytest.mark.parametrize("name", ["tol", "_results", "../plugins", "", "tool.py", "os"])
def test_an_unknown_name_is_refused_with_what_was_meant(name: str) -> None:
    with pytest.raises(ToolgateError) as caught:
        plugins.step_kind(name)
    assert caught.value.kind == "invalid" and "tool" in caught.value.hint
