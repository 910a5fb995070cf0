"""How many parts a dotted key of a TOML text may have: the parser takes the square of that in time, so it is counted before (I5)."""

from __future__ import annotations

import re

MOST = 64

_PART = r"""(?:[A-Za-z0-9_-]++|"(?:\\.|[^"\\\n])*"|'[^'\n]*+')"""
# every word is taken whole, with all that dots join to it; texts of several lines, comments and texts without an end are passed over;
# a group is never possessive: before 3.11.5 Python matches those wrongly, and what stands behind one here cannot fail or ends the word
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*(?:"""|\\?\Z)'
    r"|\'\'\'(?:[^']|'(?!''))*(?:\'\'\'|\Z)"
    rf"|({_PART}(?:[ \t]*+\.[ \t]*+{_PART})*)"
    r"""|["'#][^\n]*+""",
    re.DOTALL,
)
_IN_KEY = re.compile(_PART)


def too_long(text: str) -> int | None:
    """The line, from 1, of the first key with more parts than that; None: there is none. Linear in the text."""
    for token in _TOKEN.finditer(text):
        key = token[1]
        if key is not None and key.count(".") >= MOST and sum(1 for _ in _IN_KEY.finditer(key)) > MOST:
            return text.count("\n", 0, token.start()) + 1
    return None
