"""Values that nobody may see: found in a text under whatever disguise, and taken out before anything of it is kept (I12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from . import canonical, spellings
from .errors import ToolgateError
from .types import Json

if TYPE_CHECKING:
    from .wrapped import Wrapped

SHORTEST = 8  # characters; what is shorter would be found in every text
TELLING = 4  # bytes of the beginning of a secret that are taken out at the very end of a text


class Secrets:
    """The secrets of a home at one moment. `faults`: name -> why it has no value. `disguises`: every spelling of every value, as bytes,
    with its name. What Python shows of it are names."""

    __slots__ = ("_finders", "_heads", "_loose", "_mixed", "_tails", "_together", "_values", "_wrapped", "disguises", "faults", "longest")

    def __init__(
        self, values: Mapping[str, str] = {}, faults: Mapping[str, str] = {}, disguises: tuple[tuple[bytes, str], ...] = ()
    ) -> None:
        self._values = values
        self.faults = faults
        self.disguises = disguises
        mixed = {name: value for name, value in values.items() if disguises and len(value) <= spellings.MOST}
        self._mixed = tuple(mixed)
        self._finders: dict[str, spellings.Finder] = {}  # made when something was found: until then one for all of them does
        self._tails: dict[str, spellings.Finder] = {}
        self._heads = {name: spellings.compiled([spellings.pattern(value[:TELLING])]) for name, value in mixed.items()}
        self._together = [spellings.compiled(self._all(names)) for names in spellings.groups(mixed)]
        self._wrapped = _wrapped(values) if disguises else None
        self._loose = tuple((disguise, name) for disguise, name in disguises if name not in mixed)
        every = (*(len(disguise) for disguise, _ in disguises), *map(spellings.longest, mixed.values()))
        self.longest = max((*every, 1, self._wrapped.longest if self._wrapped else 1))  # bytes of the longest spelling

    def _all(self, names: list[str]) -> Iterator[str]:
        yield from (spellings.pattern(self._values[name]) for name in names)
        yield from (spellings.literal(disguise) for disguise, name in self.disguises if name in names)

    def find(self, data: bytes) -> Iterator[tuple[int, int, str]]:
        """Start, end and name of every spelling of every value in it; those that overlap too."""
        some = any(group.search(data) for group in self._together)  # almost always none, which one pass over all of them says
        for disguise, name in self.disguises if some else self._loose:
            start = data.find(disguise)
            while start >= 0:
                yield start, start + len(disguise), name
                start = data.find(disguise, start + 1)
        for name in self._mixed if some else ():
            finder = self._finder(name)
            found = finder.search(data)
            while found is not None:
                yield found.start(), found.end(), name
                found = finder.search(data, found.start() + 1)

        if self._wrapped is not None:
            yield from self._wrapped.find(data)

    def _finder(self, name: str) -> spellings.Finder:
        if name not in self._finders:
            self._finders[name] = spellings.compiled([spellings.pattern(self._values[name])])
        return self._finders[name]

    def _tail(self, name: str) -> spellings.Finder:
        if name not in self._tails:
            value = self._values[name]
            self._tails[name] = spellings.compiled([spellings.cut_off(value[TELLING:], len(value) // 2 - TELLING)])
        return self._tails[name]

    def begun(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Where it ends with at least half of a value."""
        for disguise, name in self.disguises:
            least = max(TELLING, len(disguise) // 2)
            start = data.find(disguise[:least], max(0, len(data) - len(disguise) + 1))
            while start >= 0 and not disguise.startswith(data[start:]):
                start = data.find(disguise[:least], start + 1)
            if start >= 0:
                yield start, name
        for name, finder in self._heads.items():
            found = finder.search(data)
            while found is not None and self._tail(name).match(data, found.end()) is None:
                found = finder.search(data, found.start() + 1)
            if found is not None:
                yield found.start(), name
        if self._wrapped is not None:
            yield from ((max(0, len(data) - self._wrapped.longest) + start, name) for start, name in self._wrapped.begun(data))

    def __bool__(self) -> bool:
        return bool(self.disguises)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self._values)})"

    def fault(self, name: str) -> str | None:
        """Why it cannot be used; None: it can."""
        return None if name in self._values else self.faults.get(name, "it is not resolved")

    def value(self, name: str) -> str:
        """For a provider that is called, and nobody else; KeyError where there is none."""
        return self._values[name]

    def leaks(self, *said: Json) -> str | None:
        """The name of a secret whose value is in one of these; JSON is searched as it would be stored."""
        if not self.disguises:
            return None
        for part in said:
            data = _spelled(part).encode("utf-8", "surrogatepass")
            for _, _, name in self.find(data):
                return name
        return None

    def refuse(self, what: str, *said: Json) -> None:
        """ToolgateError("invalid") where one of these holds a secret's value; `what` is its subject."""
        name = self.leaks(*said)
        if name is not None:
            hint = f"leave it out: a tool gets it as ${{secret.{name}}}"
            raise ToolgateError("invalid", f"{what} holds the value of the secret {name}", hint)

    def scrub(self, text: str) -> str:
        """The text with `***NAME***` for every value in it."""
        if not self.disguises:
            return text
        return self.scrub_bytes(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def scrub_bytes(self, data: bytes) -> bytes:
        """The same of bytes, which may not be text any more where a value was half a character."""
        if not self.disguises:
            return data
        scrubber = Scrubber(self)
        return scrubber.feed(data) + scrubber.end()

    def scrub_document(self, text: str) -> str:
        """The same; where the text is JSON, values that its escapes hide are found as well."""
        text = self.scrub(text)
        if not self.disguises or "\\" not in text:
            return text
        try:
            value = canonical.parse(text)
        except ToolgateError:
            return text
        return text if self.leaks(value) is None else canonical.encode(self._scrub_json(value))

    def _scrub_json(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.scrub(value)
        if isinstance(value, dict):
            return {self.scrub(key): self._scrub_json(inner) for key, inner in value.items()}
        return [self._scrub_json(inner) for inner in value] if isinstance(value, list) else value


def _wrapped(values: Mapping[str, str]) -> Wrapped:
    from .wrapped import Wrapped  # nobody pays for it who has no secrets

    return Wrapped(values)


NONE = Secrets()


class Scrubber:
    """Takes values out of bytes that come in pieces; holds back fewer bytes than the longest of them has."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._held = b""
        self._covered = 0  # so much of what is held is behind a mark that was written

    def feed(self, data: bytes) -> bytes:
        """What can be kept of all that has come in."""
        text = self._held + data
        return self._pass(text, max(0, len(text) - self._secrets.longest + 1))

    def end(self) -> bytes:
        """The rest. A value whose end is missing, because its writer was cut short, is a value."""
        text = self._held
        start, name = min(self._secrets.begun(text), default=(len(text), ""))
        mark = _mark(name) if name else b""
        kept = self._pass(text, start)
        if self._covered:  # it begins inside of one that was found
            mark = b""
        self._held, self._covered = b"", 0
        return kept + mark

    def _pass(self, text: bytes, safe: int) -> bytes:
        """Everything that begins before `safe`; values that overlap are one."""
        out: list[bytes] = []
        covered = self._covered
        for start, end, name in sorted(self._secrets.find(text), key=lambda found: (found[0], -found[1])):
            if start >= safe:
                break
            if start >= covered:
                out += (text[covered:start], _mark(name))
            covered = max(covered, end)
        out.append(text[covered:safe])
        self._held = text[safe:]
        self._covered = max(0, covered - safe)
        return b"".join(out)


def _mark(name: str) -> bytes:
    return f"***{name}***".encode()


def _spelled(said: Json) -> str:
    if said is None or isinstance(said, str):
        return said or ""
    try:
        return canonical.encode(said)
    except ToolgateError:  # not storable either, but it may be told
        return repr(said)
