"""Regular expressions in linear time, whatever the pattern and the text (CASES G8); the matcher is imported only where a pattern is."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol


class Pattern(Protocol):
    def search(self, text: bytes) -> Any: ...


@lru_cache(maxsize=512)
def compiled(pattern: str) -> tuple[Pattern | None, str]:
    """The compiled pattern, or why it is refused."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        made: Pattern = re2.compile(pattern, options)
        return made, ""
    except re2.error as error:
        reason = error.args[0] if error.args else "it does not compile"
        return None, reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
    except (UnicodeEncodeError, TypeError):
        return None, "it is not text"


def found(pattern: str, text: str) -> bool:
    """Whether the pattern is found anywhere in the text. Raises ValueError for a pattern that is refused."""
    made, refusal = compiled(pattern)
    if made is None:
        raise ValueError(refusal)
    return made.search(text.encode()) is not None  # of bytes the matcher does not count the characters
