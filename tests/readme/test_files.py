"""The files of the README are whole: they load as they stand there, and no key that there is is left out."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolgate_cli import plugins
from toolgate_cli.core.conditions import OPERATORS
from toolgate_cli.models import _script
from toolgate_cli.workflow import shapes

from . import blocks
from .conftest import Shell


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for held in value.values():
            yield from keys(held)
    elif isinstance(value, list):
        for held in value:
            yield from keys(held)


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    operator, workflow, inner, script = blocks.of("toml")
    return {"toolgate.toml": operator, "workflows/refund.toml": workflow, "workflows/thanks.toml": inner, "script.toml": script}


@pytest.fixture
def home(files: dict[str, str], tmp_path: Path) -> Path:
    """A home of these files and of those that they name."""
    named = {"order.json": '{"type": "object", "additionalProperties": false, "properties": {"order": {"type": "string"}}}'}
    named |= {
        "reader.md": "Read.",
        "refund.py": blocks.of("py")[0],
        "rates.csv": "",
        "ca.pem": "",
        "money.py": "def vat(): pass",
        "orders.json": '{"state": "damaged"}',
    }
    for name, content in {**files, **named}.items():
        path = tmp_path / "reference" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "reference"


def test_they_are_valid(home: Path, shell: Shell) -> None:
    done = shell("toolgate workflow check -o tsv", cwd=home)
    assert done.returncode == 0 and "error" not in done.stdout, done.stdout
    assert "script.toml" not in done.stdout  # named by toolgate.toml, so no workflow


def test_the_tool_takes_its_arguments_and_says_its_result_and_its_no(home: Path, shell: Shell) -> None:
    def told(amount: int) -> tuple[int, str, str]:
        asked = f"""echo '{{"order": "A-17", "amount": {amount}}}' | TOOLGATE_IDEMPOTENCY_KEY=k1 python3 refund.py -- A-17"""
        done = shell(asked, cwd=home)
        return done.returncode, done.stdout, done.stderr

    assert told(20) == (0, '{"status": "paid", "key": "k1"}\n', "")
    assert told(501) == (3, "", "more than the bank pays at once\n")


def test_they_run(home: Path, shell: Shell) -> None:
    """The policy there denies the second call of the agent; the first is free, and the agent's turns are played."""
    started = shell("CI_JOB_ID=17 toolgate start refund -i order=A-17 -o tsv -q", cwd=home)
    assert started.returncode == 0 and "AWAITING_STEP_APPROVAL" in started.stdout, started.stdout


def test_every_table_and_every_key_of_the_operators_file_is_there(files: dict[str, str]) -> None:
    said = set(keys(tomllib.loads(files["toolgate.toml"])))
    tables: list[Any] = [shapes.Operator, shapes.Gate, shapes.Limits, shapes.Exit, shapes.FailWhen, shapes.Tool, shapes.When, shapes.Rule]
    tables += [
        shapes.Policy,
        shapes.Identity,
        shapes.Context,
        shapes.Tenant,
        shapes.Budget,
        shapes.TenantOf,
        shapes.Agent,
        shapes.Selection,
    ]
    found = [importlib.import_module(f"toolgate_cli.providers.{name}") for name in plugins.providers()]
    tables += [getattr(provider, "Server", provider.Fields) for provider in found]  # what a person writes
    tables += [importlib.import_module(f"toolgate_cli.models.{name}").Fields for name in plugins.models()]
    assert {key for table in tables for key in table._fields} - said == set()
    assert set(OPERATORS) - said == set()


def test_every_kind_of_step_and_every_key_of_a_workflow_is_there(files: dict[str, str]) -> None:
    workflow = tomllib.loads(files["workflows/refund.toml"])
    said, steps = set(keys(workflow)), [*workflow["steps"], *(step for block in workflow["blocks"].values() for step in block)]
    assert {step["type"] for step in steps} == set(plugins.step_kinds())
    assert shapes.CONDITIONS in said
    tables: list[Any] = [shapes.Workflow, shapes.Common, shapes.Item]
    tables += [importlib.import_module(f"toolgate_cli.steps.{name}").Fields for name in plugins.step_kinds()]
    assert {key for table in tables for key in table._fields} - said == set()


def test_every_key_of_a_script_is_there(files: dict[str, str]) -> None:
    turns = tomllib.loads(files["script.toml"])["turns"]
    assert {key for turn in turns for key in turn} == set(_script.Entry._fields)


def test_every_command_of_an_agent_is_named() -> None:
    assert [word for word in shapes.COMMANDS if f"`{word}`" not in blocks.text()] == []
