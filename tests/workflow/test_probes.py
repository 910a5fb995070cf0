"""Read-only commands of a tool as toolgate.toml has them: checked, pinned, and a part of the tool's definition."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolgate_cli.core.world import Needs, Ready

from .homes import Home

TABLES = {
    "precheck": 'precheck = { argv = ["sh", "check.sh", "${args.to}"] }',
    "reconcile": 'reconcile = { argv = ["sh", "check.sh", "${args.to}"] }',
    "tenant_of": 'tenant_of = { command = ["sh", "check.sh", "${args.to}"] }',
}
CONTEXT = '[context]\ntenant = { issuer = "iam", id = "acme" }\n'


def ready(home: Home) -> Ready:
    files = home.files()
    world = files.world()
    return files.prepare(world, Needs(tools=("ledger.pay",))).ready["ledger.pay"]


def ask(home: Home, table: str) -> None:
    (home.path / "check.sh").write_text("exit 0\n")
    home.edit("toolgate.toml", 'permission = "ledger:pay"', f'permission = "ledger:pay"\n{table}')


@pytest.mark.parametrize("name", TABLES)
def test_a_probe_is_a_part_of_the_definition_with_the_content_of_its_files(home: Home, name: str) -> None:
    plain = ready(home).digest
    ask(home, TABLES[name])
    with_it = ready(home)
    (home.path / "check.sh").write_text("exit 1\n")
    changed = ready(home)
    assert len({plain, with_it.digest, changed.digest}) == 3 and list(with_it.probes) == [name]
    home.edit("toolgate.toml", '"check.sh", "${args.to}"', '"check.sh", "--", "${args.to}"')
    assert ready(home).digest != changed.digest


@pytest.mark.parametrize("name", TABLES)
def test_a_tool_whose_probe_is_not_there_cannot_be_used(home: Home, name: str) -> None:
    ask(home, TABLES[name].replace('"sh"', '"no-such-program"'))
    error = ready(home).error
    assert error is not None and error.startswith(f"{name}: ") and "no-such-program" in error


@pytest.mark.parametrize("name", TABLES)
def test_its_argv_is_filled_as_that_of_a_command(home: Home, name: str) -> None:
    ask(home, TABLES[name])
    bound = ready(home).probes[name]({"to": "bob", "amount": 1})  # type: ignore[index]  # one of the names
    assert bound.argv[1:] == ("check.sh", "bob")  # type: ignore[attr-defined]  # as a command is bound
    with pytest.raises(Exception, match="begins with"):
        ready(home).probes[name]({"to": "-f", "amount": 1})  # type: ignore[index]  # one of the names


def test_a_change_of_its_files_is_a_change_of_the_world(home: Home) -> None:
    ask(home, TABLES["precheck"])
    files = home.files()
    world = files.prepare(files.world(), Needs(tools=("ledger.pay",)))
    assert files.unchanged(world)
    (home.path / "check.sh").write_text("exit 1\n")
    assert not files.unchanged(world)


def told(home: Home) -> list[str]:
    return [message for file, _, _, warnings in home.files().inspect() if file == "toolgate.toml" for message, _ in warnings]


def test_a_reconciler_that_nobody_asks_is_warned_of(home: Home) -> None:
    ask(home, TABLES["reconcile"])
    assert any("reconcile: nobody asks it" in message for message in told(home))
    home.edit("toolgate.toml", 'effect = "idempotent"', 'effect = "reconcilable"')
    assert not any("nobody asks it" in message for message in told(home))


@pytest.mark.parametrize("name", TABLES)
def test_a_script_of_it_that_is_not_there_is_warned_of(home: Home, name: str) -> None:
    ask(home, TABLES[name])
    Path(home.path / "check.sh").unlink()
    assert any("no file check.sh" in message for message in told(home))


@pytest.mark.parametrize("name", ["precheck", "reconcile"])
def test_a_secret_of_it_is_resolved_as_one_of_the_tool(home: Home, name: str) -> None:
    ask(home, TABLES[name].replace(" }", ', env = { TOKEN = "${secret.PROBE_TOKEN}" } }'))
    tool = home.files().world().config.tools["ledger.pay"]
    assert tool.secrets == ("PROBE_TOKEN",) and "PROBE_TOKEN" in home.files().world().config.secrets
