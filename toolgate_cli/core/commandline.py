"""Command lines made from arguments: what cannot be executed, or would be read as an option, is refused before a claim (I3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from . import canonical, references
from .errors import ToolgateError
from .references import Reference
from .types import Json

ITEM_BYTES = 131071  # Linux: MAX_ARG_STRLEN, 32 pages with the final NUL
TOTAL_BYTES = 1048576  # well under a quarter of the usual stack, where execve stops
OURS = "TOOLGATE_"

Lookup = Callable[[str], Json]


def argv(template: Sequence[str], lookup: Lookup) -> tuple[str, ...]:
    """One item for each item of the template. Raises ToolgateError("invalid")."""
    filled: list[str] = []
    total = 0
    free = False  # behind a literal "--" nothing is read as an option
    for place, item in enumerate(template):
        text = _text(item, lookup)
        if text.startswith("-") and not free and not _is_literal_option(item):
            raise ToolgateError(
                "invalid",
                f'argv[{place}] ({item}) begins with "-" once it is filled',
                'put a literal "--" before it in argv, or write "--name=${...}"',
            )
        total += _executable(text, f"argv[{place}]") + 1
        filled.append(text)
        free = free or item == "--"
    _total(total, "the command line")
    return tuple(filled)


def environment(template: Mapping[str, str], lookup: Lookup) -> dict[str, str]:
    """The declared variables, filled. Raises ToolgateError("invalid")."""
    filled = {name: _text(value, lookup) for name, value in template.items()}
    _total(sum(_executable(f"{name}={value}", f"env {name}") + 1 for name, value in filled.items()), "the environment")
    return filled


def fault_of_names(names: Sequence[str]) -> str | None:
    """What is wrong with the names of declared variables."""
    for name in names:
        if not name or "=" in name or "\0" in name:
            return f"env: {name!r} is no name of a variable"
        if name.startswith(OURS):
            return f"env may not set {name}: names that begin with {OURS} are set by toolgate alone"
    return None


def _text(template: str, lookup: Lookup) -> str:
    value = references.fill(template, lookup)
    return value if isinstance(value, str) else canonical.encode(value)


def _is_literal_option(item: str) -> bool:
    """Whether the operator wrote the whole name of the option: no reference in it, or only behind its "="."""
    parts = references.split(item)
    first = parts[0]
    if isinstance(first, Reference):
        return False
    return len(parts) == 1 or (first.startswith("-") and "=" in first)


def _executable(text: str, where: str) -> int:
    """Its bytes."""
    if "\0" in text:
        raise ToolgateError("invalid", f"{where} holds a NUL character, which no command line can carry")
    size = _size(text, where)
    if size > ITEM_BYTES:
        raise ToolgateError(
            "invalid", f"{where} is over {ITEM_BYTES} bytes, which no command line can carry", "give the value on standard input"
        )
    return size


def _size(text: str, where: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise ToolgateError("invalid", f"{where} holds half a surrogate pair, which is no text") from None


def _total(size: int, what: str) -> None:
    if size > TOTAL_BYTES:
        raise ToolgateError("invalid", f"{what} is over {TOTAL_BYTES} bytes in all", "give the values on standard input")
