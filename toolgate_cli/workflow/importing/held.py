"""A JSON object of a file that is imported: every field is asked for by name, and what nobody asked for is a problem, never dropped."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from ...core.errors import ToolgateError
from ...core.fields import RESERVED_NAMES, RESERVED_PREFIXES
from ...core.types import Json
from ..issues import meant, shorten
from ..names import NAME

T = TypeVar("T")
_MOST = 50  # problems in one message
_NAME = re.compile(NAME.replace("$", r"\Z"))


class Problems:
    """Everything that cannot be imported, by file and field; notes are what is kept as a comment, for it changes nothing here."""

    def __init__(self) -> None:
        self.found: dict[str, None] = {}

    def add(self, file: str, field: str, text: str) -> None:
        self.found[f"{file}: {field}: {text}" if field else f"{file}: {text}"] = None

    def raise_any(self) -> None:
        if self.found:
            told = [*self.found]
            more = [f"and {len(told) - _MOST} more"] if len(told) > _MOST else []
            raise ToolgateError("invalid", "; ".join(told[:_MOST] + more), "nothing was written: mend the source, or leave that part out")


class Held:
    """`path`: where in the file it stands, "" for the whole of it."""

    def __init__(self, file: str, path: str, raw: Mapping[str, Json], problems: Problems) -> None:
        self.file = file
        self.path = path
        self._raw = raw
        self._problems = problems
        self._asked: set[str] = set()

    def wrong(self, name: str, text: str) -> None:
        self._problems.add(self.file, f"{self.path}.{name}".strip("."), text)

    def raw(self, name: str) -> Json:
        self._asked.add(name)
        return self._raw.get(name)

    def names(self) -> list[str]:
        return [*self._raw]

    def has(self, name: str) -> bool:
        return self._raw.get(name) is not None

    def text(self, name: str, *, blank: bool = False) -> str:
        """A text that must be there; "" where it is not, and that was told."""
        found = self.raw(name)
        if not isinstance(found, str) or (not blank and not found.strip()):
            self.wrong(name, "required, a text that is not blank" if not blank else "required, a text")
            return ""
        return found

    def maybe(self, name: str) -> str | None:
        found = self.raw(name)
        if found is not None and not isinstance(found, str):
            self.wrong(name, "must be a text")
        return found if isinstance(found, str) else None

    def name(self, name: str) -> str:
        """A text that is a name here as well."""
        found = self.text(name)
        if found and (not _NAME.match(found) or found in RESERVED_NAMES):
            self.wrong(
                name, f"{shorten(found)} is no name here (a small letter, then small letters, digits, _ and -; 64 at most): rename it"
            )
        return found

    def key(self, name: str) -> str:
        found = self.text(name)
        self.check_key(name, found)
        return found

    def check_key(self, name: str, found: str) -> None:
        """Of a context key that is written."""
        if found.startswith(RESERVED_PREFIXES):
            self.wrong(name, f"{shorten(found)}: keys that begin with {' '.join(RESERVED_PREFIXES)} are reserved here")
        elif found and (len(found) > 200 or not found.isprintable() or set(found) & set("${}# ")):
            self.wrong(name, f"{shorten(found)} is no key here (no blanks and none of $ {{ }} #)")

    def texts(self, name: str) -> list[str]:
        found = self.raw(name)
        if found is None:
            return []
        if not isinstance(found, list) or not all(isinstance(each, str) and each for each in found):
            self.wrong(name, "must be a list of texts")
            return []
        return [str(each) for each in found]

    def whole(self, name: str, least: int = 1) -> int:
        found = self.raw(name)
        if isinstance(found, bool) or not isinstance(found, int) or found < least:
            self.wrong(name, f"required, a whole number of at least {least}")
            return least
        return found

    def flag(self, name: str, default: bool) -> bool:
        found = self.raw(name)
        if found is not None and not isinstance(found, bool):
            self.wrong(name, "must be true or false")
        return found if isinstance(found, bool) else default

    def word(self, name: str, words: Mapping[str, T], default: T) -> T:
        """What a word means; `default` where there is none, or a wrong one, and that was told."""
        found = self.raw(name)
        if found is None:
            return default
        if not isinstance(found, str) or found not in words:
            self.wrong(name, f"cannot be imported: {meant(found, words) or 'another word is wanted'}")
            return default
        return words[found]

    def child(self, name: str) -> Held | None:
        found = self.raw(name)
        if found is None:
            return None
        if not isinstance(found, dict):
            self.wrong(name, "must be an object")
            return None
        return Held(self.file, f"{self.path}.{name}".strip("."), found, self._problems)

    def children(self, name: str, *, least: int = 0) -> Sequence[Held]:
        found = self.raw(name)
        listed = found if isinstance(found, list) else []
        if (found is not None and not isinstance(found, list)) or not all(isinstance(each, dict) for each in listed):
            self.wrong(name, "must be a list of objects")
            return ()
        if len(listed) < least:
            self.wrong(name, f"required, at least {least} of them")
        where = f"{self.path}.{name}".strip(".")
        return [Held(self.file, f"{where}[{n}]", each, self._problems) for n, each in enumerate(listed) if isinstance(each, dict)]

    def notes(self, names: Iterable[str]) -> list[str]:
        """Fields that mean nothing here, as comments."""
        from ...core import canonical

        told = [(name, self.raw(name)) for name in names]
        where = f"{os.path.basename(self.file)}: {self.path}"
        return [f"{where}{'.' if self.path else ''}{name} = {canonical.encode(value)}" for name, value in told if value is not None]

    def refuse(self, name: str, text: str) -> None:
        """Of a field that has no counterpart here."""
        if self.raw(name) not in (None, [], {}):
            self.wrong(name, text)

    def over(self) -> None:
        """Every field was asked for."""
        for name in self._raw.keys() - self._asked:
            self.wrong(name, f"unknown field {shorten(name)}, it cannot be imported")


def literal(text: str) -> str:
    """A text in which nothing is a reference, as a template."""
    return text.replace("${", "$${")
