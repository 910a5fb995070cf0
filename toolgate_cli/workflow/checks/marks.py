"""What markers say of single texts, whatever table they stand in: durations, paths, patterns, keys that may be written."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ...core import durations
from ...core.fields import RESERVED_PREFIXES, Duration, Key, Path, Pattern, Pointer
from ...core.marks import Marked, marked
from ...core.pointer import tokens
from ...core.types import Json
from ..issues import Issues
from ..names import is_pattern
from ..positions import KeyPath

_SYNTAX = frozenset("${}#")


def check_marks(fields: type, raw: Mapping[str, Json], path: KeyPath, issues: Issues) -> None:
    """The table has the right shape already."""
    for found in marked(fields, raw, path):
        check_mark(found, issues)


def check_mark(found: Marked, issues: Issues) -> None:
    marker, path, text = found
    if isinstance(marker, Duration):
        _check_duration(text, path, issues)
    elif isinstance(marker, Path):
        _check_path(text, path, issues)
    elif isinstance(marker, Pointer):
        _check_pointer(text, path, issues)
    elif isinstance(marker, Pattern) and not is_pattern(text):
        issues.add(path, "not a pattern of capabilities", "names joined by dots; * within a segment, ** across segments")
    elif isinstance(marker, Key) and not (marker.any_word and text == "*"):
        _check_key(text, path, issues)


def _check_duration(text: str, path: KeyPath, issues: Issues) -> None:
    try:
        durations.parse(text)
    except ValueError as error:
        issues.add(path, str(error), _duration_meant(text))


def _duration_meant(text: str) -> str:
    """A hint for a number without its unit, or with a blank before it."""
    close = text.replace(" ", "")
    close += "s" if close.isdigit() else ""
    try:
        durations.parse(close)
    except ValueError:
        return ""
    return f'write "{close}"'


def _check_path(text: str, path: KeyPath, issues: Issues) -> None:
    if not text or os.path.isabs(text) or os.path.normpath(text).split(os.sep)[0] == "..":
        issues.add(path, "not a path inside the home", "write it relative to the home, without ..")
    elif "${" in text:
        issues.add(path, "a path is taken as it is written: a reference in it is not filled", "name the file")


def _check_pointer(text: str, path: KeyPath, issues: Issues) -> None:
    try:
        tokens(text)
    except ValueError as error:
        issues.add(path, str(error))


def _check_key(text: str, path: KeyPath, issues: Issues) -> None:
    if text.startswith(RESERVED_PREFIXES):
        issues.add(path, "this key is reserved", f"keys do not begin with {' '.join(RESERVED_PREFIXES)}")
    elif not text or len(text) > 200 or not text.isprintable() or any(c.isspace() or c in _SYNTAX for c in text):
        issues.add(path, "not a key", "no blanks and none of $ { } #, 200 characters at most")
