"""One command, built from its function and run: only the invoked one ever is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ..core.errors import ToolgateError
from . import catalogue
from .options import frame

if TYPE_CHECKING:
    from typer.core import TyperCommand

_FILES: Final = ("FILE", "DIR", "[DIR]")  # a path is any bytes
_MAY_BE_EMPTY: Final = ("TEXT", "KEY=VALUE")


def build(name: catalogue.Name, module: str) -> TyperCommand:
    """The command as Typer has it: the parameters of its `run` and the options that all share."""
    import typer
    from typer.main import get_command

    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(name[-1], context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})(
        _with_shared_options(catalogue.load(module).run)
    )
    return get_command(app)  # type: ignore[return-value]  # a single command is never a group


def invoke(name: catalogue.Name, module: str, arguments: list[str]) -> int:
    """Runs it; the exit code. Raises ToolgateError("usage") where the words do not fit."""
    import typer

    command = build(name, module)
    spoken = " ".join(("toolgate", *name))
    try:
        with command.make_context(spoken, arguments) as context:
            _check_texts(command, context.params, spoken)
            code: int = command.invoke(context)
            return code
    except typer.Exit as leave:  # --help
        return leave.exit_code
    except typer.TyperException as wrong:
        raise _usage(wrong, spoken) from None


def _with_shared_options(run: Callable[..., int]) -> Callable[..., int]:
    shared = inspect.signature(frame, eval_str=True).parameters
    own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]

    def call(**given: object) -> int:
        told = {key: given.pop(key) for key in shared}
        return run(frame(**told), **given)  # type: ignore[arg-type]  # Typer has converted them by the same signature

    call.__doc__ = run.__doc__
    call.__signature__ = inspect.Signature([*own, *shared.values()])  # type: ignore[attr-defined]  # inspect reads it
    return call


def _check_texts(command: TyperCommand, given: Mapping[str, object], spoken: str) -> None:
    """Raises `usage` for a text that is empty where a name is wanted, or that is not UTF-8 where no file is named."""
    for parameter in command.params:
        shape: str | None = getattr(parameter, "metavar", None)
        if shape is None:  # a flag, or a choice that was checked
            continue
        value = given.get(parameter.name or "")
        for text in value if isinstance(value, (list, tuple)) else (value,):
            if text == "" and shape not in _MAY_BE_EMPTY:
                raise ToolgateError("usage", f"{_named(parameter.opts, shape)} is empty", f"{spoken} --help")
            if isinstance(text, str) and shape not in _FILES and not _is_utf8(text):
                raise ToolgateError("usage", f"{_named(parameter.opts, shape)} is not UTF-8", "write it as UTF-8")


def _named(spellings: Sequence[str], shape: str) -> str:
    return next((spelling for spelling in spellings if spelling.startswith("--")), " or ".join(re.findall(r"[A-Z][A-Z=]+", shape)))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _usage(wrong: Exception, spoken: str) -> ToolgateError:
    near = getattr(wrong, "possibilities", None)
    text: str = wrong.message if near else wrong.format_message()  # type: ignore[attr-defined]  # of every TyperException
    text = " ".join(text.split()).rstrip(".").replace("valid int range", "whole number").replace("valid int", "whole number")
    hint = f"did you mean {' or '.join(sorted(near))}" if near else f"{spoken} --help"
    return ToolgateError("usage", text[:1].lower() + text[1:], hint)
