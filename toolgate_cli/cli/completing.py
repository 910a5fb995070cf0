"""What could stand at the cursor, for a shell's completion: ids, names and options. It only reads, says nothing of what goes wrong, and
offers plain words alone, so no text from outside reaches the shell.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from .declared import Argument, Option, Parameter, parameters
from .options import frame

if TYPE_CHECKING:
    from ..core.records import Row
    from ..core.types import Verb
    from ..runtime.store import Reader

_PLAIN: Final = re.compile(r"(?:--?)?[A-Za-z0-9][A-Za-z0-9._@/+-]*=?\Z")
_MOST: Final = 200
_VERB, _FIRST = "verb", "first"  # what else is known of the line: the command, and the first word that it is about


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
    words = _positional(options, rest)
    given |= {_VERB: " ".join(name), _FIRST: words[0] if words else ""}
    found: Iterable[str]
    if before and before[-1] in options and options[before[-1]].kind is not bool:
        found = _values(options[before[-1]], given)
    elif current.startswith("-"):
        found = options
    elif name in known:
        found = _arguments(taken, len(words), given)
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


def _positional(options: Mapping[str, Parameter], rest: Sequence[str]) -> list[str]:
    """The words that are neither options nor values of one."""
    values = {index + 1 for index, word in enumerate(rest) if word in options and options[word].kind is not bool}
    return [word for index, word in enumerate(rest) if not word.startswith("-") and index not in values]


def _arguments(taken: Sequence[Parameter], at: int, given: Mapping[str, str]) -> Iterable[str]:
    """What the argument takes that comes next."""
    arguments = [one for one in taken if isinstance(one.declared, Argument)]
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
    """Where the command is a verb, only the runs that it would move."""
    from ..bootstrap import open_reader
    from ..core import verbs
    from ..core.records import RowQuery, RunQuery

    verb = given[_VERB]
    with open_reader(_settings(given)) as tx:
        runs = tx.runs(RunQuery(limit=_MOST))
        if not _decides(verb):
            yield from (run.id for run in runs)
            return
        yield from (row.run_id for row in tx.rows(RowQuery(newest_first=True, limit=_MOST)) if _moves(tx, verb, row))
        for run in runs:
            done = verbs.TABLE[verbs.state_of(run.status, None)].keys()
            if (
                (verb == "cancel" or not run.status.startswith("AWAITING"))
                and done & {verb, f"{verb} --step"}
                and run.status != "CANCELLED"
            ):
                yield run.id


def _calls(given: Mapping[str, str]) -> Iterator[str]:
    """Where the command is a verb, only the calls that it would move."""
    from ..bootstrap import open_reader
    from ..core import digests
    from ..core.records import RowQuery

    verb = given[_VERB]
    with open_reader(_settings(given)) as tx:
        rows = tx.rows(RowQuery(calls_only=True, limit=_MOST))
        yield from (digests.ref(row) for row in rows if not _decides(verb) or _moves(tx, verb, row))


def _decides(verb: str) -> bool:
    from ..core import verbs

    return any(verb in done for done in verbs.TABLE.values())


def _moves(tx: Reader, verb: str, row: Row) -> bool:
    """Whether the verb does more with the row than to record that it was refused."""
    from ..core import verbs
    from ..host.clock import SystemClock

    run, stored = tx.run(row.run_id), tx.call(row.id, row.revision) if row.revision is not None else None
    if run is None:
        return False
    expired = row.expires_at is not None and row.expires_at <= SystemClock().now()
    refused: Literal["RECEIVE"] | None = "RECEIVE" if stored is not None and stored[0].arguments is None else None
    state = verbs.state_of(run.status, verbs.Waits(row.origin, expired, refused=refused))
    return verbs.TABLE[state].get(cast("Verb", verb)) not in (None, "lapsed", "override", "nothing")


def _steps(given: Mapping[str, str]) -> Iterator[str]:
    from ..bootstrap import open_reader
    from ..core.records import RowQuery

    with open_reader(_settings(given)) as tx:
        yield from (row.step for row in tx.rows(RowQuery(newest_first=True, limit=_MOST)) if row.revision is None)


def _workflows(given: Mapping[str, str]) -> Iterable[str]:
    from ..workflow.naming import workflows

    return workflows(_settings(given).home)


def _servers(given: Mapping[str, str]) -> Iterable[str]:
    from ..workflow.naming import servers

    return servers(_settings(given).home)


def _capabilities(given: Mapping[str, str]) -> Iterable[str]:
    from ..workflow.naming import capabilities

    return capabilities(_settings(given).home)


def _types(_given: Mapping[str, str]) -> Iterable[str]:
    from .event_types import TYPES

    return TYPES


def _topics(_given: Mapping[str, str]) -> Iterable[str]:
    from . import catalogue
    from .commands.help import topics

    return (*(name[0] for name in catalogue.names()), *topics())


def _keys(given: Mapping[str, str]) -> Iterable[str]:
    """The inputs of the workflow that is to be started."""
    from ..workflow.naming import inputs

    return (f"{name}=" for name in inputs(_settings(given).home, given[_FIRST])) if given[_VERB] == "start" else ()


_OF_KIND: Final[Mapping[str, Callable[[Mapping[str, str]], Iterable[str]]]] = {
    "RUN": _runs,
    "CALL": _calls,
    "STEP": _steps,
    "WORKFLOW": _workflows,
    "CAPABILITY": _capabilities,
    "SERVER": _servers,
    "TYPE": _types,
    "TOPIC": _topics,
    "KEY": _keys,
}
