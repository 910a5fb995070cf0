"""Values that nobody may see: found in a text under whatever disguise, and taken out before anything of it is kept (I12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from . import canonical
from .errors import ToolgateError
from .types import Json

SHORTEST = 8  # characters; what is shorter would be found in every text
TELLING = 4  # bytes of the beginning of a secret that are taken out at the very end of a text


class Secrets:
    """The secrets of a home at one moment. `faults`: name -> why it has no value. `disguises`: every spelling of every value, as bytes,
    with its name. What Python shows of it are names."""

    __slots__ = ("_values", "disguises", "faults")

    def __init__(
        self, values: Mapping[str, str] = {}, faults: Mapping[str, str] = {}, disguises: tuple[tuple[bytes, str], ...] = ()
    ) -> None:
        self._values = values
        self.faults = faults
        self.disguises = disguises

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
            for disguise, name in self.disguises:
                if disguise in data:
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
        scrubber = Scrubber(self)
        data = scrubber.feed(text.encode("utf-8", "surrogatepass")) + scrubber.end()
        return data.decode("utf-8", "surrogatepass")

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


NONE = Secrets()


class Scrubber:
    """Takes values out of bytes that come in pieces; holds back fewer bytes than the longest of them has."""

    def __init__(self, secrets: Secrets) -> None:
        self._disguises = [(disguise, f"***{name}***".encode()) for disguise, name in secrets.disguises]
        self._longest = max((len(disguise) for disguise, _ in self._disguises), default=1)
        self._held = b""
        self._covered = 0  # so much of what is held is behind a mark that was written

    def feed(self, data: bytes) -> bytes:
        """What can be kept of all that has come in."""
        text = self._held + data
        return self._pass(text, max(0, len(text) - self._longest + 1))

    def end(self) -> bytes:
        """The rest. A value whose end is missing, because its writer was cut short, is a value."""
        text = self._held
        start, mark = min(self._begun(text), default=(len(text), b""))
        kept = self._pass(text, start)
        if self._covered:  # it begins inside of one that was found
            mark = b""
        self._held, self._covered = b"", 0
        return kept + mark

    def _pass(self, text: bytes, safe: int) -> bytes:
        """Everything that begins before `safe`; values that overlap are one."""
        out: list[bytes] = []
        covered = self._covered
        for start, end, mark in sorted(self._found(text)):
            if start >= safe:
                break
            if start >= covered:
                out += (text[covered:start], mark)
            covered = max(covered, end)
        out.append(text[covered:safe])
        self._held = text[safe:]
        self._covered = max(0, covered - safe)
        return b"".join(out)

    def _found(self, text: bytes) -> Iterator[tuple[int, int, bytes]]:
        for disguise, mark in self._disguises:
            start = text.find(disguise)
            while start >= 0:
                yield start, start + len(disguise), mark
                start = text.find(disguise, start + 1)

    def _begun(self, text: bytes) -> Iterator[tuple[int, bytes]]:
        """Where the text ends with at least half of a value."""
        for disguise, mark in self._disguises:
            least = max(TELLING, len(disguise) // 2)
            start = text.find(disguise[:least], max(0, len(text) - len(disguise) + 1))
            while start >= 0 and not disguise.startswith(text[start:]):
                start = text.find(disguise[:least], start + 1)
            if start >= 0:
                yield start, mark


def _spelled(said: Json) -> str:
    if said is None or isinstance(said, str):
        return said or ""
    try:
        return canonical.encode(said)
    except ToolgateError:  # not storable either, but it may be told
        return repr(said)
