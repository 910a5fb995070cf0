"""The plain reading of a command line: what a script says is understood without Typer, whose import costs more than all the rest.

It knows the simplest spelling of every option (`--name value`, `--name=value`, `-n value`, a flag) and never says no: a line that holds
anything else, a mistake or `--help` is Typer's to read. What it does read, Typer reads the same (tests/cli/test_plain.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from .declared import Argument, Option, Parameter

_DIGITS = 9


def read(taken: Sequence[Parameter], words: Sequence[str]) -> dict[str, object] | None:
    """Parameter -> value, for every parameter; None: not plain."""
    options = {spelling: one for one in taken if isinstance(one.declared, Option) for spelling in one.declared.spellings}
    given: dict[str, object] = {}
    alone: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if not word.startswith("-") or word == "-":
            alone.append(word)
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if (found := options.get(name)) is None:
            return None
        if found.kind is bool:
            if equals:
                return None
            given[found.name] = True
            continue
        if not equals:
            if at == len(words) or (words[at].startswith("-") and words[at] != "-"):
                return None
            value = words[at]
            at += 1
        if not _take(given, found, value):
            return None
    return _whole(taken, given, alone)


def _take(given: dict[str, object], found: Parameter, value: str) -> bool:
    if found.kind is list:
        given[found.name] = [*given.get(found.name, ()), value]  # type: ignore[misc]  # a list of texts is all that stands there
        return True
    if found.name in given or (found.choices and value not in found.choices):
        return False
    given[found.name] = value
    if found.kind is int:
        least, most = found.declared[3:]  # type: ignore[misc]  # an Option: only these are numbers
        if not (value.isascii() and value.isdigit() and len(value) <= _DIGITS and least <= int(value) <= most):  # type: ignore[operator]
            return False
        given[found.name] = int(value)
    return True


def _whole(taken: Sequence[Parameter], given: dict[str, object], alone: list[str]) -> dict[str, object] | None:
    """With the words that stand by themselves in their places, and the defaults of what was not said."""
    for one in taken:
        if isinstance(one.declared, Argument) and alone:
            given[one.name] = alone[:] if one.kind is list else alone[0]
            alone = [] if one.kind is list else alone[1:]
            if one.choices and given[one.name] not in one.choices:
                return None
    whole = {one.name: given.get(one.name, one.default) for one in taken}
    return None if alone or ... in whole.values() else whole
