"""The fenced blocks of the README, and its console blocks as commands with the output that they promise."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

README = Path(__file__).parents[2] / "README.md"
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# what differs from run to run: ids (with or without the digest of a ref), times, digests
_VARYING = re.compile(
    r"(?P<id>\b[rcw][a-z2-7]{13}(?:@[0-9a-f]{12})?)|(?P<at>\b\d{4}-\d\d-\d\dT[0-9:.]+Z)|(?P<sum>\b[0-9a-f]{64}\b)|(?P<gap>\.\.\.)"
)
_PATTERNS = {"id": r"([rcw][a-z2-7]{13}(?:@[0-9a-f]{12})?)", "at": r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "sum": r"[0-9a-f]{64}", "gap": ".*"}


class Command(NamedTuple):
    """One command as it is typed, and what it prints; a line of dots there stands for any lines."""

    line: int
    text: str
    output: tuple[str, ...]


def text() -> str:
    return README.read_text(encoding="utf-8")


def of(language: str) -> list[str]:
    """The contents of the blocks of a language, in order."""
    return [content for found, content in _FENCE.findall(text()) if found == language]


def commands() -> list[Command]:
    """The commands of all console blocks, in order: `$ ` begins one, `> ` continues it."""
    found: list[Command] = []
    inside = False
    for number, line in enumerate(text().splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```console"
        elif inside and line.startswith("$ "):
            found.append(Command(number, line[2:], ()))
        elif inside and line.startswith("> "):
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line[2:]}")
        elif inside:
            found[-1] = found[-1]._replace(output=(*found[-1].output, line.rstrip()))
    return found


def fits(promised: tuple[str, ...], printed: list[str], known: dict[str, str]) -> bool:
    """Whether the output is what is promised; ids of the README -> real ones are added to `known`."""
    lines = [_line(line, known) for line in promised]
    found = re.fullmatch("".join(lines), "".join(f"{line.rstrip()}\n" for line in printed))
    if found is None:
        return False
    ids = [word.group() for line in promised for word in _VARYING.finditer(line) if word.lastgroup == "id"]
    for written, real in zip(ids, found.groups(), strict=True):
        if known.setdefault(written, real) != real:
            return False
        known.setdefault(written.partition("@")[0], real.partition("@")[0])
    return True


def _line(line: str, known: dict[str, str]) -> str:
    if line == "...":
        return r"(?:.*\n)*?"
    pattern, at = "", 0
    for found in _VARYING.finditer(line):
        pattern += re.escape(line[at : found.start()]) + _PATTERNS[found.lastgroup or "gap"]
        at = found.end()
    return pattern + re.escape(line[at:]) + r"\n"


def with_real_ids(command: str, known: dict[str, str]) -> str:
    """A command of the README with the ids that this run has given; the longer words first, so that a ref is no id with a rest."""
    for written in sorted(known, key=len, reverse=True):
        command = command.replace(written, known[written])
    return command
