"""What a command takes, read from the signature of its `run`: said once, for the plain reading of a line, for Typer and for the README."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import NoneType
from typing import Annotated, Any, Final, Literal, get_args, get_origin

from ..core.errors import ToolgateError
from ..core.values import NamedTuple

_FILES: Final = ("FILE", "DIR", "[DIR]")  # a path is any bytes
_MAY_BE_EMPTY: Final = ("TEXT", "KEY=VALUE")


class Option(NamedTuple):
    """`spellings`: "-m", "--reason". `metavar` None: a flag, or a choice of the words of its type. `least`, `most`: of a whole number."""

    spellings: tuple[str, ...]
    help: str
    metavar: str | None = None
    least: int | None = None
    most: int | None = None


class Argument(NamedTuple):
    """A word that stands by itself."""

    metavar: str
    help: str


class Parameter(NamedTuple):
    """`kind`: bool, int, str or list (of texts). `choices`: the words that may be said; none: any. `default`: `...` where it must be said.
    `hint`: the whole annotation."""

    name: str
    declared: Option | Argument
    kind: type
    choices: tuple[str, ...]
    default: object
    hint: object


def option(*spellings: str, help: str, metavar: str | None = None, least: int | None = None, most: int | None = None) -> Option:
    return Option(spellings, help, metavar, least, most)


def parameters(taker: Callable[..., object]) -> list[Parameter]:
    """In order; each is annotated with a type and one Option or Argument, but for a `frame`."""
    code, defaults = taker.__code__, taker.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    hints = {name: eval(written, taker.__globals__) for name, written in taker.__annotations__.items() if name in names}
    given = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True))
    return [_parameter(name, hints[name], given.get(name, ...)) for name in names if get_origin(hints[name]) is Annotated]


def _parameter(name: str, hint: Any, default: object) -> Parameter:
    about, declared = get_args(hint)
    if NoneType in (parts := get_args(about)):
        about = next(part for part in parts if part is not NoneType)
    if get_origin(about) is Literal:
        return Parameter(name, declared, str, get_args(about), default, hint)
    return Parameter(name, declared, list if get_origin(about) is list else about, (), default, hint)


def check_texts(taken: Sequence[Parameter], given: Mapping[str, object], spoken: str) -> None:
    """Raises `usage` for a text that is empty where a name is wanted, or that is not UTF-8 where no file is named."""
    for parameter in taken:
        shape = parameter.declared.metavar
        if shape is None:  # a flag, or a choice that was checked
            continue
        value = given[parameter.name]
        for text in value if isinstance(value, (list, tuple)) else (value,):
            if text == "" and shape not in _MAY_BE_EMPTY:
                raise ToolgateError("usage", f"{_named(parameter.declared)} is empty", f"{spoken} --help")
            if isinstance(text, str) and shape not in _FILES and not _is_utf8(text):
                raise ToolgateError("usage", f"{_named(parameter.declared)} is not UTF-8", "write it as UTF-8")


def _named(declared: Option | Argument) -> str:
    if isinstance(declared, Option):
        return next(spelling for spelling in declared.spellings if spelling.startswith("--"))
    return " or ".join(word.strip("[].") for word in declared.metavar.split())


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
