"""One command, built from its function and run: only the invoked one ever is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ..core.errors import ToolgateError
from . import catalogue, plain
from .declared import Argument, Parameter, check_texts, parameters
from .options import frame

if TYPE_CHECKING:
    from typer.core import TyperCommand

_AS_NEAR: Final = 0.05  # what a spelling may be less like the typed one than the nearest is, and still be meant


def invoke(name: catalogue.Name, module: str, arguments: list[str]) -> int:
    """Runs it; the exit code. Raises ToolgateError("usage") where the words do not fit."""
    run = catalogue.load(module).run
    own, shared = parameters(run), parameters(frame)
    taken = [*own, *shared]
    spoken = " ".join(("toolgate", *name))
    given = plain.read(taken, arguments)
    if given is None and (given := _by_typer(name, module, arguments, taken)) is None:  # --help
        return 0
    check_texts(taken, given, spoken)
    told = {one.name: given.pop(one.name) for one in shared}
    here = frame(**told)  # type: ignore[arg-type]  # read by the same signature
    try:
        code: int = run(here, **given)
    except ToolgateError as refused:
        here.leads(refused)
        raise
    return code


def build(name: catalogue.Name, module: str) -> TyperCommand:
    """The command as Typer has it: the parameters of its `run` and the options that all share."""
    import typer
    from typer.main import get_command

    run = catalogue.load(module).run
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(name[-1], context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})(
        _as_typer_wants(run, [*parameters(run), *parameters(frame)])
    )
    return get_command(app)  # type: ignore[return-value]  # a single command is never a group


def _by_typer(name: catalogue.Name, module: str, arguments: list[str], taken: Sequence[Parameter]) -> dict[str, object] | None:
    """Parameter -> value; None: help was asked for, and given. Raises `usage`."""
    import typer

    command = build(name, module)
    spoken = " ".join(("toolgate", *name))
    try:
        with command.make_context(spoken, list(arguments)) as context:
            given: dict[str, object] = command.invoke(context)
            return given
    except typer.Exit:
        return None
    except typer.TyperException as wrong:
        raise _usage(wrong, spoken, _keyed(command, arguments, wrong.format_message()), taken) from None


def _as_typer_wants(run: Callable[..., int], taken: Sequence[Parameter]) -> Callable[..., dict[str, object]]:
    import inspect

    def give(**given: object) -> dict[str, object]:
        return given

    give.__doc__ = run.__doc__
    give.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # inspect reads it
        [
            inspect.Parameter(
                one.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if one.default is ... else one.default,
                annotation=_annotation(one),
            )
            for one in taken
        ]
    )
    return give


def _annotation(one: Parameter) -> object:
    from typing import Annotated, get_args

    import typer

    about = get_args(one.hint)[0]
    if isinstance(one.declared, Argument):
        return Annotated[about, typer.Argument(metavar=one.declared.metavar, help=one.declared.help, show_default=False)]
    spellings, text, metavar, least, most = one.declared
    return Annotated[
        about, typer.Option(*spellings, metavar=metavar, help=text, min=least, max=most, case_sensitive=False, show_default=_shown(one))
    ]


def _shown(one: Parameter) -> bool:
    """A default is shown where it says something."""
    return one.default not in (None, False, "", "0")


def _keyed(command: TyperCommand, given: Sequence[str], message: str) -> str:
    """What to write instead where KEY=VALUE belongs to an option and is written as a word, as two, or as an option of its own."""
    option = next((each for each in command.params if getattr(each, "metavar", None) == "KEY=VALUE"), None)
    if option is None:
        return ""
    for at, word in enumerate(given):
        if word[:2] == "--":
            named, _, value = word.partition("=")
            meant = f"{named[2:]}={value}" if value else ""
        else:
            named, meant = word, word if "=" in word else ""
            if not meant and at > 1 and given[at - 2] in option.opts:
                meant = f"{given[at - 1]}={word}"
        if meant and named in message:
            return f"{option.opts[0]} {meant}"
    return ""


def _usage(wrong: Exception, spoken: str, instead: str, taken: Sequence[Parameter]) -> ToolgateError:
    near = getattr(wrong, "possibilities", None)
    text: str = wrong.message if near else wrong.format_message()  # type: ignore[attr-defined]  # of every TyperException
    text = " ".join(text.split()).rstrip(".").replace("valid int range", "whole number").replace("valid int", "whole number")
    for choice in (choice for one in taken for choice in one.choices):  # as they are written in the help
        text = text.replace(f"'{choice.lower()}'", f"'{choice}'")
    hint = f"did you mean {_closest(wrong, near)}" if near and not instead else instead or f"{spoken} --help"
    return ToolgateError("usage", text[:1].lower() + text[1:], hint)


def _closest(wrong: Exception, near: Sequence[str]) -> str:
    """The one that is meant, where one is nearer than the others; else all of them."""
    from difflib import SequenceMatcher

    typed = str(getattr(wrong, "option_name", "") or getattr(wrong, "value", ""))
    how = {each: SequenceMatcher(None, typed, each).ratio() for each in near}
    best = max(how.values())
    return " or ".join(sorted(each for each in near if how[each] >= best - _AS_NEAR))
