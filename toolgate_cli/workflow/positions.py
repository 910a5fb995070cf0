"""Where a key of a TOML text stands, so that every error names its line; used only when there is an error to tell.

The text was parsed by tomllib before (or refused by it: then what was found up to the fault counts). The scanner never raises.
"""

from __future__ import annotations

from typing import TypeAlias

KeyPath: TypeAlias = "tuple[str | int, ...]"

DEEPEST = 200  # brackets in brackets, and parts of a key, that are followed


class Positions:
    """Lines (from 1) by key path; an unknown path has the line of its nearest known parent."""

    def __init__(self, text: str) -> None:
        self._lines = _Scanner(text).scan()

    def line(self, path: KeyPath) -> int:
        for length in range(len(path), 0, -1):
            found = self._lines.get(path[:length])
            if found is not None:
                return found
        return 1


class _Scanner:
    """One pass over the characters: headers, keys, and the values of inline tables and arrays."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._at = 0
        self._line = 1
        self._table: KeyPath = ()
        self._lines: dict[KeyPath, int] = {}
        self._counts: dict[KeyPath, int] = {}  # entries of arrays of tables

    def scan(self) -> dict[KeyPath, int]:
        try:
            while self._skip(newlines=True):
                if self._peek() == "[":
                    self._header()
                else:
                    self._pair(self._table, 0)
                self._to_line_end()
        except _Stuck:
            pass
        return self._lines

    # ---- characters ----
    def _peek(self, ahead: int = 0) -> str:
        return self._text[self._at + ahead : self._at + ahead + 1]

    def _take(self) -> str:
        character = self._peek()
        if not character:
            raise _Stuck
        self._at += 1
        if character == "\n":
            self._line += 1
        return character

    def _skip(self, *, newlines: bool) -> bool:
        """Over blanks and comments; False at the end of the text."""
        while character := self._peek():
            if character == "#":
                while self._peek() not in ("", "\n"):
                    self._at += 1
            elif character in " \t" or (newlines and character == "\n"):
                self._take()
            else:
                return True
        return False

    def _to_line_end(self) -> None:
        while self._peek() not in ("", "\n"):
            self._at += 1

    # ---- keys ----
    def _key(self) -> tuple[str, ...]:
        parts: list[str] = []
        while self._skip(newlines=False):
            parts.append(self._string() if self._peek() in "\"'" else self._bare())
            self._skip(newlines=False)
            if self._peek() != "." or len(parts) > DEEPEST:
                return tuple(parts)
            self._take()
        raise _Stuck

    def _bare(self) -> str:
        start = self._at
        while (character := self._peek()) and (character.isalnum() or character in "_-"):
            self._at += 1
        if self._at == start:
            raise _Stuck
        return self._text[start : self._at]

    def _header(self) -> None:
        line = self._line
        self._take()
        many = self._peek() == "["
        if many:
            self._take()
        keys = self._key()
        path = self._resolve(keys[:-1]) + keys[-1:]
        if many:
            number = self._counts.get(path, -1) + 1
            self._counts[path] = number
            self._lines.setdefault(path, line)
            path = (*path, number)
        self._mark(path, line)
        self._table = path

    def _resolve(self, keys: tuple[str, ...]) -> KeyPath:
        """The path of a header's parents: an array of tables means its newest entry."""
        path: KeyPath = ()
        for key in keys:
            path = (*path, key)
            if path in self._counts:
                path = (*path, self._counts[path])
        return path

    def _mark(self, path: KeyPath, line: int) -> None:
        self._lines[path] = line
        for length in range(1, len(path)):
            self._lines.setdefault(path[:length], line)

    # ---- values ----
    def _pair(self, table: KeyPath, depth: int) -> None:
        line = self._line
        path = table + self._key()
        self._mark(path, line)
        self._skip(newlines=False)
        if self._take() != "=":
            raise _Stuck
        self._skip(newlines=False)
        self._value(path, depth)

    def _value(self, path: KeyPath, depth: int) -> None:
        if depth > DEEPEST:
            raise _Stuck
        self._lines.setdefault(path, self._line)
        opening = self._peek()
        if opening == "[":
            self._array(path, depth)
        elif opening == "{":
            self._inline(path, depth)
        elif opening in ("'", '"'):
            self._string()
        else:
            while self._peek() not in ("", "\n", ",", "]", "}", "#"):
                self._at += 1

    def _array(self, path: KeyPath, depth: int) -> None:
        self._take()
        number = 0
        while self._skip(newlines=True):
            if self._peek() == "]":
                self._take()
                return
            if self._peek() == ",":
                self._take()
                number += 1
                continue
            before = self._at
            self._value((*path, number), depth + 1)
            if self._at == before:
                raise _Stuck
        raise _Stuck

    def _inline(self, path: KeyPath, depth: int) -> None:
        self._take()
        while self._skip(newlines=True):
            if self._peek() == "}":
                self._take()
                return
            if self._peek() == ",":
                self._take()
                continue
            self._pair(path, depth + 1)
        raise _Stuck

    def _string(self) -> str:
        """A quoted text, its escapes undone as far as keys need it."""
        quote = self._take()
        if self._peek() == quote and self._peek(1) == quote:
            self._take()
            self._take()
            return self._long_string(quote)
        characters: list[str] = []
        while (character := self._take()) != quote:
            if character == "\n":
                raise _Stuck
            characters.append(self._escape() if character == "\\" and quote == '"' else character)
        return "".join(characters)

    def _long_string(self, quote: str) -> str:
        while True:
            character = self._take()
            if character == "\\" and quote == '"':
                self._take()
            elif character == quote and self._peek() == quote and self._peek(1) == quote:
                self._take()
                self._take()
                while self._peek() == quote:  # up to two quotes may stand before the closing three
                    self._take()
                return ""

    def _escape(self) -> str:
        character = self._take()
        length = {"u": 4, "U": 8}.get(character)
        if length is None:
            return {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}.get(character, character)
        digits = self._text[self._at : self._at + length]
        self._at += length
        try:
            return chr(int(digits, 16))
        except (ValueError, OverflowError):
            return ""


class _Stuck(Exception):
    """The text is not what a TOML file has here; what was found so far is what there is."""
