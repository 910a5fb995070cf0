"""The command reference of the README, from the commands themselves. `python -m tests.readme.reference` writes it into the file."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolgate_cli.cli import catalogue
from toolgate_cli.cli.invoke import build
from toolgate_cli.cli.options import frame

README = Path(__file__).parents[2] / "README.md"
BEGIN = "<!-- commands: written by `python -m tests.readme.reference` -->"
END = "<!-- end of commands -->"


def reference() -> str:
    """Markdown: every command by what it is for, with its own options; those that all share once, at the end."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    shared = set(inspect.signature(frame).parameters)
    commands = {name: build(name, module) for name, module in catalogue.names().items()}
    for purpose in catalogue.GROUPS:
        yield f"**{purpose}**\n"
        for name, module in catalogue.names().items():
            if catalogue.load(module).PURPOSE == purpose:
                yield from _command(name, commands[name], shared)
        yield ""
    yield "**Every command**\n"
    for option in commands[("start",)].params:
        if option.name in shared:
            yield f"- {_option(option)}"
    yield "- `-h`, `--help`: Show what the command takes and exit."


def _command(name: catalogue.Name, command: Any, shared: set[str]) -> Iterator[str]:
    own = [parameter for parameter in command.params if parameter.name not in shared]
    words = [_metavar(parameter) for parameter in own if parameter.param_type_name == "argument"]
    about, _, more = inspect.cleandoc(command.help).partition("\n\n")
    yield f"- `{' '.join((*name, *words))}`: {_flow(about)}" + (f" {_flow(more)}" if more else "")
    for option in own:
        if option.param_type_name == "option" and "--help" not in option.opts:
            yield f"  - {_option(option)}"


def _metavar(argument: Any) -> str:
    return str(argument.metavar or argument.name.upper())


def _option(option: Any) -> str:
    spelled = ", ".join(f"`{word}`" for word in option.opts)
    choices = getattr(option.type, "choices", None)
    value = "" if option.is_flag else f" `{option.metavar or '|'.join(map(str, choices))}`"
    return f"{spelled}{value}: {_flow(option.help)}"


def _flow(text: str) -> str:
    return " ".join(text.split())


def with_reference(text: str) -> str:
    """The README with the reference between its marks as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{reference()}\n\n{END}{after}"


if __name__ == "__main__":
    README.write_text(with_reference(README.read_text()))
