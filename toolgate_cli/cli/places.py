"""Where a value stands in a JSON text, so that a refusal names its line; used only when there is one to tell. It never raises."""

from __future__ import annotations

import json
import re

from ..core.pointer import tokens

_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:\n]', re.DOTALL)


def line_of(text: str, pointer: str) -> int:
    """The line (from 1) of what a JSON pointer names, of the last such where a key is there twice; else of the nearest that holds it."""
    try:
        wanted = [*tokens(pointer)]
    except ValueError:
        wanted = []
    path: list[str | int] = []
    line, word = 1, ""
    deepest, found = 0, 1
    for part in (match[0] for match in _PART.finditer(text)):
        line += part.count("\n")
        if part[0] == '"':
            word = part
        elif part == "{":
            path.append("")
        elif part == "[":
            path.append(0)
        elif part in "}]":
            del path[-1:]
        elif part == ":" and path:
            path[-1] = _key(word)
        elif part == "," and path and isinstance(path[-1], int):
            path[-1] += 1
        if part in "[:," and deepest <= len(path) <= len(wanted) and [str(step) for step in path] == wanted[: len(path)]:
            deepest, found = len(path), line
    return found


def _key(word: str) -> str:
    try:
        return str(json.loads(word, strict=False))
    except ValueError:
        return word
