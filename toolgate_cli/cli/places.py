"""Where a value stands in a JSON text, so that a refusal names its line; used only when there is one to tell. It never raises."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from ..core.pointer import tokens

_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:\n]|[^\s{}\[\],:"]+', re.DOTALL)


def line_of(text: str, pointer: str) -> int:
    """The line (from 1) of what a JSON pointer names, of the last such where a key is there twice; else of the nearest that holds it."""
    try:
        wanted = [*tokens(pointer)]
    except ValueError:
        wanted = []
    found = 1
    deepest = 0
    for path, line in _entries(text, len(wanted)):
        if deepest <= len(path) and [str(step) for step in path] == wanted[: len(path)]:
            deepest, found = len(path), line
    return found


def _entries(text: str, depth: int) -> Iterator[tuple[list[str | int], int]]:
    """Every member and item that is no deeper than that, in the order of the text: its path so far, and its line."""
    path: list[str | int] = []
    line, word, line_of_word = 1, "", 1
    new_item = False
    for part in (match[0] for match in _PART.finditer(text)):
        if part == "\n":
            line += 1
            continue
        if new_item and len(path) <= depth:
            yield path, line
        new_item = False
        if part[0] == '"':
            word, line_of_word = part, line
            line += part.count("\n")
        elif part in "{[":
            path.append("" if part == "{" else 0)
            new_item = part == "["
        elif part in "}]":
            del path[-1:]
        elif part == ":" and path and len(path) <= depth:
            path[-1] = _key(word)
            yield path, line_of_word
        elif part == "," and path and isinstance(path[-1], int):
            path[-1] += 1
            new_item = True


def _key(word: str) -> str:
    try:
        return str(json.loads(word, strict=False))
    except ValueError:
        return word
