"""The command reference of the README, from the commands themselves. `python -m tests.readme.reference` writes it into the file."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from toolgate_cli.cli import catalogue
from toolgate_cli.cli.invoke import build
from toolgate_cli.cli.options import frame

README: Final = Path(__file__).parents[2] / "README.md"
BEGIN: Final = "<!-- commands: written by `python -m tests.readme.reference` -->"
END: Final = "<!-- end of commands -->"
_OFTEN: Final = 4  # an option that so many commands take in the same words is explained once

Commands = Mapping[catalogue.Name, Any]


def with_reference(text: str) -> str:
    """The README with the reference between its marks as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{reference()}\n\n{END}{after}"


def reference() -> str:
    """Markdown: every command by what it is for with the options that are its own; then those that several or all take."""
    commands = {name: build(name, module) for name, module in catalogue.names().items()}
    counted = Counter(_option(option) for command in commands.values() for option in _options(command))
    common = [text for text, count in counted.items() if _OFTEN <= count < len(commands)]
    lines: list[str] = []
    for purpose in catalogue.GROUPS:
        lines += [f"**{purpose}**", ""]
        for name, module in catalogue.names().items():
            if purpose == catalogue.load(module).PURPOSE:
                lines += _command(name, commands[name], common)
        lines.append("")
    lines += ["**Options of several commands**", "", *(f"- {text}" for text in common), ""]
    lines += ["**Options of every command**; these may also stand before it", ""]
    lines += [f"- {text}" for text, count in counted.items() if count == len(commands)]
    return "\n".join([*lines, "- `-h`, `--help`: Show what the command takes."])


def _command(name: catalogue.Name, command: Any, common: list[str]) -> Iterator[str]:
    shared = set(inspect.signature(frame).parameters)
    words = [str(argument.metavar or argument.name.upper()) for argument in command.params if argument.param_type_name == "argument"]
    also = [f"`{option.opts[0]}`" for option in _options(command) if _option(option) in common]
    yield f"- `{' '.join((*name, *words))}`: {_flow(inspect.cleandoc(command.help))}" + (f" Also {', '.join(also)}." if also else "")
    for option in _options(command):
        if option.name not in shared and _option(option) not in common:
            yield f"  - {_option(option)}"


def _options(command: Any) -> list[Any]:
    return [option for option in command.params if option.param_type_name == "option" and "--help" not in option.opts]


def _option(option: Any) -> str:
    choices = getattr(option.type, "choices", None)
    value = "" if option.is_flag else f" {option.metavar or '|'.join(map(str, choices))}"
    default = "" if option.is_flag or option.default in (None, "", "0", "auto") else f" (default: {option.default})"
    return f"`{', '.join(option.opts)}{value}`: {_flow(option.help)}{default}"


def _flow(text: str) -> str:
    """On one line; what stands in <> or {} is no markup."""
    return " ".join(text.split())


if __name__ == "__main__":
    README.write_text(with_reference(README.read_text(encoding="utf-8")), encoding="utf-8")
