"""What could stand at the cursor, for a shell's completion: ids, names and options. It only reads, says nothing of what goes wrong, and
offers plain words alone, so no text from outside reaches the shell.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from .declared import Argument, Option, Parameter, parameters
from .options import frame

_PLAIN: Final = re.compile(r"(?:--?)?[A-Za-z0-9][A-Za-z0-9._@/+-]*\Z")
_MOST: Final = 200


def complete(words: Sequence[str]) -> int:
    """Prints what could stand in the place of the last word, one a line; the words are those behind `toolgate`. Always 0."""
    try:
        found = sorted({word for word in _candidates(words[:-1], words[-1] if words else "") if _PLAIN.match(word)})
        os.write(1, "".join(f"{word}\n" for word in found[:_MOST]).encode("ascii"))
    except (Exception, KeyboardInterrupt):  # noqa: BLE001  # a shell that completes is no place for messages
        return 0
    return 0


def _candidates(before: Sequence[str], current: str) -> Iterator[str]:
    from . import catalogue

    known = catalogue.names()
    shared = parameters(frame)
    name, rest, given = _split(before, known, shared)
    taken = [*parameters(catalogue.load(known[name]).run), *shared] if name in known else shared
    options = {spelling: one for one in taken if isinstance(one.declared, Option) for spelling in one.declared.spellings}
    found: Iterable[str]
    if before and before[-1] in options and options[before[-1]].kind is not bool:
        found = _values(options[before[-1]], given)
    elif current.startswith("-"):
        found = options
    elif name in known:
        found = _arguments(taken, options, rest, given)
    else:
        found = {command[len(name)] for command in known if command[: len(name)] == name and len(command) > len(name)}
    return (word for word in found if word.startswith(current))


def _split(
    before: Sequence[str], known: Mapping[tuple[str, ...], str], shared: Sequence[Parameter]
) -> tuple[tuple[str, ...], list[str], dict[str, str]]:
    """The words of the command, those behind them, and the shared options with their values."""
    with_value = {
        spelling for one in shared if isinstance(one.declared, Option) and one.kind is not bool for spelling in one.declared.spellings
    }
    name: tuple[str, ...] = ()
    rest: list[str] = []
    given: dict[str, str] = {}
    words = iter(before)
    for word in words:
        option, equals, value = word.partition("=")
        if option in with_value:
            given[option] = value if equals else next(words, "")
        elif word.startswith("-") and name not in known:
            continue
        elif name in known:
            rest.append(word)
        else:
            name = (*name, word)
    return name, rest, given


def _arguments(
    taken: Sequence[Parameter], options: Mapping[str, Parameter], rest: Sequence[str], given: Mapping[str, str]
) -> Iterable[str]:
    """What the argument takes that comes next."""
    arguments = [one for one in taken if isinstance(one.declared, Argument)]
    values = {index + 1 for index, word in enumerate(rest) if word in options and options[word].kind is not bool}
    at = sum(1 for index, word in enumerate(rest) if not word.startswith("-") and index not in values)
    return _values(arguments[min(at, len(arguments) - 1)], given) if arguments else ()


def _values(parameter: Parameter, given: Mapping[str, str]) -> Iterator[str]:
    """By what its metavar calls them."""
    yield from parameter.choices
    for kind in re.findall("[A-Z]+", parameter.declared.metavar or ""):
        if kind in _OF_KIND:  # a name that reads as an option would be taken for one
            yield from (word for word in _OF_KIND[kind](given) if not word.startswith("-"))


# ---- what there is ----
def _settings(given: Mapping[str, str]) -> Any:
    from ..settings import settings

    return settings({"home": given.get("-C", given.get("--home")), "db": given.get("--db")}, os.environ)


def _runs(given: Mapping[str, str]) -> Iterator[str]:
    from ..bootstrap import open_reader
    from ..core.records import RunQuery

    with open_reader(_settings(given)) as tx:
        yield from (run.id for run in tx.runs(RunQuery(limit=_MOST)))


def _calls(given: Mapping[str, str]) -> Iterator[str]:
    from ..bootstrap import open_reader
    from ..core import digests
    from ..core.records import RowQuery

    with open_reader(_settings(given)) as tx:
        yield from (digests.ref(row) for row in tx.rows(RowQuery(calls_only=True, limit=_MOST)))


def _steps(given: Mapping[str, str]) -> Iterator[str]:
    from ..bootstrap import open_reader
    from ..core.records import RowQuery

    with open_reader(_settings(given)) as tx:
        yield from (row.step for row in tx.rows(RowQuery(newest_first=True, limit=_MOST)) if row.revision is None)


def _workflows(given: Mapping[str, str]) -> Iterable[str]:
    from ..workflow.naming import workflows

    return workflows(_settings(given).home)


def _capabilities(given: Mapping[str, str]) -> Iterable[str]:
    from ..workflow.naming import capabilities

    return capabilities(_settings(given).home)


def _types(_given: Mapping[str, str]) -> Iterable[str]:
    from .event_types import TYPES

    return TYPES


def _topics(_given: Mapping[str, str]) -> Iterable[str]:
    from . import catalogue

    return (name[0] for name in catalogue.names())


_OF_KIND: Final[Mapping[str, Callable[[Mapping[str, str]], Iterable[str]]]] = {
    "RUN": _runs,
    "CALL": _calls,
    "STEP": _steps,
    "WORKFLOW": _workflows,
    "CAPABILITY": _capabilities,
    "TYPE": _types,
    "TOPIC": _topics,
}
